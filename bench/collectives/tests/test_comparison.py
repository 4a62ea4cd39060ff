# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""bench/collectives with a fake poweraware-tune whose figures are known: which jobs, which ratios."""
from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import xml.etree.ElementTree as tree
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

import pytest

from bench.collectives import figures, options, text
from bench.common import launch

HERE = Path(__file__).resolve().parent
COLLECTIVES = HERE.parent / "collectives"
WITHOUT_PAGE = HERE.parents[1] / "common" / "without_matplotlib"


@dataclass
class World:
    """A build folder of fakes."""

    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / "out"

    def run(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        line = [sys.executable, str(COLLECTIVES), "--build", str(self.folder / "build"), "--output", str(self.output)]
        line += ["--cluster-program", str(self.folder / "cluster"), "--mpirun", str(self.folder / "mpirun")]
        ours = {"FAKE_CALLS": str(self.folder / "calls"), "PYTHONPATH": str(WITHOUT_PAGE)}
        environment = {**os.environ, **ours, **variables}
        return subprocess.run([*line, *arguments], env=environment, capture_output=True, text=True,
                              check=False)

    def calls(self) -> List[str]:
        return (self.folder / "calls").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    tune = tmp_path / "build/bench/tune/poweraware-tune"
    component = tmp_path / "build/coll_poweraware/component/mca_coll_poweraware.so"
    for path in (tune, component):
        path.parent.mkdir(parents=True)
    component.touch()
    shutil.copy(HERE / "fake_tune", tune)
    shutil.copy(HERE / "fake_cluster", tmp_path / "cluster")
    (tmp_path / "mpirun").write_text('#!/bin/sh\nwhile [ "${1##*/}" != poweraware-tune ]; do shift; done\nexec "$@"\n')
    (tmp_path / "mpirun").chmod(0o755)
    return made


def test_document_page_and_summary(world: World) -> None:
    done = world.run("--layouts", "1x2,4x4", "--repetitions", "2", PYTHONPATH="")
    assert done.returncode == 0, done.stderr
    document = json.loads((world.output / "document.json").read_text())
    assert [(r["collective"], r["nodes"], r["ranks_per_node"], r["size"]) for r in document["ratios"]] == [
        ("barrier", 1, 2, 0), ("barrier", 4, 4, 0), ("bcast", 1, 2, 8), ("bcast", 1, 2, 4096), ("bcast", 4, 4, 8),
        ("bcast", 4, 4, 4096)]  # fmt: skip
    for ratio in document["ratios"]:
        assert ratio["best_stock"] == "basic" and ratio["ours"] == "auto" and ratio["blocks"] == 12
        assert ratio["ratio"] == pytest.approx(0.5 if ratio["collective"] == "bcast" else 2.0)
        assert ratio["low"] == pytest.approx(ratio["ratio"]) == ratio["high"]
    summary = (world.output / "summary.txt").read_text()
    assert summary in done.stdout
    assert "6 points, 2 above 1.05" in summary
    lines = [line.split() for line in summary.splitlines()]
    assert ["bcast", "0.500", "0.500", "0.500"] in lines and ["barrier", "2.000", "2.000", "2.000"] in lines
    assert ["all", "0.794", "0.794", "0.794"] in lines  # (0.5 * 0.5 * 2) ** (1 / 3)
    assert ["auto", "over", "a", "copy", "8", "B", "4", "KiB"] in lines and ["bcast", "2.50", "2.50"] in lines
    page = (world.output / "page.html").read_text()
    tree.fromstring(page.partition("\n")[2])
    assert page.count("<img src=") == 2 and "16 ranks shared" in page


def test_every_layout_has_its_job_and_clusters_go(world: World) -> None:
    world.run("--layouts", "1x2,4x4", "--repetitions", "2", "--seed", "7", "--sizes", "8,64", "--mca", "pml", "ob1")
    names = {word for line in world.calls() for word in line.split() if word.startswith("collectives-")}
    assert len(names) == 1  # one cluster for all jobs of that many nodes
    name = names.pop()
    calls = [line.replace(name, "NAME") for line in world.calls()]
    assert [line.split(" --")[0] for line in calls] == ["tune", "up 4", "run", "tune", "tune", "run", "tune", "down"]
    assert f"run --name NAME --ppn 4 {' '.join(launch.placement_on_nodes(4))} --timeout 3600 --mca pml ob1" in calls[2]
    assert launch.placement_on_nodes(1) == ["--bind", "core"]
    assert launch.placement_on_nodes(launch.cpus() + 1) == ["--bind", "none"]
    assert "--layouts 4x4 --seed 7 " in calls[3] and "--layouts 4x4 --seed 8 " in calls[6]
    assert "--variants stock,tuned,basic," in calls[3] and ",auto,copy " in calls[3] and "--sizes 8,64" in calls[3]


def _point(size: int, variants: Dict[str, List[float]]) -> Dict[str, Any]:
    made = [{"name": name, "us": us, "cpu_us": us} for name, us in variants.items()]
    return {"collective": "bcast", "nodes": 1, "ranks_per_node": 2, "size": size, "variants": made}


def test_the_best_of_equals_is_not_the_luckiest() -> None:
    chance = random.Random(3)
    names = ["auto", *figures.STOCK_NAMES[:5]]
    points = [_point(size, {name: [chance.lognormvariate(0, 0.3) for _ in range(20)] for name in names}) for size in range(300)]
    found = figures.ratios([{"points": points}], seed=1)
    assert figures.geometric_mean(found) == pytest.approx(1.0, abs=0.03)
    luckiest = [statistics.median(v["us"]) for p in points for v in p["variants"] if v["name"] == "auto"]
    chosen = [min(statistics.median(v["us"]) for v in p["variants"] if v["name"] != "auto") for p in points]
    assert statistics.mean(luckiest) > 1.07 * statistics.mean(chosen)  # what the medians of the same blocks would say


def test_the_best_is_the_fastest_one_in_blocks_of_both_kinds() -> None:
    slow, fast, ours = [3.0] * 7, [2.0, 2.2] * 3 + [2.0], [1.0] * 7
    found = figures.ratios([{"points": [_point(8, {"stock": slow, "tuned": fast, "auto": ours})]}], seed=1)
    assert [(ratio.best_stock, ratio.ratio) for ratio in found] == [("tuned", 0.5)]
    one = figures.ratios([{"points": [_point(8, {"stock": [3.0], "tuned": [2.0], "auto": [1.0]})]}], seed=1)
    assert [(ratio.best_stock, ratio.ratio) for ratio in one] == [("tuned", 0.5)]


def test_a_variant_that_was_wrong_in_one_job_costs_no_point() -> None:
    jobs = [{"stock": [2.0] * 4, "tuned": [1.0] * 4, "auto": [1.0] * 4}, {"stock": [2.0] * 4, "tuned": [], "auto": [1.0] * 4}]
    found = figures.ratios([{"points": [_point(8, variants)]} for variants in jobs], seed=1)
    assert [(ratio.best_stock, ratio.ratio, ratio.blocks) for ratio in found] == [("stock", 0.5, 8)]


def test_a_failing_job_ends_it_and_the_cluster(world: World) -> None:
    done = world.run("--layouts", "2x2", FAKE_FAILS="1")
    assert done.returncode == 1 and "exit status 3" in done.stderr
    assert world.calls()[-1].startswith("down ")


def test_resume_keeps_what_is_there(world: World) -> None:
    assert world.run("--layouts", "1x2", "--repetitions", "1").returncode == 0
    before = len(world.calls())
    done = world.run("--layouts", "1x2,1x4", "--repetitions", "1", "--resume")
    assert done.returncode == 0
    assert len(world.calls()) == before + 1 and "--layouts 1x4" in world.calls()[-1]


def test_wrong_data_is_said(world: World) -> None:
    done = world.run("--layouts", "1x2", "--repetitions", "1", FAKE_WRONG="1")
    assert done.returncode == 1
    assert "WRONG DATA, left out: tuned: bcast, 4096 bytes, 1x2" in done.stdout
    assert {r["best_stock"] for r in json.loads((world.output / "document.json").read_text())["ratios"]} == {"basic"}


def test_a_table_is_made_of_all_runs(world: World) -> None:
    table = world.folder / "table.json"
    done = world.run("--table", str(table), "--layouts", "1x2,2x2", "--repetitions", "1")
    assert done.returncode == 0 and "bcast" in done.stdout, done.stderr
    measured = [line for line in world.calls() if line.startswith("tune ")]
    assert len(measured) == 2 and all("--variants" not in line for line in measured)
    written = json.loads(table.read_text())
    assert [(row["collective"], row["nodes"], row["ranks_per_node"], row["algorithm"]) for row in written["rows"]] == [
        ("barrier", [1, 1], [2, 2], "basic"), ("barrier", [2, 2], [2, 2], "basic"),
        ("bcast", [1, 1], [2, None], "box"), ("bcast", [1, 1], [2, 2], "basic"),
        ("bcast", [2, None], [2, None], "box"), ("bcast", [2, 2], [2, 2], "basic")]
    assert written["source"].startswith("bench/collectives/collectives ") and f"--table {table}" in written["source"]


def test_a_table_begins_with_rows_of_the_one_before(world: World) -> None:
    row = {"collective": "bcast", "nodes": [1, 1], "ranks_per_node": [64, None], "bytes": [0, None], "algorithm": "leader"}
    old, table = world.folder / "old.json", world.folder / "table.json"
    old.write_text(json.dumps({"format_version": 1, "source": "then", "rows": [row]}))
    done = world.run("--table", str(table), "--before", str(old), "--layouts", "1x2", "--repetitions", "1")
    assert done.returncode == 0 and json.loads(table.read_text())["rows"][0] == row, done.stderr


def test_a_table_before_that_is_none_is_said_before_the_jobs(world: World) -> None:
    old = world.folder / "old.json"
    old.write_text("{}")
    done = world.run("--table", str(world.folder / "table.json"), "--before", str(old), "--layouts", "1x2")
    assert done.returncode == 1 and "old.json: " in done.stderr
    done = world.run("--before", str(old), "--layouts", "1x2")
    assert done.returncode == 2 and "--before" in done.stderr
    assert not world.output.exists()


def test_a_table_that_cannot_be_written_is_said_before_the_jobs(world: World) -> None:
    done = world.run("--table", str(world.folder / "no" / "table.json"), "--layouts", "1x2")
    assert done.returncode == 1 and "no/table.json: cannot be written" in done.stderr
    assert not (world.folder / "calls").exists()


def test_what_is_not_built_is_named(world: World) -> None:
    (world.folder / "build/bench/tune/poweraware-tune").unlink()
    done = world.run("--layouts", "1x2")
    assert done.returncode == 1 and "poweraware-tune" in done.stderr and "build first" in done.stderr


@pytest.mark.parametrize("layouts", ["1x1", "2", "x2", "2x", "2x2,", "ax2"])
def test_layouts_that_are_refused(world: World, layouts: str) -> None:
    done = world.run("--layouts", layouts)
    assert done.returncode == 2 and "is not NODESxRANKS" in done.stderr


def test_han_of_4_1_is_left_out() -> None:
    assert "han" not in options.parse([], 4).stock and "han" in options.parse([], 5).stock
    assert "xhc" in options.parse([], 6).stock


def test_intervals_enclose_the_ratio_and_narrow() -> None:
    def document(blocks: int) -> dict:  # type: ignore[type-arg]
        noise = [1 + 0.1 * ((k * 7) % 10 - 4.5) / 4.5 for k in range(blocks)]
        series = {"stock": [10.0] * blocks, "box": [8 * n for n in noise]}
        variants = [{"name": name, "wrong": False, "us": us, "cpu_us": us} for name, us in series.items()]
        return {"points": [{"collective": "bcast", "nodes": 1, "ranks_per_node": 2, "size": 8, "variants": variants}]}

    few, many = (figures.ratios([document(blocks)], 1)[0] for blocks in (10, 100))
    for ratio in (few, many):
        assert ratio.low <= ratio.ratio <= ratio.high and ratio.ratio == pytest.approx(0.8, rel=0.05)
    assert many.high - many.low < few.high - few.low
    assert text.means([few], "box")[1] == ["bcast", f"{few.ratio:.3f}", f"{few.ratio:.3f}"]
