# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""bench/footprint: lines of profiles that are known, and of two small jobs."""
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOOTPRINT = Path(__file__).resolve().parents[1] / "footprint"

# Two calls: 6 + 4 lines of code, 3 + 8 of data, of these 4 and 8 ours.  What a call line says is the callee's.
PROFILE = """# callgrind format
events: Ir DLmr ILmr DLmw
ob=/usr/lib/libmpi.so.40
fn=PMPI_Bcast
10 100 2 6 1
cob=/somewhere/mca_coll_poweraware.so
cfn=bcast
calls=2 20
10 50 99 99 99
ob=/somewhere/mca_coll_poweraware.so
fn=bcast
20 50 5 4 3
21 7
totals: 150 7 10 4
"""


def run(folder: Path, profile: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """With an mpirun that only writes this profile."""
    mpirun = folder / "mpirun"
    (folder / "profile").write_text(profile, encoding="utf-8")
    mpirun.write_text(f"""#!/bin/sh
for argument; do
    case $argument in --callgrind-out-file=*) cp '{folder}/profile' "${{argument#*=}}" ;; esac
done
""", encoding="utf-8")
    programs = folder / "build" / "bench" / "footprint"
    programs.mkdir(parents=True)
    (folder / "build" / "coll_poweraware" / "component").mkdir(parents=True)
    for program in (mpirun, folder / "valgrind", programs / "cold_calls"):
        program.touch()
        program.chmod(0o755)
    line = [sys.executable, str(FOOTPRINT), "--build", str(folder / "build"), "--mpirun", str(mpirun), *arguments]
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(line, env=env, capture_output=True, text=True, check=False)


def test_lines_of_a_profile(tmp_path: Path) -> None:
    done = run(tmp_path, PROFILE, "--collectives", "bcast", "--calls", "2")
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^  (\w+) +code +(\d+) \(ours +(\d+)\) +data +(\d+) \(ours +(\d+)\), 1.00 of", done.stdout, re.M)
    assert rows == [(way, "5", "2", "6", "4") for way in ("without", "frame", "stock")]


@pytest.mark.parametrize("profile", ["", PROFILE.replace("ILmr", "I1mr")])
def test_what_is_no_profile_is_said(tmp_path: Path, profile: str) -> None:
    done = run(tmp_path, profile, "--collectives", "bcast")
    assert done.returncode == 1
    assert done.stderr == "footprint: bcast, without: this is no profile of callgrind with simulated caches\n"


@pytest.mark.parametrize("arguments", [("--np", "1"), ("--calls", "0")])
def test_too_few(tmp_path: Path, arguments: "tuple[str, str]") -> None:
    done = run(tmp_path, PROFILE, *arguments)
    assert done.returncode == 2
    assert "--np must be 2 at least, and --calls 1" in done.stderr


def test_builds_that_are_none(tmp_path: Path) -> None:
    done = run(tmp_path, PROFILE, "--before", str(tmp_path / "nowhere"))
    assert done.returncode == 2
    assert "nowhere is no build directory, or nothing is built there" in done.stderr


def test_calls_with_and_without_us() -> None:
    if not Path(os.environ["PWR_BUILDDIR"], "bench/footprint/cold_calls").exists():
        pytest.skip("there is no cold_calls: valgrind is not installed")
    line = [sys.executable, str(FOOTPRINT), "--collectives", "bcast", "--np", "2", "--warm-up", "50", "--calls", "4"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^  (\w+) +code +(\d+) \(ours +(\d+)\) +data +(\d+) \(ours +(\d+)\)", done.stdout, re.M)
    rows = {way: [int(number) for number in numbers] for way, *numbers in found}
    assert rows["without"][1::2] == [0, 0] and min(rows["without"][::2]) > 20
    for way in ("frame", "stock"):
        assert min(rows[way][1::2]) > 0, "the call did not go through the plug-in"
        assert rows[way][2] > rows["without"][2]
