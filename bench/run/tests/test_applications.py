# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What applications print, and what they are given to read."""
from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import List

import pytest

from bench.run import cpmd, npb, options, silicon

# Written by hand after the reports of NPB 3.4 and pw.x 6.7.
NPB = """
 FT Benchmark Completed.
 Class           =                        S
 Iterations      =                        6
 Time in seconds =                     0.12
 Mop/s total     =                  1477.36
 Verification    =               SUCCESSFUL
 Version         =                    3.4.2
"""

PW = """
     convergence has been achieved in   8 iterations
!    total energy              =     -66.52012119 Ry
     PWSCF        :     25.48s CPU   1m43.15s WALL
   JOB DONE.
"""


def test_npb() -> None:
    found = npb.parse(NPB)
    assert found.seconds == 0.12 and found.verified
    assert npb.parse(NPB.replace("0.12", "1.5E-02")).seconds == 0.015
    assert npb.parse(NPB.replace("SUCC", "UNSUCC")).verified is False
    assert npb.parse("").verified is None


def test_pw() -> None:
    found = cpmd.read_pw(PW)
    assert found.failure is None and found.result is not None
    assert found.result.verified and found.result.seconds == 103.15
    wrong = cpmd.read_pw(PW.replace("-66.52012", "-66.51999"))
    assert wrong.failure is not None and "wrong total energy: -66.51999" in wrong.failure
    assert cpmd.read_pw(PW.replace("JOB DONE", "")).failure == "the calculation did not converge"


@pytest.mark.parametrize("text, seconds", [("2.79s", 2.79), ("1m 2.00s", 62.0), ("1h 2m", 3720.0), ("", None), ("now", None)])
def test_times_of_pw(text: str, seconds: float) -> None:
    assert cpmd._seconds(text) == seconds


def test_hpcc_and_cpmd() -> None:
    assert cpmd.read_hpcc("Success=1\n").failure is None
    assert cpmd.read_hpcc("Success=0\n").failure == "its results are wrong (Success=0)"
    assert cpmd.read_hpcc("").failure == "hpccoutf.txt has no summary"
    assert cpmd.read_cpmd("").failure == "CPMD did not say that it ended"
    found = cpmd.read_cpmd("  TOTAL ENERGY =   -17.1  A.U.\n (K+E1+L+N+X)  TOTAL ENERGY =   -17.14569391 A.U.\n PROGRAM CPMD ENDED AT: now\n")
    assert found.failure is None and found.result is not None and found.result.total_energy == -17.14569391


@pytest.mark.parametrize("ranks, grid", [(1, (1, 1)), (2, (1, 2)), (7, (1, 7)), (12, (3, 4)), (64, (8, 8))])
def test_grids_of_hpcc(ranks: int, grid: "tuple[int, int]") -> None:
    lines = cpmd.hpcc_input(ranks).splitlines()
    assert (int(lines[10]), int(lines[11])) == grid
    assert int(lines[5]) == 64 * math.isqrt(ranks)


@pytest.mark.parametrize("ranks, benchmarks", [("2", ["cg.S", "ep.S"]), ("4", ["bt.S", "cg.S", "ep.S"]), ("3", ["ep.S"])])
def test_all_kernels_of_a_build_that_run_on_so_many_ranks(ranks: str, benchmarks: List[str], tmp_path: Path) -> None:
    for name in ("bt.S.x", "cg.S.x", "ep.S.x", "lu.W.x"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    given = ["--machine", "none", "--nodes", "1", "--ppn", ranks, "--npb-dir", str(tmp_path), "--classes", "S"]
    assert options.parse("npb", given).family.benchmarks == benchmarks


@pytest.mark.parametrize(
    "family, arguments, said",
    [
        ("npb", ["--classes", "S,Z"], "--classes: 'Z' is not of S, W, A, B, C, D, E, F"),
        ("npb", ["--benchmarks", "dt"], "--benchmarks: 'dt' is not of bt, cg, ep, ft, is, lu, mg, sp"),
        ("npb", ["--benchmarks", "ep"], "there is no EP-like kernel of ours: name your build of NPB (--npb-dir)"),
        ("npb", ["--classes", "C,D"], "our kernels have no class D: name your build of NPB (--npb-dir)"),
        ("npb", ["--nodes", "3", "--ppn", "1"], "3 ranks: FT runs on a power of two"),
        ("npb", ["--nodes", "2", "--ppn", "1", "--npb-dir", "/", "--benchmarks", "ep,bt"], "2 ranks: BT runs on a square number"),
        ("npb", ["--npb-dir", "/no/such"], "--npb-dir /no/such: no such directory"),
        ("shift", ["--operations", "fetch"], "--operations: 'fetch' is not of get, put, accumulate, strided"),
        ("shift", ["--schemes", "off"], "--schemes: scheme 'off' is not of poll, dvfs, interrupt, interrupt_dvfs, auto"),
        ("shift", ["--sizes", "put=4:64"], "--sizes: no sizes for 'get'"),
        ("shift", ["--sizes", "8:64,put=12:64"], "--sizes: put: 12 is not a multiple of 8 bytes"),
        ("shift", ["--nodes", "1", "--ppn", "1"], "a shift needs two ranks (--nodes, --ppn)"),
        ("cpmd", ["--benchmarks", "pw"], "--benchmarks: 'pw' is not of pw.si8, hpcc"),
        ("cpmd", ["--cpmd-binary", "/bin/true"], "--cpmd-input is missing"),
        ("cpmd", ["--cpmd-input", "x"], "are of CPMD: name it with --cpmd-binary"),
        ("cpmd", ["--cpmd-binary", "/bin/true", "--cpmd-input", "/no/such"], "/no/such: no such file"),
    ],
)
def test_wrong_options(family: str, arguments: List[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        options.parse(family, ["--machine", "none", *arguments])
    assert caught.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def total_energy_ry(folder: Path, name: str) -> float:
    done = subprocess.run(["pw.x", "-in", name], cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True,
                          text=True, check=True)  # fmt: skip
    found = re.search(r"^!\s+total energy\s+=\s+(\S+) Ry", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return float(found.group(1))


def test_silicon_is_silicon(tmp_path: Path) -> None:
    """Its energy is the one it is compared with, and lowest near the lattice constant of silicon."""
    if shutil.which("pw.x") is None:
        pytest.skip("pw.x is not installed (quantum-espresso)")
    silicon.write(tmp_path)
    assert total_energy_ry(tmp_path, silicon.INPUT) == pytest.approx(silicon.TOTAL_ENERGY_RY, abs=silicon.TOLERANCE_RY)
    energies = {}
    for percent in (-6, -2, 2):
        (tmp_path / "other.in").write_text(silicon._input(10.26 * (1 + percent / 100)))
        energies[percent] = total_energy_ry(tmp_path, "other.in")
    assert min(energies, key=lambda percent: energies[percent]) == -2
