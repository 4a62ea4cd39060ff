# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The headline figures of a document: time, power and energy per benchmark and scheme."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Tuple

from poweraware import ratios
from poweraware.ratios import Ratio
from poweraware.session import energy, jobs
from poweraware.session.document import ROOTED, Document, Row, Run
from poweraware.wording import OUTSIDE

BYTES_PER_MB = 1e6

RowFigure = Callable[[Document, Run, Row], Optional[float]]


@dataclass
class Spread:
    """Mean and sample standard deviation over repetitions (0 when there is only one)."""

    mean: float
    deviation: float
    count: int


def spread(values: List[float]) -> Optional[Spread]:
    """The arithmetic mean, of counts and shares; None without values."""
    if not values:
        return None
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return Spread(statistics.fmean(values), deviation, len(values))


def middle(values: List[float]) -> Optional[Spread]:
    """The geometric mean, of what is compared as ratios, so that means have the ratio that is told; None without values.
    The deviation is that of logarithms, as a part of the mean."""
    if not values or min(values) <= 0:
        return spread(values)
    mean = ratios.geometric_mean(values)
    scatter = statistics.stdev(map(math.log, values)) if len(values) > 1 else 0.0
    return Spread(mean, mean * scatter, len(values))


@dataclass
class Quantity:
    """One measured quantity of a cell, and its ratio to the baseline, repetition by repetition."""

    value: Optional[Spread]
    ratio: Optional[Ratio]


@dataclass
class Cell:
    """One benchmark under one scheme."""

    benchmark: str
    scheme: str
    runs: int
    failed: int
    latency_ratio: Optional[Ratio]  # geometric mean over sizes of latency / baseline latency
    time_s: Quantity
    power_w: Quantity
    energy_j: Quantity
    cpu_s: Quantity


@dataclass
class RegionCell:
    """One region of a benchmark under one scheme; figures are of all processes together."""

    benchmark: str
    region: str
    scheme: str
    time_s: Quantity
    cpu_s: Quantity
    energy_j: Quantity
    in_calls_percent: Optional[Spread]


def run_time_s(run: Run) -> float:
    """Seconds of the interval that the energy is taken over."""
    begin_ns, end_ns = run.interval_ns()
    return (end_ns - begin_ns) / energy.NS_PER_S


def run_power_w(run: Run, nodes: int) -> Optional[float]:
    """Mean watts of all nodes over that interval."""
    joules = energy.run_energy_j(run, nodes)
    seconds = run_time_s(run)
    return None if joules is None or seconds <= 0 else joules / seconds


def run_cpu_s(run: Run) -> Optional[float]:
    """CPU seconds of all ranks over all message sizes, where the benchmark tells them, else in the job."""
    known = [rank.cpu_s for rank in run.ranks if rank.cpu_s is not None]
    return sum(known) if known and len(known) == len(run.ranks) else jobs.cpu_s(run)


def latency_us(run: Run, row: Row) -> float:
    """Mean over ranks; of collectives with a root, where ranks that need not wait return early, of the slowest rank."""
    return row.avg_us if run.benchmark not in ROOTED or row.max_us is None else row.max_us


def latency_ratio(run: Run, base: Run) -> Optional[float]:
    """Geometric mean over the common sizes of run's latency over base's."""
    before = {row.bytes: latency_us(base, row) for row in base.rows}
    logs = [
        math.log(latency_us(run, row) / before[row.bytes])
        for row in run.rows
        if before.get(row.bytes, 0.0) > 0 and latency_us(run, row) > 0
    ]
    return math.exp(statistics.fmean(logs)) if logs else None


def cell(document: Document, benchmark: str, scheme: str) -> Cell:
    """The headline figures of one benchmark under one scheme."""
    nodes = document.cluster.nodes
    runs = document.good_runs(benchmark, scheme)
    base = _baseline_runs(document, benchmark)
    made = [r for r in document.runs if (r.benchmark, r.scheme) == (benchmark, scheme)]
    latency = [latency_ratio(run, base[run.repetition]) for run in runs if run.repetition in base]
    return Cell(
        benchmark=benchmark,
        scheme=scheme,
        runs=len(runs),
        failed=len(made) - len(runs),
        latency_ratio=_of_ones([value for value in latency if value is not None]),
        time_s=_quantity(runs, base, run_time_s),
        power_w=_quantity(runs, base, lambda run: run_power_w(run, nodes)),
        energy_j=_quantity(runs, base, lambda run: energy.run_energy_j(run, nodes)),
        cpu_s=_quantity(runs, base, run_cpu_s),
    )


def share_saved(document: Document, benchmark: str, scheme: str) -> Optional[Spread]:
    """Of the energy that the baseline took beyond the floor, the part that the scheme did not take: 1 when it took no more than
    sleeping cores would have, and more when it took less time.  None where the floor of what was sampled is not known."""
    nodes, floor_w = document.cluster.nodes, document.cluster.floor_w
    if floor_w is None:
        return None
    base = _baseline_runs(document, benchmark)
    found = []
    for run in document.good_runs(benchmark, scheme):
        whole = [run, base[run.repetition]] if run.repetition in base else []
        joules = [energy.run_energy_j(each, nodes) for each in whole if _samples_whole_nodes(each)]
        if len(joules) == 2 and joules[0] is not None and joules[1] is not None:
            savable = joules[1] - floor_w * run_time_s(base[run.repetition])
            found += [(joules[1] - joules[0]) / savable] if savable > 0 else []
    return spread(found)


def _baseline_runs(document: Document, benchmark: str) -> Dict[int, Run]:
    """By repetition."""
    return {run.repetition: run for run in document.good_runs(benchmark, document.baseline())}


def _samples_whole_nodes(run: Run) -> bool:
    return all(each.total_domains == [energy.WHOLE_NODE] for each in run.energy)


def overall(document: Document, scheme: str, figure: Callable[[Run], Optional[float]]) -> Optional[Ratio]:
    """A figure over the baseline's, all benchmarks together: geometric mean over those, in pairs of repetitions.  None: some
    benchmark has no such pair."""
    found: Dict[int, List[Tuple[float, float]]] = {}
    benchmarks = document.benchmarks()
    for benchmark in benchmarks:
        base = {run.repetition: figure(run) for run in document.good_runs(benchmark, document.baseline())}
        for run in document.good_runs(benchmark, scheme):
            mine, other = figure(run), base.get(run.repetition)
            if mine is not None and other is not None and mine > 0 and other > 0:
                found.setdefault(run.repetition, []).append((mine, other))
    pairs = [list(zip(*values)) for _, values in sorted(found.items()) if len(values) == len(benchmarks)]
    return ratios.paired([ratios.geometric_mean(pair[0]) for pair in pairs], [ratios.geometric_mean(pair[1]) for pair in pairs])


def cells(document: Document) -> List[Cell]:
    """All cells, by benchmark, then by scheme, the baseline first."""
    return [
        cell(document, benchmark, scheme)
        for benchmark in document.benchmarks()
        for scheme in document.schemes()
    ]


def region_cells(document: Document) -> List[RegionCell]:
    """By benchmark, region and scheme, the baseline first; none where programs mark no regions."""
    found = [
        _region_cell(document, benchmark, region, scheme)
        for benchmark in document.benchmarks()
        for region in _regions(document, benchmark)
        for scheme in document.schemes()
    ]
    return [cell for cell in found if cell.time_s.value is not None]


def _regions(document: Document, benchmark: str) -> List[str]:
    """In the order in which they were met, what is outside of them last."""
    runs = [run for scheme in document.schemes() for run in document.good_runs(benchmark, scheme)]
    return sorted(dict.fromkeys(name for run in runs for name in jobs.regions(run)), key=lambda name: name == OUTSIDE)


def _region_cell(document: Document, benchmark: str, region: str, scheme: str) -> RegionCell:
    runs = document.good_runs(benchmark, scheme)
    base = _baseline_runs(document, benchmark)
    known = [jobs.regions(run)[region] for run in runs if region in jobs.regions(run)]
    shares = [100 * each.in_calls_s / each.seconds for each in known if each.in_calls_s is not None and each.seconds > 0]

    def quantity(figure: str) -> Quantity:
        return _quantity(runs, base, lambda run: getattr(jobs.regions(run).get(region), figure, None))

    return RegionCell(benchmark, region, scheme, quantity("seconds"), quantity("cpu_s"), quantity("joules"), spread(shares))


def latency_by_size(document: Document, benchmark: str, scheme: str) -> Dict[int, Spread]:
    """Latency in us per message size, over the runs that count."""
    values: Dict[int, List[float]] = {}
    for run in document.good_runs(benchmark, scheme):
        for row in run.rows:
            values.setdefault(row.bytes, []).append(latency_us(run, row))
    return _spreads(values)


def energy_by_size(document: Document, benchmark: str, scheme: str) -> Dict[int, Spread]:
    """Joules of all nodes per call and message size, where the samples resolve it in every
    repetition: with only the longest repetitions the mean would be too high."""
    values: Dict[int, List[float]] = {}
    for run in document.good_runs(benchmark, scheme):
        for row in run.rows:
            joules = energy.row_energy_j(run, row, document.cluster.nodes, document.settings.interval_ms)
            operations = row.operations_in_window()
            if joules is not None and operations:
                values.setdefault(row.bytes, []).append(joules / operations)
    runs = len(document.good_runs(benchmark, scheme))
    return _spreads({size: found for size, found in values.items() if len(found) == runs})


def row_power_w(document: Document, run: Run, row: Row) -> Optional[float]:
    """Mean watts of all nodes while a size ran; None where the samples do not resolve it."""
    joules = energy.row_energy_j(run, row, document.cluster.nodes, document.settings.interval_ms)
    if joules is None or row.t_begin_ns is None or row.t_end_ns is None:
        return None
    return joules * energy.NS_PER_S / (row.t_end_ns - row.t_begin_ns)


def row_energy_j_per_mb(document: Document, run: Run, row: Row) -> Optional[float]:
    """Joules of all nodes per megabyte that all ranks moved, where that is told and the samples resolve it."""
    joules = energy.row_energy_j(run, row, document.cluster.nodes, document.settings.interval_ms)
    return None if joules is None or not row.moved_bytes else joules / (row.moved_bytes / BYTES_PER_MB)


def pairs_by_size(document: Document, benchmark: str, scheme: str, figure: RowFigure) -> Dict[int, Dict[int, float]]:
    """A figure of each size over the baseline's, by repetition.  Sizes that lack one in some repetition are left out: of energies
    only the longest repetitions would be there."""
    base = {
        (run.repetition, row.bytes): figure(document, run, row)
        for run in document.good_runs(benchmark, document.baseline())
        for row in run.rows
    }
    found: Dict[int, Dict[int, float]] = {}
    for run in document.good_runs(benchmark, scheme):
        for row in run.rows:
            mine, other = figure(document, run, row), base.get((run.repetition, row.bytes))
            if mine and other:
                found.setdefault(row.bytes, {})[run.repetition] = mine / other
    paired = {repetition for repetition, _ in base} & {run.repetition for run in document.good_runs(benchmark, scheme)}
    return {size: pairs for size, pairs in found.items() if set(pairs) == paired}


def power_by_size(document: Document, benchmark: str, scheme: str) -> Dict[int, Spread]:
    """Mean watts of all nodes while a size ran, with what passed between its calls, where the samples resolve it."""
    values: Dict[int, List[float]] = {}
    for run in document.good_runs(benchmark, scheme):
        for row in run.rows:
            watts = row_power_w(document, run, row)
            if watts is not None:
                values.setdefault(row.bytes, []).append(watts)
    return _spreads(values)


def why_no_energy(document: Document) -> Optional[str]:
    """Why no run has an energy; None when at least one has."""
    reasons = [energy.why_no_energy(run, document.cluster.nodes) for run in document.runs]
    if not reasons:
        return "there are no runs"
    return None if None in reasons else reasons[0]


def _quantity(
    runs: List[Run], base: Dict[int, Run], figure: Callable[[Run], Optional[float]]
) -> Quantity:
    values: List[float] = []
    pairs: List[float] = []
    for run in runs:
        value = figure(run)
        if value is None:
            continue
        values.append(value)
        before = figure(base[run.repetition]) if run.repetition in base else None
        if before and value > 0:
            pairs.append(value / before)
    return Quantity(middle(values), _of_ones(pairs))


def _of_ones(found: List[float]) -> Optional[Ratio]:
    """Of ratios that were taken repetition by repetition."""
    return ratios.paired(found, [1.0] * len(found))


def _spreads(values: Dict[int, List[float]]) -> Dict[int, Spread]:
    result: Dict[int, Spread] = {}
    for size in sorted(values):
        found = middle(values[size])
        if found is not None:
            result[size] = found
    return result
