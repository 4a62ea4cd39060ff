# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The decision table before: what a new one takes over from it."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from poweraware.documents import check, load_schema, read_json
from poweraware.measurements import STOCK, Point

OldRow = Dict[str, Any]  # of a decision table, see poweraware-decision(5)


@dataclass(frozen=True)
class TableBefore:
    """Its rows, in their order."""

    rows: Sequence[OldRow]

    def algorithms(self, point: Point) -> List[str]:
        """What it has for the calls of a point, the first choice first; none: stock."""
        found = [row["algorithm"] for row in self.rows if _is_of_layout(row, point) and _holds(row["bytes"], point.bytes)]
        return found[: found.index(STOCK)] if STOCK in found else found

    def not_measured(self, points: Sequence[Point]) -> List[OldRow]:
        """Rows of layouts at which nothing of their collective was measured."""
        return [row for row in self.rows if not any(_is_of_layout(row, point) for point in points)]


NOTHING_BEFORE = TableBefore(())


def load(path: Optional[Path]) -> TableBefore:
    """None: there is none.  Raises a DocumentError when it is no decision table."""
    if path is None:
        return NOTHING_BEFORE
    table: Dict[str, Any] = read_json(path)
    check(table, load_schema("coll_poweraware", "decision.schema.json"), str(path))
    return TableBefore(table["rows"])


def _is_of_layout(row: OldRow, point: Point) -> bool:
    return row["collective"] == point.collective and _holds(row["nodes"], point.nodes) and _holds(row["ranks_per_node"], point.ranks_per_node)


def _holds(limits: Sequence[Any], value: int) -> bool:
    low, high = limits
    return bool(low <= value and (high is None or value <= high))
