# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Progress lines with the time gone and the time left."""
from __future__ import annotations

import sys
import time
from typing import Dict, List, TextIO, Tuple

_TICK_S = 10.0


class Progress:
    """Knows how long runs of each kind took, and estimates the rest from them."""

    def __init__(self, plan: List[Tuple[str, str]], out: TextIO = sys.stderr) -> None:
        self._left = list(plan)  # (benchmark, scheme) of the runs not yet finished
        self._out = out
        self._start = time.monotonic()
        self._took: Dict[Tuple[str, str], List[float]] = {}
        self._run_start = self._start
        self._last_line = self._start
        self._current = ""

    def say(self, text: str) -> None:
        """One line, with the time since the start and the estimate of the rest."""
        self._last_line = time.monotonic()
        gone = self._last_line - self._start
        print(f"[{gone:6.1f} s, {self._rest()}] {text}", file=self._out, flush=True)

    def begin(self, text: str) -> None:
        """A run begins."""
        self._run_start = time.monotonic()
        self._current = text
        self.say(text)

    def tick(self) -> None:
        """To be called often; says now and then that the run goes on."""
        now = time.monotonic()
        if now - self._last_line > _TICK_S:
            self.say(f"{self._current}: running for {now - self._run_start:.0f} s")

    def end(self, text: str = "") -> None:
        """The run that came first in the plan has ended; without a text nothing is said."""
        kind = self._left.pop(0)
        self._took.setdefault(kind, []).append(time.monotonic() - self._run_start)
        if text:
            self.say(text)

    def _rest(self) -> str:
        if not self._left:
            return "about 0 s left"
        if not self._took:
            return "time left not known yet"
        all_times = [seconds for times in self._took.values() for seconds in times]
        mean = sum(all_times) / len(all_times)
        rest = 0.0
        for kind in self._left:
            times = self._took.get(kind)
            rest += sum(times) / len(times) if times else mean
        return f"about {rest:.0f} s left"
