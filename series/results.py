# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a series gave, as files of automake's test harness, which ./quickstart sums up."""

from __future__ import annotations

import shutil
from pathlib import Path


def write(folder: Path, name: str, result: str) -> None:
    """One result (PASS, SKIP or FAIL) beside its log."""
    (folder / f"{name}.trs").write_text(
        f":test-result: {result}\n:global-test-result: {result}\n", encoding="utf-8"
    )


def collect(build: Path, folder: Path) -> None:
    """Copies the results of a build with their logs."""
    for trs in sorted(build.rglob("*.trs")):
        target = folder / trs.relative_to(build)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(trs, target)
        log = trs.with_suffix(".log")
        if log.exists():
            shutil.copyfile(log, target.with_suffix(".log"))


def failures(folder: Path) -> int:
    """How many of the results under a folder are neither passed nor skipped."""
    good = (":global-test-result: PASS", ":global-test-result: SKIP")
    texts = (trs.read_text(encoding="utf-8").splitlines() for trs in folder.rglob("*.trs"))
    return sum(not any(line.rstrip() in good for line in lines) for lines in texts)
