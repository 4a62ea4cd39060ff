# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The document of a job as Python objects; poweraware-job.schema.json says what each field means."""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple

from poweraware import documents
from poweraware.documents import Origin, Problem, Schema, check, check_fast, convert, refuse

FORMAT = "poweraware-job"
_SCHEMA = ("opal/tools/record", "poweraware-job.schema.json")
_ROUNDING = 1e-6  # relative: figures have nine digits
_IN_REGIONS = 0.01  # relative, and seconds: of a killed process both are as the recorder saw them last


@dataclass
class Software:
    open_mpi: str
    poweraware: str


@dataclass
class About:
    id: str
    batch_job: Optional[str]
    user: str
    program: str
    command: List[str]


@dataclass
class Settings:
    scheme: str
    idle: str
    max_slowdown_percent: float


@dataclass
class Provenance:
    time: Origin
    energy: Origin
    attribution: Origin


@dataclass
class Totals:
    seconds: float
    process_s: float
    cpu_s: float
    setup_s: float
    joules: Optional[float]
    uncertainty_j: Optional[float]
    mean_watts: Optional[float]


@dataclass
class Power:
    begin_s: float
    width_s: float
    watts: List[float] = field(default_factory=list)


@dataclass
class Sums:
    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    longest_s: float = 0.0
    spin_s: float = 0.0
    monitor_s: float = 0.0
    sleep_s: float = 0.0
    cpu_s: float = 0.0
    held_s: Dict[str, float] = field(default_factory=dict)  # by lever
    transitions: int = 0
    joules: Optional[float] = None

    def add(self, more: Sums) -> None:
        """Adds other calls."""
        for name in ("calls", "bytes", "seconds", "spin_s", "monitor_s", "sleep_s", "cpu_s", "transitions"):
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.held_s = {name: self.held_s.get(name, 0.0) + more.held_s.get(name, 0.0) for name in {**self.held_s, **more.held_s}}
        self.longest_s = max(self.longest_s, more.longest_s)
        if more.joules is not None:
            self.joules = (self.joules or 0.0) + more.joules


@dataclass
class CallClass(Sums):
    communicator: Optional[str] = None
    size: Optional[int] = None
    collective: str = ""
    algorithm: str = ""
    up_to_bytes: Optional[int] = None
    processes: int = 0
    least_s: float = 0.0
    least_process: int = 0

    def add_class(self, more: CallClass) -> None:
        """Adds the calls of other processes."""
        if more.processes and (not self.processes or more.least_s < self.least_s):
            self.least_s, self.least_process = more.least_s, more.least_process
        self.processes += more.processes
        self.add(more)

    def key(self) -> Tuple[Optional[str], Optional[int], str, str, Optional[int]]:
        """What its calls have in common."""
        return self.communicator, self.size, self.collective, self.algorithm, self.up_to_bytes


@dataclass
class Outside:
    seconds: float
    cpu_s: float
    joules: Optional[float]


@dataclass
class Region:
    name: Optional[str]
    entered: int = 0
    process_s: float = 0.0
    cpu_s: float = 0.0
    joules: Optional[float] = None
    calls: Sums = field(default_factory=Sums)

    def add(self, more: Region) -> None:
        """Adds the same region of other processes."""
        for name in ("entered", "process_s", "cpu_s"):
            setattr(self, name, getattr(self, name) + getattr(more, name))
        if more.joules is not None:
            self.joules = (self.joules or 0.0) + more.joules
        self.calls.add(more.calls)


@dataclass
class Domain:
    counters: int
    joules: float
    uncertainty_j: float


@dataclass
class Energy:
    joules: Optional[float]
    uncertainty_j: Optional[float]
    source: Optional[str]
    provenance: Optional[str]
    domains: Dict[str, Domain]
    shared_by: int
    remark: Optional[str]


@dataclass
class Lever:
    name: str
    title: str
    scope: str
    backend: Optional[str]
    why_off: Optional[str]
    writes: int
    held_s: float
    skipped: int
    errors: int
    adopted: int
    yielded: int


@dataclass
class Node:
    host: str
    machine: Optional[str]
    processes: int
    reported: int
    finished: int
    cpus: int
    packages: int
    begin_s: float
    end_s: float
    process_s: float
    cpu_s: float
    setup_s: float
    energy: Energy
    power: Optional[Power]
    levers: List[Lever]


@dataclass
class Estimate:
    middle: float
    low: Optional[float]
    high: Optional[float]


@dataclass
class Choice:
    algorithm: str
    trials: int
    take_overs: int
    gain: float
    lost_s: float


@dataclass
class DecidedClass:
    collective: str
    communicators: int
    calls: int
    pairs: int
    depth: str
    slowdown: Estimate
    cpu: Estimate
    changes: int
    nodes: int
    ranks_per_node: int
    lost_s: float
    choice: Optional[Choice]
    up_to_bytes: Optional[int] = None
    energy: Optional[Estimate] = None
    last_change: Optional[Dict[str, Any]] = None


@dataclass
class Decisions:
    energy_provenance: Optional[str]
    left_out: int
    classes: List[DecidedClass]


@dataclass
class Job:
    format: str
    version: int
    begin: str
    begin_ns: int
    complete: bool
    why_incomplete: Optional[str]
    processes: int
    reported: int
    finished: int
    software: Software
    job: About
    settings: Settings
    provenance: Provenance
    totals: Totals
    power: Optional[Power]
    calls: List[CallClass]
    other_calls: Sums
    outside: Outside
    regions: List[Region]
    nodes: List[Node]
    decisions: Optional[Decisions] = None  # of version 5, and of a job that was killed

    def lever_titles(self) -> Dict[str, str]:
        """Of all levers, by their names."""
        return {lever.name: lever.title for node in self.nodes for lever in node.levers}

    def kinds_of_calls(self) -> str:
        """What its calls are, in words: those of windows are reported where there are any."""
        return "collectives and windows" if any(each.collective.startswith("win_") for each in self.calls) else "collectives"

    def all_calls(self) -> Sums:
        """The sum over all classes."""
        total = Sums(**dataclasses.asdict(self.other_calls))
        for each in self.calls:
            total.add(each)
        return total

    def by_collective(self) -> Dict[str, Sums]:
        """Sums by collective, those in which most time was spent first."""
        found: Dict[str, Sums] = {}
        for each in self.calls:
            found.setdefault(each.collective, Sums()).add(each)
        return dict(sorted(found.items(), key=lambda item: -item[1].seconds))


def load_schema() -> Schema:
    """Of a job's document."""
    return documents.load_schema(*_SCHEMA)


def from_json(data: Any, origin: str, one_of_many: bool = False) -> Job:
    """Checks and converts a parsed document; origin names it in messages."""
    if one_of_many:
        check_fast(data, *_SCHEMA, origin)
    else:
        check(data, load_schema(), origin)
    refuse(_inconsistencies(data), origin)
    job: Job = convert(Job, data)
    return job


# ---- what the schema cannot say ----


def _inconsistencies(data: Dict[str, Any]) -> Iterator[Problem]:
    """Sums over classes equal totals."""
    nodes = data["nodes"]
    for name in ("reported", "finished"):
        if data[name] != sum(node[name] for node in nodes):
            yield f"$.{name}", "is not the sum over nodes"
    for name in ("process_s", "cpu_s", "setup_s"):
        yield from _not_equal(f"$.totals.{name}", data["totals"][name], [node[name] for node in nodes])
    in_regions = sum(region["process_s"] for region in data["regions"])
    if in_regions > data["totals"]["process_s"] * (1 + _IN_REGIONS) + _IN_REGIONS:
        yield "$.regions", f"come to {in_regions} s, all processes to {data['totals']['process_s']}"
    joules = data["totals"]["joules"]
    parts = [node["energy"]["joules"] for node in nodes if node["energy"]["joules"] is not None]
    if (joules is None) != (not parts):
        yield "$.totals.joules", "is there although no node has any, or the other way round"
    elif joules is not None:
        yield from _not_equal("$.totals.joules", joules, parts)
        shares = [data["outside"], data["other_calls"], *data["calls"]]
        if any(share["joules"] is None for share in shares):
            yield "$.calls", "have no joules although there is energy"
        else:
            yield from _not_equal("$.totals.joules", joules, [share["joules"] for share in shares])
    if data["complete"] and (data["finished"] != data["processes"] or data["why_incomplete"] is not None):
        yield "$.complete", "is true of a job that is not"


def _not_equal(path: str, total: float, parts: List[float]) -> Iterator[Problem]:
    found = sum(parts)
    if abs(found - total) > _ROUNDING * max(abs(total), 1.0) * max(1, len(parts)):
        yield path, f"is {total}, its parts come to {found}"
