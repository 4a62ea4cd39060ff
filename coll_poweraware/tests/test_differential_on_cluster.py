# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The differential tester over 1, 2, 3, 5 and 8 emulated nodes with uneven ranks: every algorithm that
the component offers, over shared memory and TCP, and over UCX."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

CHECK = str(BUILD / "coll_poweraware" / "tests" / "check_collectives")
CALLS = os.environ.get("PWR_CLUSTER_CALLS", "120")
SEED = os.environ.get("PWR_SEED", "1")
TIMEOUT_S = 240 + int(CALLS) // 2

# Open MPI's own functions, kept from the algorithms that known_faults.c tells of.
SOUND_STOCK = {
    "coll_tuned_use_dynamic_rules": "1",
    "coll_tuned_allgatherv_algorithm": "3",
    "coll_tuned_allreduce_algorithm": "3",
    "coll_tuned_alltoall_algorithm": "2",
    "coll_tuned_bcast_algorithm": "1",
}
UCX = {"pml": "ucx", "osc": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"}

LAYOUTS = [
    ("--layout", "4"), ("--layout", "3,2"), ("--layout", "2,1,3"), ("--layout", "2,2,2", "--map-by", "node"),
    ("--layout", "1,3,2,1,2"), ("--layout", "1,1,1,1,1"), ("--layout", "2,1,1,2,1,1,1,2"),
]


def info(*arguments: str) -> str:
    """What Open MPI says about itself with the component loaded."""
    path = f"{BUILD}/coll_poweraware/component:SYS_DEFAULT"
    return subprocess.run([os.environ.get("OMPI_INFO", "ompi_info"), "--parsable", *arguments],
                          env={**os.environ, "OMPI_MCA_mca_base_component_path": path},
                          capture_output=True, text=True, timeout=60, check=True).stdout


def algorithms() -> dict[str, list[str]]:
    """The component's algorithms of each collective."""
    found: dict[str, list[str]] = {}
    for collective, name in re.findall(r":coll_poweraware_(\w+)_algorithm:enumerator:value:\d+:(\w+)",
                                       info("--param", "coll", "poweraware", "--level", "9")):
        found.setdefault(collective, []).append(name)
    return found


ALGORITHMS = algorithms()
ROUNDS = range(max((len(names) for names in ALGORITHMS.values()), default=0))


def forced(round_: int) -> dict[str, str]:
    """Round k: every collective takes its algorithm k, and begins again behind its last."""
    return {f"coll_poweraware_{collective}_algorithm": names[round_ % len(names)]
            for collective, names in ALGORITHMS.items()}


@pytest.fixture(scope="module")
def eight() -> Iterator[Nodes]:
    name = f"coll-differential-{os.getpid()}"
    yield bring_up(name, 8)
    cluster("down", "--name", name)


def check(nodes: Nodes, layout: tuple[str, ...], mca: dict[str, str], *options: str) -> None:
    """Runs the tester; options of the cluster's run may come behind the layout."""
    tester = [CHECK, "--beyond-stock", "--calls", CALLS, "--seed", SEED, "--limit", "150", *options]
    done = nodes.run(tester, *layout, timeout=TIMEOUT_S,
                     mca={"coll_poweraware_min_bytes": "0", **SOUND_STOCK, **mca})
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: " ".join(layout[1:]))
@pytest.mark.parametrize("round_", ROUNDS)
def test_results(eight: Nodes, layout: tuple[str, ...], round_: int) -> None:
    check(eight, layout, forced(round_))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: " ".join(layout[1:]))
def test_decision_table(eight: Nodes, layout: tuple[str, ...]) -> None:
    check(eight, layout, {"coll_poweraware_scheme": "auto"})


@pytest.mark.parametrize("round_", ROUNDS)
def test_small_segment_polling(eight: Nodes, round_: int) -> None:
    check(eight, ("--layout", "3,2,2"),
          {**forced(round_), "coll_poweraware_segment_bytes": "65536", "coll_poweraware_wait": "poll"})


@pytest.mark.parametrize("layout", ["4", "3,2", "2,1,3"])
@pytest.mark.parametrize("round_", ROUNDS)
def test_over_ucx(eight: Nodes, layout: str, round_: int) -> None:
    if "mca:pml:ucx:" not in info():
        pytest.skip("this Open MPI has no pml ucx")
    check(eight, ("--layout", layout, "--env", "UCX_TLS=tcp,self,sm", "--env", "UCX_NET_DEVICES=eth0"),
          {**forced(round_), **UCX})


def test_threads(eight: Nodes) -> None:
    check(eight, ("--layout", "2,2"), forced(0), "--threads", "2")


@pytest.mark.parametrize("round_", ROUNDS)
def test_sums_that_round(eight: Nodes, round_: int, tmp_path: Path) -> None:
    """The same layout gives the same bytes in every run, and an Allreduce on every rank."""
    tmp_path.chmod(0o777)
    for wait in ("ladder", "poll"):
        check(eight, ("--layout", "2,1,3"), {**forced(round_), "coll_poweraware_wait": wait},
              "--reproducible", "--digests", str(tmp_path / wait))
    digests = (tmp_path / "ladder").read_text()
    assert digests
    assert digests == (tmp_path / "poll").read_text()


def test_every_algorithm_is_taken(eight: Nodes, tmp_path: Path) -> None:
    """On one node or on several; otherwise the tests above would prove nothing."""
    tmp_path.chmod(0o777)
    taken: set[tuple[str, str]] = set()
    for layout in ("3", "2,1,2"):
        for round_ in ROUNDS:
            # with min_bytes this large no lever is moved, which would count as handled, too
            check(eight, ("--layout", layout),
                  {**forced(round_), "coll_poweraware_min_bytes": "1000000000000",
                   "coll_poweraware_report_dir": str(tmp_path)}, "--modes", "blocking", "--calls", "200")
            counted = json.loads((tmp_path / "rank-0.json").read_text())["collectives"]
            taken |= {(collective, names[round_ % len(names)]) for collective, names in ALGORITHMS.items()
                      if counted[collective]["handled"]}
    assert {(collective, name) for collective, names in ALGORITHMS.items() for name in names} - taken == set()


def test_the_first_call_may_be_ours(eight: Nodes, tmp_path: Path) -> None:
    """An algorithm that asks how large boxes are must know it before they are mapped."""
    tmp_path.chmod(0o777)
    done = eight.run([str(BUILD / "bench" / "osu" / "osu_allgather"), "-m", "8:8", "-i", "5", "-x", "0"],
                     "--layout", "2,2", mca={"coll_poweraware_allgather_algorithm": "box",
                                             "coll_poweraware_min_bytes": "1000000000000",
                                             "coll_poweraware_report_dir": str(tmp_path)})
    assert done.returncode == 0, done.stdout
    counted = json.loads((tmp_path / "rank-0.json").read_text())["collectives"]["allgather"]
    assert counted["handled"] == counted["calls"] > 0
