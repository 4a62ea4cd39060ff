# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The component on several emulated nodes: right results for uneven layouts, the paper's order and
levers from the traces, and levers put back however a job ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import trace_rules as rules  # noqa: E402

SRC = Path(os.environ["PWR_SRCDIR"])
BUILD = Path(os.environ["PWR_BUILDDIR"])
CLUSTER = SRC / "bench" / "cluster" / "cluster"
MACHINES = SRC / "bench" / "emulator" / "machines"
TESTS = BUILD / "coll_poweraware" / "tests"
ALWAYS = {
    "coll": "poweraware",
    "coll_poweraware_scheme": "throttle",
    "coll_poweraware_helper_dir": str(BUILD / "opal"),
}


@dataclass
class Nodes:
    """A cluster that is up."""

    name: str
    state: Path

    def run(self, program: list[str], *options: str, mca: dict[str, str] | None = None,
            timeout: int = 150) -> subprocess.CompletedProcess[str]:
        """Runs an MPI program; output and errors come together."""
        command = [str(CLUSTER), "run", "--name", self.name, "--timeout", str(timeout), *options,
                   "--env", f"OMPI_MCA_mca_base_component_path={BUILD}/coll_poweraware/component:SYS_DEFAULT"]
        for key, value in {**ALWAYS, **(mca or {})}.items():
            command += ["--mca", key, value]
        return subprocess.run([*command, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=timeout + 60, check=False)

    def levers(self) -> dict[str, rules.Levers]:
        """What the emulated hardware of each node saw."""
        return {node.name: rules.read_levers(node / "emulator" / "trace.csv")
                for node in sorted((self.state / "nodes").iterdir())
                if (node / "emulator" / "trace.csv").exists()}


def cluster(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(CLUSTER), *arguments], capture_output=True, text=True, timeout=120, check=False)


def bring_up(name: str, nodes: int, machine: str) -> Nodes:
    done = cluster("up", str(nodes), "--name", name, "--machine", str(MACHINES / machine))
    if done.returncode != 0:
        pytest.skip(f"no emulated nodes here: {(done.stderr or done.stdout).strip()}")
    status = json.loads(cluster("status", "--name", name, "--json").stdout)
    return Nodes(name, Path(status["state"]))


@pytest.fixture(scope="module")
def five() -> Iterator[Nodes]:
    """Five nodes, T-states per core."""
    name = f"coll-test-{os.getpid()}"
    yield bring_up(name, 5, "skylake.machine")
    cluster("down", "--name", name)


# ---- results ----

LAYOUTS = [
    ("--layout", "2,2"), ("--layout", "3,2,1"), ("--layout", "1,4"), ("--layout", "1,1,1,1,1"),
    ("--layout", "5,1,2"), ("--layout", "2,2,2", "--map-by", "node"), ("--layout", "3,1,3,1,2"),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: " ".join(layout[1:]))
@pytest.mark.parametrize("levers", [True, False], ids=["bound", "unbound"])
def test_results(five: Nodes, layout: tuple[str, ...], levers: bool) -> None:
    done = five.run([str(TESTS / "check_collectives"), "--calls", "60", "--seed", str(len(layout) * 13),
                     "--most-bytes", "160000"],
                    *layout, "--bind", "core" if levers else "none",
                    mca={"coll_poweraware_min_bytes": "0"})
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
    assert rules.not_restored(five.levers()) == []


def test_small_segment_over_nodes(five: Nodes) -> None:
    done = five.run([str(TESTS / "check_collectives"), "--calls", "60", "--seed", "77"], "--layout", "3,2,2",
                    mca={"coll_poweraware_min_bytes": "0", "coll_poweraware_segment_bytes": "65536"})
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout


# ---- order and levers, from the traces ----

@dataclass
class Machine:
    """What the rules need to know of a machine file."""

    file: str
    scope: str
    partial: int  # T-state of a leader's package
    lowest_khz: int


MACHINE_KINDS = [Machine("icpp2010.machine", "package", 4, 1600000), Machine("skylake.machine", "core", 0, 1000000)]


@pytest.mark.parametrize("machine", MACHINE_KINDS, ids=lambda m: m.scope)
def test_traces(machine: Machine, tmp_path: Path) -> None:
    nodes = bring_up(f"coll-trace-{os.getpid()}", 3, machine.file)
    tmp_path.chmod(0o777)
    try:
        for program in ("osu_allgather", "osu_allgatherv", "osu_allreduce", "osu_alltoall", "osu_bcast", "osu_gather",
                        "osu_reduce", "osu_reduce_scatter", "osu_reduce_scatter_block", "osu_scatter"):
            folder = tmp_path / program
            folder.mkdir()
            # min_bytes keeps the benchmark's own small collectives out of the trace
            done = nodes.run([str(BUILD / "bench" / "osu" / program), "-m", "16384:65536", "-i", "3", "-x", "1", "-c"],
                             "--ppn", "8",
                             mca={"coll_poweraware_tstate_scope": machine.scope,
                                  "coll_poweraware_min_bytes": "16384",
                                  "coll_poweraware_report_dir": str(folder),
                                  "coll_poweraware_trace_dir": str(folder)})
            assert done.returncode == 0, done.stdout
            ranks = [rules.read_rank(folder, number) for number in range(24)]
            levers = nodes.levers()
            assert all(rank.cpu >= 0 for rank in ranks), "ranks are not bound"
            assert any(rank.net for rank in ranks), "nobody talked: nothing was proven"
            assert rules.throttled_while_talking(ranks, levers, machine.partial) == []
            assert rules.several_groups_at_once(ranks) == []
            assert rules.phases_out_of_order(ranks) == []
            assert rules.several_talkers(ranks) == []
            assert rules.fast_while_talking(ranks, levers, machine.lowest_khz) == []
            assert rules.not_restored(levers) == []
        assert rules.never_throttled(ranks, levers) == []
    finally:
        cluster("down", "--name", nodes.name)


# ---- however a job ends ----

@pytest.mark.parametrize("way", ["finalize", "exit", "abort", "segv", "term", "kill"])
def test_levers_are_restored(five: Nodes, way: str) -> None:
    before = sum(len(times) for node in five.levers().values() for times in node.times.values())
    done = five.run([str(TESTS / "victim"), way, "1", "100000"], "--layout", "4,4", timeout=60,
                    mca={"coll_poweraware_min_bytes": "0"})
    assert done.returncode != 124, "the job hung"
    assert (done.returncode == 0) == (way == "finalize"), done.stdout
    deadline = time.monotonic() + 20
    while rules.not_restored(five.levers()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert rules.not_restored(five.levers()) == []
    after = sum(len(times) for node in five.levers().values() for times in node.times.values())
    assert after > before, "no lever was moved: nothing was proven"
