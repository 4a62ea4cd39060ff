# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of poweraware-tune, and points: what they say of one collective, layout and number of bytes.

An algorithm's time at a point is the median of its ratios to stock, block by block, because blocks of one number ran
next to each other.  Several documents with the same point count with their geometric mean.
"""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from poweraware.documents import DocumentError, Schema, check, read_json, refuse

FORMAT = "poweraware-measurements"
STOCK = "stock"  # what Open MPI selects without us
COMPONENTS = ("adapt", "basic", "han", "sm", "tuned", "xhc")  # of Open MPI
COPY = "copy"  # no collective: each rank copies the message once
_NO_CANDIDATES = {STOCK, "auto", COPY, *COMPONENTS} - {"basic", "tuned"}  # which scheme auto may take, too
WORST_TIME = 1.05  # what an algorithm may cost at its worst, of stock's time

_NUMBERS = {"type": "array", "items": {"type": "number"}}
_SCHEMA: Schema = {
    "type": "object",
    "required": ["points"],
    "properties": {"points": {"type": "array", "items": {
        "type": "object",
        "required": ["collective", "nodes", "ranks_per_node", "bytes", "variants"],
        "properties": {
            "collective": {"type": "string"},
            "nodes": {"type": "integer", "minimum": 1},
            "ranks_per_node": {"type": "integer", "minimum": 1},
            "bytes": {"type": "integer", "minimum": 0},
            "variants": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "us", "cpu_us"],
                "properties": {"name": {"type": "string"}, "us": _NUMBERS, "cpu_us": _NUMBERS},
            }},
        },
    }}},
}  # fmt: skip


@dataclass
class Result:
    """One algorithm at one point: sums over documents."""

    log_time: float = 0.0  # logarithms of ratios to stock
    log_cpu: float = 0.0
    slower: float = 0.0  # shares of blocks that were slower than stock
    bad: int = 0  # documents in which it took more than WORST_TIME of stock's time
    documents: int = 0

    @property
    def time(self) -> float:
        """Of stock's."""
        return math.exp(self.log_time / self.documents)

    @property
    def cpu(self) -> float:
        """Of stock's."""
        return math.exp(self.log_cpu / self.documents)


@dataclass
class Point:
    """Results of all algorithms of ours that could do the call."""

    collective: str
    nodes: int
    ranks_per_node: int
    bytes: int  # as a decision table counts them
    results: Dict[str, Result] = field(default_factory=dict)


def load(path: Path) -> Dict[str, Any]:
    """The document; raises a DocumentError when it is not one."""
    document: Dict[str, Any] = read_json(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DocumentError(f"{path}: not measurements of poweraware-tune")
    check(document, _SCHEMA, str(path))
    refuse(((f"$.points[{i}]", "stock was not measured") for i, point in enumerate(document["points"])
            if all(variant["name"] != STOCK for variant in point["variants"])), str(path))  # fmt: skip
    return document


def points(documents: Sequence[Dict[str, Any]]) -> List[Point]:
    """All points of all documents, those of the same call together, in the order in which they come."""
    found: Dict[Tuple[str, int, int, int], Point] = {}
    for document in documents:
        for measured in document["points"]:
            key = (measured["collective"], measured["nodes"], measured["ranks_per_node"], measured["bytes"])
            _add(found.setdefault(key, Point(*key)), measured["variants"])
    return list(found.values())


def source(documents: Sequence[Dict[str, Any]]) -> str:
    """The commands, dates, hosts and Open MPIs of documents in a line."""
    return "; ".join("{} ({}, {}, {})".format(*(document.get(key, "unknown") for key in ("command", "date", "host", "library")))
                     for document in documents)  # fmt: skip


def _add(point: Point, variants: Sequence[Dict[str, Any]]) -> None:
    stock = next(variant for variant in variants if variant["name"] == STOCK)
    for variant in filter(_is_candidate, variants):
        result = point.results.setdefault(variant["name"], Result())
        time, slower = _against(variant["us"], stock["us"])
        cpu, _ = _against(variant["cpu_us"], stock["cpu_us"])
        result.log_time += math.log(time)
        result.log_cpu += math.log(cpu)
        result.slower += slower
        result.bad += time > WORST_TIME
        result.documents += 1


def _is_candidate(variant: Dict[str, Any]) -> bool:
    """Others are in measurements too; a table cannot name them."""
    measured = bool(variant["us"]) and not variant.get("wrong")
    return measured and variant["name"] not in _NO_CANDIDATES


def _against(mine: Sequence[float], stocks: Sequence[float]) -> Tuple[float, float]:
    """The median of ratios, and the share of those above 1; both are 1 where there is nothing to compare."""
    pairs = [(a, b) for a, b in zip(mine, stocks) if a > 0 and b > 0]
    if not pairs:
        return 1.0, 1.0
    return statistics.median(a / b for a, b in pairs), sum(a > b for a, b in pairs) / len(pairs)
