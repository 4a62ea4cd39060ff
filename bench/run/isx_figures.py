# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Figures of the bucket sort from the rows of a session: what each phase takes, and how many times as fast a way is."""
from __future__ import annotations

from statistics import median
from typing import Any, Dict, List, Optional

from poweraware import ratios
from poweraware.table import Table, as_paragraph, as_table
from poweraware.wording import number

BASE = "stock"
PHASES = ("count", "plan", "bucketize", "puts", "barrier", "values")  # one after the other
WHOLES = ("exchange", "total")  # plan, puts and barrier; all, with the waits in between
GAINS = ("puts", *WHOLES)
NOTE = (
    "Measured: median over the sorts of a run, of the PE that takes longest; then over runs. Speed-up: time of stock over that of the way, "
    "geometric mean over runs, 95 % interval. Exchange: plan, puts and barrier. Each PE stays on a CPU; with more PEs than CPUs "
    "they wait for each other, and the barrier takes what scheduling does."
)
EMULATED = "Nodes are emulated: name spaces of one host, which share its CPUs, with TCP between them."


def places(document: Dict[str, Any]) -> List[str]:
    return list(dict.fromkeys(row["place"] for row in document["rows"]))


def benchmarks(document: Dict[str, Any]) -> List[str]:
    return sorted({row["benchmark"] for row in document["rows"]}, key=lambda name: (name.split("-")[0], int(name.split("-")[1])))


def ways(document: Dict[str, Any]) -> List[str]:
    return list(dict.fromkeys(row["way"] for row in document["rows"]))


def of_runs(document: Dict[str, Any], place: str, benchmark: str, way: str, phase: str) -> Dict[int, float]:
    """Repetition -> median of its sorts, in ms."""
    found: Dict[int, List[float]] = {}
    for row in document["rows"]:
        if (row["place"], row["benchmark"], row["way"]) == (place, benchmark, way):
            found.setdefault(row["repetition"], []).append(row[f"{phase}_ms"])
    return {repetition: median(found[repetition]) for repetition in sorted(found)}


def milliseconds(document: Dict[str, Any], place: str, benchmark: str, way: str, phase: str) -> Optional[float]:
    values = of_runs(document, place, benchmark, way, phase)
    return median(values.values()) if values else None


def speedup(document: Dict[str, Any], place: str, benchmark: str, way: str, phase: str) -> Optional[ratios.Ratio]:
    """Of the way over stock, run by run; none of the puts where a plan does part of their work."""
    base, other = (of_runs(document, place, benchmark, each, phase) for each in (BASE, way))
    both = [k for k in base if k in other and base[k] > 0 and other[k] > 0]
    if phase == "puts" and (milliseconds(document, place, benchmark, way, "plan") or 0.0) > 0.0:
        return None
    return ratios.paired([base[k] for k in both], [other[k] for k in both])


def _gain(gain: Optional[ratios.Ratio]) -> str:
    if gain is None:
        return "-"
    return f"{gain.middle:.2f}" + ("" if gain.low is None else f" [{gain.low:.2f}, {gain.high:.2f}]")


def title(benchmark: str) -> str:
    scaling, keys = benchmark.split("-")
    return f"{scaling.capitalize()} scaling, {int(keys):,} keys of {'each PE' if scaling == 'weak' else 'all PEs'}"


def table(document: Dict[str, Any], benchmark: str) -> Table:
    """A row per place and way."""
    rows = []
    for place in places(document):
        for way in ways(document):
            times = [milliseconds(document, place, benchmark, way, phase) for phase in (*PHASES, *WHOLES)]
            gains = [speedup(document, place, benchmark, way, whole) if way != BASE else None for whole in GAINS]
            if any(ms is not None for ms in times):
                rows.append([place, way, *("-" if ms is None else number(ms) for ms in times), *(_gain(gain) for gain in gains)])
    heads = ["nodes", "way", *(f"{phase} ms" for phase in (*PHASES, *WHOLES)), *(f"speed-up, {whole}" for whole in GAINS)]
    return Table(title(benchmark), heads, rows, f"{NOTE} {EMULATED}")


def text(document: Dict[str, Any]) -> str:
    """The summary."""
    parts = [as_paragraph(f"Bucket sort with the communication of ISx, keys below {document['key_range']:,}.")]
    parts += [as_paragraph(f"FAILED: {failure}") for failure in document["failures"]]
    parts += [as_table(table(document, benchmark)) for benchmark in benchmarks(document)]
    return "\n\n".join(parts) + "\n"
