# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""From jobs to rows: times, CPU seconds, ratios with intervals, goals.

A job gives one value: a median over its calls, or, for CPU seconds and for `imbalance`, their mean, because sums
matter there. A value of a row is the median over repetitions; a ratio is taken repetition by repetition first, because
those jobs ran next to each other. Intervals come from resampling the repetitions.
"""
from __future__ import annotations

import random
import statistics
from dataclasses import asdict, dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence

from bench.common import intervals
from bench.waits import experiments, ways
from bench.waits.experiments import Point
from bench.waits.jobs import Run

Values = Dict[int, float]  # by repetition


@dataclass(frozen=True)
class Estimate:
    """A median over repetitions with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """A goal, and whether it is met."""

    text: str
    met: bool


@dataclass(frozen=True)
class Row:
    """A way at a point, compared with another one."""

    point: Point
    way: str
    base: str
    repetitions: int
    time_us: Estimate
    after_us: Optional[Estimate]  # where a rank is late only, as those below that may be None
    cpu_us: Estimate
    cpu_share: Optional[Estimate]  # of the time that waiting ranks were in the call
    late_was_last: Optional[float]  # share of the calls
    time_ratio: Optional[Estimate]  # None: the base is not there
    cpu_ratio: Optional[Estimate]
    after_more_us: Optional[Estimate]
    verdicts: List[Verdict]


def rows(runs: Sequence[Run], seed: int) -> List[Row]:
    """A row for each point, way and base, in the order of the runs' points and of all ways."""
    chance = random.Random(seed)
    by_point: Dict[Point, Dict[str, Dict[int, Dict[str, Any]]]] = {}
    for run in runs:
        of_way = by_point.setdefault(Point(**run["point"]), {}).setdefault(run["way"], {})
        of_way[run["repetition"]] = run["measured"]
    found = []
    for point, measured in by_point.items():
        for way in (name for name in ways.ALL if name in measured):
            for base in experiments.bases(point, way, list(measured)):
                found.append(_row(point, way, base, measured[way], measured.get(base, {}), chance))
    return found


def _row(point: Point, way: str, base: str, mine: Dict[int, Any], theirs: Dict[int, Any], chance: random.Random) -> Row:
    time = "mean" if point.experiment == "imbalance" else "p50"
    late = point.has_late

    def times(of: Dict[int, Any]) -> Values:
        return {k: m["time_us"][time] for k, m in of.items()}

    def after(of: Dict[int, Any]) -> Values:
        return {k: m["after_us"]["p50"] for k, m in of.items()} if late else {}

    def cpu(of: Dict[int, Any]) -> Values:
        return {k: m["cpu_us"] for k, m in of.items()}

    shares = {k: m["cpu_us"] / max(m["waiting_us"], 1e-9) for k, m in mine.items()} if late else {}
    time_us, cpu_us = _estimate(times(mine), chance), _estimate(cpu(mine), chance)
    assert time_us is not None and cpu_us is not None
    compared = {
        "time_ratio": _paired(times(mine), times(theirs), _ratio, chance),
        "cpu_ratio": _paired(cpu(mine), cpu(theirs), _ratio, chance),
        "after_more_us": _paired(after(mine), after(theirs), lambda a, b: a - b, chance),
    }
    cpu_share = _estimate(shares, chance)
    verdicts = []
    for goal in experiments.goals(point, way):
        value = cpu_share if goal.what == "cpu_share" else compared[goal.what]
        if value is not None:
            verdicts.append(Verdict(goal.text, value.value <= goal.bound))
    return Row(
        point=point,
        way=way,
        base=base,
        repetitions=len(mine),
        time_us=time_us,
        after_us=_estimate(after(mine), chance),
        cpu_us=cpu_us,
        cpu_share=cpu_share,
        late_was_last=statistics.median(m["late_was_last"] for m in mine.values()) if late else None,
        verdicts=verdicts,
        **compared,
    )


def _estimate(values: Values, chance: random.Random) -> Optional[Estimate]:
    if not values:
        return None
    low, high = intervals.of_median(list(values.values()), chance)
    return Estimate(statistics.median(values.values()), low, high)


def _paired(
    mine: Values, theirs: Values, difference: Callable[[float, float], float], chance: random.Random
) -> Optional[Estimate]:
    return _estimate({k: difference(mine[k], theirs[k]) for k in mine if k in theirs}, chance)


def _ratio(mine: float, theirs: float) -> float:
    return mine / max(theirs, 1e-9)


def notes(runs: Sequence[Run]) -> List[str]:
    """Where Open MPI did not do what a way asks for."""
    found: Dict[str, None] = {}
    for run in runs:
        asked, done = ways.yields(run["way"]), run["measured"]["yields"]
        if asked >= 0 and done >= 0 and asked != done:
            text = "yielded all the same" if done else "did not yield"
            found[f"{run['way']}: ranks {text} on {Point(**run['point']).layout}"] = None
    return list(found)


def as_json(found: Sequence[Row]) -> List[Dict[str, Any]]:
    """For the document."""
    return [asdict(row) for row in found]
