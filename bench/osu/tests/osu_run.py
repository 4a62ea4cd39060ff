# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""For the tests: starts a benchmark, and reads the OSU benchmarks' text tables."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("PWR_BUILDDIR", TOP / "build")) / "bench" / "osu"
SAMPLES = Path(__file__).resolve().parent / "samples"

TITLE = re.compile(r"# OSU MPI (?P<title>.+) Latency Test v(?P<version>[0-9.]+)( \(.*\))?")


@dataclass(frozen=True)
class Table:
    """One run's text: column names as printed, one dictionary of cells per message size."""

    title: str
    version: str
    columns: list[str]
    rows: list[dict[str, str]]


def run(benchmark: str, ranks: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs a built benchmark to its end."""
    allow_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [os.environ.get("MPIRUN", "mpirun"), "--oversubscribe", "-np", str(ranks)]
    return subprocess.run(
        [*command, str(BUILD / benchmark), *options],
        env={**os.environ, **allow_root},
        capture_output=True,
        text=True,
        check=False,
    )


def ended_with_error(done: subprocess.CompletedProcess[str]) -> bool:
    """As in btl_tests/tests/mpi.sh: status 1, or Open MPI 4.1 has crashed another rank that was about to end."""
    return done.returncode == 1 or (done.returncode == 139 and "event_base_loop" in done.stderr)


def parse(text: str) -> Table:
    """Reads standard output; ValueError names the first line that is not of OSU's form."""
    title = version = ""
    columns: list[str] = []
    rows: list[dict[str, str]] = []
    for line in text.splitlines():
        match = TITLE.fullmatch(line)
        if match:
            title, version = match["title"], match["version"]
        elif line.startswith(("# Size", "# Avg")):
            columns = re.split(r" {2,}", line[2:])
        elif line and not line.startswith(("#", "DATA VALIDATION ERROR:")):
            cells = line.split()
            if len(cells) != len(columns):
                raise ValueError(f"{len(columns)} columns, but this line: {line!r}")
            rows.append(dict(zip(columns, cells)))
    if not title or not columns or not rows:
        raise ValueError("no title, no columns or no rows")
    return Table(title, version, columns, rows)
