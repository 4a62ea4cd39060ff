# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""PASCoL's schemes on emulated nodes with emulated power hardware: who sleeps, who moves levers, and
that levers are back afterwards, also when a job is killed."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(os.environ["PWR_SRCDIR"]) / "coll_poweraware" / "tests")]
import trace_rules as rules  # noqa: E402
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

from bench.common.countdown import comes_true  # noqa: E402

LATE = str(BUILD / "osc_poweraware" / "tests" / "check_late")
LATE_MS = 50
# One rank is late in each: the other one waits much longer than a lever's break-even.
KINDS = ["expose", "lock", "put-flush", "acc-flush"]


@pytest.fixture(scope="module")
def two() -> Iterator[Nodes]:
    name = f"osc-test-{os.getpid()}"
    yield bring_up(name, 2, "skylake.machine")
    cluster("down", "--name", name)


@dataclass
class Rank:
    """What the first rank's report says of its waits in calls of windows."""

    scheme: str
    sleeps: int
    writes: int
    held_s: float


def run(nodes: Nodes, reports: Path, scheme: str, **mca: str) -> Rank:
    reports.chmod(0o777)
    done = nodes.run([LATE, "-c", "-l", str(LATE_MS), *KINDS], "--ppn", "1", "--bind", "core",
                     mca={"osc": "poweraware,pt2pt,rdma", "coll": "^poweraware", "osc_poweraware_scheme": scheme,
                          "coll_poweraware_min_bytes": "0", "coll_poweraware_ranks_dir": str(reports), **mca})
    assert done.returncode == 0 and "0 wrong results" in done.stdout, done.stdout
    found = json.loads((reports / "rank-0.json").read_text())
    pstate = next(lever for lever in found["levers"] if lever["name"] == "pstate")
    return Rank(found["windows"]["scheme"], found["idle"]["sleeps"], pstate["writes"], pstate["held_s"])


@pytest.mark.parametrize("scheme, sleeps, moves", [
    ("poll", False, False), ("dvfs", False, True), ("interrupt", True, False), ("interrupt_dvfs", True, True)])
def test_scheme(two: Nodes, tmp_path: Path, scheme: str, sleeps: bool, moves: bool) -> None:
    found = run(two, tmp_path, scheme)
    assert found.scheme == scheme
    assert (found.sleeps > 0, found.writes > 0) == (sleeps, moves), found
    assert (found.held_s > 0.0) == moves, found
    assert rules.not_restored(two.levers()) == []


def test_auto_sleeps_where_idle_says_so(two: Nodes, tmp_path: Path) -> None:
    found = run(two, tmp_path, "auto", coll_poweraware_idle="all")
    assert found.sleeps > 0, found
    assert rules.not_restored(two.levers()) == []


def test_idle_off_holds_for_all(two: Nodes, tmp_path: Path) -> None:
    assert run(two, tmp_path, "interrupt", coll_poweraware_idle="off").sleeps == 0


def test_unknown_scheme(two: Nodes) -> None:
    done = two.run([LATE, "-c", "fence"], "--ppn", "1", mca={"osc": "poweraware,pt2pt,rdma", "osc_poweraware_scheme": "fast"})
    assert done.returncode == 0 and "osc_poweraware_scheme keeps its default: auto" in done.stdout, done.stdout


def ranks() -> list[int]:
    """Processes of the program, whatever namespace they are in."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == os.path.realpath(LATE):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def test_levers_are_back_after_a_kill(two: Nodes) -> None:
    """One rank waits in a flush with its frequency lowered, the other one is late by minutes: both are killed."""
    with ThreadPoolExecutor() as background:
        job = background.submit(two.run, [LATE, "-c", "-l", "600000", "put-flush"], "--ppn", "1", "--bind", "core",
                                mca={"osc": "poweraware,pt2pt,rdma", "coll": "^poweraware", "osc_poweraware_scheme": "interrupt_dvfs"})
        try:
            assert comes_true(lambda: rules.not_restored(two.levers()) != [], 120), "no lever was moved: nothing is proven"
        finally:
            for pid in ranks():
                os.kill(pid, signal.SIGKILL)
        assert job.result().returncode != 0
    assert comes_true(lambda: rules.not_restored(two.levers()) == [], 120), rules.not_restored(two.levers())
