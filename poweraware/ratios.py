# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Ratios of figures of repeated runs, and how sure they are: the one place that makes them.

Times and energies scatter by factors.  So everything is done on logarithms, and means are geometric: the ratio of two
means is the mean of the ratios.  Runs that were made next to each other are compared in pairs, others in groups
(Welch's t, which allows for unequal scatter).  Fewer than three runs do not show how much they scatter: they have no
interval, and nothing is claimed of them.
"""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Optional, Sequence

from poweraware.student import quantile
from poweraware.wording import plural

FEWEST = 3  # runs that have an interval
LEVEL = 0.95

_POWER = 0.95  # with which the number of runs that is asked for finds the difference
_SURENESS = 0.8  # that noise is no larger than what runs are asked for
_MOST = 10_000


@dataclass(frozen=True)
class Ratio:
    """A figure of some runs over that of others."""

    middle: float  # geometric mean
    low: Optional[float]  # of the interval; None: too few runs
    high: Optional[float]
    count: int  # pairs, or runs of the smaller group
    scatter: float  # standard deviation of logarithms
    is_paired: bool

    @property
    def differs(self) -> bool:
        return self.low is not None and self.high is not None and (self.low > 1.0 or self.high < 1.0)

    def text(self) -> str:
        """With three decimals and the interval, or with the number of runs."""
        if self.low is None or self.high is None:
            return f"{self.middle:.3f} ({plural(self.count, 'run')})"
        return f"{self.middle:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def change(self, form: str = "+.1f") -> str:
        """In percent, with its interval; "" where no change is shown.  form: of each number."""
        if not self.differs or self.low is None or self.high is None:
            return ""
        middle, low, high = (format(100 * (ratio - 1), form) for ratio in (self.middle, self.low, self.high))
        return f"{middle} % [{low}, {high}]"


def geometric_mean(values: Sequence[float]) -> float:
    """Of values above 0."""
    return math.exp(statistics.fmean(map(math.log, values)))


def paired(figures: Sequence[float], others: Sequence[float], level: float = LEVEL) -> Optional[Ratio]:
    """Figures over others, pair by pair, all above 0; None without any."""
    logs = [math.log(figure / other) for figure, other in zip(figures, others)]
    if not logs:
        return None
    mean = statistics.fmean(logs)
    scatter = statistics.stdev(logs) if len(logs) > 1 else math.nan
    freedom = len(logs) - 1
    return _ratio(mean, scatter / math.sqrt(len(logs)), freedom, level, len(logs), scatter, True)


def of_groups(figures: Sequence[float], others: Sequence[float], level: float = LEVEL) -> Ratio:
    """Figures over others, where no run belongs to another; all above 0, and at least two of each."""
    logs = [[math.log(value) for value in values] for values in (figures, others)]
    mean = statistics.fmean(logs[0]) - statistics.fmean(logs[1])
    errors = [statistics.variance(values) / len(values) for values in logs]
    error = sum(errors)
    freedom = error**2 / sum(one**2 / (len(values) - 1) for one, values in zip(errors, logs)) if error > 0 else 1.0
    squares = sum((value - statistics.fmean(values)) ** 2 for values in logs for value in values)
    scatter = math.sqrt(squares / (len(logs[0]) + len(logs[1]) - 2))
    return _ratio(mean, math.sqrt(error), max(1.0, freedom), level, min(map(len, logs)), scatter, False)


def runs_needed(ratio: Ratio, difference: float, level: float = LEVEL) -> int:
    """Pairs, or runs of each group, that find a difference (0.03: 3 %) with a probability of 95 %, if runs scatter as
    these do.  They may scatter more in truth, which is allowed for (Wilson and Hilferty's approximation of chi-squared)."""
    freedom = ratio.count - 1 if ratio.is_paired else 2 * ratio.count - 2
    z = -statistics.NormalDist().inv_cdf(_SURENESS)
    shrunk = max(0.05, 1.0 - 2.0 / (9 * freedom) + z * math.sqrt(2.0 / (9 * freedom)))
    largest = ratio.scatter / math.sqrt(shrunk**3)
    low, high = FEWEST, _MOST
    while low < high:  # more runs find smaller differences
        runs = (low + high) // 2
        freedom = runs - 1 if ratio.is_paired else 2 * runs - 2
        error = largest * math.sqrt((1.0 if ratio.is_paired else 2.0) / runs)
        if (quantile(0.5 + level / 2, freedom) + quantile(_POWER, freedom)) * error <= math.log1p(difference):
            high = runs
        else:
            low = runs + 1
    return low


def _ratio(mean: float, error: float, freedom: float, level: float, count: int, scatter: float, is_paired: bool) -> Ratio:
    if count < FEWEST:
        return Ratio(math.exp(mean), None, None, count, scatter, is_paired)
    reach = quantile(0.5 + level / 2, freedom) * error if error > 0 else 0.0
    return Ratio(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach), count, scatter, is_paired)
