# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The tables of the page and of the text summary: the same rows in both."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from poweraware import wording
from poweraware.ratios import Ratio
from poweraware.session import energy, jobs, onesided, summary, words
from poweraware.session.document import WAITS, Document, Run
from poweraware.table import Table, without_empty_columns


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
        "Geometric mean ± standard deviation over repetitions; power and energy of all nodes. "
        f"{_interval_words(document)} {_provenance_words(document)}"
    )
    return Table("Headline", heads, rows, note)


def ratios(document: Document) -> Table:
    """The headline figures over those of the baseline."""
    rows = []
    for cell in summary.cells(document):
        figures = (cell.time_s, cell.power_w, cell.energy_j, cell.cpu_s)
        found = [cell.latency_ratio] + [figure.ratio for figure in figures]
        rows.append([cell.benchmark, cell.scheme] + [_ratio(document, cell.scheme, ratio) for ratio in found])
    names = ("latency", "time", "power", "energy", "CPU time")
    heads = ["benchmark", "scheme"] + [f"{name} / {document.baseline()}" for name in names]
    note = (
        "Taken repetition by repetition: geometric mean and its 95 % interval; latency: geometric mean "
        f"over message sizes, too. {words.too_few(document)}{words.latency_caption(document)}{_provenance_words(document)}"
    )
    return Table(f"Ratios to {document.baseline()}", heads, rows, note)


def savings(document: Document) -> Table:
    """What was saved of what can be."""
    rows = []
    for benchmark in document.benchmarks():
        for scheme in document.schemes()[1:]:
            share = summary.share_saved(document, benchmark, scheme)
            rows += [] if share is None else [[benchmark, scheme, words.mean_and_deviation(share)]]
    note = (
        f"Energy saved over the energy of {document.baseline()} beyond the floor, {document.cluster.floor_w or 0:g} W of all nodes with "
        "every core asleep: 1 is all, and a shorter time saves of the floor, too. Mean ± standard deviation over repetitions. "
        f"{_provenance_words(document)}"
    )
    return Table("Share of what can be saved", ["benchmark", "scheme", "share"], rows, note)


def regions(document: Document) -> Table:
    """What the programs have marked, under each scheme."""
    heads = ["benchmark", "region", "scheme", "time (s)", "in collectives (%)", "CPU time (s)", "energy (J)"]
    rows = []
    for cell in summary.region_cells(document):
        values = (cell.time_s.value, cell.in_calls_percent, cell.cpu_s.value, cell.energy_j.value)
        rows.append([cell.benchmark, cell.region, cell.scheme, *map(words.mean_and_deviation, values)])
    note = (
        "All processes together, from the jobs' documents; time counts for the innermost region. Geometric mean (of shares the "
        f"mean) ± standard deviation. {_provenance_of_regions(document)}"
    )
    return Table("Regions of the programs", heads, rows, note)


def region_ratios(document: Document) -> Table:
    """The same over the baseline."""
    heads = ["benchmark", "region", "scheme", *(f"{name} / {document.baseline()}" for name in ("time", "CPU time", "energy"))]
    rows = []
    for cell in summary.region_cells(document):
        found = [figure.ratio for figure in (cell.time_s, cell.cpu_s, cell.energy_j)]
        rows.append([cell.benchmark, cell.region, cell.scheme, *(_ratio(document, cell.scheme, ratio) for ratio in found)])
    note = (
        "Taken repetition by repetition: geometric mean and its 95 % interval. "
        f"{words.too_few(document)}{_provenance_of_regions(document)}"
    )
    return Table(f"Ratios of regions to {document.baseline()}", heads, rows, note)


def latencies(document: Document) -> Table:
    """Average latency by size, one column per scheme."""
    return _by_size(
        document,
        "Latency (µs) by message size",
        summary.latency_by_size,
        f"{words.latency_caption(document)}{words.time_caption(document)}.",
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
        row = [*key, wording.number(mean)]
        rows.append(row + [f"{100 * seconds.get(state, 0.0) / total:.1f}" for state in found])
    order = {name: place for place, name in enumerate(document.benchmarks())}
    schemes = document.schemes()
    rows.sort(key=lambda row: (order[row[0]], schemes.index(row[1])))
    heads = ["benchmark", "scheme", "changes per run"] + [f"{_state(s)} (%)" for s in found]
    note = "Share of the time of all CPUs, over whole runs including their start and end. "
    return Table("States", heads, rows, note + words.states_caption(document) + ".")


def component(document: Document) -> Table:
    """What the component says it did, summed over ranks, mean over repetitions."""
    heads = ["benchmark", "scheme", "calls", "in collectives (s)", "spun (s)", "rested (s)", "slept (s)"]
    titles = list(dict.fromkeys(title for run in document.runs for title in jobs.of_levers(run, "writes")))
    heads += [f"{title} written" for title in titles] + ["skipped"]
    rows = []
    for benchmark in document.benchmarks():
        for scheme in document.schemes():
            known = [run for run in document.good_runs(benchmark, scheme) if run.job is not None]
            if not known:
                continue
            figures = ("calls", "seconds", "spin_s", "monitor_s", "sleep_s")
            row = [_mean(_calls(run, document, figure) for run in known) for figure in figures]
            row += [_mean(jobs.of_levers(run, "writes").get(title) for run in known) for title in titles]
            row += [_mean(sum(jobs.of_levers(run, "skipped").values()) for run in known)]
            rows.append([benchmark, scheme, *row])
    note = "Summed over ranks, mean over repetitions, from the job's document; "
    note += "calls of the benchmark's collective." if _is_of_one_collective(document) else "all calls."
    return Table("What the component did", heads, rows, note)


def programs(document: Document) -> Table:
    """What ran as each benchmark of a family of applications."""
    rows = [[each.benchmark, each.label, each.origin] for each in document.settings.programs]
    note = "ours: made by this project; given: the user's own build; packaged: of the distribution."
    return Table("Programs", ["benchmark", "what it is", "origin"], rows if document.is_of_applications() else [], note)


def applications(document: Document) -> Table:
    """Times of applications, their own and in collectives."""
    heads = ["benchmark", "scheme", "own time (s)", "mpirun (s)", *(f"{name} (%)" for name in jobs.PARTS), "results"]
    rows = []
    for benchmark in document.benchmarks() if document.is_of_applications() else []:
        for scheme in document.schemes():
            found = document.good_runs(benchmark, scheme)
            parts = [jobs.per_process_s(run) for run in found]
            row = [
                _mean(run.result.seconds if run.result is not None else None for run in found),
                _mean(run.wall_s for run in found),
                *(_mean(None if part is None else 100 * part[name] / (sum(part.values()) or 1.0) for part in parts) for name in jobs.PARTS),
                ", ".join(sorted({validation(document, run) for run in found})) or "-",
            ]
            rows.append([benchmark, scheme, *row])
    note = "Shares are of a process's time from MPI_Init to MPI_Finalize. " + words.time_caption(document) + "."
    return Table("Applications", heads, rows, note)


def paper(documents: Sequence[Document]) -> Table:
    """Energy of applications as the paper prints it (ICPP 2010, tables I and II): a row per scheme, a column per
    application and number of ranks."""
    columns = [
        (document, benchmark)
        for document in documents
        if document.is_of_applications()
        for benchmark in document.benchmarks()
    ]
    schemes = list(dict.fromkeys(scheme for document, _ in columns for scheme in document.schemes()))
    rows = [[scheme, *(_energy(document, benchmark, scheme) for document, benchmark in columns)] for scheme in schemes]
    heads = ["scheme", *(f"{benchmark}, {document.cluster.ranks} ranks (J)" for document, benchmark in columns)]
    kinds = " and ".join(sorted({document.provenance.energy.kind for document, _ in columns}))
    note = (
        f"All nodes, geometric mean ± standard deviation. In brackets: change against the first scheme and its 95 % interval, where "
        f"a change is shown. Energy: {kinds}."
    )
    return Table("Energy of applications, as tables I and II of the paper", heads, rows if columns else [], note)


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
                wording.number(run.wall_s),
                wording.number(summary.run_time_s(run)),
                "-" if joules is None else wording.number(joules),
                str(len(run.rows)),
                validation(document, run),
                run.failure or "ok",
            ]
        )
    failed = "Of failed runs: from start to end of mpirun." if any(run.failure is not None for run in document.runs) else ""
    notes = ["In the order they were made.", _interval_words(document), failed]
    return Table("Runs", heads, rows, " ".join(note for note in notes if note))


def validation(document: Document, run: Run) -> str:
    """Whether the data that the collective delivered was right, or an application's results."""
    if run.result is not None and run.result.verified is None and _was_compared(document, run):
        return "as in other runs"
    results = {row.validated for row in run.rows} if run.result is None else {run.result.verified}
    if False in results:
        return "wrong"
    if results == {True}:
        return "right"
    return "not checked"


def _was_compared(document: Document, run: Run) -> bool:
    """Whether the total energy of a good run was compared with another's; those that differ have failed."""
    told = [other for other in document.runs if other.benchmark == run.benchmark and other.failure is None and _tells_energy(other)]
    return run in told and len(told) > 1


def _tells_energy(run: Run) -> bool:
    return run.result is not None and run.result.total_energy is not None


def all_tables(document: Document) -> List[Table]:
    """The tables of the text summary, without empty ones."""
    found = [
        headline(document),
        ratios(document),
        savings(document),
        onesided.table16(document),
        regions(document),
        region_ratios(document),
        programs(document),
        applications(document),
        latencies(document),
        energies(document),
        domains(document),
        residencies(document),
        component(document),
        runs(document),
    ]
    return [without_empty_columns(table) for table in found if table.rows]


def _by_size(document: Document, title: str, figures: Any, note: str) -> Table:
    schemes = document.schemes()
    rows = []
    for benchmark in document.benchmarks():
        columns = [figures(document, benchmark, scheme) for scheme in schemes]
        for size in sorted({size for column in columns for size in column}):
            cells = [words.mean_and_deviation(column.get(size)) for column in columns]
            rows.append([benchmark, wording.size(size)] + cells)
    return Table(title, ["benchmark", "size"] + schemes, rows, note)


def _provenance_words(document: Document) -> str:
    return (
        f"{words.time_caption(document)}; {words.power_caption(document, 'power and energy')}."
    )


def _provenance_of_regions(document: Document) -> str:
    return f"{words.time_caption(document)}; {words.regions_caption(document)}."


_WINDOWS = {
    "rows": "from the begin of the first to the end of the last message size",
    "job": "from poweraware's first line in MPI_Init to MPI_Finalize",
    "mpirun": "from start to end of mpirun, as some runs have no document of their job",
}


def _interval_words(document: Document) -> str:
    found = {run.window for run in document.runs if run.failure is None}
    each = [f"{_WINDOWS[window]} ({window})" if len(found) > 1 else _WINDOWS[window] for window in _WINDOWS if window in found]
    return f"Time and energy: {'; '.join(each)}." if each else ""


def _ratio(document: Document, scheme: str, ratio: Optional[Ratio]) -> str:
    return "1" if scheme == document.baseline() and ratio is not None else words.ratio(ratio)


def _state_order(state: Tuple[Optional[float], float]) -> Tuple[float, float]:
    return -(state[0] or 0.0), -state[1]


def _state(state: Tuple[Optional[float], float]) -> str:
    frequency = "" if state[0] is None else f"{state[0] / 1e6:.2f} GHz "
    return f"{frequency}duty {state[1]:g} %"


def _mean(values: Iterable[Optional[float]]) -> str:
    known = [value for value in values if value is not None]
    return words.mean_and_deviation(summary.spread(known))


def _is_of_one_collective(document: Document) -> bool:
    return not document.is_of_applications() and document.settings.family not in (onesided.FAMILY, WAITS)


def _calls(run: Run, document: Document, figure: str) -> Optional[float]:
    if _is_of_one_collective(document):
        return jobs.of_collective(run, run.benchmark, figure)
    return jobs.of_all_calls(run, figure)


def _energy(document: Document, benchmark: str, scheme: str) -> str:
    figures = summary.cell(document, benchmark, scheme).energy_j
    text = words.mean_and_deviation(figures.value)
    if figures.ratio is not None and scheme != document.baseline() and figures.ratio.change():
        text += f" ({figures.ratio.change()})"
    return text
