# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The tables of a job: the same rows on the page and in the text."""
from __future__ import annotations

from typing import List, Optional, Sequence

from poweraware import decisions, words
from poweraware.job import CallClass, Job, Node, Sums
from poweraware.table import Table, as_paragraph, as_table
from poweraware.wording import OTHERS, OUTSIDE, levers_off, number, plural, size

_ATTRIBUTED = "energy of calls"


def all_tables(job: Job) -> List[Table]:
    """In the order of the page."""
    decided = decisions.table(job)
    return [totals(job), *([regions(job)] if job.regions else []), classes(job), *([decided] if decided.rows else []), nodes(job)]


def totals(job: Job) -> Table:
    """What the job came to."""
    calls = job.all_calls()
    energy = job.provenance.energy.kind
    where = f"in {job.kinds_of_calls()}"
    of_calls = f"of the time {where}"
    rows = [
        ["time", f"{number(job.totals.seconds)} s", ""],
        ["energy", _joules(job.totals.joules), _energy_note(job)],
        ["mean power", _with_unit(job.totals.mean_watts, "W"), energy],
        ["CPU time", f"{number(job.totals.cpu_s)} s", _share(job.totals.cpu_s, job.totals.process_s, "of all processes' time")],
        ["set-up", f"{number(job.totals.setup_s)} s", _share(job.totals.setup_s, job.totals.process_s, "of all processes' time, by poweraware")],
        [where, f"{number(calls.seconds)} s", _share(calls.seconds, job.totals.process_s, "of all processes' time")],
        ["of it asleep", f"{number(calls.sleep_s)} s", _share(calls.sleep_s, calls.seconds, of_calls)],
        ["of it spinning", f"{number(calls.spin_s)} s", _share(calls.spin_s, calls.seconds, of_calls)],
        [_ATTRIBUTED, _joules(calls.joules), _calls_note(job, calls)],
    ]
    for name, title in job.lever_titles().items():
        seconds = calls.held_s.get(name, 0.0)
        if seconds > 0.0:
            rows.insert(-1, [f"of it with {title} lowered", f"{number(seconds)} s", _share(seconds, calls.seconds, of_calls)])
    return Table("The job", ["", "all nodes", ""], rows, job.provenance.time.note)


def regions(job: Job) -> Table:
    """One row per region that the program has marked, and what is outside of them."""
    outside = [job.totals.process_s - sum(each.process_s for each in job.regions), job.totals.cpu_s - sum(each.cpu_s for each in job.regions)]
    rows = [
        [each.name or OTHERS, str(each.entered), number(each.process_s), _percent(each.process_s, job.totals.process_s),
         _percent(each.cpu_s, each.process_s), _percent(each.calls.seconds, each.process_s), _percent(each.calls.sleep_s, each.process_s),
         "-" if each.joules is None else number(each.joules)]
        for each in job.regions
    ]  # fmt: skip
    rows.append([OUTSIDE, "", number(max(0.0, outside[0])), _percent(max(0.0, outside[0]), job.totals.process_s),
                 _percent(max(0.0, outside[1]), outside[0]), "", "", ""])  # fmt: skip
    heads = ["region", "entered", "time (s)", "of all (%)", "CPU (%)", f"in {job.kinds_of_calls()} (%)", "asleep (%)", "energy (J)"]
    note = f"All processes together; time counts for the innermost region. Energy: {job.provenance.attribution.kind}, calls included."
    return Table("Regions of the program", heads, rows, note)


def classes(job: Job) -> Table:
    """One row per class of calls."""
    rows = [_class_row(each) for each in job.calls]
    if job.other_calls.calls > 0:
        rows.append([OTHERS, "", "", "", *_figures(job.other_calls)])
    heads = ["communicator", "collective", "algorithm", "up to", "calls", "time (s)", "mean (µs)", "longest (ms)",
             "CPU (%)", "spinning (%)", "asleep (%)", "energy (J)"]  # fmt: skip
    note = f"All processes together. Energy of calls: {job.provenance.attribution.kind}. {job.provenance.attribution.note}"
    return Table("Calls", heads, rows, note)


def nodes(job: Job) -> Table:
    """One row per node."""
    titles = job.lever_titles().values()
    heads = ["node", "processes", "CPU time (s)", "energy (J)", "±", "by", *titles, "writes", "remark"]
    note = f"{job.provenance.energy.note} A node's remark says why it has no better meter, or no levers."
    return Table("Nodes", heads, [_node_row(node) for node in job.nodes], note)


def side_by_side(jobs: Sequence[Job], labels: Sequence[str]) -> Table:
    """One row per job; what differs by chance, compare tells."""
    heads = ["job", "time (s)", "energy (J)", "mean power (W)", "CPU time (s)", "in collectives (s)", "of it asleep (%)"]
    rows = []
    for job, label in zip(jobs, labels):
        calls = job.all_calls()
        figures = (job.totals.seconds, job.totals.joules, job.totals.mean_watts, job.totals.cpu_s, calls.seconds)
        rows.append([label, *("-" if value is None else number(value) for value in figures), _percent(calls.sleep_s, calls.seconds)])
    note = f"One run each: poweraware compare tells what differs by more than chance. Energy: {jobs[0].provenance.energy.kind}."
    return Table("The jobs", heads, rows, note)


def _class_row(each: CallClass) -> List[str]:
    comm = OTHERS if each.communicator is None else f"{each.communicator or '-'} ({each.size})"
    up_to = "-" if each.up_to_bytes is None else size(each.up_to_bytes)
    return [comm, each.collective, each.algorithm, up_to, *_figures(each)]


def _figures(sums: Sums) -> List[str]:
    return [
        str(sums.calls),
        number(sums.seconds),
        number(1e6 * sums.seconds / max(1, sums.calls)),
        number(1e3 * sums.longest_s),
        _percent(sums.cpu_s, sums.seconds),
        _percent(sums.spin_s, sums.seconds),
        _percent(sums.sleep_s, sums.seconds),
        "-" if sums.joules is None else number(sums.joules),
    ]


def _node_row(node: Node) -> List[str]:
    energy, levers = node.energy, node.levers
    known = plural(node.processes, "process") if node.reported == node.processes else f"{node.reported} of {node.processes}"
    share = f"1/{energy.shared_by} of its machine's energy" if energy.shared_by > 1 else None
    remarks = [text for text in (share, energy.remark, *levers_off((lever.title, lever.why_off) for lever in levers)) if text]
    return [
        node.host,
        known.replace("processs", "processes"),
        number(node.cpu_s),
        "-" if energy.joules is None else number(energy.joules),
        "-" if energy.uncertainty_j is None else number(energy.uncertainty_j),
        f"{energy.source} ({energy.provenance})" if energy.source else "-",
        *(lever.backend or "-" for lever in levers),
        str(sum(lever.writes for lever in levers)),
        "; ".join(remarks),
    ]


def _energy_note(job: Job) -> str:
    if job.totals.joules is None:
        return job.provenance.energy.note
    return f"± {number(job.totals.uncertainty_j or 0.0)} J; {job.provenance.energy.kind}, whole nodes"


def _calls_note(job: Job, calls: Sums) -> str:
    if calls.joules is None or not job.totals.joules:
        return ""
    return f"{_percent(calls.joules, job.totals.joules)} % of the energy; {job.provenance.attribution.kind}"


def _joules(value: Optional[float]) -> str:
    return _with_unit(value, "J")


def _with_unit(value: Optional[float], unit: str) -> str:
    return "-" if value is None else f"{number(value)} {unit}"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole > 0 else "-"


def _share(part: float, whole: float, of: str) -> str:
    return f"{_percent(part, whole)} % {of}" if whole > 0 else ""


def as_text(job: Job) -> str:
    """All tables as plain text, the job's warnings first and provenance last."""
    parts = [as_paragraph(line) for line in (words.setting(job), decisions.sentence(job)) if line]
    parts += [as_paragraph("WARNING: " + line) for line in words.warnings(job)]
    parts += [as_table(table) for table in all_tables(job)]
    parts += ["What is measured, what is not"]
    parts += [as_paragraph(line) for line in words.provenance(job)]
    return "\n\n".join(parts)
