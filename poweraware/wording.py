# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Numbers and units in words, the same in pictures, tables and text."""
from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Tuple

OTHERS = "(others)"  # what had no room in a job's tables
OUTSIDE = "outside of regions"


def number(value: float) -> str:
    """Four significant digits, without exponents in the range that people read."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}"
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.3e}"


def size(count: int) -> str:
    """A message size with the largest binary unit that divides it."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count and count % factor == 0:
            return f"{count // factor} {unit}"
    return f"{count} B"


def plural(count: int, noun: str) -> str:
    """A count with its noun in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def levers_off(levers: Iterable[Tuple[str, Optional[str]]]) -> List[str]:
    """Titles of levers and why they are off: each reason once, with the levers that it is the reason of."""
    found: Dict[str, List[str]] = {}
    for title, reason in levers:
        if reason:
            found.setdefault(reason, []).append(title)
    return [f"{', '.join(titles)} off: {reason}" for reason, titles in found.items()]
