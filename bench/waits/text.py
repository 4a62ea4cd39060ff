# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The tables, which summary and page share, and the summary."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from bench.waits import experiments
from bench.waits.figures import Estimate, Row
from poweraware import wording
from poweraware.table import Table, as_paragraph, as_table


def render(found: Sequence[Row], head: Dict[str, Any]) -> str:
    """The summary."""
    parts = ["\n".join(map(as_paragraph, setting(head)))]
    if head["failures"]:
        parts.append("\n".join(f"FAILED, left out: {line}" for line in head["failures"]))
    parts += [as_table(table) for table in tables(found)]
    parts += goals_met(found)
    return "\n\n".join(parts) + "\n"


def setting(head: Dict[str, Any]) -> List[str]:
    """Where it was measured, what is emulated, what was left out."""
    lines = [
        f"{head['library']} on {head['host']} ({wording.plural(head['cpus'], 'CPU')}), {head['date']}; "
        f"{wording.plural(head['repetitions'], 'job')} of each way at each point."
    ]
    emulated = [layout for layout in head["layouts"] if not layout.startswith("1x")]
    if emulated:
        lines.append(f"Times and CPU seconds are measured. The nodes of {', '.join(emulated)} are emulated: name spaces "
                     "of this machine, which share its CPUs.")  # fmt: skip
    else:
        lines.append("Times and CPU seconds are measured, on this machine.")
    for layout in head["layouts"]:
        nodes, ranks = map(int, layout.split("x"))
        if nodes * ranks > head["cpus"]:
            lines.append(f"{layout}: {nodes * ranks} ranks shared {wording.plural(head['cpus'], 'CPU')}: times are "
                         "stretched, and depend on how the kernel lets ranks take turns.")  # fmt: skip
    if head["awake"]:
        lines.append("A process of the lowest priority kept each CPU from halting, so wakes cost less than on CPUs that "
                     "halt.")  # fmt: skip
    if head["stolen"] >= 0.005:
        lines.append(f"The host of this virtual machine took {head['stolen']:.1%} of its CPUs' time.")
    return lines + [f"{line}." for line in (*head["skipped"], *head["notes"])]


def tables(found: Sequence[Row]) -> List[Table]:
    """One of each experiment that was measured."""
    made = [side_by_side(found)] if any(row.point.openshmem for row in found) else []
    for experiment in experiments.ALL.values():
        mine = [row for row in found if row.point.experiment == experiment.name]
        if mine:
            made.append(table(experiment, mine))
    return made


def side_by_side(found: Sequence[Row]) -> Table:
    """Calls of OpenSHMEM by what carries them and ways: how much of a CPU who waits takes."""
    mine = [row for row in found if row.point.openshmem]
    columns = list(dict.fromkeys((row.point.experiment, row.way) for row in mine))
    shares = {(row.point.collective, row.point.experiment, row.way): row.cpu_share for row in mine}
    lines = []
    for name in dict.fromkeys(row.point.collective for row in mine):
        cells = [shares.get((name, *column)) for column in columns]
        lines.append([name, *("-" if cell is None else percent(cell) for cell in cells)])
    note = ("The last PE is 100 ms late. A dash: the call does not wait for it, or was not measured. Medians over repetitions, "
            "with 95 % intervals.")  # fmt: skip
    return Table("CPU of a waiting PE (% of the call's time)", ["call", *(f"{name}: {way}" for name, way in columns)], lines, note)


def percent(share: Estimate) -> str:
    """With its interval, where there is one."""
    value, low, high = (f"{100 * each:.{1 if 100 * each < 20 else 0}f}" for each in (share.value, share.low, share.high))
    return value if low == high else f"{value} [{low}, {high}]"


def table(experiment: experiments.Experiment, mine: Sequence[Row]) -> Table:
    """Of one experiment."""
    skew = mine[0].point.has_late
    shares = mine[0].point.openshmem
    heads = ["load", "way", "compared with", "time (us)", "ratio [95 %]"]
    heads += ["after (us)", "difference [95 %]"] if skew else []
    heads += ["CPU (% of the call)"] if shares else []
    heads += ["CPU (us)", "ratio [95 %]", "goals met"]
    lines = []
    for row in mine:
        line = [row.point.label, row.way, row.base, wording.number(row.time_us.value), _of(row, row.time_ratio)]
        if skew:
            assert row.after_us is not None
            line += [wording.number(row.after_us.value), _of(row, row.after_more_us)]
        if shares:
            assert row.cpu_share is not None
            line.append(percent(row.cpu_share))
        lines.append(line + [wording.number(row.cpu_us.value), _of(row, row.cpu_ratio), _met(row)])
    return Table(f"{experiment.name}: {experiment.title}", heads, lines, _note(experiment, mine))


def _note(experiment: experiments.Experiment, mine: Sequence[Row]) -> str:
    texts = dict.fromkeys(goal.text for row in mine for goal in experiments.goals(row.point, row.way))
    goals = f" Goals: {'; '.join(texts)}." if texts else ""
    seldom = {row.point.label for row in mine if row.late_was_last is not None and row.late_was_last < 0.9}
    crowd = f" In over 10 % of the calls the late rank was not the last: {'; '.join(sorted(seldom))}." if seldom else ""
    return experiment.note[0].upper() + experiment.note[1:] + goals + crowd


def _of(row: Row, estimate: Optional[Estimate]) -> str:
    """An estimate with its interval."""
    if estimate is None or row.way == row.base:
        return "-"
    if row.repetitions == 1:
        return _short(estimate.value)
    return f"{_short(estimate.value)} [{_short(estimate.low)}, {_short(estimate.high)}]"


def _short(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"


def _met(row: Row) -> str:
    if not row.verdicts:
        return "-"
    missed = [verdict.text.split()[0].replace("at", "after") for verdict in row.verdicts if not verdict.met]
    return f"no ({', '.join(missed)})" if missed else "yes"


def goals_met(found: Sequence[Row]) -> List[str]:
    """How many, for each way that has goals."""
    lines = []
    for way in dict.fromkeys(row.way for row in found if row.verdicts):
        verdicts = [verdict for row in found if row.way == way for verdict in row.verdicts]
        lines.append(f"{way}: {sum(v.met for v in verdicts)} of {wording.plural(len(verdicts), 'goal')} met")
    return lines
