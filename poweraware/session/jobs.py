# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Figures of a run that are in its job's document (poweraware-job.schema.json)."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from poweraware.documents import Origin
from poweraware.session.document import Run
from poweraware.wording import OTHERS, OUTSIDE, levers_off

EXCHANGES = ("alltoall", "alltoallv", "alltoallw")
PARTS = ("Alltoall(v, w)", "other collectives", "not in collectives")  # of a process's time


def cpu_s(run: Run) -> Optional[float]:
    """CPU seconds of all processes, from MPI_Init to MPI_Finalize."""
    return None if run.job is None else float(run.job["totals"]["cpu_s"])


def of_collective(run: Run, collective: str, figure: str) -> Optional[float]:
    """A sum (calls, seconds, spin_s ..) over all classes of a collective; None without a document."""
    if run.job is None:
        return None
    return sum(float(each[figure]) for each in run.job["calls"] if each["collective"] == collective)


def of_all_calls(run: Run, figure: str) -> Optional[float]:
    """The same over all collectives."""
    if run.job is None:
        return None
    return sum(float(each[figure]) for each in [*run.job["calls"], run.job["other_calls"]])


def of_levers(run: Run, figure: str) -> Dict[str, float]:
    """Sums over nodes (writes, skipped ..), by the levers' titles."""
    found: Dict[str, float] = {}
    for lever in (lever for node in (run.job or {"nodes": []})["nodes"] for lever in node["levers"]):
        found[lever["title"]] = found.get(lever["title"], 0.0) + float(lever[figure])
    return found


def per_process_s(run: Run) -> Optional[Dict[str, float]]:
    """What a process did with its time, mean over processes: in exchanges of blocks, in other collectives, else."""
    if run.job is None:
        return None
    processes = int(run.job["reported"])
    exchanges = sum(of_collective(run, name, "seconds") or 0.0 for name in EXCHANGES)
    inside = of_all_calls(run, "seconds") or 0.0
    total = float(run.job["totals"]["process_s"])
    parts = dict(zip(PARTS, (exchanges, inside - exchanges, total - inside)))
    return {name: max(0.0, seconds) / processes for name, seconds in parts.items()} if processes else None


@dataclass(frozen=True)
class Region:
    """Of all processes together; time counts for the innermost region."""

    seconds: float
    cpu_s: float
    in_calls_s: Optional[float]
    joules: Optional[float]


def regions(run: Run) -> Dict[str, Region]:
    """What the program has marked, in the order in which it was met, and what is outside of that; none where it marks nothing."""
    marked = [] if run.job is None else run.job["regions"]
    if run.job is None or not marked:
        return {}
    found = {each["name"] or OTHERS: Region(each["process_s"], each["cpu_s"], each["calls"]["seconds"], each["joules"]) for each in marked}
    seconds, cpu = (run.job["totals"][name] - sum(each[name] for each in marked) for name in ("process_s", "cpu_s"))
    return {**found, OUTSIDE: Region(max(0.0, seconds), max(0.0, cpu), None, None)}


def origin_of_regions(run: Run) -> Optional[Origin]:
    """Of their energy; None where there are none."""
    return Origin(**run.job["provenance"]["attribution"]) if run.job is not None and regions(run) else None


def why_off(run: Run) -> Dict[str, int]:
    """Why levers did not move, with the number of nodes that say so."""
    reasons: Dict[str, int] = {}
    nodes: List[Any] = [] if run.job is None else run.job["nodes"]
    for node in nodes:
        for reason in levers_off((lever["title"], lever["why_off"]) for lever in node["levers"]):
            reasons[reason] = reasons.get(reason, 0) + 1
    return reasons
