# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Repeated runs against each other: what differs, how much, and how sure that is.

Runs of one session are compared in pairs of one repetition, others in groups (ratios.py).  Intervals and verdicts hold for
all figures of a group together (Bonferroni), at 99 %: who compares a hundred pairs of equal groups sees a difference in
about one of them.  Figures of regions are a family of their own, so that marks take nothing from what is known of whole jobs:
there is a difference in the regions of about one more.
"""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from poweraware import folders, job, ratios
from poweraware.documents import DocumentError, read_json
from poweraware.job import Job, Region
from poweraware.table import Table, as_paragraph, as_table, without_empty_columns
from poweraware.wording import OTHERS, number

LEVEL = 0.99  # of all figures of a group together

FIGURES: Dict[str, Tuple[str, Callable[[Job], Optional[float]]]] = {
    "time": ("s", lambda run: run.totals.seconds),
    "energy": ("J", lambda run: run.totals.joules),
    "mean power": ("W", lambda run: run.totals.mean_watts),
    "CPU time": ("s", lambda run: run.totals.cpu_s),
}

REGION_FIGURES: Dict[str, Callable[[Region], Optional[float]]] = {
    "time": lambda region: region.process_s,
    "energy": lambda region: region.joules,
    "CPU time": lambda region: region.cpu_s,
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
class Repeat:
    """A run, and its figures by their names; those of a session are over the window of its page."""

    job: Job
    figures: Dict[str, Optional[float]]
    repetition: Optional[int] = None  # of a session

    def of_region(self, region: str, figure: str) -> Optional[float]:
        """Of all processes together; None where the run was not in it."""
        found = [each for each in self.job.regions if (each.name or OTHERS) == region]
        return REGION_FIGURES[figure](found[0]) if found else None


@dataclass(frozen=True)
class Figure:
    """What runs are compared by."""

    name: str
    region: Optional[str] = None  # None: of the whole job

    @property
    def title(self) -> str:
        return self.name if self.region is None else f"{self.name} of {self.region}"

    @property
    def unit(self) -> str:
        return FIGURES[self.name][0]

    def of(self, repeat: Repeat) -> Optional[float]:
        """None where the run has none."""
        return repeat.figures.get(self.name) if self.region is None else repeat.of_region(self.region, self.name)


@dataclass(frozen=True)
class Group:
    """Runs that are taken for repetitions of one another."""

    name: str
    repeats: List[Repeat]

    @property
    def runs(self) -> List[Job]:
        return [repeat.job for repeat in self.repeats]

    def values(self, figure: Figure) -> List[float]:
        """Of all runs; nan where one has none."""
        return [figure.of(repeat) or float("nan") for repeat in self.repeats]


@dataclass(frozen=True)
class Ratio:
    """A figure of a group over that of the first one."""

    figure: Figure
    first: float  # geometric means
    other: float
    ratio: ratios.Ratio
    repetitions: int  # of each group that find the difference asked for

    @property
    def enough(self) -> bool:
        return self.ratio.count >= self.repetitions


@dataclass(frozen=True)
class Comparison:
    """All groups against the first."""

    groups: List[Group]
    difference: float
    ratios: List[List[Ratio]]  # of each group but the first
    regions: List[List[Ratio]]
    remarks: List[str]

    def differs(self) -> bool:
        return any(each.ratio.differs for found in [*self.ratios, *self.regions] for each in found)


def load(path: Path) -> Group:
    """The runs of a folder, or a single one."""
    if not path.exists():
        raise DocumentError(f"{path}: there is no such file or folder")
    if not path.is_dir() or (path / "job.json").exists():
        return group(str(path), [folders.load(path)])
    below = sorted(each for each in path.iterdir() if each.is_dir())
    found = [each for folder in below for each in folders.whole_documents(folder, spawned=False)]
    found = found or [each for each in sorted(path.glob("*.json")) if _is_job(each)]
    if not found:
        raise DocumentError(f"{path}: there are no runs in it (folders with a job.json, or documents)")
    return group(str(path), [folders.load(each) for each in found])


def group(name: str, jobs: Sequence[Job]) -> Group:
    """Jobs with the figures of their own documents."""
    return Group(name, [Repeat(each, {figure: value(each) for figure, (_, value) in FIGURES.items()}) for each in jobs])


def compare(groups: Sequence[Group], difference: float) -> Comparison:
    """Raises a DocumentError when the runs are not alike."""
    _refuse_unlike(groups)
    whole = _known(groups, [Figure(name) for name in FIGURES])
    of_regions = _known(groups, [Figure(name, region) for region in _regions(groups) for name in REGION_FIGURES])
    found = [[[_ratio(each, groups[0], other, len(family), difference) for each in family] for other in groups[1:]]
             for family in (whole, of_regions)]  # fmt: skip
    return Comparison(list(groups), difference, *found, _remarks(groups, whole, of_regions))


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
        if len(group.runs) < ratios.FEWEST:
            raise DocumentError(
                f"{group.name}: {len(group.runs)} runs do not show how much runs scatter: make at least {ratios.FEWEST} "
                "(poweraware run -o DIR/1, DIR/2 ... makes a group; bench/run has --repetitions)"
            )


def _show(value: object) -> str:
    shown = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _remarks(groups: Sequence[Group], whole: Sequence[Figure], regions: Sequence[Figure]) -> List[str]:
    names = [figure.name for figure in whole]
    remarks = [f"{name}: not all runs have it." for name in FIGURES if name not in names]
    known = {figure.region for figure in regions}
    remarks += [f"region {region}: not all runs were in it." for region in _regions(groups) if region not in known]
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


def _regions(groups: Sequence[Group]) -> List[str]:
    """Of all runs, in the order in which they were met."""
    return list(dict.fromkeys(each.name or OTHERS for group in groups for run in group.runs for each in run.regions))


def _known(groups: Sequence[Group], figures: Sequence[Figure]) -> List[Figure]:
    """Those that all runs have."""
    return [figure for figure in figures if all(value > 0 for group in groups for value in group.values(figure))]


def _ratio(figure: Figure, first: Group, other: Group, figures: int, difference: float) -> Ratio:
    level = 1.0 - (1.0 - LEVEL) / figures
    found = _paired(figure, first, other, level) or ratios.of_groups(other.values(figure), first.values(figure), level)
    means = [ratios.geometric_mean(group.values(figure)) for group in (first, other)]
    return Ratio(figure, means[0], means[1], found, ratios.runs_needed(found, difference, level))


def _paired(figure: Figure, first: Group, other: Group, level: float) -> Optional[ratios.Ratio]:
    """Of one session's schemes; None where runs are no pairs, or too few."""
    theirs = {repeat.repetition: figure.of(repeat) for repeat in first.repeats}
    pairs = [(figure.of(repeat), theirs[repeat.repetition]) for repeat in other.repeats
             if repeat.repetition is not None and repeat.repetition in theirs]  # fmt: skip
    known = [(mine, base) for mine, base in pairs if mine and base]
    if len(known) < ratios.FEWEST:
        return None
    return ratios.paired([mine for mine, _ in known], [base for _, base in known], level)


# ---- in words ----


def as_text(found: Comparison) -> str:
    """A table or two per group, and what they mean."""
    first = found.groups[0]
    parts = []
    for group, whole, regions in zip(found.groups[1:], found.ratios, found.regions):
        title = f"{group.name} ({_settings(group)}, {len(group.runs)} runs) against {first.name} ({_settings(first)}, {len(first.runs)} runs)"
        note = f"Geometric means; intervals hold for all figures together. Energy: {first.runs[0].provenance.energy.kind}."
        parts += _table(title, whole, (first, group), found.difference, note)
        note = ("All processes together; intervals hold for all figures of regions together. Energy of regions: "
                f"{first.runs[0].provenance.attribution.kind}.")  # fmt: skip
        parts += _table(f"Regions: {group.name} against {first.name}", regions, (first, group), found.difference, note) if regions else []
    parts += [as_paragraph(remark) for remark in found.remarks]
    return "\n\n".join(parts) + "\n"


def _table(title: str, found: Sequence[Ratio], groups: Tuple[Group, Group], difference: float, note: str) -> List[str]:
    """And what it means."""
    rows = [[each.figure.region or "", each.figure.name, *_means(each), each.ratio.text(), _verdict(each, difference)] for each in found]
    heads = ["", "", *(group.name for group in groups), f"ratio [{100 * LEVEL:.0f} % interval]", ""]
    return [as_table(without_empty_columns(Table(title, heads, rows, note))), _conclusion(found)]


def _means(ratio: Ratio) -> List[str]:
    return [f"{number(mean)} {ratio.figure.unit}" for mean in (ratio.first, ratio.other)]


def _settings(group: Group) -> str:
    return f"scheme {group.runs[0].settings.scheme}"


def _verdict(ratio: Ratio, difference: float) -> str:
    if ratio.ratio.differs:
        return f"{abs(100 * (ratio.ratio.middle - 1)):.1f} % {'more' if ratio.ratio.middle > 1 else 'less'}"
    if ratio.enough:
        return "no difference"
    return f"no difference shown; {ratio.repetitions} runs of each would find {100 * difference:g} %"


def _conclusion(all_ratios: Sequence[Ratio]) -> str:
    found = [each.figure.title for each in all_ratios if each.ratio.differs]
    return f"Difference: {', '.join(found)}." if found else "No difference."
