# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The text our benchmarks print has the form of what the real ones print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from osu_run import SAMPLES, parse, run

TITLES = {
    "allgather": "Allgather",
    "allgatherv": "Allgatherv",
    "allreduce": "Allreduce",
    "alltoall": "All-to-All Personalized Exchange",
    "alltoallv": "All-to-Allv Personalized Exchange",
    "alltoallw": "All-to-Allw Personalized Exchange",
    "barrier": "Barrier",
    "bcast": "Broadcast",
    "exscan": "Exscan",
    "gather": "Gather",
    "reduce": "Reduce",
    "reduce_scatter": "Reduce_scatter",
    "reduce_scatter_block": "Reduce_scatter_block",
    "scan": "Scan",
    "scatter": "Scatter",
}
REDUCTIONS = ("allreduce", "exscan", "reduce", "reduce_scatter", "reduce_scatter_block", "scan")
OPTIONS: dict[str, list[str]] = {
    "": [],
    "-full": ["-f"],
    "-validation": ["-c"],
    "-full-validation": ["-f", "-c"],
}
SAMPLE_NAME = re.compile(r"omb-(?P<version>[0-9.]+)-(?P<collective>[a-z_]+)(?P<suffix>[a-z-]*)\.txt")


def stem(path: Path) -> str:
    return path.stem


def samples() -> list[Path]:
    return sorted(SAMPLES.glob("*.txt"))


def head_of(text: str) -> str:
    """The line that names the columns."""
    return next(line for line in text.splitlines() if line.startswith(("# Size", "# Avg")))


def shape_of(row: str) -> list[int]:
    """Where the cells of a row end; a first one that is a size is aligned to the left."""
    ends = [match.end() for match in re.finditer(r"\S+", row)]
    return ends[1:] if row[:1].isdigit() else ends


def data_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip()[:1].isdigit()]


def test_samples_are_there() -> None:
    assert len(samples()) == 25


@pytest.mark.parametrize("path", samples(), ids=stem)
def test_sample_is_read_whole(path: Path) -> None:
    name = SAMPLE_NAME.fullmatch(path.name)
    assert name
    table = parse(path.read_text())
    assert table.version == name["version"]
    assert table.title == TITLES[name["collective"]]
    assert len(table.rows) == len(data_lines(path.read_text()))
    assert all(float(row["Avg Latency(us)"]) >= 0 for row in table.rows)


@pytest.mark.parametrize(
    "path",
    [path for path in samples() if "-tail" not in path.name],
    ids=stem,
)
def test_ours_has_the_sample_s_form(path: Path) -> None:
    name = SAMPLE_NAME.fullmatch(path.name)
    assert name
    sample = path.read_text()
    sizes = [row["Size"] for row in parse(sample).rows if "Size" in row]
    if name["collective"] in REDUCTIONS:
        sizes = [size for size in sizes if int(size) >= 4]
    options = ["-i", "50", "-x", "5", *OPTIONS[name["suffix"]]]
    options += ["-m", f"1:{sizes[-1]}"] if sizes else []
    ours = run(f"osu_{name['collective']}", 2, *options)
    assert ours.returncode == 0, ours.stderr
    assert head_of(ours.stdout) == head_of(sample)
    table = parse(ours.stdout)
    assert table.title == parse(sample).title
    assert [row["Size"] for row in table.rows if "Size" in row] == sizes
    assert len(table.rows) == max(len(sizes), 1)
    assert {tuple(shape_of(line)) for line in data_lines(ours.stdout)} == {
        tuple(shape_of(line)) for line in data_lines(sample)
    }
