# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""From measurements to the decision table of scheme auto.

1. Points are read (measurements.py).
2. An algorithm pays where it is faster by more than the margin and was slower in a quarter of the blocks at most, or
   where it saves CPU time and is at most the margin slower.  It must not be worse than a given bound in more than a
   tenth of the documents, which may come from different days and placements of the ranks.  Where bytes are not known to
   all ranks, one answer has to do for all sizes: it must pay on average and keep to the same bound everywhere.  The
   fastest comes first; but of those that are at most the margin slower than it, the one that takes the least CPU time.
3. What pays at a point holds for its neighbourhood: up to the geometric middle between it and the next point that was
   measured, for bytes, ranks per node and nodes alike.  Beyond the largest it goes on; below the fewest nodes or ranks
   that were measured nothing is said.  One node tells nothing about several.  What other components of Open MPI do is
   not known to suit more nodes and ranks, for it may be linear in them: their rows end half way to twice as many.

With the table before, of which other machines and days are part, 2. changes.  What it has for a call stays where that costs
no more than a bound.  Where it leaves a call to stock, an algorithm must gain more.  Its rows for layouts that were not
measured stay, and come first.
"""
from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Iterable, Iterator, List, Optional, Sequence, Tuple

from poweraware import measurements
from poweraware.before import NOTHING_BEFORE, OldRow, TableBefore
from poweraware.documents import replace
from poweraware.measurements import Point, Result
from poweraware.table import Table, as_table
from poweraware.wording import plural

_SLOWER_MOST = 0.25  # of the blocks: what looks faster may be noise
_BAD_MOST = 0.1  # of the documents in which it was bad: it does not depend on us alone whether it pays
_ALGORITHMS_MOST = 4  # of a point

Range = Tuple[int, Optional[int]]  # both ends belong to it; None: no limit


@dataclass(frozen=True)
class Rules:
    """Parts of 1."""

    margin: float = 0.03  # time that must be gained
    saving: float = 0.20  # CPU time that must be saved where time is within the margin
    new_margin: float = 0.05  # time that must be gained where the table before leaves the call to stock
    kept_margin: float = 0.03  # time that what the table before has may cost


@dataclass(frozen=True)
class Row:
    """Of the table."""

    collective: str
    nodes: Range
    ranks_per_node: Range
    bytes: Range
    algorithm: str
    best: float  # of times to stock's, at all points of the row
    worst: float


def write(paths: Sequence[Path], output: Path, rules: Rules, source: Optional[str] = None, before: TableBefore = NOTHING_BEFORE) -> str:
    """Makes the table of these measurements, replaced in one step; returns what to tell the user.  source: where its
    figures come from, by default the commands that measured."""
    documents = [measurements.load(path) for path in paths]
    points = measurements.points(documents)
    found = list(rows(points, rules, before))
    old = before.not_measured(points)
    replace(output, table(found, measurements.source(documents) if source is None else source, old))
    more = f"\nOf the table before: {plural(len(old), 'row')} for layouts that were not measured." if old else ""
    return f"{summary(found)}{more}\nTable: {output}; use it with --mca coll_poweraware_decision_table PATH"


# ---- step 2 ----


def _is_bad(result: Result) -> bool:
    return result.bad > _BAD_MOST * result.documents


def _pays(result: Result, rules: Rules) -> bool:
    is_faster = result.time <= 1 - rules.margin and result.slower / result.documents <= _SLOWER_MOST
    return not _is_bad(result) and (is_faster or (result.time <= 1 + rules.margin and result.cpu <= 1 - rules.saving))


def _stays(result: Result, rules: Rules) -> bool:
    return not _is_bad(result) and result.time <= 1 + rules.kept_margin


def _paying(point: Point, rules: Rules, before: TableBefore) -> List[Tuple[str, float]]:
    """Algorithms and their times, in the order in which they are tried."""
    known = [name for name in before.algorithms(point) if name in point.results]
    most = 1 - rules.new_margin if before.rows and not known else math.inf
    found = {name: result for name, result in point.results.items()
             if (_pays(result, rules) and result.time <= most) or (name in known and _stays(result, rules))}  # fmt: skip
    alike = min((result.time for result in found.values()), default=0.0) * (1 + rules.margin)

    def order(name: str) -> Tuple[int, float]:
        result = found[name]
        return (0, result.cpu) if result.time <= alike else (1, result.time)

    return [(name, found[name].time) for name in sorted(found, key=order)][:_ALGORITHMS_MOST]


# ---- step 3 ----


def rows(points: Sequence[Point], rules: Rules, before: TableBefore = NOTHING_BEFORE) -> Iterator[Row]:
    """What the points ask for."""
    for collective in dict.fromkeys(point.collective for point in points):
        for nodes, of_nodes in _neighbourhoods(point.nodes for point in points):
            here = [point for point in points if point.nodes == nodes]
            for ranks, of_ranks in _neighbourhoods(point.ranks_per_node for point in here):
                line = [point for point in here if (point.collective, point.ranks_per_node) == (collective, ranks)]
                line.sort(key=lambda point: point.bytes)
                yield from _rows_of_line(line, (1, 1) if nodes == 1 else of_nodes, of_ranks, [_paying(point, rules, before) for point in line])


def _rows_of_line(line: Sequence[Point], nodes: Range, ranks: Range, paying: Sequence[List[Tuple[str, float]]]) -> Iterator[Row]:
    """Of one collective on one layout; points ascend in bytes.  Neighbours with the same algorithms in the same order
    share a row."""
    ends = [0, *(_middle_bytes(low.bytes, high.bytes) for low, high in zip(line, line[1:]))]
    for names, group in groupby(range(len(line)), key=lambda i: [name for name, _ in paying[i]]):
        alike = list(group)
        first, after = alike[0], alike[-1] + 1
        of_bytes = (ends[first], ends[after] - 1 if after < len(line) else None)
        for k, name in enumerate(names):
            times = [paying[i][k][1] for i in alike]
            layout = (nodes, ranks)
            if name in measurements.COMPONENTS:
                layout = (_closed(nodes, line[0].nodes), _closed(ranks, line[0].ranks_per_node))
            yield Row(line[0].collective, *layout, of_bytes, name, min(times), max(times))


def _neighbourhoods(values: Iterable[int]) -> Iterable[Tuple[int, Range]]:
    """The distinct numbers that were measured, ascending, and what each of them speaks for."""
    known = sorted(set(values))
    begins = [*known[:1], *(_middle(low, high) for low, high in zip(known, known[1:]))]
    return zip(known, zip(begins, [*(begin - 1 for begin in begins[1:]), None]))


def _closed(limits: Range, measured: int) -> Range:
    """The same, as if twice as many had been measured, too."""
    low, high = limits
    return low, _middle(measured, 2 * measured) - 1 if high is None else high


def _middle(low: int, high: int) -> int:
    """The geometric one: from there on high is nearer than low."""
    return math.ceil(math.sqrt(low * high) - 1e-9)


def _middle_bytes(low: int, high: int) -> int:
    """The power of two that is nearest to the geometric middle."""
    return 1 if low == 0 else 1 << math.floor(0.5 * (math.log2(low) + math.log2(high)) + 0.5)


# ---- the table ----


def table(found: Sequence[Row], source: str, old: Sequence[OldRow] = ()) -> str:
    """A decision table, one row to a line, old ones first; see poweraware-decision(5)."""
    every = [*map(_as_json, old), *map(_line, found)]
    lines = ",".join(f"\n    {line}" for line in every) + ("\n  " if every else "")
    return f'{{\n  "format_version": 1,\n  "source": {json.dumps(source, ensure_ascii=False)},\n  "rows": [{lines}]\n}}\n'


def _line(row: Row) -> str:
    return _as_json({
        "collective": row.collective,
        "nodes": row.nodes,
        "ranks_per_node": row.ranks_per_node,
        "bytes": row.bytes,
        "algorithm": row.algorithm,
        "time": round(math.sqrt(row.best * row.worst), 3),
        "comment": f"time {row.best:.2f} to {row.worst:.2f} of stock's",
    })  # fmt: skip


def _as_json(row: OldRow) -> str:
    return json.dumps(row, ensure_ascii=False)


def summary(found: Sequence[Row]) -> str:
    """The rows in words."""
    if not found:
        return "Stock functions everywhere: nothing of ours paid."
    heads = ["collective", "nodes", "ranks", "bytes", "algorithm", "time, of stock"]
    cells = [[row.collective, *map(_as_text, (row.nodes, row.ranks_per_node, row.bytes)), row.algorithm,
              f"{row.best:.2f} to {row.worst:.2f}"] for row in found]  # fmt: skip
    return as_table(Table("Where ours pay", heads, cells, "Time: at the best and at the worst point."))


def _as_text(limits: Range) -> str:
    low, high = limits
    return f"{low}.." if high is None else str(low) if low == high else f"{low}..{high}"
