# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A copy of the sources that keeps the age of what did not change, so that make builds only the rest."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

# Not sources, where git does not say what is.
_OUTPUTS = (".git", "build", "results", "__pycache__", "autom4te.cache", ".pytest_cache", ".mypy_cache")


def listing(top: Path) -> list[str]:
    """The files of the work tree as it is now, new and changed ones too, without what git ignores."""
    try:
        done = subprocess.run(
            ["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            text=True,
            check=False,
        )
        names = done.stdout.split("\0") if done.returncode == 0 else []
    except OSError:
        names = []
    return sorted({name for name in names or _walk(top) if name and os.path.lexists(top / name)})


def _walk(top: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(top):
        here = Path(folder)
        folders[:] = [
            name
            for name in folders
            if not name.startswith(_OUTPUTS) and not (here / name / "config.status").exists()
        ]
        for name in files:
            yield str((here / name).relative_to(top))


def update(top: Path, copy: Path, remembered: Path) -> int:
    """Makes copy what top is; returns how many files changed.

    remembered holds the last listing: files that were made in the copy meanwhile are left alone, files
    that left the sources are removed.
    """
    names = listing(top)
    old = remembered.read_text(encoding="utf-8").split("\0") if remembered.exists() else []
    gone = [name for name in old if name and name not in set(names)]
    for name in gone:
        (copy / name).unlink(missing_ok=True)
    changed = len(gone) + sum(_copy_if_changed(top / name, copy / name) for name in names)
    remembered.write_text("\0".join(names), encoding="utf-8")
    return changed


def _copy_if_changed(source: Path, target: Path) -> bool:
    if source.is_symlink():
        if target.is_symlink() and os.readlink(source) == os.readlink(target):
            return False
    elif target.is_file() and not target.is_symlink():
        same_mode = source.stat().st_mode == target.stat().st_mode
        if same_mode and filecmp.cmp(source, target, shallow=False):
            return False
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copy(source, target, follow_symlinks=False)
    return True
