# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Figures of access patterns from the rows of a session: what a call takes, and the impact of changing the pattern."""
from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any, Callable, Dict, List, Optional, Tuple

from poweraware.table import Table, as_paragraph, as_table
from poweraware.wording import number

Row = Dict[str, Any]
PLACE_NAMES = {"tcp": "TCP between nodes", "shm": "shared memory"}
LIBRARY_NAMES = {"shmem": "OpenSHMEM", "windows": "MPI windows"}
PATTERNS = ("MPQMPQ", "MPMPQ", "PQPQ", "PPQ", "MMPQAMM", "putv")


@dataclass(frozen=True)
class Metric:
    """A quantity of one call."""

    name: str
    unit: str
    of: Callable[[Row], Optional[float]]
    is_energy: bool = True


@dataclass(frozen=True)
class Change:
    """From one pattern to another, as the paper names it."""

    name: str
    initial: str
    final: str


def _energy(row: Row) -> Optional[float]:
    """CPU's, and DRAM's where it is known."""
    cpu, dram = row.get("cpu_j"), row.get("dram_j")
    return None if cpu is None else cpu + (dram or 0.0)


def _product(power: int) -> Callable[[Row], Optional[float]]:
    def of(row: Row) -> Optional[float]:
        energy = _energy(row)
        return None if energy is None else energy * (row["median_us"] * 1e-6) ** power

    return of


METRICS = (
    Metric("latency", "us", lambda row: row["median_us"], is_energy=False),
    Metric("CPU time, sender", "us", lambda row: row["sender_cpu_us"], is_energy=False),
    Metric("CPU time, target", "us", lambda row: row["target_cpu_us"], is_energy=False),
    Metric("CPU energy", "J", lambda row: row.get("cpu_j")),
    Metric("DRAM energy", "J", lambda row: row.get("dram_j")),
    Metric("EDP", "J s", _product(1)),
    Metric("ED2P", "J s^2", _product(2)),
    Metric("ED3P", "J s^3", _product(3)),
)
IMPACTS = tuple(metric for metric in METRICS if metric.name in ("latency", "CPU energy", "DRAM energy", "EDP"))

CHANGES = (
    Change("pinned, blocking", "MPQMPQ", "PQPQ"),
    Change("pinned, non-blocking", "MPMPQ", "PPQ"),
    Change("non-blocking, unpinned", "MPQMPQ", "MPMPQ"),
    Change("non-blocking, pinned", "PQPQ", "PPQ"),
    Change("aggregation", "PPQ", "MMPQAMM"),
    Change("chosen by pwr_shmem_putv", "PPQ", "putv"),
)

Key = Tuple[str, str, str]  # place, library, operation


def keys(document: Row) -> List[Key]:
    """What was run, in the order of the document."""
    return list(dict.fromkeys((row["place"], row["library"], row["operation"]) for row in document["rows"]))


def name_of(key: Key) -> str:
    return f"{LIBRARY_NAMES.get(key[1], key[1])}, {PLACE_NAMES.get(key[0], key[0])}"


def by_fragments(document: Row, key: Key, pattern: str, metric: Metric) -> Dict[int, float]:
    """The median over repetitions; only points that have any."""
    found: Dict[int, List[float]] = {}
    for row in document["rows"]:
        value = metric.of(row)
        if (row["place"], row["library"], row["operation"]) == key and row["pattern"] == pattern and value is not None:
            found.setdefault(row["fragments"], []).append(value)
    return {fragments: median(found[fragments]) for fragments in sorted(found)}


def impact(initial: float, final: float) -> float:
    """I of the paper, in percent: what is saved of the initial pattern's."""
    return (initial - final) / initial * 100.0


def impacts(document: Row, key: Key, change: Change, metric: Metric) -> Dict[int, float]:
    """By number of fragments."""
    initial = by_fragments(document, key, change.initial, metric)
    final = by_fragments(document, key, change.final, metric)
    return {f: impact(initial[f], final[f]) for f in initial if f in final and initial[f] > 0}


def values_table(document: Row, key: Key, metric: Metric) -> Table:
    """A row per number of fragments, a column per pattern."""
    columns = {pattern: by_fragments(document, key, pattern, metric) for pattern in PATTERNS}
    columns = {pattern: values for pattern, values in columns.items() if values}
    fragments = sorted({f for values in columns.values() for f in values})
    rows = [[str(f), *(number(values[f]) if f in values else "-" for values in columns.values())] for f in fragments]
    return Table(f"{metric.name.capitalize() if metric.name.islower() else metric.name} ({metric.unit}) of a {key[2]}, {name_of(key)}",
                 ["fragments", *columns], rows, _note(document, metric))  # fmt: skip


def impact_table(document: Row, key: Key, metric: Metric) -> Table:
    """A row per number of fragments, a column per change."""
    columns = {change: impacts(document, key, change, metric) for change in CHANGES}
    columns = {change: values for change, values in columns.items() if values}
    fragments = sorted({f for values in columns.values() for f in values})
    rows = [[str(f), *(f"{values[f]:.0f}" if f in values else "-" for values in columns.values())] for f in fragments]
    heads = [f"{change.initial} to {change.final}" for change in columns]
    return Table(f"Impact I on {metric.name} (%), {key[2]}, {name_of(key)}", ["fragments", *heads], rows,
                 f"I = (M_i - M_f) / M_i * 100: above 0 the second pattern takes less. {_note(document, metric)}")  # fmt: skip


def ways_table(document: Row) -> Table:
    """What pwr_shmem_putv has chosen."""
    rows = []
    for row in document["rows"]:
        if row["pattern"] == "putv":
            rows.append([PLACE_NAMES.get(row["place"], row["place"]), str(row["repetition"]), str(row["fragments"]), row["way"] or "not yet"])
    return Table("What pwr_shmem_putv chose", ["place", "repetition", "fragments", "pattern"], rows, "By each process for itself.")


def origin(document: Row) -> str:
    energy = document["energy"]
    return f"{energy['kind']}: {energy['note']}"


def _note(document: Row, metric: Metric) -> str:
    if not metric.is_energy:
        return "Measured: clocks of the host; median over calls, then over repetitions."
    what = "CPU energy: packages of all nodes. DRAM: " + ("as far as its meters go. " if has_dram(document) else "no meter has it. ")
    return f"Energy is {document['energy']['kind']}. {what}Products: energy of a call times its latency."


def has_dram(document: Row) -> bool:
    return any(row.get("dram_j") is not None for row in document["rows"])


def text(document: Row) -> str:
    """The summary."""
    parts = [as_paragraph(f"Access patterns, {document['bytes']} bytes in so many fragments. Energy: {origin(document)}")]
    parts += [as_paragraph(f"FAILED: {failure}") for failure in document["failures"]]
    for key in keys(document):
        parts += [as_table(values_table(document, key, METRICS[0])), as_table(impact_table(document, key, METRICS[0]))]
        energy = impact_table(document, key, next(metric for metric in METRICS if metric.name == "EDP"))
        parts += [as_table(energy)] if energy.rows else []
    ways = ways_table(document)
    parts += [as_table(ways)] if ways.rows else []
    return "\n\n".join(parts) + "\n"
