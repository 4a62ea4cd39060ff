# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""One-sided operations (bench/run shift): figures over polling by message size, and from where on energy is saved."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from poweraware import ratios, wording
from poweraware.ratios import Ratio
from poweraware.session import summary, words
from poweraware.session.document import Document, ReferencePoint
from poweraware.session.summary import RowFigure
from poweraware.table import Table

FAMILY = "shift"

# Name of a quantity -> how a row's is calculated; the names are those of the members of a ReferencePoint.
QUANTITIES: Dict[str, RowFigure] = {
    "latency": lambda _document, run, row: summary.latency_us(run, row),
    "power": summary.row_power_w,
    "energy": summary.row_energy_j_per_mb,
}


@dataclass(frozen=True)
class BreakEven:
    """From which size on a scheme saves energy, and its figures over polling from there on."""

    bytes: int
    figures: Dict[str, Optional[Ratio]]


def ratios_by_size(document: Document, benchmark: str, scheme: str, quantity: str) -> Dict[int, Ratio]:
    """Over polling, in pairs of repetitions; only sizes that have any."""
    pairs = summary.pairs_by_size(document, benchmark, scheme, QUANTITIES[quantity])
    found = {size: _of_pairs(list(pairs[size].values())) for size in sorted(pairs)}
    return {size: ratio for size, ratio in found.items() if ratio is not None}


def break_even(document: Document, benchmark: str, scheme: str) -> Optional[BreakEven]:
    """The smallest size from which on every size takes less energy than polling in the mean, and all of them together for certain
    where there are intervals."""
    by_size = ratios_by_size(document, benchmark, scheme, "energy")
    lost = max((size for size, ratio in by_size.items() if ratio.middle >= 1), default=0)
    for first in sorted(size for size in by_size if size > lost):
        if _saves(_from(document, benchmark, scheme, "energy", first)):
            return BreakEven(first, {name: _from(document, benchmark, scheme, name, first) for name in QUANTITIES})
    return None


def table16(document: Document) -> Table:
    """The paper's table 16 and those of models beside the session's."""
    rows = []
    for benchmark in document.benchmarks() if document.settings.family == FAMILY else []:
        for reference in document.references:
            found = [point for point in reference.break_evens if point.benchmark == benchmark]
            rows += [[benchmark, f"{reference.name} ({reference.kind})", point.scheme, *_of_reference(point)] for point in found]
        for scheme in document.schemes():
            if scheme != document.baseline():
                rows.append([benchmark, f"this session ({_kind(document)})", scheme, *_of_session(break_even(document, benchmark, scheme))])
    heads = ["operation", "origin", "scheme", "from size", *(f"{_TITLES[name]} / polling" for name in QUANTITIES)]
    certain = ", and all together for certain (95 %)" if document.settings.repetitions >= ratios.FEWEST else ""
    note = (
        f"From the size on from which every size that was resolved takes less energy per MB than polling in the mean{certain}: geometric mean "
        "over these sizes, in pairs of repetitions, and 95 % interval; of models the mean over sizes up to 1 MiB. "
        f"{words.too_few(document)}Of this session: {words.time_caption(document)}; {words.power_caption(document, 'power and energy')}."
    )
    return Table("Break-even, as table 16 of PASCoL", heads, rows, note)


_TITLES = {"latency": "latency", "power": "power", "energy": "energy per MB"}


def _kind(document: Document) -> str:
    return document.provenance.energy.kind


def _of_pairs(found: List[float]) -> Optional[Ratio]:
    return ratios.paired(found, [1.0] * len(found))


def _saves(ratio: Optional[Ratio]) -> bool:
    return ratio is not None and ratio.middle < 1 and (ratio.differs or ratio.high is None)


def _from(document: Document, benchmark: str, scheme: str, quantity: str, first: int) -> Optional[Ratio]:
    """Of all sizes from one on: a geometric mean in each repetition."""
    pairs = summary.pairs_by_size(document, benchmark, scheme, QUANTITIES[quantity])
    sizes = [found for size, found in pairs.items() if size >= first]
    return _of_pairs([ratios.geometric_mean([found[each] for found in sizes]) for each in sizes[0]] if sizes else [])


def _of_reference(point: ReferencePoint) -> Tuple[str, ...]:
    figures = (getattr(point, name) for name in QUANTITIES)
    return wording.size(point.bytes), *("-" if figure is None else f"{figure:.3f}" for figure in figures)


def _of_session(found: Optional[BreakEven]) -> Tuple[str, ...]:
    if found is None:
        return "none", *("-" for _ in QUANTITIES)
    return wording.size(found.bytes), *(words.ratio(found.figures[name]) for name in QUANTITIES)
