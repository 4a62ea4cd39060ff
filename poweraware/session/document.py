# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The benchmark document as Python objects; schema.json says what each field means."""
from __future__ import annotations

import dataclasses
import gzip
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

from poweraware import documents
from poweraware.documents import DocumentError, Origin, Problem, Schema, check_fast, convert, read_json, refuse, replace

FORMAT = "poweraware-benchmark"
VERSION = 5
BASELINE = "off"
WAITS = "waits"  # a family whose calls are not named as its benchmarks
_BASELINES = {"shift": "poll"}  # of families with schemes of their own
ROOTED = ("bcast", "gather", "gatherv", "reduce", "scatter", "scatterv")
_SCHEMA = ("poweraware/session", "schema.json")


@dataclass
class Host:
    name: str
    cpus: int
    cpu_model: str
    kernel: str
    memory_bytes: Optional[int] = None
    governor: Optional[str] = None
    kernel_parameters: Optional[str] = None


@dataclass
class Software:
    open_mpi: str
    poweraware: str
    commit: Optional[str] = None
    compiler: Optional[str] = None


@dataclass
class Link:
    rate_mbit: Optional[float] = None
    latency_us: Optional[float] = None


@dataclass
class Binding:
    bind_to: str
    map_by: str


@dataclass
class Cluster:
    nodes: int
    layout: List[int]
    ranks: int
    binding: Binding
    virtual: bool
    machine: Optional[str]
    link: Link
    floor_w: Optional[float] = None


@dataclass
class Provenance:
    time: Origin
    energy: Origin
    states: Origin


@dataclass
class Program:
    benchmark: str
    origin: str
    label: str


@dataclass
class Preload:
    file: str
    variables: Dict[str, str] = field(default_factory=dict)


@dataclass
class Messages:
    min_bytes: int
    max_bytes: int
    iterations: int
    warmup: int


@dataclass
class Settings:
    family: str
    benchmarks: List[str]
    programs: List[Program]
    schemes: List[str]
    preloads: Dict[str, Preload]
    messages: Optional[Messages]
    repetitions: int
    seed: int
    interval_ms: float


@dataclass
class Row:
    bytes: int
    iterations: Optional[int]
    avg_us: float
    min_us: Optional[float] = None
    max_us: Optional[float] = None
    t_begin_ns: Optional[int] = None
    t_end_ns: Optional[int] = None
    cpu_s: Optional[float] = None
    validated: Optional[bool] = None
    moved_bytes: Optional[int] = None
    operations: Optional[int] = None

    def operations_in_window(self) -> Optional[int]:
        """Of a rank, from t_begin_ns to t_end_ns."""
        return self.iterations if self.operations is None else self.operations


@dataclass
class Rank:
    rank: int
    host: str
    node: Optional[int]
    pid: Optional[int]
    cpu_s: Optional[float]


@dataclass
class Samples:
    t_ns: List[int] = field(default_factory=list)
    uj: List[List[float]] = field(default_factory=list)


@dataclass
class NodeEnergy:
    node: int
    covers: List[int]
    source: Optional[str]
    domains: List[str]
    total_domains: List[str]
    samples: Samples
    why_absent: Optional[str] = None


@dataclass
class Residency:
    freq_khz: Optional[float]
    duty_percent: float
    seconds: float


@dataclass
class Changes:
    t_ns: List[int] = field(default_factory=list)
    freq_khz: List[Optional[float]] = field(default_factory=list)
    duty_percent: List[float] = field(default_factory=list)


@dataclass
class CpuStates:
    cpu: int
    package: Optional[int]
    transitions: int
    residency: List[Residency]
    changes: Changes


@dataclass
class NodeStates:
    node: int
    window_begin_ns: int
    window_end_ns: int
    complete: bool
    cpus: List[CpuStates]


@dataclass
class Result:
    seconds: Optional[float]
    verified: Optional[bool]
    check: str
    total_energy: Optional[float] = None


@dataclass
class Run:
    id: str
    benchmark: str
    scheme: str
    repetition: int
    command: List[str]
    mca: Dict[str, str]
    exit_status: Optional[int]
    failure: Optional[str]
    start_ns: int
    end_ns: int
    wall_s: float
    window: str
    rows: List[Row] = field(default_factory=list)
    ranks: List[Rank] = field(default_factory=list)
    energy: List[NodeEnergy] = field(default_factory=list)
    states: List[NodeStates] = field(default_factory=list)
    result: Optional[Result] = None
    job: Optional[Dict[str, Any]] = None

    def interval_ns(self) -> Tuple[int, int]:
        """Begin and end of what the run's time and energy are taken over."""
        if self.window == "rows":
            begins = [row.t_begin_ns for row in self.rows if row.t_begin_ns is not None]
            ends = [row.t_end_ns for row in self.rows if row.t_end_ns is not None]
            if begins and ends:
                return min(begins), max(ends)
        if self.window == "job" and self.job is not None:
            begin_ns = int(self.job["begin_ns"])
            return begin_ns, begin_ns + int(self.job["totals"]["seconds"] * 1e9)
        return self.start_ns, self.end_ns

    def narrowest_window(self) -> str:
        """The shortest window that this run tells of itself."""
        if any(row.t_begin_ns is not None for row in self.rows):
            return "rows"
        return "mpirun" if self.job is None else "job"


def choose_windows(runs: List[Run]) -> None:
    """Good runs of a benchmark have one kind of window: their narrowest, or all of mpirun where that differs."""
    for benchmark in {run.benchmark for run in runs}:
        good = [run for run in runs if run.benchmark == benchmark and run.failure is None]
        kinds = {run.narrowest_window() for run in good}
        window = kinds.pop() if len(kinds) == 1 else "mpirun"
        for run in good:
            run.window = window


@dataclass
class ReferencePoint:
    benchmark: str
    scheme: str
    bytes: int
    latency: Optional[float] = None
    power: Optional[float] = None
    energy: Optional[float] = None


@dataclass
class Reference:
    name: str
    kind: str
    note: str
    break_evens: List[ReferencePoint] = field(default_factory=list)
    points: List[ReferencePoint] = field(default_factory=list)


@dataclass
class Document:
    format: str
    version: int
    created: str
    complete: bool
    command: List[str]
    host: Host
    software: Software
    cluster: Cluster
    provenance: Provenance
    settings: Settings
    runs: List[Run] = field(default_factory=list)
    references: List[Reference] = field(default_factory=list)

    def baseline(self) -> str:
        """The scheme that the others are compared with."""
        return _BASELINES.get(self.settings.family, BASELINE)

    def is_of_applications(self) -> bool:
        """Whether its benchmarks are applications, which have no message sizes."""
        return self.settings.messages is None

    def benchmarks(self) -> List[str]:
        """Benchmarks that have runs, in the order asked for."""
        present = {run.benchmark for run in self.runs}
        return [name for name in self.settings.benchmarks if name in present]

    def schemes(self) -> List[str]:
        """Schemes that have runs, in the order asked for, the baseline first."""
        present = {run.scheme for run in self.runs}
        asked = [name for name in self.settings.schemes if name in present]
        return sorted(asked, key=lambda name: name != self.baseline())

    def good_runs(self, benchmark: str, scheme: str) -> List[Run]:
        """Runs that count, in order of repetition."""
        runs = [
            run
            for run in self.runs
            if (run.benchmark, run.scheme) == (benchmark, scheme) and run.failure is None
        ]
        return sorted(runs, key=lambda run: run.repetition)


def load_schema() -> Schema:
    """The schema of a session's document."""
    return documents.load_schema(*_SCHEMA)


def from_json(data: Any, origin: str) -> Document:
    """Checks and converts a parsed document; origin names it in messages."""
    check_fast(data, *_SCHEMA, origin)
    refuse(_inconsistencies(data), origin)
    document: Document = convert(Document, data)
    return document


def load(path: Path) -> Document:
    """Reads and checks a document, and what is beside it."""
    data = read_json(path)
    runs = data.get("runs", []) if isinstance(data, dict) else []
    for run in runs if isinstance(runs, list) else []:
        if isinstance(run, dict) and isinstance(run.get("id"), str) and "/" not in run["id"] and "states" not in run:
            _put_series_in(run, _series_file(path, run["id"]))
    return from_json(data, str(path))


def save(document: Document, path: Path) -> None:
    """Writes the document so that a reader sees the old or the new one, never a part.  Series, which are most of it, are
    beside it (save_series)."""
    data = dataclasses.asdict(document)
    for run in data["runs"]:
        _take_series_out(run)
    replace(path, json.dumps(data, separators=(",", ":"), allow_nan=False) + "\n")


def save_series(run: Run, path: Path) -> None:
    """Writes the samples and states of a run beside the document at path, whole or not at all."""
    text = json.dumps(_take_series_out(dataclasses.asdict(run)), separators=(",", ":"), allow_nan=False)
    file = _series_file(path, run.id)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace(file, gzip.compress(text.encode("ascii"), mtime=0))


def _series_file(path: Path, run_id: str) -> Path:
    return path.parent / "runs" / run_id / "series.json.gz"


def _take_series_out(run: Dict[str, Any]) -> Dict[str, Any]:
    return {"samples": [energy.pop("samples") for energy in run["energy"]], "states": run.pop("states")}


def _put_series_in(run: Dict[str, Any], file: Path) -> None:
    try:
        series = json.loads(gzip.decompress(file.read_bytes()))
        for energy, samples in zip(run["energy"], series["samples"]):
            energy["samples"] = samples
        run["states"] = series["states"]
    except OSError as error:
        raise DocumentError(f"{file}: cannot be read: {error.strerror or error}: a session's runs/ belongs to its document") from error
    except (EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
        raise DocumentError(f"{file}: is no series of a run: {error!r}") from error


def _inconsistencies(data: Dict[str, Any]) -> Iterator[Problem]:
    """What the schema language cannot say: columns of equal length, times that ascend."""
    for i, run in enumerate(data["runs"]):
        for j, energy in enumerate(run["energy"]):
            yield from _energy_inconsistencies(energy, f"$.runs[{i}].energy[{j}]")
        for j, states in enumerate(run["states"]):
            for k, cpu in enumerate(states["cpus"]):
                path = f"$.runs[{i}].states[{j}].cpus[{k}].changes"
                changes = cpu["changes"]
                for name in ("freq_khz", "duty_percent"):
                    if len(changes[name]) != len(changes["t_ns"]):
                        yield f"{path}.{name}", "is not as long as t_ns"
                yield from _ascending(changes["t_ns"], path + ".t_ns")


def _energy_inconsistencies(energy: Dict[str, Any], path: str) -> Iterator[Problem]:
    samples = energy["samples"]
    if len(samples["uj"]) != len(energy["domains"]):
        yield f"{path}.samples.uj", f"must have one list for each of {energy['domains']}"
    for k, column in enumerate(samples["uj"]):
        if len(column) != len(samples["t_ns"]):
            yield f"{path}.samples.uj[{k}]", "is not as long as t_ns"
        yield from _ascending(column, f"{path}.samples.uj[{k}]")
    yield from _ascending(samples["t_ns"], f"{path}.samples.t_ns")
    for name in energy["total_domains"]:
        if name not in energy["domains"]:
            yield f"{path}.total_domains", f"names {name}, which is not among the domains"


def _ascending(values: List[float], path: str) -> Iterator[Problem]:
    for k in range(1, len(values)):
        if values[k] < values[k - 1]:
            yield f"{path}[{k}]", "is smaller than the one before it"
            return
