# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Ratios: means that agree with them, intervals that hold what they should, and none where there are too few runs."""
from __future__ import annotations

import random

import pytest

from poweraware import ratios


def lognormal(chance: random.Random, count: int, factor: float, scatter: float) -> "list[float]":
    return [factor * chance.lognormvariate(0.0, scatter) for _ in range(count)]


def test_means_have_the_ratio_that_is_told() -> None:
    """Arithmetic means of runs that scatter by factors say "less" beside ratios that say "more"."""
    off, auto = [100.0, 100.0, 7000.0], [1800.0, 1900.0, 2000.0]
    assert sum(auto) / 3 < sum(off) / 3 and sum(a / b for a, b in zip(auto, off)) / 3 > 12
    found = ratios.paired(auto, off)
    assert found is not None
    assert found.middle == pytest.approx(ratios.geometric_mean(auto) / ratios.geometric_mean(off))
    assert not found.differs and found.change() == ""


@pytest.mark.parametrize("count", [3, 5, 12])
def test_intervals_of_pairs_hold_what_they_should(count: int) -> None:
    chance = random.Random(count)
    covered = 0
    for _ in range(1000):
        slow = lognormal(chance, count, 1.0, 0.5)  # what both runs of a pair have in common
        found = ratios.paired([1.2 * s * chance.lognormvariate(0.0, 0.05) for s in slow], slow)
        assert found is not None and found.low is not None and found.high is not None
        covered += found.low <= 1.2 <= found.high
    assert 930 <= covered <= 970


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_runs_claim_nothing(count: int) -> None:
    found = ratios.paired([2.0] * count, [1.0] * count)
    assert found is not None and found.low is None and found.high is None
    assert not found.differs and found.change() == ""
    assert found.text() == ("2.000 (1 run)" if count == 1 else "2.000 (2 runs)")
    assert ratios.of_groups([2.0, 2.1], [1.0, 1.1]).low is None
    assert ratios.paired([], []) is None


def test_words() -> None:
    found = ratios.paired([0.8, 0.81, 0.79, 0.8], [1.0] * 4)
    assert found is not None and found.differs
    assert found.text() == "0.800 [0.787, 0.813]"
    assert found.change() == "-20.0 % [-21.3, -18.7]" and found.change("+.2g") == "-20 % [-21, -19]"


def test_so_many_runs_find_a_difference() -> None:
    """Pairs need fewer than groups, whose runs also scatter by what pairs have in common."""
    chance = random.Random(1)
    found_differences = 0
    for _ in range(200):
        first = ratios.paired(lognormal(chance, 6, 1.0, 0.02), [1.0] * 6)
        assert first is not None
        needed = ratios.runs_needed(first, 0.03)
        again = ratios.paired(lognormal(chance, needed, 1.03, 0.02), [1.0] * needed)
        assert again is not None
        found_differences += again.differs
    assert found_differences >= 190
    assert ratios.runs_needed(ratios.of_groups([1.0, 1.02, 0.98], [1.0, 1.02, 0.98]), 0.03) > 6
