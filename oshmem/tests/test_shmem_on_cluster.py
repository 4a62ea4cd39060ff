# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Results of OpenSHMEM over emulated nodes, with the component: random programs."""

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

CALLS = os.environ.get("PWR_CLUSTER_CALLS", "1000")
SEED = os.environ.get("PWR_SEED", "1")
TIMEOUT_S = 300 + int(CALLS) // 2
STOCK = os.environ.get("PWR_SHMEM_STOCK") == "yes"
SCOLL = {"scoll": "^poweraware", "coll": "^poweraware", "opal_common_ucx_opal_mem_hooks": "0"} if STOCK \
    else {"scoll": "poweraware"}


def left_out() -> list[str]:
    """What Open MPI's own OpenSHMEM does not survive between nodes."""
    rows = re.findall(r"^    '([0-9. ]*)\|(messages|)\|([a-z0-9_,]+)\|(.*)'$", (HERE / "stock_failures.sh").read_text(),
                      re.MULTILINE)
    here = [(names, why) for series, _, names, why in rows if not series or "4.1" in series.split()]
    assert here
    for names, why in here:
        print(f"skipped: {names}: {why}")
    return [names for names, _ in here]


@pytest.fixture(scope="module")
def three() -> Iterator[Nodes]:
    name = f"shmem-{os.getpid()}"
    yield bring_up(name, 3)
    cluster("down", "--name", name)


@pytest.mark.parametrize("order", ["slot", "node"])
@pytest.mark.parametrize("layout", ["2,2", "3,2,1"])
def test_random_programs(three: Nodes, layout: str, order: str) -> None:
    """PEs in the order of the nodes, then interleaved."""
    assert STOCK or (BUILD / "oshmem/scoll_poweraware/component/mca_scoll_poweraware.so").exists()
    options = ["--layout", layout, "--map-by", order, "--env", "UCX_TLS=tcp,self,sm"]
    program = [str(BUILD / "oshmem/tests/random_shmem"), "--calls", CALLS, "--seed", SEED,
               "--without", ",".join(left_out())]
    done = three.run(program, *options, mca={"pml": "ob1", "btl": "^ofi,openib", **SCOLL}, timeout=TIMEOUT_S)
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
