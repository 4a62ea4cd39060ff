# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Finds the component and the tools that a session needs."""
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import List, Optional

from bench.run.errors import DriverError
from bench.run.family import executable
from bench.run.options import Options

COMPONENT = "mca_coll_poweraware.so"


@dataclass
class Places:
    """Absolute paths of what was found; no sampler means no energies.  plugin_dir holds nothing
    but the component: Open MPI tries to load every file it finds there."""

    plugin_dir: Path
    sampler: Optional[Path]
    guard: Optional[Path]


def find(options: Options) -> Places:
    """All that is needed, or one error that names everything that is missing."""
    missing: List[str] = list(dict.fromkeys(options.family.missing))
    others = len(missing)
    if not os.access(options.cluster_program, os.X_OK):
        missing.append(str(options.cluster_program))
    component = _component(options)
    if component is None:
        missing.append(f"{COMPONENT} in {options.plugin_dir or options.build}")
    if missing or component is None:
        ours = options.family.lacks_ours or len(missing) > others
        hint = ". Parts of poweraware are made by make; --build names the build directory when it is not ./build"
        raise DriverError(f"not found: {'; '.join(missing)}{hint if ours else ''}")
    return Places(
        plugin_dir=component.parent.resolve(),
        sampler=_tool(options.build, "poweraware-sample"),
        guard=_tool(options.build, "poweraware-guard"),
    )


def _tool(build: Path, name: str) -> Optional[Path]:
    return executable([build / "opal" / name, build / "opal/tools" / name])


def _component(options: Options) -> Optional[Path]:
    folder = options.plugin_dir or options.build / "coll_poweraware/component"
    path = folder / COMPONENT
    return path if path.is_file() else None
