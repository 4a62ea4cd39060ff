# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Finds the component and the tools that a session needs."""
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

from bench.run.errors import DriverError
from bench.run.family import COMPONENT_PATH, executable
from bench.run.options import Options
from bench.run.shift import WINDOWS

COMPONENT = "mca_coll_poweraware.so"
OPENSHMEM = "mca_scoll_poweraware.so"


@dataclass
class Places:
    """Absolute paths of what was found; no sampler means no energies.  Each plugin_dir holds nothing
    but components: Open MPI tries to load every file it finds there."""

    plugin_dirs: List[Path]
    sampler: Optional[Path]
    guard: Optional[Path]

    def environment(self) -> Dict[str, str]:
        """That of programs which are to find the components."""
        return {**os.environ, COMPONENT_PATH: ":".join([*map(str, self.plugin_dirs), "SYS_DEFAULT"])}


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
        plugin_dirs=[component.parent.resolve(), *_beside(options)],
        sampler=_tool(options.build, "poweraware-sample"),
        guard=_tool(options.build, "poweraware-guard"),
    )


def _tool(build: Path, name: str) -> Optional[Path]:
    return executable([build / "opal" / name, build / "opal/tools" / name])


def _beside(options: Options) -> List[Path]:
    """The folders of the components for windows and for OpenSHMEM, where the build has them."""
    paths = [options.build / "osc_poweraware/component" / WINDOWS, options.build / "oshmem/scoll_poweraware/component" / OPENSHMEM]
    return [path.parent.resolve() for path in paths if options.plugin_dir is None and path.is_file()]


def _component(options: Options) -> Optional[Path]:
    folder = options.plugin_dir or options.build / "coll_poweraware/component"
    path = folder / COMPONENT
    return path if path.is_file() else None
