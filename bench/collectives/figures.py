# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""From measurements to ratios: ours over the best of Open MPI's own, with intervals.

A copy of the message by one rank is what a collective between two ranks can reach at best.

The best stock variant of a point is the one with the lowest median. Every other block says which one that is, for those
between them: among several that are equally fast, the lowest median of the same blocks would be the luckiest one's. A
ratio is the median of ours over it, block by block, because blocks of one number ran next to each other; its interval
comes from resampling those ratios.
"""
from __future__ import annotations

import math
import random
import statistics
from dataclasses import asdict, dataclass
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from bench.common import intervals
from poweraware.measurements import COMPONENTS, COPY, STOCK

STOCK_NAMES = (STOCK, *COMPONENTS)

Key = Tuple[str, int, int, int]  # collective, nodes, ranks per node, size


@dataclass(frozen=True)
class Ratio:
    """One of ours at one point."""

    collective: str
    nodes: int
    ranks_per_node: int
    size: int
    ours: str
    us: float
    best_stock: str
    best_us: float
    ratio: float
    low: float
    high: float
    cpu_ratio: float
    blocks: int
    copy_us: Optional[float]  # None: not measured

    @property
    def layout(self) -> str:
        """As in "4x4"."""
        return f"{self.nodes}x{self.ranks_per_node}"


@dataclass
class _Series:
    us: List[float]
    cpu_us: List[float]


def ratios(documents: Sequence[Dict[str, Any]], seed: int) -> List[Ratio]:
    """Every variant of ours at every point, in the order of collectives, layouts and sizes."""
    points: Dict[Key, Dict[str, _Series]] = {}
    for document in documents:
        for point in document["points"]:
            key = (point["collective"], point["nodes"], point["ranks_per_node"], point["size"])
            blocks = min((len(v["us"]) for v in point["variants"] if v["us"]), default=0)
            for variant in point["variants"]:
                if variant["us"]:
                    series = points.setdefault(key, {}).setdefault(variant["name"], _Series([], []))
                    series.us += variant["us"][:blocks]
                    series.cpu_us += variant["cpu_us"][:blocks]
    chance = random.Random(seed)
    found = []
    for key, variants in sorted(points.items()):
        found += _ratios_of(key, variants, chance)
    return found


def _best_of(names: Sequence[str], variants: Dict[str, _Series], blocks: slice) -> str:
    return min(names, key=lambda name: statistics.median(variants[name].us[blocks]))


def _of_best(names: Sequence[str], variants: Dict[str, _Series]) -> _Series:
    """Blocks of the best one: those of even numbers of the best in the others, and the reverse."""
    blocks = len(variants[names[0]].us)
    others = (slice(1, None, 2), slice(0, None, 2)) if blocks > 1 else (slice(None),)
    best = [variants[_best_of(names, variants, those)] for those in others]
    chosen = [best[block % 2] for block in range(blocks)]
    return _Series([s.us[k] for k, s in enumerate(chosen)], [s.cpu_us[k] for k, s in enumerate(chosen)])


def _ratios_of(key: Key, variants: Dict[str, _Series], chance: random.Random) -> Iterable[Ratio]:
    blocks = max((len(variants[name].us) for name in STOCK_NAMES if name in variants), default=0)
    # one whose data were wrong in some job has no blocks to pair there
    stocks = [name for name in STOCK_NAMES if name in variants and len(variants[name].us) == blocks]
    if not stocks:
        return
    theirs = _of_best(stocks, variants)
    best = _best_of(stocks, variants, slice(None))
    copied = statistics.median(variants[COPY].us) if COPY in variants else None
    for name, series in variants.items():
        if name in (*STOCK_NAMES, COPY) or len(series.us) != blocks:
            continue
        pairs = [a / b for a, b in zip(series.us, theirs.us) if b > 0]
        low, high = intervals.of_median(pairs, chance)
        cpu = statistics.median(theirs.cpu_us)
        yield Ratio(
            *key, name, statistics.median(series.us), best, statistics.median(variants[best].us),
            statistics.median(pairs), low, high, statistics.median(series.cpu_us) / cpu if cpu > 0 else 1.0,
            len(pairs), copied,
        )  # fmt: skip


def geometric_mean(found: Sequence[Ratio]) -> float:
    """Of the ratios."""
    return math.exp(sum(math.log(ratio.ratio) for ratio in found) / len(found))


def wrong(documents: Sequence[Dict[str, Any]]) -> List[str]:
    """What gave wrong data."""
    return [
        f"{variant['name']}: {point['collective']}, {point['size']} bytes, {point['nodes']}x{point['ranks_per_node']}"
        for document in documents
        for point in document["points"]
        for variant in point["variants"]
        if variant["wrong"]
    ]


def as_json(found: Sequence[Ratio]) -> List[Dict[str, Any]]:
    """For the document."""
    return [asdict(ratio) for ratio in found]
