# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""How sure a median is, without assuming how the values are distributed."""
from __future__ import annotations

import random
import statistics
from typing import Sequence, Tuple

_RESAMPLES = 400
_INTERVAL = 0.95


def of_median(values: Sequence[float], chance: random.Random) -> Tuple[float, float]:
    """The 95 % interval of the median, by resampling the values."""
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    cut = int(_RESAMPLES * (1 - _INTERVAL) / 2)
    return medians[cut], medians[-cut - 1]
