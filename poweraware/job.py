# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The document of a job as Python objects; poweraware-job.schema.json says what each field means."""
from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from poweraware.documents import DocumentError, Origin, Problem, Schema, check, convert, read_json, refuse

FORMAT = "poweraware-job"
_NAME = "poweraware-job.schema.json"
_HERE = Path(__file__).resolve().parent
_WHOLE = re.compile(r"job(-.+)?(?<!\.partial)\.json$")
_BEGIN = re.compile(r'"begin_ns": ?(\d+),')
_HEAD = 1024  # characters in which it is
_SPAWNED = re.compile(r"job-\d+\.json$")
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

    def lever_titles(self) -> Dict[str, str]:
        """Of all levers, by their names."""
        return {lever.name: lever.title for node in self.nodes for lever in node.levers}

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
    """The schema of a job's document: in the source tree, or two folders up where it is installed."""
    places = [_HERE.parent / "opal" / "tools" / "record" / _NAME, _HERE.parents[1] / _NAME]
    for path in places:
        if path.exists():
            schema: Schema = json.loads(path.read_text(encoding="utf-8"))
            return schema
    raise DocumentError(f"{places[-1]}: is not installed")


def from_json(data: Any, origin: str) -> Job:
    """Checks and converts a parsed document; origin names it in messages."""
    check(data, load_schema(), origin)
    refuse(_inconsistencies(data), origin)
    job: Job = convert(Job, data)
    return job


def load(path: Path) -> Job:
    """A job's document; of a folder that of its latest job, or what is left of that if it was killed."""
    if not path.is_dir():
        return from_json(read_json(path), str(path))
    whole, parts = latest(path)
    if whole is None and not parts:
        raise DocumentError(f"{path}: there is neither a job.json nor a job.*.partial.json in it")
    return whole or merge(parts)


def latest(folder: Path) -> Tuple[Optional[Job], List[Job]]:
    """Of the latest job of a folder its document; before it is there, or if it was killed, what its nodes have written so far.

    Neither where no job has written yet.
    """
    left = partial_documents(folder)
    found = [*whole_documents(folder, spawned=False), *left]
    if not found:
        return None, []
    begins = {each: _begin_ns(each) for each in found}
    newest = max(found, key=lambda each: begins[each])
    document = load(newest)
    if newest not in left:
        return document, []
    return None, [part for part in map(load, left) if part.job.id == document.job.id]


def _begin_ns(path: Path) -> int:
    """When a document's job began, from its first lines: a folder may have 100,000 of them."""
    with path.open(encoding="utf-8", errors="replace") as file:
        found = _BEGIN.search(file.read(_HEAD))
    return int(found.group(1)) if found else load(path).begin_ns


def whole_documents(folder: Path, spawned: bool = True) -> List[Path]:
    """Of the jobs of a folder, and of those that they have spawned."""
    found = [path for path in sorted(folder.glob("job*.json")) if _WHOLE.match(path.name)]
    return found if spawned else [path for path in found if not _SPAWNED.match(path.name)]


def partial_documents(folder: Path) -> List[Path]:
    """What jobs that were killed have left, a document per node."""
    return sorted(folder.glob("job*.partial.json"))


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


# ---- jobs that were killed ----


def merge(parts: List[Job]) -> Job:
    """What is left of a job, one part per node, as one document."""
    parts = _share_machines(_align_windows(parts))
    first = min(parts, key=lambda part: part.begin_ns)
    end_s = max(_after(first, part) + part.totals.seconds for part in parts)
    calls: Dict[Any, CallClass] = {}
    regions: Dict[Optional[str], Region] = {}
    other = Sums()
    for part in parts:
        other.add(part.other_calls)
        for each in part.calls:
            if each.key() in calls:
                calls[each.key()].add_class(each)
            else:
                calls[each.key()] = dataclasses.replace(each)
        for region in part.regions:
            regions.setdefault(region.name, Region(region.name)).add(region)
    joules = _sum(part.totals.joules for part in parts)
    reported = sum(part.reported for part in parts)
    return dataclasses.replace(
        first,
        complete=False,
        why_incomplete=f"{first.why_incomplete}; {reported} of {first.processes} processes are known",
        reported=reported,
        finished=sum(part.finished for part in parts),
        provenance=max((part.provenance for part in parts), key=_sureness),
        totals=Totals(
            seconds=end_s,
            process_s=sum(part.totals.process_s for part in parts),
            cpu_s=sum(part.totals.cpu_s for part in parts),
            setup_s=sum(part.totals.setup_s for part in parts),
            joules=joules,
            uncertainty_j=_sum(part.totals.uncertainty_j for part in parts),
            mean_watts=joules / end_s if joules is not None and end_s > 0 else None,
        ),
        power=parts[0].power if len(parts) == 1 else None,
        calls=sorted(calls.values(), key=lambda each: -each.seconds),
        other_calls=other,
        outside=Outside(
            sum(part.outside.seconds for part in parts),
            sum(part.outside.cpu_s for part in parts),
            _sum(part.outside.joules for part in parts),
        ),
        regions=list(regions.values()),
        nodes=[_moved(node, _after(first, part)) for part in parts for node in part.nodes],
    )


def _align_windows(parts: List[Job]) -> List[Job]:
    """As pwr_ledger_align_windows does for jobs that end: all nodes have the window of the job."""
    first = min(parts, key=lambda part: part.begin_ns)
    end_s = max(_after(first, part) + part.totals.seconds for part in parts)
    return [_extend(part, _after(first, part), end_s) if _may_extend(part, end_s) else part for part in parts]


def _may_extend(part: Job, job_s: float) -> bool:
    """Not where clocks differ so much that its own window would be more than doubled."""
    return len(part.nodes) == 1 and 0 < job_s <= 2 * part.totals.seconds


def _extend(part: Job, late_s: float, job_s: float) -> Job:
    """What its node used at either end is reckoned by its mean power."""
    (node,) = part.nodes
    own_s = part.totals.seconds
    more = (job_s - own_s) / own_s
    power = node.power
    if power is not None and node.energy.joules is not None:
        watts = node.energy.joules / own_s
        power = _add_power(power, -late_s, 0.0, watts)
        power = _add_power(power, own_s, job_s - late_s, watts)
    more_j = more * (node.energy.joules or 0.0)
    energy = dataclasses.replace(
        node.energy,
        joules=_plus(node.energy.joules, more_j),
        uncertainty_j=_plus(node.energy.uncertainty_j, more_j),
        domains={
            kind: Domain(domain.counters, (1 + more) * domain.joules, domain.uncertainty_j + more * domain.joules)
            for kind, domain in node.energy.domains.items()
        },
    )
    return dataclasses.replace(
        part,
        totals=dataclasses.replace(part.totals, joules=energy.joules, uncertainty_j=energy.uncertainty_j),
        outside=dataclasses.replace(part.outside, joules=_plus(part.outside.joules, more_j)),
        nodes=[dataclasses.replace(node, begin_s=-late_s, end_s=job_s - late_s, energy=energy, power=power)],
    )


def _plus(joules: Optional[float], more: float) -> Optional[float]:
    return None if joules is None else joules + more


def _add_power(power: Power, begin_s: float, end_s: float, watts: float) -> Power:
    """So many watts more from begin_s to end_s."""
    width_s = power.width_s
    before = max(0, math.ceil((power.begin_s - begin_s) / width_s))
    after = max(0, math.ceil((end_s - power.begin_s) / width_s) - len(power.watts))
    first_s = power.begin_s - before * width_s

    def added(index: int) -> float:
        of_s = min(end_s, first_s + (index + 1) * width_s) - max(begin_s, first_s + index * width_s)
        return watts * max(0.0, of_s) / width_s

    bins = [0.0] * before + power.watts + [0.0] * after
    return Power(first_s, width_s, [there + added(index) for index, there in enumerate(bins)])


def _share_machines(parts: List[Job]) -> List[Job]:
    """As pwr_ledger_share_machines does for jobs that end: containers on one machine divide its energy."""
    machines = [_machine(part) for part in parts]
    among = Counter(machines)
    return [
        _share(part, among[machine]) if machine and among[machine] > 1 else part
        for part, machine in zip(parts, machines)
    ]


def _machine(part: Job) -> Optional[str]:
    """Of a part whose energy others may have counted, too."""
    if len(part.nodes) != 1 or part.nodes[0].energy.provenance not in ("measured", "modelled"):
        return None
    return part.nodes[0].machine


def _share(part: Job, among: int) -> Job:
    (node,) = part.nodes
    gpu = node.energy.domains.get("gpu", Domain(0, 0.0, 0.0))
    joules = _shared(node.energy.joules, gpu.joules, among)
    uncertainty_j = _shared(node.energy.uncertainty_j, gpu.uncertainty_j, among)
    scale = joules / node.energy.joules if joules and node.energy.joules else 1.0
    power = node.power and dataclasses.replace(node.power, watts=[scale * watts for watts in node.power.watts])
    energy = dataclasses.replace(
        node.energy,
        joules=joules,
        uncertainty_j=uncertainty_j,
        domains={kind: _shared_domain(kind, domain, among) for kind, domain in node.energy.domains.items()},
        shared_by=among,
    )
    calls = [dataclasses.replace(each, joules=_shared(each.joules, 0.0, among)) for each in part.calls]
    other = dataclasses.replace(part.other_calls, joules=_shared(part.other_calls.joules, 0.0, among))
    regions = [dataclasses.replace(each, joules=_shared(each.joules, 0.0, among)) for each in part.regions]
    origin = dataclasses.replace(
        part.provenance.energy,
        note=part.provenance.energy.note + "  Containers that share a machine each have their part of its energy.",
    )
    return dataclasses.replace(
        part,
        provenance=dataclasses.replace(part.provenance, energy=origin),
        totals=dataclasses.replace(part.totals, joules=joules, uncertainty_j=uncertainty_j),
        calls=calls,
        other_calls=other,
        outside=dataclasses.replace(part.outside, joules=_shared(part.outside.joules, gpu.joules, among)),
        regions=regions,
        nodes=[dataclasses.replace(node, energy=energy, power=power)],
    )


def _shared(value: Optional[float], own: float, among: int) -> Optional[float]:
    """What GPUs used is each container's own."""
    return None if value is None else own + (value - own) / among


def _shared_domain(kind: str, domain: Domain, among: int) -> Domain:
    if kind == "gpu":
        return domain
    return dataclasses.replace(domain, joules=domain.joules / among, uncertainty_j=domain.uncertainty_j / among)


def _after(first: Job, part: Job) -> float:
    return (part.begin_ns - first.begin_ns) * 1e-9


def _moved(node: Node, seconds: float) -> Node:
    power = node.power
    if power is not None:
        power = dataclasses.replace(power, begin_s=power.begin_s + seconds)
    return dataclasses.replace(
        node, begin_s=node.begin_s + seconds, end_s=node.end_s + seconds, power=power
    )


def _sureness(provenance: Provenance) -> int:
    return ("absent", "measured", "emulated", "modelled").index(provenance.energy.kind)


def _sum(values: Iterator[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
