# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What is measured: the points of each experiment, and the goals there."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Sequence, Tuple

from bench.common.options import Layout
from bench.waits import ways
from poweraware import wording


@dataclass(frozen=True)
class Point:
    """One load; the ways take turns at it."""

    experiment: str
    nodes: int
    ranks_per_node: int
    collective: str
    bytes: int
    late_us: int = 0

    @property
    def has_late(self) -> bool:
        """Whether one rank is late and the others wait."""
        return self.late_us > 0

    @property
    def openshmem(self) -> bool:
        """Whether it is a call of OpenSHMEM."""
        return self.experiment in _TRANSPORTS

    @property
    def program(self) -> str:
        """Below the build directory."""
        return f"bench/waits/{'shmem_load' if self.openshmem else 'wait_load'}"

    @property
    def variables(self) -> Dict[str, str]:
        """Of the program's environment: what carries OpenSHMEM, and memory, which every PE of a node has on its own."""
        return {"UCX_TLS": _TRANSPORTS[self.experiment], "SHMEM_SYMMETRIC_SIZE": "16M"} if self.openshmem else {}

    @property
    def layout(self) -> str:
        """As in "4x2"."""
        return f"{self.nodes}x{self.ranks_per_node}"

    @property
    def ranks(self) -> int:
        """Of all nodes."""
        return self.nodes * self.ranks_per_node

    @property
    def key(self) -> str:
        """For file names."""
        late = f"-{self.late_us}us" if self.has_late else ""
        if self.openshmem:
            return f"{self.experiment}-{self.collective}-{self.layout}{late}"
        return f"{self.experiment}-{self.collective}-{self.bytes}-{self.layout}{late}"

    @property
    def label(self) -> str:
        """For people."""
        late = f", {duration(self.late_us)} late" if self.has_late else ""
        size = "" if self.openshmem else f" {wording.size(self.bytes)}"
        return f"{self.collective}{size} on {self.layout}{late}"

    def arguments(self, seconds: int, quick: bool) -> List[str]:
        """Of wait_load, or shmem_load."""
        if self.openshmem:
            return ["--late-us", str(self.late_us), "--warmup", "2", "--iterations", "5" if quick else "100",
                    "--seconds", str(seconds), self.collective]  # fmt: skip
        learning = 5 if quick else _LEARNING_CALLS
        warmup = {
            "skew": 2 if self.late_us > _LATE_TO_LEARN_US else learning,
            "tight": 20,
            "crowded": learning,
            "crowded-loop": -(-learning // 5),
            "imbalance": learning,
        }[self.experiment]
        load, own = {
            "skew": ("skew", ["--late-us", self.late_us, "--warmup", warmup]),
            "tight": ("tight", ["--calls", 100, "--warmup", warmup]),
            "crowded": ("apart", ["--warmup", warmup]),
            "crowded-loop": ("tight", ["--calls", 5, "--warmup", warmup]),
            "imbalance": ("imbalance", ["--compute-us", _COMPUTE_US, "--warmup", warmup]),
        }[self.experiment]
        limits = ["--iterations", _ITERATIONS[load] // (50 if quick else 1), "--seconds", seconds]
        what = ["--collective", self.collective, "--bytes", self.bytes]
        return [load, *map(str, [*what, *own, *limits])]


# In the first calls of a class our audit polls in every other one; with longer waits that would take too long.
_LEARNING_CALLS = 130
_LATE_TO_LEARN_US = 100_000
_COMPUTE_US = 5000
_ITERATIONS = {"skew": 2000, "tight": 50000, "apart": 20000, "imbalance": 2000}
_LATE_US = (100, 1000, 10_000, 100_000, 1_000_000)

# What carries OpenSHMEM in its experiments: UCX_TLS.
_TRANSPORTS = {"shmem": "self,sm", "shmem-tcp": "self,tcp", "shmem-nodes": "self,sm,tcp"}
_SHMEM_LATE_US = 100_000
# Names of oshmem/scoll_poweraware/tests/late.c; all wait for the last PE, whatever carries them ..
_SHMEM_MEET = ("wait-until", "wait-atomic", "lock", "barrier-all", "barrier", "sync-all", "sum", "max-large", "broadcast", "collect",
               "fcollect", "alltoall", "alltoalls")  # fmt: skip
# .. and these where memory of the same node does not do.
_SHMEM_NEED = ("put-quiet", "put-large", "get", "get-nbi-quiet", "fetch-add", "compare-swap")
_SHMEM_QUICK = ("barrier-all", "wait-until")


@dataclass(frozen=True)
class Goal:
    """A bound that ours have to keep at a point."""

    what: str  # time_ratio, cpu_ratio, cpu_share or after_more_us of a figures.Row
    bound: float
    text: str


@dataclass(frozen=True)
class Experiment:
    """A question."""

    name: str
    title: str
    base: str  # the way that others are compared with
    points: Callable[[bool], List[Point]]  # of a quick run, or all
    note: str


def _skew(quick: bool) -> List[Point]:
    if quick:
        loads = [(1, 2, "allreduce", 8), (1, 2, "messages", 8), (4, 2, "allreduce", 8)]
        return [Point("skew", *load, 10_000) for load in loads]
    loads = [(1, 2, "allreduce", 8), (1, 2, "messages", 8), (4, 2, "allreduce", 8), (4, 2, "bcast", 65536)]
    return [Point("skew", *load, late_us) for load in loads for late_us in _LATE_US]


def _tight(_quick: bool) -> List[Point]:
    return [Point("tight", 1, 2, "allreduce", 8)]


def _crowded(quick: bool) -> List[Point]:
    sizes = (8,) if quick else (8, 1024, 65536)
    collectives = ("allreduce",) if quick else ("allreduce", "bcast", "alltoall")
    return [Point("crowded", 1, CROWD, collective, size) for collective in collectives for size in sizes]


def _crowded_loop(quick: bool) -> List[Point]:
    collectives = ("allreduce",) if quick else ("allreduce", "bcast", "alltoall")
    return [Point("crowded-loop", 1, CROWD, collective, 8) for collective in collectives]


def _imbalance(quick: bool) -> List[Point]:
    return [Point("imbalance", nodes, 2, "alltoall", 65536) for nodes in ((1,) if quick else (1, 4))]


def _shmem_of(name: str, nodes: int, kinds: Sequence[str]) -> Callable[[bool], List[Point]]:
    def found(quick: bool) -> List[Point]:
        chosen = [kind for kind in kinds if kind in _SHMEM_QUICK or not quick]
        return [Point(name, nodes, 2, kind, 0, _SHMEM_LATE_US) for kind in chosen]

    return found


CROWD = 8

_SHMEM_NOTE = ("time: from when the last PE begins to be late until all PEs have returned; after: from the last PE's call "
               "on, difference in us to stock; CPU: of a waiting PE in the call, in percent of its time there.")  # fmt: skip

ALL: Dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment("skew", "One rank is late", "spin", _skew,
                   "time: from when the late rank begins to be late until all ranks have returned; after: from the "
                   "last rank's call on, difference in us to spinning; CPU: of a waiting rank in the call."),
        Experiment("tight", "Nobody is late: a tight loop", "spin", _tight,
                   "time: of a call, blocks of 100; CPU: of a call, all ranks together."),
        Experiment("crowded", "More ranks than CPUs, as in the OSU benchmarks", "stock", _crowded,
                   "time: of a call, mean of its ranks, which meet in a barrier before; CPU: of call and barrier, all "
                   "ranks together."),
        Experiment("crowded-loop", "More ranks than CPUs, a tight loop", "stock", _crowded_loop,
                   "time: of a call, blocks of 5; CPU: of a call, all ranks together. Nothing keeps the root of a "
                   "Bcast from running ahead: with the stock one it leaves messages and goes on, for many calls."),
        Experiment("imbalance", "Compute 5 ms, 5 % more or less, then Alltoall", "spin", _imbalance,
                   "time: mean of an iteration; CPU: of an iteration with its computing, all ranks together. "
                   "Ours is compared with each of the others."),
        Experiment("shmem", "OpenSHMEM over shared memory: the last PE is late", "stock",
                   _shmem_of("shmem", 1, _SHMEM_MEET), _SHMEM_NOTE),
        Experiment("shmem-tcp", "OpenSHMEM over TCP: the last PE is late", "stock",
                   _shmem_of("shmem-tcp", 1, (*_SHMEM_MEET, *_SHMEM_NEED)), _SHMEM_NOTE),
        Experiment("shmem-nodes", "OpenSHMEM between emulated nodes: the last PE is late", "stock",
                   _shmem_of("shmem-nodes", 4, (*_SHMEM_MEET, *_SHMEM_NEED)), _SHMEM_NOTE),
    )
}  # fmt: skip


def names(openshmem: bool) -> List[str]:
    """Those of OpenSHMEM, or of MPI."""
    return [name for name in ALL if (name in _TRANSPORTS) == openshmem]


def points(names: Sequence[str], layouts: Sequence[Layout], quick: bool, cpus: int) -> Tuple[List[Point], List[str]]:
    """The points of some experiments, and why others are skipped.  Points of one layout follow each other."""
    found: List[Point] = []
    skipped = []
    for name in names:
        experiment = ALL[name]
        wanted = experiment.points(quick)
        if name.startswith("crowded") and cpus >= CROWD:
            skipped.append(f"{name}: skipped, {CROWD} ranks would not crowd {cpus} CPUs")
            continue
        chosen = [p for p in wanted if not layouts or (p.nodes, p.ranks_per_node) in layouts]
        if not chosen:
            has = ", ".join(sorted({p.layout for p in wanted}))
            skipped.append(f"{name}: skipped, it has only layouts {has}")
        found += chosen
    return found, skipped


def bases(point: Point, way: str, selected: Sequence[str]) -> List[str]:
    """What a way is compared with at a point."""
    if point.experiment == "imbalance" and way in ways.OURS:
        return [stock for stock in ways.STOCK if stock in selected] or ["spin"]
    return [ALL[point.experiment].base]


def goals(point: Point, way: str) -> List[Goal]:
    """Those of one way at a point.  Without coll_poweraware_idle all, ours does not touch messages."""
    if way not in ways.OURS:
        return []
    if point.experiment == "tight":
        return [Goal("time_ratio", 1.02, "time at most 1.02 of spinning")]
    if point.experiment == "crowded":
        return [Goal("time_ratio", 0.5, "time at most half of stock")]
    if point.experiment in ("crowded-loop", "imbalance"):
        return []
    if point.openshmem:
        return [Goal("time_ratio", 1.05, "time at most 1.05 of stock"), Goal("cpu_share", 0.03, "CPU at most 3 % of the call")]
    if point.late_us < 1000:
        found = [Goal("after_more_us", 5.0, "at most 5 us later than spinning")]
    else:
        found = [Goal("time_ratio", 1.05, "time at most 1.05 of spinning")]
    if point.late_us >= 10_000 and (point.collective != "messages" or way == "ours-all"):
        found.append(Goal("cpu_ratio", 0.03, "CPU at most 3 % of spinning"))
    return found


def duration(us: int) -> str:
    """With the largest unit that divides it."""
    for unit, factor in (("s", 1_000_000), ("ms", 1000)):
        if us and us % factor == 0:
            return f"{us // factor} {unit}"
    return f"{us} us"
