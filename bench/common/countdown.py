# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Time that is left for something."""

from __future__ import annotations

import time
from typing import Callable

LOOK_S = 1.0
_PAUSE_S = 0.05


class Countdown:
    """Of seconds, of which only time counts in which we look: where a machine stands still (a virtual one that is
    paused, a laptop that sleeps), so does what we wait for, and then the clock jumps."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._looked = time.monotonic()

    def left(self) -> float:
        """0 when it is over. Call it again within LOOK_S seconds."""
        now = time.monotonic()
        self._left -= min(now - self._looked, LOOK_S)
        self._looked = now
        return max(0.0, self._left)


def comes_true(condition: Callable[[], bool], within_s: float) -> bool:
    """Asks again and again until the condition holds or the time is over."""
    countdown = Countdown(within_s)
    while not condition():
        if countdown.left() == 0:
            return False
        time.sleep(_PAUSE_S)
    return True
