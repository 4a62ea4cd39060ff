# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What to take from a job's document: what saving brought, and what would bring more.

Joules are by the model of the document's attribution, which tells its weights: a second of CPU time counts 1, a second asleep less.
"""
from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

from poweraware.job import CallClass, Job, Sums
from poweraware.wording import levers_off, number

_LITTLE = 0.005  # of the job's energy: not worth a sentence
_LATE = 0.05  # of the job's time that others wait for a rank: worth a sentence
_LATE_RANKS = 3  # sentences
_ENDS_FOR_ALL = ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "reduce_scatter", "reduce_scatter_block")
_SHORT = 0.05  # of the processes' time: set-up is worth one


def result(job: Job) -> str:
    """The job in one sentence."""
    totals, calls = job.totals, job.all_calls()
    processes = "1 process" if job.processes == 1 else f"{job.processes} processes"
    used = "energy is not known"
    if totals.joules is not None and totals.mean_watts is not None:
        used = f"{number(totals.joules)} J ({number(totals.mean_watts)} W, {job.provenance.energy.kind})"
    spent = _percent(calls.seconds, totals.process_s)
    slept = _percent(calls.sleep_s, calls.seconds)
    return f"{processes}, {number(totals.seconds)} s, {used}; {spent} of the time in {job.kinds_of_calls()}, {slept} of that asleep."


def advice(job: Job) -> List[str]:
    """Sentences, at least one."""
    joules = PerSecond.of(job)
    lines = [] if joules is None else [*_of_sleep(job, joules), *_of_levers(job, joules)]
    lines += of_late_ranks(job)
    if job.totals.setup_s > _SHORT * job.totals.process_s:
        lines.append(f"Setting up poweraware took {_percent(job.totals.setup_s, job.totals.process_s)} of the time: this job is short.")
    if not lines:
        lines.append("Nothing else would save a noticeable part of this job's energy in collectives.")
    return lines


class PerSecond:
    """Joules of a second of a call, by the document's own weights: always modelled."""

    def __init__(self, job: Job, asleep: float, joules: float) -> None:
        self.asleep = asleep
        calls = job.all_calls()
        weight = asleep * calls.seconds + (1.0 - asleep) * calls.cpu_s
        self.awake = joules / weight if weight > 0 else 0.0

    @classmethod
    def of(cls, job: Job) -> Optional["PerSecond"]:
        """None: there is no energy, or nothing was called."""
        found = re.search(r"a second asleep ([\d.]*\d)", job.provenance.attribution.note)
        joules = job.all_calls().joules
        return cls(job, float(found.group(1)), joules) if found and joules else None

    def saved_by_sleep(self, seconds: float) -> float:
        """Of so many seconds that are spent asleep instead of spinning."""
        return (1.0 - self.asleep) * seconds * self.awake

    def of_waiting(self, calls: Sums) -> float:
        """Spent while ranks waited."""
        return (calls.spin_s + calls.monitor_s + self.asleep * calls.sleep_s) * self.awake


def _of_sleep(job: Job, joules: PerSecond) -> List[str]:
    calls = job.all_calls()
    saved = joules.saved_by_sleep(calls.sleep_s)
    lines = [f"Sleeping in collectives saved about {number(saved)} J (modelled)."] if _counts(job, saved) else []
    more = joules.saved_by_sleep(calls.spin_s)
    if job.settings.idle == "off" and _counts(job, more):
        lines.append(f"Sleeping where ranks spin would save about {number(more)} J (modelled): --mca coll_poweraware_idle collectives.")
    return lines


def _of_levers(job: Job, joules: PerSecond) -> List[str]:
    """Of each lever that is off, with the reason that most nodes have."""
    lines = []
    for title, weight in _weights(job).items():
        reasons = [lever.why_off for node in job.nodes for lever in node.levers if lever.title == title and lever.why_off]
        worth = (1.0 - weight) * job.all_calls().cpu_s * joules.awake
        if reasons and _counts(job, worth):
            (off,) = levers_off([(title, max(reasons, key=reasons.count))])
            lines.append(f"{off}. With them collectives would use up to {number(worth)} J less (modelled); poweraware-info says how to get them.")
    return lines


def of_late_ranks(job: Job) -> List[str]:
    """Of each communicator the rank that spends least time in calls that end for all at once: the others wait for it there."""
    found: Dict[Tuple[Optional[str], int], List[CallClass]] = {}
    for each in job.calls:
        if each.collective in _ENDS_FOR_ALL and each.processes > 1 and each.processes == each.size:
            found.setdefault((each.communicator, each.least_process), []).append(each)
    lines = {}
    for (communicator, rank), calls in found.items():
        least_s = sum(each.least_s for each in calls)
        others_s = sum((each.seconds - each.least_s) / (each.processes - 1) for each in calls)
        if others_s - least_s > _LATE * job.totals.seconds:
            names = ", ".join(sorted({each.collective for each in calls}))
            lines[f"{communicator} waits for rank {rank}: it spent {_seconds(least_s)} in {names}, the others "
                  f"{number(others_s)} s each (measured)."] = others_s - least_s  # fmt: skip
    return sorted(lines, key=lambda line: -lines[line])[:_LATE_RANKS]


def _weights(job: Job) -> Dict[str, float]:
    """Of a second of CPU time with a lever lowered."""
    found = re.findall(r"one with (.+?) lowered ([\d.]*\d)", job.provenance.attribution.note)
    return {title: float(weight) for title, weight in found}


def _counts(job: Job, joules: float) -> bool:
    return job.totals.joules is not None and joules > _LITTLE * job.totals.joules


def _seconds(value: float) -> str:
    return "less than 0.01 s" if value < 0.01 else f"{number(value)} s"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole > 0 else "0 %"
