# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`run patterns` with stand-ins for cluster, program and sampler; its figures; its page."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Optional
from xml.etree import ElementTree

import pytest

from bench.run import patterns, patterns_figures
from bench.run.patterns_figures import CHANGES, METRICS
from bench.run.tests.world import World, install
from poweraware.session.document import NodeEnergy, Samples

LATENCY = METRICS[0]


def command(world: World, *extra: str) -> List[str]:
    for library in patterns.LIBRARIES:
        install("patterns.py", world.build / f"bench/patterns/patterns_{library}", f"FAKE={library}")
    return [*world.usual("patterns"), "--operations", "put", "--fragments", "4", *extra]


def document(world: World) -> Dict[str, Any]:
    return world.placed_document(patterns.Patterns.document_name)


def test_all_places_and_libraries_are_run(world: World) -> None:
    done = world.run_command(command(world), {})
    assert done.returncode == 0, done.stderr + done.stdout
    found = document(world)
    assert found["complete"] and not found["failures"]
    assert {(row["place"], row["library"]) for row in found["rows"]} == {(p, n) for p in patterns.LAYOUTS for n in patterns.LIBRARIES}
    assert found["energy"]["kind"] == "emulated"
    assert (world.output / "summary.txt").read_text() in done.stdout
    world.assert_nothing_is_left()


def test_each_place_has_its_layout_and_transport(world: World) -> None:
    assert world.run_command(command(world), {}).returncode == 0
    told = {path.parent.name: json.loads(path.read_text()) for path in world.output.glob("runs/*/environment.json")}
    assert told["tcp-shmem-1"] == {"UCX_TLS": "self,tcp", "OMPI_MCA_osc": None, "FAKE_LAYOUT": "1,1"}
    assert told["shm-shmem-1"] == {"UCX_TLS": "self,sm", "OMPI_MCA_osc": None, "FAKE_LAYOUT": "2"}
    assert told["tcp-windows-1"]["OMPI_MCA_osc"] == "pt2pt"


def test_energy_is_that_of_a_call(world: World) -> None:
    """The fake node has 75 W in its package and 25 W in its memory; two nodes over TCP."""
    assert world.run_command(command(world, "--libraries", "shmem"), {}).returncode == 0
    for row in document(world)["rows"]:
        seconds = (row["t_end_ns"] - row["t_begin_ns"]) / 1e9 / row["calls"]
        nodes = len(patterns.LAYOUTS[row["place"]])
        assert row["cpu_j"] == pytest.approx(75 * nodes * seconds, rel=0.01)
        assert row["dram_j"] == pytest.approx(25 * nodes * seconds, rel=0.01)


@pytest.mark.parametrize("fault, words", [("wrong", "wrong data: put PPQ of 1 fragments"), ("silent", "no 268435456 bytes of symmetric memory")])
def test_a_failed_run_is_named(world: World, fault: str, words: str) -> None:
    done = world.run_command(command(world, "--places", "shm", "--libraries", "shmem"), {"FAKE_PATTERNS": fault})
    assert done.returncode == 1
    assert words in done.stdout
    assert document(world)["rows"] == []
    world.assert_nothing_is_left()


def test_without_a_program_nothing_is_started(world: World) -> None:
    done = world.run_command([*world.usual("patterns")], {})
    assert done.returncode == 1 and "patterns_shmem in" in done.stderr
    assert not (world.state / "calls").exists()


def test_an_earlier_session_is_not_written_over(world: World) -> None:
    line = command(world, "--places", "shm", "--libraries", "windows")
    assert world.run_command(line, {}).returncode == 0
    again = world.run_command(line, {})
    assert again.returncode == 1 and "--force" in again.stderr
    assert world.run_command([*line, "--force"], {}).returncode == 0


# ---- figures ----


def row(pattern: str, fragments: int, us: float, cpu_j: Optional[float] = None, dram_j: Optional[float] = None) -> Dict[str, Any]:
    return {"place": "tcp", "library": "shmem", "repetition": 1, "operation": "put", "pattern": pattern, "fragments": fragments, "calls": 10,
            "median_us": us, "sender_cpu_us": us, "target_cpu_us": us, "cpu_j": cpu_j, "dram_j": dram_j, "way": None}  # fmt: skip


def of_rows(*rows: Dict[str, Any]) -> Dict[str, Any]:
    return {"rows": list(rows), "bytes": 1024, "failures": [], "energy": {"kind": "emulated", "note": "of a test"}, "repetitions": 1,
            "machine": None, "host": {"name": "h", "cpu_model": "c", "cpus": 2}, "command": ["run"]}  # fmt: skip


KEY = ("tcp", "shmem", "put")


def test_impact_is_what_is_saved_of_the_initial_pattern() -> None:
    found = of_rows(row("PPQ", 1, 100.0), row("MMPQAMM", 1, 225.0), row("PPQ", 4096, 100.0), row("MMPQAMM", 4096, 5.0))
    aggregation = next(change for change in CHANGES if change.name == "aggregation")
    assert patterns_figures.impacts(found, KEY, aggregation, LATENCY) == {1: -125.0, 4096: 95.0}


def test_products_take_all_energy_that_is_known() -> None:
    products = {metric.name: metric.of(row("PPQ", 1, 2e6, 3.0, 4.0)) for metric in METRICS}
    assert (products["EDP"], products["ED2P"], products["ED3P"]) == (14.0, 28.0, 56.0)
    assert {metric.name: metric.of(row("PPQ", 1, 2e6, 3.0)) for metric in METRICS}["EDP"] == 6.0
    assert {metric.name: metric.of(row("PPQ", 1, 2e6)) for metric in METRICS}["EDP"] is None


def test_repetitions_count_by_their_median() -> None:
    found = of_rows(row("PPQ", 1, 1.0), row("PPQ", 1, 2.0), row("PPQ", 1, 90.0))
    assert patterns_figures.by_fragments(found, KEY, "PPQ", LATENCY) == {1: 2.0}


def test_a_point_that_is_too_short_has_no_energy() -> None:
    samples = Samples([0, 10**9], [[0.0, 10.0**7]])
    meters = [NodeEnergy(0, [0], "powercap", ["package-0"], ["package-0"], samples)]
    point = {"t_begin_ns": 0, "t_end_ns": 500_000_000, "calls": 5}
    assert patterns.joules(meters, "package", point, 50.0) == pytest.approx(1.0)
    assert patterns.joules(meters, "package", point, 200.0) is None
    assert patterns.joules(meters, "dram", point, 50.0) is None


def test_the_page_says_what_is_absent(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from bench.run import patterns_page

    found = of_rows(row("PPQ", 1, 100.0, 1.0), row("MMPQAMM", 1, 225.0, 2.0), row("PPQ", 4, 100.0, 1.0), row("MMPQAMM", 4, 50.0, 0.5))
    page = patterns_page.render(found, "a session")
    ElementTree.fromstring(page.partition("\n")[2] if page.startswith("<!DOCTYPE") else page)
    assert "No picture: no meter of memory" in page
    assert "Figure: EDP of a put" in page and page.count("<img") == 7 + 3
