# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Quantiles of Student's t, which Python's standard library lacks."""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

_STEPS = 200
_HALVINGS = 60
_NORMAL_FROM = 1e4  # degrees of freedom


@lru_cache(maxsize=4096)
def quantile(probability: float, freedom: float) -> float:
    """The t that is exceeded with probability 1 - p; freedom: degrees of freedom, at least 1."""
    if not 0.0 < probability < 1.0 or not freedom >= 1.0:
        raise ValueError(f"no such quantile: {probability}, {freedom}")
    if probability < 0.5:
        return -quantile(1.0 - probability, freedom)
    if freedom > _NORMAL_FROM:
        return NormalDist().inv_cdf(probability)
    low, high = 0.0, 0.5 * math.pi
    for _ in range(_HALVINGS):  # over the angle: the tail of t is infinite
        middle = 0.5 * (low + high)
        if _below(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(0.5 * (low + high))


def _below(angle: float, freedom: float) -> float:
    """P(T <= sqrt(freedom) tan(angle)): with t = sqrt(freedom) tan(a) the density becomes cos(a)^(freedom - 1) up to
    a constant, which Simpson's rule integrates."""
    constant = math.exp(math.lgamma(0.5 * (freedom + 1)) - math.lgamma(0.5 * freedom)) / math.sqrt(math.pi)
    return 0.5 + constant * _simpson(lambda a: math.cos(a) ** (freedom - 1), 0.0, angle)


def _simpson(function: Callable[[float], float], low: float, high: float) -> float:
    width = (high - low) / _STEPS
    inner = sum((4 if k % 2 else 2) * function(low + k * width) for k in range(1, _STEPS))
    return (function(low) + inner + function(high)) * width / 3
