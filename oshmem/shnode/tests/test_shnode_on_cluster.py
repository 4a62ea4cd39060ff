# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Results of libshnode over emulated nodes, where shmem_ptr reaches a node only: even, uneven and interleaved ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "coll_poweraware" / "tests"))
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

CALLS = os.environ.get("PWR_CLUSTER_CALLS", "300")
SEED = os.environ.get("PWR_SEED", "1")
PROGRAM = BUILD / "oshmem" / "shnode" / "tests" / "check_shnode"
# 4.1 crashes in shmem_finalize otherwise
ENVIRONMENT = {"UCX_TLS": "tcp,self,sm", "OMPI_MCA_opal_common_ucx_opal_mem_hooks": "0"}


@pytest.fixture(scope="module")
def three() -> Iterator[Nodes]:
    name = f"shnode-{os.getpid()}"
    yield bring_up(name, 3)
    cluster("down", "--name", name)


@pytest.mark.parametrize("leaders", ["auto", "2"])
@pytest.mark.parametrize("map_by", ["slot", "node"])
@pytest.mark.parametrize("layout", ["1,1,1", "2,2,2", "3,2,1"])
def test_results(three: Nodes, layout: str, map_by: str, leaders: str) -> None:
    variables = [word for name, value in {**ENVIRONMENT, "SHNODE_LEADERS": leaders}.items()
                 for word in ("--env", f"{name}={value}")]
    tests = ["--nodes", "3", "types", "moves", "transfers", "errors", "random", SEED, CALLS]
    done = three.run([str(PROGRAM), *tests], "--layout", layout, "--map-by", map_by, *variables,
                     mca={"coll": "^poweraware"}, timeout=1800 + int(CALLS) // 10)
    assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
