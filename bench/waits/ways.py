# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Ways to wait, and the Open MPI parameters that make them.

Each way says everything that it depends on: what the user's environment says about these parameters is left out (see
`without_ours`), and bench/testbed/cluster, which lets all ranks yield, is overruled.
"""
from __future__ import annotations

from typing import Dict, List, Mapping, Sequence, Tuple

from bench.common.launch import STOCK_OPENSHMEM

Parameters = Dict[str, str]

STOCK = ("spin", "yield", "stock", "nanosleep")
OURS = ("ours", "ours-all")
ALL = (*STOCK, *OURS)
QUICK = ("spin", "stock", "ours")
OPENSHMEM = ("stock", "ours")  # unless others are asked for

WORDS = {
    "spin": "stock collectives, ranks poll without ever giving the CPU back",
    "yield": "stock collectives, ranks call sched_yield between polls",
    "stock": "stock collectives, waiting as Open MPI chooses: it yields where it sees more ranks than CPUs",
    "nanosleep": "stock collectives, ranks sleep 50 us between polls",
    "ours": "poweraware with its defaults",
    "ours-all": "poweraware with coll_poweraware_idle all",
}

_YIELD = "mpi_yield_when_idle"
_NO_POWERAWARE = {"coll": "^poweraware"}
_NANOSLEEP = {
    _YIELD: "1",
    "threads_pthreads_yield_strategy": "nanosleep",
    "threads_pthreads_nanosleep_time": "50000",
}
_POWERAWARE = {"coll": "poweraware", "coll_poweraware_priority": "77"}

# OpenSHMEM, which has MPI beneath it.
_OUR_OPENSHMEM = {"scoll": "poweraware"}


def available(series: Tuple[int, int]) -> List[str]:
    """Those that an Open MPI series has."""
    return [way for way in ALL if way != "nanosleep" or series >= (5, 0)]


def parameters(way: str, nodes: int, fits: bool, users: Sequence[Tuple[str, str]], openshmem: bool = False) -> Parameters:
    """What makes a way.  fits: every rank has a CPU.  users: parameters for ours.

    With more ranks than CPUs, `stock` and ours are left alone: mpirun lets ranks yield, and on emulated nodes, each of
    which looks large enough to it, bench/testbed/cluster does.  Where ranks fit, Open MPI would spin, on emulated nodes too.
    """
    unsaid = {_YIELD: "0"} if fits else {}
    theirs = {**_NO_POWERAWARE, **(STOCK_OPENSHMEM if openshmem else {})}
    if way == "spin":
        return {**theirs, _YIELD: "0"}
    if way == "yield":
        return {**theirs, _YIELD: "1"}
    if way == "nanosleep":
        return {**theirs, **_NANOSLEEP}
    if way == "stock":
        return {**theirs, **(unsaid if nodes > 1 else {})}
    idle = {"coll_poweraware_idle": "all"} if way == "ours-all" else {}
    return {**(_OUR_OPENSHMEM if openshmem else _POWERAWARE), **unsaid, **idle, **dict(users)}


def yields(way: str) -> int:
    """What mpi_yield_when_idle must be during a job of the way; -1: either."""
    return {"spin": 0, "yield": 1, "nanosleep": 1}.get(way, -1)


def without_ours(environment: Mapping[str, str]) -> Dict[str, str]:
    """An environment without the parameters that ways are made of."""
    names = {f"OMPI_MCA_{name}" for name in ("coll", *STOCK_OPENSHMEM, *_NANOSLEEP)}
    kept = ("OMPI_MCA_coll_poweraware_helper_dir", "OMPI_MCA_coll_poweraware_knowledge")
    return {
        name: value
        for name, value in environment.items()
        if name not in names and (name in kept or not name.startswith("OMPI_MCA_coll_poweraware_"))
    }
