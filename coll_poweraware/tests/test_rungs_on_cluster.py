# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Mixed traffic on four emulated nodes with each rung of the wait ladder forced in turn: nothing hangs, nothing is
wrong.  Again and again with other calls until PWR_RUNGS_S seconds are over (default: once)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from differential_jobs import CHECK, SOUND_STOCK, UCX, forced, info  # noqa: E402
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

WAITS = str(BUILD / "coll_poweraware" / "tests" / "check_waits")
SECONDS = float(os.environ.get("PWR_RUNGS_S", "0"))
SEED = int(os.environ.get("PWR_SEED", "1"))
CALLS = 30
LAYOUT = ("--layout", "2,1,3,2")

# 4.1 chooses osc/rdma, which then finds no transport
ONE_SIDED = {"osc": "pt2pt"} if "mca:osc:pt2pt:" in info() else {}

# ranks that do not know that they share CPUs spin and rest; nothing else would on so few CPUs
UNCROWDED = {"mpi_yield_when_idle": "0"}
RUNGS = {
    "poll": {"coll_poweraware_idle": "off"},
    "pause": {**UNCROWDED, "coll_poweraware_spin_us": "500", "coll_poweraware_wait_monitor": "0"},
    "rest": {**UNCROWDED, "coll_poweraware_spin_us": "500"},
    "sleep": {"coll_poweraware_spin_us": "0"},
    "ladder": UNCROWDED,
    "sleep everywhere": {"coll_poweraware_idle": "all", "coll_poweraware_spin_us": "0"},
    "audited": {**UNCROWDED, "coll_poweraware_scheme": "auto", "coll_poweraware_max_slowdown": "0.01"},
}


@pytest.fixture(scope="module")
def four() -> Iterator[Nodes]:
    name = f"coll-rungs-{os.getpid()}"
    yield bring_up(name, 4)
    cluster("down", "--name", name)


def traffic(nodes: Nodes, mca: dict[str, str], seed: int) -> None:
    """Random collectives, then every other kind of call that waits, one rank late."""
    mca = {"coll_poweraware_min_bytes": "0", **SOUND_STOCK, **ONE_SIDED, **mca}
    tester = [CHECK, "--beyond-stock", "--calls", str(CALLS), "--seed", str(seed), "--limit", "600"]
    for program, end in ((tester, " 0 wrong results"), ([WAITS, "-l", "20"], "check_waits: 0 wrong results")):
        done = nodes.run(program, *LAYOUT, mca=mca)
        assert done.returncode == 0 and end in done.stdout, f"seed {seed}, {mca}: {done.stdout}"


def test_every_rung(four: Nodes) -> None:
    begin = time.monotonic()
    seed = SEED
    while True:
        for name, mca in RUNGS.items():
            print(f"{time.monotonic() - begin:.0f} s: {name}, seed {seed}", flush=True)
            traffic(four, {**forced(seed), **mca}, seed)
        seed += 1
        if time.monotonic() - begin >= SECONDS:
            break


def test_every_rung_over_ucx(four: Nodes) -> None:
    if "mca:pml:ucx:" not in info():
        pytest.skip("this Open MPI has no pml ucx")
    os.environ.update({"UCX_TLS": "tcp,self,sm", "UCX_NET_DEVICES": "eth0"})
    ways = (("ladder", "1"), ("sleep everywhere", "0"), ("sleep", "1"))
    for name, own_worker in ways if SECONDS > 0 else ways[:1]:
        traffic(four, {**forced(SEED), **RUNGS[name], **UCX, "coll_poweraware_ucx_min_bytes": own_worker}, SEED)
