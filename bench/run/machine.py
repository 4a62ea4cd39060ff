# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What the component and mpirun must be told of an emulated machine, from its description."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, Optional

from poweraware.session.document import Binding


def parameters(machine: Path) -> Dict[str, str]:
    """MCA parameters: no operating system tells what a T-state acts on, so the user has to."""
    scope = _value(machine, "tstate_scope")
    if scope is None:
        return {}
    return {"coll_poweraware_tstate_scope": "package" if scope == "package" else "core"}


def floor_w(machine: Path) -> Optional[float]:
    """Watts of a node while every core is asleep, and the uncore at its lowest frequency: what nobody can save.  None where
    the description has no power of the whole node."""

    def number(key: str, default: float = 0.0) -> float:
        value = _value(machine, key)
        return default if value is None else float(value)

    if number("platform_static_w") == 0:
        return None
    uncore_w, fastest = number("uncore_w"), number("uncore_max_khz")
    if fastest > 0:
        uncore_w *= (number("uncore_min_khz") / fastest) ** number("core_dyn_exponent", 1.83)
    of_cores = number("cores", 1) * number("core_idle_w", 1)
    package = of_cores + number("package_static_w") + uncore_w + number("dram_static_w")
    return number("platform_static_w") + number("packages", 1) * package


def _value(machine: Path, key: str) -> Optional[str]:
    """The first word of a key's value; None: the description leaves it to its default."""
    text = machine.read_text(encoding="utf-8", errors="replace")
    found = re.search(rf"^\s*{key}\s*=\s*([\w.]+)", text, re.MULTILINE)
    return None if found is None else found.group(1)


def binding(machine: Optional[Path]) -> Binding:
    """Emulated cores are there to be bound to; real ones are shared by all nodes."""
    return Binding("none", "slot") if machine is None else Binding("core", "core")
