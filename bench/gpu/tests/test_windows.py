# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Ratios are taken round by round, to the better way of staging; what is no window is named."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.gpu import windows  # noqa: E402

LINES = """\
staged 2 8 0 10 100 200 0
staged-2 2 8 0 10 50 300 0
direct 2 8 0 10 10 20 0
staged 2 8 1 10 40 80 0
staged-2 2 8 1 10 80 90 0
direct 2 8 1 10 10 20 0
enqueued 2 16 0 10 10 20 0
"""


def _rows(tmp_path: Path, text: str = LINES) -> windows.Rows:
    (tmp_path / "times-allreduce-2.txt").write_text(text)
    return windows.rows_of(windows.read(tmp_path / "times-allreduce-2.txt"))


def test_ratio_to_the_better_staging_of_each_round(tmp_path: Path) -> None:
    row = _rows(tmp_path)[2, 8]
    assert windows.baseline(row, lambda w: w.us) == {0: 50, 1: 40}
    ratio = windows.ratio(row, "direct", lambda w: w.us)
    assert ratio is not None and math.isclose(ratio.middle, math.sqrt(10 / 50 * 10 / 40))
    assert ratio.low is None  # two rounds show no scatter
    assert windows.ratio(row, "enqueued", lambda w: w.us) is None
    assert windows.ratio(row, "direct", lambda w: w.joules) is None


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _rows(tmp_path)
    assert windows.main([str(tmp_path), "--picture", str(tmp_path / "times.svg")]) == 0
    assert "| 2 | 8 B | 44.72 | 0.224 (2 runs) | - |\n" in capsys.readouterr().out
    assert (tmp_path / "times.svg").read_text().count("2 ranks") >= 1


def test_each_kind_of_file_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, way in (("nodes", "direct"), ("nccl", "nccl"), ("joules", "enqueued")):
        (tmp_path / f"{kind}-allreduce-2.txt").write_text(f"staged 2 8 0 10 100 200 0.004\n{way} 2 8 0 10 50 100 0.001\n")
    assert windows.main([str(tmp_path), "--power", str(tmp_path / "power.svg")]) == 0
    said = capsys.readouterr().out
    assert "allreduce, two nodes of one machine\n\n| ranks | bytes | better staging, µs | direct, time |\n" in said
    assert "allreduce, beside NCCL\n\n| ranks | bytes | better staging, µs | nccl, time |\n" in said
    assert "| enqueued, joules of the GPU |\n|---|---|---|---|\n| 2 | 8 B | 4 | 0.250 (1 run) |\n" in said, said
    picture = (tmp_path / "power.svg").read_text()
    assert "GPU, W (NVML): 2 ranks, 8 B" in picture and ">20<" in picture  # 0.001 J in 50 µs


def test_what_is_no_window_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "times-allreduce-2.txt").write_text("staged 2 8 zero 10 100 200 0\n")
    assert windows.main([str(tmp_path)]) == 2
    assert "times-allreduce-2.txt:1: not a window" in capsys.readouterr().err
    assert windows.main([str(tmp_path / "nowhere")]) == 2


@pytest.mark.parametrize("collective", ["allreduce", "allgather", "alltoall", "bcast"])
def test_the_program_with_a_stand_in_for_the_driver(collective: str) -> None:
    build = Path(os.environ["PWR_BUILDDIR"])
    environment = {**os.environ, "LD_LIBRARY_PATH": str(build / "gpu/tests/cuda")}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [os.environ["MPIRUN"], "-np", "2", "--oversubscribe", "--mca", "coll", "^poweraware"]
    command += [str(build / "bench/gpu/gpu_collectives"), "--from", "8", "--to", "64", "--factor", "8", "--rounds", "2"]
    command += ["--seconds", "0.005", "--ways", "staged,enqueued,enqueued-1", "--collective", collective]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines()]
    ways = ("staged", "enqueued", "enqueued-1") if collective == "allreduce" else ("staged",)
    assert {(line[0], line[2], line[3]) for line in found} == {(way, size, turn) for way in ways for size in ("8", "64") for turn in "01"}
