# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The tables of the page and of the text summary: the same rows in both."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from bench.report import energy, summary, words
from bench.report.document import BASELINE, Document, Rank, Run


@dataclass
class Table:
    """A title, column heads, rows of text and a note on how to read it."""

    title: str
    heads: List[str]
    rows: List[List[str]]
    note: str


def headline(document: Document) -> Table:
    """Time, power, energy and CPU time per benchmark and scheme."""
    rows = []
    for cell in summary.cells(document):
        runs = str(cell.runs) if not cell.failed else f"{cell.runs} (+{cell.failed} failed)"
        figures = (cell.time_s, cell.power_w, cell.energy_j, cell.cpu_s)
        values = [words.mean_and_deviation(figure.value) for figure in figures]
        rows.append([cell.benchmark, cell.scheme, runs] + values)
    heads = ["benchmark", "scheme", "runs", "time (s)", "power (W)", "energy (J)", "CPU time (s)"]
    note = (
        "Mean ± sample standard deviation over repetitions; power and energy of all nodes. "
        f"{_interval_words(document)} {_provenance_words(document)}"
    )
    return Table("Headline", heads, rows, note)


def ratios(document: Document) -> Table:
    """The headline figures over those of the baseline."""
    rows = []
    for cell in summary.cells(document):
        figures = (cell.time_s, cell.power_w, cell.energy_j, cell.cpu_s)
        found = [cell.latency_ratio] + [figure.ratio for figure in figures]
        rows.append([cell.benchmark, cell.scheme] + [_ratio(cell, ratio) for ratio in found])
    names = ("latency", "time", "power", "energy", "CPU time")
    heads = ["benchmark", "scheme"] + [f"{name} / {BASELINE}" for name in names]
    note = (
        "Taken repetition by repetition, mean ± sample standard deviation; latency: geometric mean "
        f"over message sizes. {_provenance_words(document)}"
    )
    return Table(f"Ratios to {BASELINE}", heads, rows, note)


def latencies(document: Document) -> Table:
    """Average latency by size, one column per scheme."""
    return _by_size(
        document,
        "Average latency (µs) by message size",
        summary.latency_by_size,
        f"{words.time_caption(document)}.",
    )


def energies(document: Document) -> Table:
    """Energy per call by size, one column per scheme."""
    return _by_size(
        document,
        "Energy per call (J) by message size",
        summary.energy_by_size,
        "All nodes; sizes too short for the sampling interval are left out. "
        f"{words.power_caption(document, 'energy')}.",
    )


def domains(document: Document) -> Table:
    """Energy by kind of domain, summed over nodes and mean over repetitions."""
    names = sorted({name for run in document.runs for e in run.energy for name in e.domains})
    rows = []
    for benchmark in document.benchmarks():
        for scheme in document.schemes():
            totals = [energy.domain_totals_j(r) for r in document.good_runs(benchmark, scheme)]
            row = [benchmark, scheme]
            for name in names:
                found = summary.spread([total[name] for total in totals if name in total])
                row.append(words.mean_and_deviation(found))
            rows.append(row)
    counted = sorted({n for run in document.runs for e in run.energy for n in e.total_domains})
    note = f"Joules, all nodes. The energy of a node is the sum of: {', '.join(counted)}. "
    note += words.power_caption(document, "energy") + "."
    heads = ["benchmark", "scheme"] + [f"{name} (J)" for name in names]
    return Table("Energy by domain", heads, rows if names else [], note)


def residencies(document: Document) -> Table:
    """Share of CPU time in each frequency and duty cycle."""
    shares: Dict[Tuple[str, str], Dict[Tuple[Optional[float], float], float]] = {}
    transitions: Dict[Tuple[str, str], List[int]] = {}
    for run in document.runs:
        if run.failure is not None or not run.states:
            continue
        key = (run.benchmark, run.scheme)
        cpus = [cpu for node in run.states for cpu in node.cpus]
        transitions.setdefault(key, []).append(sum(cpu.transitions for cpu in cpus))
        seconds = shares.setdefault(key, {})
        for item in (item for cpu in cpus for item in cpu.residency):
            state = (item.freq_khz, item.duty_percent)
            seconds[state] = seconds.get(state, 0.0) + item.seconds
    found = sorted({s for cell in shares.values() for s in cell}, key=_state_order)
    rows = []
    for key, seconds in shares.items():
        total = sum(seconds.values()) or 1.0
        mean = sum(transitions[key]) / len(transitions[key])
        row = [*key, words.number(mean)]
        rows.append(row + [f"{100 * seconds.get(state, 0.0) / total:.1f}" for state in found])
    order = {name: place for place, name in enumerate(document.benchmarks())}
    schemes = document.schemes()
    rows.sort(key=lambda row: (order[row[0]], schemes.index(row[1])))
    heads = ["benchmark", "scheme", "changes per run"] + [f"{_state(s)} (%)" for s in found]
    note = "Share of the time of all CPUs, over whole runs including their start and end. "
    return Table("States", heads, rows, note + words.states_caption(document) + ".")


def component(document: Document) -> Table:
    """What the component says it did, summed over ranks, mean over repetitions."""
    heads = ["benchmark", "scheme", "calls", "handled", "in collectives (s)"]
    counters = ["pstate_writes", "tstate_writes", "skipped", "errors", "adopted", "yielded"]
    heads += ["P-state writes", "T-state writes", "skipped", "write errors"]
    heads += ["ceilings adopted", "levers yielded", "sleeps", "spun (s)", "rested (s)", "slept (s)"]
    rows = []
    for benchmark in document.benchmarks():
        for scheme in document.schemes():
            runs = document.good_runs(benchmark, scheme)
            if not any(rank.report for run in runs for rank in run.ranks):
                continue
            row = [benchmark, scheme]
            for name in ("calls", "handled", "seconds"):
                row.append(_mean_over(runs, ("collectives", benchmark, name)))
            row += [_mean_over(runs, (name,)) for name in counters]
            waits = ("sleeps", "spin_s", "monitor_s", "sleep_s")
            row += [_mean_over(runs, ("wait", name)) for name in waits]
            rows.append(row)
    note = "Summed over ranks, mean over repetitions; counted by the component in each rank."
    return Table("What the component did", heads, rows, note)


def runs(document: Document) -> Table:
    """Every run with its validation."""
    heads = ["run", "exit", "wall (s)", "time (s)", "energy (J)", "sizes", "data", "result"]
    rows = []
    for run in document.runs:
        joules = energy.run_energy_j(run, document.cluster.nodes)
        rows.append(
            [
                run.id,
                "-" if run.exit_status is None else str(run.exit_status),
                words.number(run.wall_s),
                words.number(summary.run_time_s(run)),
                "-" if joules is None else words.number(joules),
                str(len(run.rows)),
                validation(run),
                run.failure or "ok",
            ]
        )
    return Table("Runs", heads, rows, "In the order they were made. " + _interval_words(document))


def validation(run: Run) -> str:
    """Whether the data that the collective delivered was right."""
    results = {row.validated for row in run.rows}
    if False in results:
        return "wrong"
    if results == {True}:
        return "right"
    return "not checked"


def all_tables(document: Document) -> List[Table]:
    """The tables of the text summary, without empty ones."""
    found = [
        headline(document),
        ratios(document),
        latencies(document),
        energies(document),
        domains(document),
        residencies(document),
        component(document),
        runs(document),
    ]
    return [table for table in found if table.rows]


def _by_size(document: Document, title: str, figures: Any, note: str) -> Table:
    schemes = document.schemes()
    rows = []
    for benchmark in document.benchmarks():
        columns = [figures(document, benchmark, scheme) for scheme in schemes]
        for size in sorted({size for column in columns for size in column}):
            cells = [words.mean_and_deviation(column.get(size)) for column in columns]
            rows.append([benchmark, words.size(size)] + cells)
    return Table(title, ["benchmark", "size"] + schemes, rows, note)


def _provenance_words(document: Document) -> str:
    return (
        f"{words.time_caption(document)}; {words.power_caption(document, 'power and energy')}."
    )


def _interval_words(document: Document) -> str:
    windows = {run.window for run in document.runs}
    if windows == {"rows"}:
        return "Time and energy: from the begin of the first to the end of the last message size."
    if windows == {"mpirun"}:
        return "Time and energy: from start to end of mpirun, as the benchmark tells no times."
    return "Time and energy: over the message sizes where the benchmark tells times, else mpirun."


def _ratio(cell: summary.Cell, ratio: Optional[summary.Spread]) -> str:
    return "1" if cell.scheme == BASELINE and ratio is not None else words.ratio(ratio)


def _state_order(state: Tuple[Optional[float], float]) -> Tuple[float, float]:
    return -(state[0] or 0.0), -state[1]


def _state(state: Tuple[Optional[float], float]) -> str:
    frequency = "" if state[0] is None else f"{state[0] / 1e6:.2f} GHz "
    return f"{frequency}duty {state[1]:g} %"


def _mean_over(runs_: List[Run], path: Tuple[str, ...]) -> str:
    totals = []
    for run in runs_:
        known = [value for value in (_counter(rank, path) for rank in run.ranks) if value is not None]
        if known:
            totals.append(sum(known))
    return words.mean_and_deviation(summary.spread(totals))


def _counter(rank: Rank, path: Tuple[str, ...]) -> Optional[float]:
    value: Any = rank.report
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return float(value) if isinstance(value, (int, float)) else None
