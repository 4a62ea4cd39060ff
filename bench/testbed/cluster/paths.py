# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Where this project's sources and what was built of them lie."""

from __future__ import annotations

import os
from pathlib import Path

from bench.testbed.cluster.errors import ClusterError

TOP = Path(__file__).resolve().parents[3]

_ADMINISTRATION = ("/usr/sbin", "/sbin")


def search_administration() -> None:
    """Adds to $PATH where ip and tc may lie: ordinary users of Debian do not have it there."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders += [folder for folder in _ADMINISTRATION if folder not in folders]
    os.environ["PATH"] = os.pathsep.join(folders)


def built(relative: str) -> Path:
    """A built file, in $PWR_BUILDDIR or in the usual places of a build."""
    chosen = os.environ.get("PWR_BUILDDIR")
    folders = [Path(chosen)] if chosen else [TOP / "build", TOP]
    for folder in folders:
        if (folder / relative).is_file():
            return folder / relative
    tried = " or ".join(str(folder) for folder in folders)
    raise ClusterError(
        f"{relative} is not in {tried}: build first, or set PWR_BUILDDIR to the build directory"
    )
