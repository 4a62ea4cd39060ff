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
    text = machine.read_text(encoding="utf-8", errors="replace")
    scope = re.search(r"^\s*tstate_scope\s*=\s*(\w+)", text, re.MULTILINE)
    if scope is None:
        return {}
    acts_on = "package" if scope.group(1) == "package" else "core"
    return {"coll_poweraware_tstate_scope": acts_on}


def binding(machine: Optional[Path]) -> Binding:
    """Emulated cores are there to be bound to; real ones are shared by all nodes."""
    return Binding("none", "slot") if machine is None else Binding("core", "core")
