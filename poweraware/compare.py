# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Repeated runs against each other: what differs, how much, and how sure that is.

Figures are compared as ratios, so on logarithms: Welch's t, which allows for unequal scatter.  Intervals and verdicts
hold for all figures of a group together (Bonferroni), at 99 %: who compares a hundred pairs of equal groups sees a
difference in about one of them.
"""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from poweraware import job
from poweraware.documents import DocumentError, read_json
from poweraware.job import Job
from poweraware.student import quantile
from poweraware.table import Table, as_paragraph, as_table
from poweraware.wording import number

LEVEL = 0.99  # of all figures of a group together
POWER = 0.95  # with which the number of repetitions that is asked for finds the difference
_FEWEST = 2
_MOST = 10_000
_SURENESS = 0.8  # that noise is no larger than what repetitions are asked for

FIGURES: Dict[str, Tuple[str, Callable[[Job], Optional[float]]]] = {
    "time": ("s", lambda run: run.totals.seconds),
    "energy": ("J", lambda run: run.totals.joules),
    "mean power": ("W", lambda run: run.totals.mean_watts),
    "CPU time": ("s", lambda run: run.totals.cpu_s),
}

# What must be alike, and how it is called; settings are what is compared.
ALIKE: Dict[str, Callable[[Job], object]] = {
    "the command": lambda run: [run.job.program, *run.job.command[1:]],
    "the number of processes": lambda run: run.processes,
    "processes per node": lambda run: sorted(node.processes for node in run.nodes),
    "CPUs per node": lambda run: sorted(node.cpus for node in run.nodes),
    "the version of Open MPI": lambda run: run.software.open_mpi,
    "where energy comes from": lambda run: run.provenance.energy.kind,
}


@dataclass(frozen=True)
class Group:
    """Runs that are taken for repetitions of one another."""

    name: str
    runs: List[Job]


@dataclass(frozen=True)
class Ratio:
    """A figure of a group over that of the first one."""

    figure: str
    first: float  # geometric means
    other: float
    low: float
    high: float
    repetitions: int  # of each group that find the difference asked for
    enough: bool

    @property
    def middle(self) -> float:
        return self.other / self.first

    @property
    def differs(self) -> bool:
        return self.low > 1.0 or self.high < 1.0


@dataclass(frozen=True)
class Comparison:
    """All groups against the first."""

    groups: List[Group]
    difference: float
    ratios: List[List[Ratio]]  # of each group but the first
    remarks: List[str]

    def differs(self) -> bool:
        return any(ratio.differs for ratios in self.ratios for ratio in ratios)


def load(path: Path) -> Group:
    """The runs of a folder, or a single one."""
    if not path.exists():
        raise DocumentError(f"{path}: there is no such file or folder")
    if not path.is_dir() or (path / "job.json").exists():
        return Group(str(path), [job.load(path)])
    found = sorted(path.glob("*/job.json"))
    found = found or [each for each in sorted(path.glob("*.json")) if _is_job(each)]
    if not found:
        raise DocumentError(f"{path}: there are no runs in it (folders with a job.json, or documents)")
    return Group(str(path), [job.load(each) for each in found])


def compare(groups: Sequence[Group], difference: float) -> Comparison:
    """Raises a DocumentError when the runs are not alike."""
    _refuse_unlike(groups)
    names = [name for name in FIGURES if all(_value(run, name) for group in groups for run in group.runs)]
    ratios = [[_ratio(name, groups[0], other, len(names), difference) for name in names] for other in groups[1:]]
    return Comparison(list(groups), difference, ratios, _remarks(groups, names))


# ---- what can be compared ----


def _is_job(path: Path) -> bool:
    data = read_json(path)
    return isinstance(data, dict) and data.get("format") == job.FORMAT


def _refuse_unlike(groups: Sequence[Group]) -> None:
    first = groups[0].runs[0]
    for group in groups:
        for run in group.runs:
            if not run.complete:
                raise DocumentError(f"{group.name}: a run is not complete: {run.why_incomplete}")
            for name, value in ALIKE.items():
                if value(run) != value(first):
                    raise DocumentError(
                        f"not comparable: {name} differs: {_show(value(first))} in {groups[0].name}, "
                        f"{_show(value(run))} in {group.name}"
                    )
        if any(run.settings != group.runs[0].settings for run in group.runs):
            raise DocumentError(f"{group.name}: its runs were made with different settings: they are no repetitions")
        if len(group.runs) < _FEWEST:
            raise DocumentError(
                f"{group.name}: one run does not show how much runs scatter: repeat it (poweraware run -o DIR/1, DIR/2 ... "
                "makes a group)"
            )


def _show(value: object) -> str:
    shown = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _remarks(groups: Sequence[Group], names: Sequence[str]) -> List[str]:
    remarks = [f"{name}: not all runs have it." for name in FIGURES if name not in names]
    order = sorted((run.begin_ns, index) for index, group in enumerate(groups) for run in group.runs)
    changes = sum(1 for (_, left), (_, right) in zip(order, order[1:]) if left != right)
    if changes < len(groups):
        remarks.append("The groups ran one after the other, not in turns: what changed meanwhile (heat, other load) looks "
                       "like a difference.")  # fmt: skip
    hosts = {tuple(sorted(node.host for node in run.nodes)) for group in groups for run in group.runs}
    if len(hosts) > 1:
        remarks.append("Not all runs were on the same nodes.")
    return remarks


# ---- how it is compared ----


def _value(run: Job, name: str) -> Optional[float]:
    value = FIGURES[name][1](run)
    return value if value is not None and value > 0 else None


def _logs(group: Group, name: str) -> List[float]:
    return [math.log(FIGURES[name][1](run) or math.nan) for run in group.runs]


def _ratio(name: str, first: Group, other: Group, figures: int, difference: float) -> Ratio:
    a, b = _logs(first, name), _logs(other, name)
    part = (1.0 - LEVEL) / figures
    mean = statistics.fmean(b) - statistics.fmean(a)
    error_a, error_b = (statistics.variance(values) / len(values) for values in (a, b))
    error = math.sqrt(error_a + error_b)
    if error > 0.0:
        freedom = (error_a + error_b) ** 2 / (error_a**2 / (len(a) - 1) + error_b**2 / (len(b) - 1))
        reach = quantile(1.0 - part / 2, max(1.0, freedom)) * error
    else:
        reach = 0.0
    needed = repetitions(_pooled(a, b), len(a) + len(b) - 2, difference, part)
    return Ratio(
        name,
        math.exp(statistics.fmean(a)),
        math.exp(statistics.fmean(b)),
        math.exp(mean - reach),
        math.exp(mean + reach),
        needed,
        min(len(a), len(b)) >= needed,
    )


def _pooled(a: Sequence[float], b: Sequence[float]) -> float:
    squares = sum((x - statistics.fmean(values)) ** 2 for values in (a, b) for x in values)
    return math.sqrt(squares / (len(a) + len(b) - 2))


def repetitions(scatter: float, freedom: int, difference: float, part: float) -> int:
    """Runs of each of two groups that find a difference (0.03: 3 %) with probability POWER, at the level 1 - part.
    scatter: standard deviation of logarithms, as freedom + 2 runs showed it; it may be larger in truth, which is
    allowed for (Wilson and Hilferty's approximation of chi-squared)."""
    z = -statistics.NormalDist().inv_cdf(_SURENESS)
    shrunk = max(0.05, 1.0 - 2.0 / (9 * freedom) + z * math.sqrt(2.0 / (9 * freedom)))
    largest = scatter / math.sqrt(shrunk**3)
    low, high = _FEWEST, _MOST
    while low < high:  # more runs find smaller differences
        runs = (low + high) // 2
        reach = quantile(1.0 - part / 2, 2 * runs - 2) + quantile(POWER, 2 * runs - 2)
        if reach * largest * math.sqrt(2.0 / runs) <= math.log1p(difference):
            high = runs
        else:
            low = runs + 1
    return low


# ---- in words ----


def as_text(found: Comparison) -> str:
    """A table per group, and what it means."""
    first = found.groups[0]
    parts = []
    for group, ratios in zip(found.groups[1:], found.ratios):
        rows = [[ratio.figure, *_means(ratio), f"{ratio.middle:.4f}", f"{ratio.low:.4f} .. {ratio.high:.4f}", _verdict(ratio, found.difference)]
                for ratio in ratios]  # fmt: skip
        heads = ["", first.name, group.name, "ratio", f"{100 * LEVEL:.0f} % interval", ""]
        title = f"{group.name} ({_settings(group)}, {len(group.runs)} runs) against {first.name} ({_settings(first)}, {len(first.runs)} runs)"
        note = f"Geometric means; intervals hold for all figures together. Energy: {first.runs[0].provenance.energy.kind}."
        parts.append(as_table(Table(title, heads, rows, note)))
        parts.append(_conclusion(ratios))
    parts += [as_paragraph(remark) for remark in found.remarks]
    return "\n\n".join(parts) + "\n"


def _means(ratio: Ratio) -> List[str]:
    unit = FIGURES[ratio.figure][0]
    return [f"{number(ratio.first)} {unit}", f"{number(ratio.other)} {unit}"]


def _settings(group: Group) -> str:
    return f"scheme {group.runs[0].settings.scheme}"


def _verdict(ratio: Ratio, difference: float) -> str:
    if ratio.differs:
        return f"{abs(100 * (ratio.middle - 1)):.1f} % {'more' if ratio.middle > 1 else 'less'}"
    if ratio.enough:
        return "no difference"
    return f"no difference shown; {ratio.repetitions} runs of each would find {100 * difference:g} %"


def _conclusion(ratios: Sequence[Ratio]) -> str:
    found = [ratio.figure for ratio in ratios if ratio.differs]
    return f"Difference: {', '.join(found)}." if found else "No difference."
