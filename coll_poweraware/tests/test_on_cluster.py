# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The component on several emulated nodes: the paper's order and levers from the traces, and levers
put back however a job ends.  (Results: test_differential_on_cluster.py.)"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import trace_rules as rules  # noqa: E402
from nodes import BUILD, MACHINES, SRC, Nodes, bring_up, cluster  # noqa: E402

from bench.common.countdown import comes_true  # noqa: E402

TESTS = BUILD / "coll_poweraware" / "tests"


@pytest.fixture(scope="module")
def five() -> Iterator[Nodes]:
    """Five nodes, T-states per core."""
    name = f"coll-test-{os.getpid()}"
    yield bring_up(name, 5, "skylake.machine")
    cluster("down", "--name", name)


# ---- results and levers together ----

@pytest.mark.parametrize("layout", ["2,2", "1,1,1,1,1", "3,1,3,1,2"])
def test_levers_are_restored_between_calls(five: Nodes, layout: str) -> None:
    done = five.run([str(TESTS / "check_collectives"), "--calls", "100", "--seed", "13", "--most-bytes", "160000"],
                    "--layout", layout, "--bind", "core", mca={"coll_poweraware_min_bytes": "0"})
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
    assert rules.not_restored(five.levers()) == []


@pytest.mark.parametrize("size, moves", [(1024, False), (262144, True)])
def test_auto_moves_levers_in_large_calls(five: Nodes, tmp_path: Path, size: int, moves: bool) -> None:
    """Also with what saving costs being measured, which is so unless somebody turns it off."""
    tmp_path.chmod(0o777)
    done = five.run([str(BUILD / "bench" / "osu" / "osu_bcast"), "-m", f"{size}:{size}", "-i", "20", "-x", "0"],
                    "--ppn", "2", "--bind", "core",
                    mca={"coll_poweraware_report_dir": str(tmp_path), "coll_poweraware_scheme": "auto"})
    assert done.returncode == 0, done.stdout
    writes = [node["levers"][0]["writes"] for node in json.loads((tmp_path / "job.json").read_text())["nodes"]]
    assert len(writes) == 5 and all((each > 0) == moves for each in writes), writes


def first_row_of_basic() -> dict[str, Any]:
    """Of the built-in table, for four nodes of four: nothing stands before it."""
    seen = set()
    for row in json.loads((SRC / "coll_poweraware" / "decision.json").read_text())["rows"]:
        place = (row["collective"], *row["nodes"], *row["bytes"])
        small = row["bytes"][0] == 0  # of the others, blocks are measured here, and messages are in the table
        names = ("allreduce", "bcast", *(("allgather", "gather", "scatter") if small else ()))
        if row["algorithm"] == "basic" and place not in seen and row["nodes"] == [3, 5] and row["collective"] in names:
            return dict(row)
        seen.add(place)
    pytest.skip("the built-in table prefers coll/basic nowhere on four nodes")


@pytest.mark.parametrize("ranks, taken", [(4, True), (6, False)])
def test_builtin_rows_of_other_components_are_for_few_more_ranks_than_measured(five: Nodes, tmp_path: Path, ranks: int, taken: bool) -> None:
    """What is linear in the number of ranks may be many times slower among more."""
    tmp_path.chmod(0o777)
    row = first_row_of_basic()
    name, size = row["collective"], max(row["bytes"][0], 4)  # at least a float
    done = five.run([str(BUILD / "bench" / "osu" / f"osu_{name}"), "-m", f"{size}:{size}", "-i", "6", "-x", "0"],
                    "--layout", ",".join(4 * [str(ranks)]), "--bind", "none",
                    mca={"coll_poweraware_report_dir": str(tmp_path), "coll_poweraware_scheme": "auto"})
    assert done.returncode == 0, done.stdout
    calls = json.loads((tmp_path / "job.json").read_text())["calls"]
    algorithms = {each["algorithm"] for each in calls if each["collective"] == name and each["up_to_bytes"] >= size}
    assert ("basic" in algorithms) == taken, algorithms


@pytest.mark.parametrize("limit, piece", [(65536, 64512), (40000, 38976), (33000, 262144), (16384, 262144)])
def test_pieces_are_as_long_as_eager_messages(five: Nodes, limit: int, piece: int) -> None:
    """Unless those are short.  Headers count, too."""
    done = five.run([str(BUILD / "bench" / "osu" / "osu_bcast"), "-m", "1048576:1048576", "-i", "3", "-x", "0", "-c"],
                    "--ppn", "2", "--bind", "core",
                    mca={"btl_tcp_eager_limit": str(limit), "coll_poweraware_verbose": "2",
                         "coll_poweraware_bcast_algorithm": "leader"})
    assert done.returncode == 0, done.stdout
    assert set(re.findall(r"in pieces of up to (\d+) bytes", done.stdout)) == {str(piece)}, done.stdout


@pytest.mark.parametrize("name", ["allreduce", "reduce", "reduce_scatter", "scan"])
@pytest.mark.parametrize("layout", ["1,1,1,1,1", "2,3,1"])
def test_sums_in_the_most_parts(five: Nodes, name: str, layout: str) -> None:
    """The shortest limit that is kept to, and the longest chunks."""
    done = five.run([str(BUILD / "bench" / "osu" / f"osu_{name}"), "-m", "4194304:4194304", "-i", "2", "-x", "0", "-c"],
                    "--layout", layout, "--bind", "core",
                    mca={"btl_tcp_eager_limit": "33792", f"coll_poweraware_{name}_algorithm": "leader"})
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["alltoallv", "alltoallw"])
def test_large_blocks_of_more_nodes_than_go_at_once(five: Nodes, name: str) -> None:
    """A rank has messages for all ranks of four such nodes, not of five (alltoall/combined.c)."""
    done = five.run([str(BUILD / "bench" / "osu" / f"osu_{name}"), "-m", "1024:16384", "-i", "2", "-x", "0", "-c"],
                    "--layout", "16,1,1,1,1", "--bind", "none", mca={f"coll_poweraware_{name}_algorithm": "combined"})
    assert done.returncode == 0, done.stdout


def test_slow_seconds_are_counted(five: Nodes, tmp_path: Path) -> None:
    """In calls that moved levers, less of them throttled than at the lowest frequency; in no others."""
    tmp_path.chmod(0o777)
    done = five.run([str(BUILD / "bench" / "osu" / "osu_bcast"), "-m", "262144:262144", "-i", "20", "-x", "0"],
                    "--ppn", "2", "--bind", "core",
                    mca={"coll_poweraware_report_dir": str(tmp_path), "coll_poweraware_scheme": "throttle"})
    assert done.returncode == 0, done.stdout
    calls = json.loads((tmp_path / "job.json").read_text())["calls"]
    assert {each["collective"] for each in calls if each["transitions"] > 0} == {"bcast"}
    for each in calls:
        if each["transitions"] > 0:
            assert 0.0 < each["held_s"]["tstate"] < each["held_s"]["pstate"] <= each["seconds"], each
        else:
            assert not any(each["held_s"].values()), each


def test_ranks_agree_on_the_uncore(five: Nodes, tmp_path: Path) -> None:
    """Eight ranks fill the two packages of a node, and wait for the last one much longer than the lever needs."""
    tmp_path.chmod(0o777)
    done = five.run([str(BUILD / "bench" / "waits" / "wait_load"), "--bytes", "262144", "--late-us", "300000", "--iterations",
                     "10", "--warmup", "0", "skew"], "--layout", "8", "--bind", "core",
                    mca={"coll_poweraware_report_dir": str(tmp_path), "coll_poweraware_trace_dir": str(tmp_path),
                         "coll_poweraware_scheme": "auto", "coll_poweraware_uncore": "1"})
    assert done.returncode == 0, done.stdout
    document = json.loads((tmp_path / "job.json").read_text())
    uncore = {each["name"]: each for each in document["nodes"][0]["levers"]}["uncore"]
    assert uncore["writes"] > 0 and uncore["held_s"] > 0.0 and uncore["errors"] == 0, uncore
    ranks = [rules.read_rank(tmp_path, number) for number in range(8)]
    levers = five.levers()
    assert {rank.package for rank in ranks} == {0, 1}
    assert rules.package_slow_outside_calls(ranks, levers, 2400000) == []
    assert rules.not_restored(levers) == []


ALLTOALL_LAYOUTS = [("--layout", "6,2"), ("--layout", "5,1,6"), ("--layout", "2,1,2,1,2", "--map-by", "node")]


@pytest.mark.parametrize("layout", ALLTOALL_LAYOUTS, ids=lambda layout: " ".join(layout[1:]))
@pytest.mark.parametrize("schedule", ["paper", "log"])
def test_alltoalls(five: Nodes, layout: tuple[str, ...], schedule: str) -> None:
    done = five.run([str(TESTS / "check_alltoall"), "--calls", "25", "--seed", str(len(layout) * 17)], *layout,
                    mca={"coll_poweraware_min_bytes": "0", "coll_poweraware_alltoall_schedule": schedule})
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
    assert rules.not_restored(five.levers()) == []


# ---- waits that last too long ----

def hang(nodes: Nodes, folder: Path, *arguments: str, mca: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """The minutes of hang_report pass when all others wait: see watched.h."""
    watched = folder / "watched"
    watched.write_bytes(bytes(8192))
    for path in (folder, watched):
        path.chmod(0o777)
    clock = f"LD_PRELOAD={BUILD}/bench/testbed/emulator/libpwr_vcpu.so:{TESTS}/.libs/shifted_clock.so"
    return nodes.run([str(TESTS / "check_hang"), *arguments], "--bind", "core", "--layout", "2,2,2",
                     "--env", f"PWR_WATCHED={watched}", "--env", clock,
                     mca={"coll_poweraware_hang_report": "1000", **mca})


def said_of_hangs(output: str) -> list[str]:
    return sorted(line.split("poweraware: ", 1)[1] for line in output.splitlines() if "may be hung" in line)


def test_late_root(five: Nodes, tmp_path: Path) -> None:
    """Each node says once what it knows, and throttled ranks count, too."""
    done = hang(five, tmp_path, "bcast", "0",
                mca={"coll_poweraware_min_bytes": "0", "coll_poweraware_ranks_dir": str(tmp_path)})
    assert done.returncode == 0 and done.stdout.count(": 0 wrong") == 6, done.stdout
    said = said_of_hangs(done.stdout)
    assert len(said) == 3, done.stdout
    assert re.match(r"rank 1 of MPI_COMM_WORLD \(cid 0\) on n0 has waited [1-9]\d{3} s in MPI_Bcast: "
                    r"rank 0 \(pid \d+\) of this node has not called it\. ", said[0]), done.stdout
    for rank, node, peer, line in (2, "n1", 0, said[1]), (4, "n2", r"[02]", said[2]):
        assert re.match(rf"rank {rank} of .* on {node} has waited [1-9]\d{{3}} s in MPI_Bcast: all ranks of this node have "
                        rf"called it; no message has come from rank {peer} yet, which may be waiting itself\. ", line), line
    reports = [json.loads((tmp_path / f"rank-{rank}.json").read_text()) for rank in range(6)]
    assert [report["num_hangs"] for report in reports] == [0, 1, 1, 1, 1, 1]
    assert [report["hangs"][0]["senders"] for report in reports[1:4]] == [[], [0], []]
    moved = [lever for rank in (3, 5) for lever in reports[rank]["levers"] if lever["name"] == "tstate"]
    assert len(moved) == 2 and all(lever["writes"] > 0 for lever in moved), "nobody was throttled: nothing was proven"
    assert "5 sleep, 0 poll, 0 are gone" in done.stdout, done.stdout
    assert rules.not_restored(five.levers()) == []


def test_late_rank_in_a_stock_function(five: Nodes, tmp_path: Path) -> None:
    """Each node says once what it knows, at least of its messages."""
    done = hang(five, tmp_path, "allreduce", "0", mca={"coll_poweraware_scheme": "dvfs"})
    assert done.returncode == 0 and done.stdout.count(": 0 wrong") == 6, done.stdout
    said = said_of_hangs(done.stdout)
    assert len(said) == 3, done.stdout
    for line, node in zip(said, ("n0", "n1", "n2")):
        assert re.match(rf"rank [1-5] of MPI_COMM_WORLD \(cid 0\) on {node} has waited [1-9]\d{{3}} s in MPI_Allreduce: "
                        r"(no message has come from ranks? [\d, and]* yet|ranks? [\d, and]* ha(s|ve) not taken)", line), line


# ---- order and levers, from the traces ----

@dataclass
class Machine:
    """What the rules need to know of a machine file."""

    file: str
    scope: str
    partial: int  # T-state of a leader's package
    lowest_khz: int


MACHINE_KINDS = [Machine("icpp2010.machine", "package", 4, 1600000), Machine("skylake.machine", "core", 0, 1000000)]


def with_cores(folder: Path, machine: str, cores: int) -> Path:
    """The machine file with so many cores in each of the two packages, so that few ranks fill nodes."""
    text = (MACHINES / machine).read_text()
    assert "\npackages = 2\ncores = 4\n" in text
    path = folder / f"{cores}-cores-{machine}"
    path.write_text(text.replace("\ncores = 4\n", f"\ncores = {cores}\n"))
    return path


@pytest.mark.parametrize("machine", MACHINE_KINDS, ids=lambda m: m.scope)
def test_traces(machine: Machine, tmp_path: Path) -> None:
    """Three nodes with two ranks in each of two packages."""
    nodes = bring_up(f"coll-trace-{os.getpid()}", 3, with_cores(tmp_path, machine.file, 2))
    tmp_path.chmod(0o777)
    try:
        for program in ("osu_allgather", "osu_allgatherv", "osu_allreduce", "osu_alltoall", "osu_bcast", "osu_gather",
                        "osu_reduce", "osu_reduce_scatter", "osu_reduce_scatter_block", "osu_scatter"):
            folder = tmp_path / program
            folder.mkdir()
            # min_bytes keeps the benchmark's own small collectives out of the trace
            done = nodes.run([str(BUILD / "bench" / "osu" / program), "-m", "16384:65536", "-i", "2", "-x", "0", "-c",
                              "--validation-calls", "1"], "--ppn", "4",
                             mca={"coll_poweraware_tstate_scope": machine.scope,
                                  "coll_poweraware_min_bytes": "16384",
                                  "coll_poweraware_trace_dir": str(folder)})
            assert done.returncode == 0, done.stdout
            ranks = [rules.read_rank(folder, number) for number in range(12)]
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


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """Eleven nodes of two packages with one core each."""
    name = f"coll-pairs-{os.getpid()}"
    yield bring_up(name, 11, with_cores(tmp_path_factory.mktemp("machine"), "skylake.machine", 1))
    cluster("down", "--name", name)


@pytest.mark.parametrize("nodes", [3, 4, 11])
def test_state_changes(pairs: Nodes, nodes: int, tmp_path: Path) -> None:
    """log: at most 2 ceil(log2 N) + 2 per rank and Alltoall; paper: more, about 2 N.  (Of any number of nodes:
    test_alltoall_schedule.c.)"""
    bound = 2 * (nodes - 1).bit_length() + 2
    most = {}
    tmp_path.chmod(0o777)
    for schedule in ("log", "paper"):
        folder = tmp_path / schedule
        folder.mkdir()
        done = pairs.run([str(BUILD / "bench" / "osu" / "osu_alltoall"), "-m", "65536:65536", "-i", "2", "-x", "0", "-c",
                          "--validation-calls", "1"], "--layout", ",".join(["2"] * nodes),
                         mca={"coll_poweraware_min_bytes": "65536", "coll_poweraware_trace_dir": str(folder),
                              "coll_poweraware_alltoall_schedule": schedule})
        assert done.returncode == 0, done.stdout
        ranks = [rules.read_rank(folder, number) for number in range(2 * nodes)]
        levers = pairs.levers()
        assert {rank.package for rank in ranks} == {0, 1}
        assert rules.throttled_while_talking(ranks, levers, 0) == []
        assert rules.several_groups_at_once(ranks) == []
        assert rules.phases_out_of_order(ranks) == []
        assert rules.not_restored(levers) == []
        assert rules.never_throttled([rank for rank in ranks if rank.package == 1], levers) == []
        most[schedule] = max(max(rules.state_changes(rank, levers)) for rank in ranks)
    assert 2 <= most["log"] <= bound
    assert most["log"] <= most["paper"] <= 2 * nodes + 2
    assert nodes < 4 or most["paper"] > bound


# ---- however a job ends ----

def test_levers_are_restored_in_finalize(five: Nodes) -> None:
    """However else a job ends: test_kills.py."""
    before = sum(len(times) for node in five.levers().values() for times in node.times.values())
    done = five.run([str(TESTS / "victim"), "finalize", "1", "100000"], "--layout", "4,4",
                    mca={"coll_poweraware_min_bytes": "0"})
    assert done.returncode == 0, done.stdout
    assert comes_true(lambda: rules.not_restored(five.levers()) == [], 600), rules.not_restored(five.levers())
    after = sum(len(times) for node in five.levers().values() for times in node.times.values())
    assert after > before, "no lever was moved: nothing was proven"
