# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`run isx` with stand-ins for cluster and program; its figures; its page."""
from __future__ import annotations

import json
from typing import Any, Dict, List
from xml.etree import ElementTree

import pytest

from bench.run import isx, isx_figures
from bench.run.tests.world import World, install


def command(world: World, *extra: str) -> List[str]:
    install("isx.py", world.build / "bench/isx/isx")
    return [*world.usual("isx"), "--weak", "1000", "--strong", "400000", "--iterations", "3", *extra]


def document(world: World) -> Dict[str, Any]:
    return world.placed_document(isx.Isx.document_name)


def test_all_places_and_scalings_are_run(world: World) -> None:
    done = world.run_command(command(world), {})
    assert done.returncode == 0, done.stderr + done.stdout
    found = document(world)
    assert found["complete"] and not found["failures"] and found["key_range"] == 1 << 18
    assert {(row["place"], row["benchmark"]) for row in found["rows"]} == {(p, b) for p in isx.LAYOUTS for b in ("weak-1000", "strong-400000")}
    assert (world.output / "summary.txt").read_text() in done.stdout
    assert not any("poweraware-sample" in call for call in world.calls()), "samplers would disturb it"
    world.assert_nothing_is_left()


def test_each_place_has_its_layout_transport_and_memory(world: World) -> None:
    assert world.run_command(command(world, "--places", "1x4,2x2"), {}).returncode == 0
    told = {path.parent.name: json.loads(path.read_text()) for path in world.output.glob("runs/*/environment.json")}
    memory = str(2 * 4 * 100_000 + (128 << 20))
    assert told["1x4-weak-1000-1"] == {"UCX_TLS": "self,sm", "FAKE_LAYOUT": "4", "SHMEM_SYMMETRIC_SIZE": memory}
    assert told["2x2-strong-400000-1"] == {"UCX_TLS": "self,sm,tcp", "FAKE_LAYOUT": "2,2", "SHMEM_SYMMETRIC_SIZE": memory}


@pytest.mark.parametrize("fault, words", [("wrong", "wrong keys: shnode"), ("silent", "no 4096 bytes of symmetric memory")])
def test_a_failed_run_is_named_and_made_again(world: World, fault: str, words: str) -> None:
    line = command(world, "--places", "1x2")
    done = world.run_command(line, {"FAKE_ISX": fault})
    assert done.returncode == 1 and words in done.stdout
    assert document(world)["rows"] == []
    assert world.run_command([*line, "--resume"], {}).returncode == 0
    assert len(document(world)["rows"]) == 2 * 3 * 4 and not document(world)["failures"]
    world.assert_nothing_is_left()


def test_a_session_goes_on_where_it_was(world: World) -> None:
    assert world.run_command(command(world, "--places", "1x2"), {}).returncode == 0
    made = {path.name: path.stat().st_mtime_ns for path in world.output.glob("runs/*/*.json")}
    done = world.run_command(command(world, "--places", "1x2,1x4", "--resume"), {})
    assert done.returncode == 0, done.stderr
    assert {row["place"] for row in document(world)["rows"]} == {"1x2", "1x4"}
    assert len(document(world)["rows"]) == 2 * 2 * 3 * 4 and document(world)["energy"]
    assert made.items() <= {path.name: path.stat().st_mtime_ns for path in world.output.glob("runs/1x2*/*.json")}.items()
    again = world.run_command(command(world, "--places", "1x2", "--resume", "--key-range", "77"), {})
    assert again.returncode == 1 and "of another key_range (262144, now 77)" in again.stderr


def test_results_are_not_written_over(world: World) -> None:
    line = command(world, "--places", "1x2")
    assert world.run_command(line, {}).returncode == 0
    again = world.run_command(line, {})
    assert again.returncode == 1 and "--force" in again.stderr
    assert world.run_command([*line, "--force"], {}).returncode == 0


@pytest.mark.parametrize("words", [["--weak", "7,7"], ["--weak", "x"], ["--places", "3x3"], ["--iterations", "0"]])
def test_wrong_options(world: World, words: List[str]) -> None:
    assert world.run_command(command(world, *words), {}).returncode == 2


# ---- figures ----


def of_times(**times: List[float]) -> Dict[str, Any]:
    """Way -> exchange of each repetition, which has a sort that takes longer and one that takes less."""
    rows = []
    for way, values in times.items():
        for k, ms in enumerate(values):
            for spread in (0.5, 1.0, 7.0):
                rows.append({"place": "1x2", "benchmark": "weak-1000", "repetition": k + 1, "way": way,
                             **{f"{phase}_ms": ms * spread for phase in (*isx_figures.PHASES, *isx_figures.WHOLES)}})  # fmt: skip
    return {"rows": rows, "failures": ["one of a test"], "key_range": 9, "repetitions": 3, "host": {"name": "h", "cpu_model": "c", "cpus": 2},
            "command": ["run"]}  # fmt: skip


def test_speedup_is_that_of_the_runs_medians() -> None:
    found = isx_figures.speedup(of_times(stock=[2.0, 4.0, 8.0], shnode=[1.0, 2.0, 4.0]), "1x2", "weak-1000", "shnode", "exchange")
    assert found is not None and found.middle == pytest.approx(2.0) and found.low == pytest.approx(2.0)
    assert isx_figures.milliseconds(of_times(stock=[2.0, 4.0, 9.0]), "1x2", "weak-1000", "stock", "total") == 4.0
    assert isx_figures.speedup(of_times(shnode=[1.0]), "1x2", "weak-1000", "shnode", "total") is None
    planned = of_times(stock=[2.0], direct=[1.0])
    assert isx_figures.speedup(planned, "1x2", "weak-1000", "direct", "puts") is None, "its puts are elsewhere"


def test_the_page_has_bars_and_speedups() -> None:
    pytest.importorskip("matplotlib")
    from bench.run import isx_page

    page = isx_page.render(of_times(stock=[2.0, 4.0, 8.0], shnode=[1.0, 2.0, 4.0]), "a session")
    ElementTree.fromstring(page.partition("\n")[2] if page.startswith("<!DOCTYPE") else page)
    assert page.count("<img") == 2 and "Nodes are emulated" in page and "one of a test" in page
    assert "Weak scaling, 1,000 keys of each PE" in page
