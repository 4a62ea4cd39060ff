# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The differential tester over 1, 2, 3, 5, 8 and 11 emulated nodes with uneven ranks: every algorithm that the component
offers, over shared memory and TCP, and over UCX.  From 9 nodes on a tree of fan 8 has two levels."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from differential_jobs import ALGORITHMS, CHECK, ROUNDS, SOUND_STOCK, UCX, forced, info  # noqa: E402
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

CALLS = os.environ.get("PWR_CLUSTER_CALLS", "120")
SEED = os.environ.get("PWR_SEED", "1")
TIMEOUT_S = 1800 + int(CALLS) // 2

UCX_DEVICES = ("--env", "UCX_TLS=tcp,self,sm", "--env", "UCX_NET_DEVICES=eth0")

LAYOUTS = [
    ("--layout", "4"), ("--layout", "3,2"), ("--layout", "2,1,3"), ("--layout", "2,2,2", "--map-by", "node"),
    ("--layout", "1,3,2,1,2"), ("--layout", "1,1,1,1,1"), ("--layout", "2,1,1,2,1,1,1,2"), ("--layout", "1,2,1,1,1,1,1,1,2,1,1"),
]
# Each layout with two rounds and each round with two layouts or more; PWR_ALL=1 (`make check-long`): all with all.
PAIRS = [(layout, round_) for i, layout in enumerate(LAYOUTS) for round_ in ROUNDS
         if "PWR_ALL" in os.environ or (round_ - i) % len(ROUNDS) in (0, len(ROUNDS) // 2)]


@pytest.fixture(scope="module")
def eleven() -> Iterator[Nodes]:
    name = f"coll-differential-{os.getpid()}"
    yield bring_up(name, 11)
    cluster("down", "--name", name)


def check(nodes: Nodes, layout: tuple[str, ...], mca: dict[str, str], *options: str) -> str:
    """Runs the tester; options of the cluster's run may come behind the layout.  Returns what it said."""
    tester = [CHECK, "--beyond-stock", "--calls", CALLS, "--seed", SEED, "--limit", "600", *options]
    done = nodes.run(tester, *layout, timeout=TIMEOUT_S,
                     mca={"coll_poweraware_min_bytes": "0", **SOUND_STOCK, **mca})
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
    return done.stdout


@pytest.mark.parametrize(("layout", "round_"), PAIRS, ids=lambda value: " ".join(value[1:]) if isinstance(value, tuple) else None)
def test_results(eleven: Nodes, layout: tuple[str, ...], round_: int) -> None:
    check(eleven, layout, forced(round_))


@pytest.mark.parametrize("layout", ["2,1,3", "1,1,1,1,1", "1,2,1,1,1,1,1,1,2,1,1"])
@pytest.mark.parametrize("round_", ROUNDS)
def test_leaders_with_few_steps(eleven: Nodes, layout: str, round_: int) -> None:
    """Ranks that do not know that they share CPUs: there leaders need more messages, in fewer steps.  They sleep at once."""
    check(eleven, ("--layout", layout), {**forced(round_), "mpi_yield_when_idle": "0", "coll_poweraware_spin_us": "0"},
          "--modes", "blocking", "--calls", "40")


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: " ".join(layout[1:]))
def test_decision_table(eleven: Nodes, layout: tuple[str, ...]) -> None:
    check(eleven, layout, {"coll_poweraware_scheme": "auto"})


@pytest.mark.parametrize("scheme", ["off", "auto"])
@pytest.mark.parametrize("collective", ["allgather", "bcast"])
def test_above_han(eleven: Nodes, collective: str, scheme: str) -> None:
    """Where nodes have different numbers of ranks han gives way to what was selected before it: to what it finds in the
    communicator's table, which must not be us who have just called it.  (Calls that han does right by itself.)"""
    if "mca:coll:han:" not in info():
        pytest.skip("this Open MPI has no coll han")
    done = eleven.run([str(BUILD / "bench" / "osu" / f"osu_{collective}"), "-c", "-m", "8:4096", "-i", "20", "-x", "2"],
                      "--layout", "2,3,2", timeout=TIMEOUT_S,
                      mca={"coll_han_priority": "90", "coll_poweraware_priority": "95",
                           "coll_poweraware_scheme": scheme, "coll_poweraware_report": "summary"})
    assert done.returncode == 0 and "Pass" in done.stdout and "Fail" not in done.stdout, done.stdout


@pytest.mark.parametrize("round_", ROUNDS)
def test_small_segment_polling(eleven: Nodes, round_: int) -> None:
    check(eleven, ("--layout", "3,2,2"),
          {**forced(round_), "coll_poweraware_segment_bytes": "65536", "coll_poweraware_idle": "off"})


@pytest.mark.parametrize(("layout", "own_worker", "round_"), [
    (*way, round_) for i, way in enumerate([("4", "0"), ("3,2", "1"), ("2,1,3", "1000")]) for round_ in ROUNDS
    if "PWR_ALL" in os.environ or round_ % 3 == i])
def test_over_ucx(eleven: Nodes, layout: str, own_worker: str, round_: int) -> None:
    """own_worker: messages of at least so many bytes go over it (0: none)."""
    if "mca:pml:ucx:" not in info():
        pytest.skip("this Open MPI has no pml ucx")
    check(eleven, ("--layout", layout, *UCX_DEVICES),
          {**forced(round_), **UCX, "coll_poweraware_ucx_min_bytes": own_worker})


@pytest.mark.parametrize(("pml", "own_worker", "taken"), [("ucx", "1", True), ("ucx", "1000", False), ("ob1", "1", False)])
def test_own_worker_is_taken(eleven: Nodes, tmp_path: Path, pml: str, own_worker: str, taken: bool) -> None:
    """For messages that are long enough, with pml ucx, and nothing else."""
    if "mca:pml:ucx:" not in info():
        pytest.skip("this Open MPI has no pml ucx")
    tmp_path.chmod(0o777)
    done = eleven.run([str(BUILD / "bench" / "osu" / "osu_allreduce"), "-m", "8:8", "-i", "20", "-x", "0"],
                      "--layout", "1,1", *UCX_DEVICES,
                      mca={**(UCX if pml == "ucx" else {"pml": pml}), "coll_poweraware_min_bytes": "0",
                           "coll_poweraware_ucx_min_bytes": own_worker, "coll_poweraware_ranks_dir": str(tmp_path)})
    assert done.returncode == 0, done.stdout
    for rank in range(2):
        messages = json.loads((tmp_path / f"rank-{rank}.json").read_text())["ucx_messages"]
        assert (messages > 0) == taken, done.stdout
    assert (done.stdout.count("ucx_min_bytes has no effect: it is for pml ucx") == 1) == (pml == "ob1"), done.stdout


def test_threads(eleven: Nodes) -> None:
    check(eleven, ("--layout", "2,2"), forced(0), "--threads", "2")


@pytest.mark.parametrize("layout", ["3,2", "2,1,3"])
def test_refused_single_copies(eleven: Nodes, layout: str) -> None:
    """The kernel refuses every second copy between ranks of a node, on communicators that have met no refusal before."""
    watch = BUILD / "coll_poweraware" / "tests" / ".libs" / "single_copy_watch.so"
    said = check(eleven, ("--layout", layout, "--env", f"LD_PRELOAD={watch}", "--env", "PWR_REFUSE_ONE_OF=2"), {},
                 "--fresh", "--only", "alltoall,alltoallv,alltoallw", "--modes", "blocking", "--most-bytes", "1000000")
    if not re.search(r"^single copies: [1-9]", said, re.MULTILINE):
        pytest.skip("no single copy between ranks of an emulated node")
    assert re.search(r"^copies refused: [1-9]", said, re.MULTILINE), said


@pytest.mark.parametrize("round_", ROUNDS)
def test_sums_that_round(eleven: Nodes, round_: int, tmp_path: Path) -> None:
    """The same layout gives the same bytes in every run, and an Allreduce on every rank."""
    tmp_path.chmod(0o777)
    for idle in ("collectives", "off"):
        check(eleven, ("--layout", "2,1,3"), {**forced(round_), "coll_poweraware_idle": idle},
              "--reproducible", "--digests", str(tmp_path / idle))
    digests = (tmp_path / "collectives").read_text()
    assert digests
    assert digests == (tmp_path / "off").read_text()


def test_every_algorithm_is_taken(eleven: Nodes, tmp_path: Path) -> None:
    """On one node or on several; otherwise the tests above would prove nothing."""
    tmp_path.chmod(0o777)
    taken: set[tuple[str, str]] = set()
    for layout in ("3", "2,1,2"):
        for round_ in ROUNDS:
            folder = tmp_path / f"{layout}-{round_}"
            folder.mkdir()
            folder.chmod(0o777)
            # with min_bytes this large no lever is moved, which would count as handled, too
            check(eleven, ("--layout", layout),
                  {**forced(round_), "coll_poweraware_min_bytes": "1000000000000",
                   "coll_poweraware_ranks_dir": str(folder)}, "--modes", "blocking", "--calls", "200")
            counted = json.loads((folder / "rank-0.json").read_text())["collectives"]
            taken |= {(collective, names[round_ % len(names)]) for collective, names in ALGORITHMS.items()
                      if counted[collective]["handled"]}
    selected = {(collective, "basic") for collective in ALGORITHMS}  # by Open MPI, perhaps
    assert {(collective, name) for collective, names in ALGORITHMS.items() for name in names} - taken - selected == set()
    assert ("gather", "basic") in taken


def test_the_first_call_may_be_ours(eleven: Nodes, tmp_path: Path) -> None:
    """An algorithm that asks how large boxes are must know it before they are mapped."""
    tmp_path.chmod(0o777)
    done = eleven.run([str(BUILD / "bench" / "osu" / "osu_allgather"), "-m", "8:8", "-i", "5", "-x", "0"],
                      "--layout", "2,2", mca={"coll_poweraware_allgather_algorithm": "box",
                                              "coll_poweraware_min_bytes": "1000000000000",
                                              "coll_poweraware_ranks_dir": str(tmp_path)})
    assert done.returncode == 0, done.stdout
    counted = json.loads((tmp_path / "rank-0.json").read_text())["collectives"]["allgather"]
    assert counted["handled"] == counted["calls"] > 0
