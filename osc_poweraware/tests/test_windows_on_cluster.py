# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Results of one-sided calls over two emulated nodes, with the component: random programs, contests."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "coll_poweraware" / "tests"))
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

CALLS = os.environ.get("PWR_CLUSTER_CALLS", "500")
SEED = os.environ.get("PWR_SEED", "1")
TIMEOUT_S = 300 + int(CALLS) // 2


def left_out(component: str) -> list[str]:
    """What Open MPI's component does not survive alone."""
    random_programs = (HERE / "stock_failures.sh").read_text().partition("stock_failures_of_tests=")[0]
    rows = re.findall(rf"^    '{component}\|([0-9. ]*)\|([a-z_,]+)\|", random_programs, re.MULTILINE)
    names = [name for series, name in rows if series in ("", "4.1") and name not in ("threads", "random")]
    assert names
    print(f"skipped: osc/{component}: {', '.join(names)}")
    return names


@pytest.fixture(scope="module")
def two() -> Iterator[Nodes]:
    name = f"osc-windows-{os.getpid()}"
    yield bring_up(name, 2)
    cluster("down", "--name", name)


def check(nodes: Nodes, osc: str, layout: str, program: str, *options: str) -> None:
    mca = {"osc": osc, "coll": "tuned,libnbc,basic,self,inter", "btl": "^ofi,openib", "pml": "ob1"}
    done = nodes.run([str(BUILD / "osc_poweraware" / "tests" / program), *options], "--layout", layout,
                     mca=mca, timeout=TIMEOUT_S)
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout


@pytest.mark.parametrize("layout", ["1,1", "2,1", "2,2", "3,4"])
@pytest.mark.parametrize("osc", ["pt2pt", "poweraware"])
def test_random_programs(two: Nodes, osc: str, layout: str) -> None:
    """osc/pt2pt alone, then as what our component finds where nothing else reaches the other node.  In windows
    of one node that is osc/rdma."""
    names = left_out("pt2pt") + (left_out("rdma") if osc == "poweraware" else [])
    check(two, osc, layout, "random_windows", "--calls", CALLS, "--seed", SEED, "--without", ",".join(names))


@pytest.mark.parametrize("flavour", ["allocate", "create", "dynamic"])
def test_contests(two: Nodes, flavour: str) -> None:
    check(two, "poweraware", "2,2", "check_windows", flavour)
