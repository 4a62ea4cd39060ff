# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Quantiles of Student's t, which neither Python's standard library nor NumPy has."""
from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_STEPS = 20_000
_NORMAL_FROM = 1e4  # degrees of freedom


@lru_cache(maxsize=4096)
def quantile(probability: float, freedom: float) -> float:
    """The t that is exceeded with probability 1 - p; freedom: degrees of freedom, at least 1.  With
    t = sqrt(freedom) tan(a) the density becomes cos(a)^(freedom - 1) up to a constant, which is added up from 0 on."""
    if probability < 0.5:
        return -quantile(1.0 - probability, freedom)
    if freedom > _NORMAL_FROM:
        return NormalDist().inv_cdf(probability)
    step = 0.5 * math.pi / _STEPS
    constant = math.exp(math.lgamma(0.5 * (freedom + 1)) - math.lgamma(0.5 * freedom)) / math.sqrt(math.pi)
    left, k = probability - 0.5, 0
    while left > (area := constant * step * math.cos((k + 0.5) * step) ** (freedom - 1)):
        left, k = left - area, k + 1
    return math.sqrt(freedom) * math.tan((k + left / area) * step)
