# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Plane-wave codes: a given CPMD, or the distribution's Quantum ESPRESSO and HPC Challenge in its stead."""
from __future__ import annotations

import argparse
import math
import re
import shutil
from pathlib import Path
from typing import Dict, List, Optional

from bench.common.values import different_of
from bench.run import silicon
from bench.run.family import GIVEN, PACKAGED, Family, Outcome, executable, output_of
from poweraware.session.document import Result, Run

PW, HPCC = "pw.si8", "hpcc"
INSTEAD = (PW, HPCC)
_CPMD = "cpmd"
_SAME_ENERGY = 1e-5  # in the code's unit (Ry, hartree): sums are rounded in another order, calculations converge to this
# Ranks have a CPU each: libraries of linear algebra must not start threads.
_ONE_THREAD = ["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"]


class PlaneWaves(Family):
    """Benchmarks are pw.si8 and hpcc, or cpmd.<input> of each input given."""

    name = "cpmd"

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark")
        group.add_argument("--cpmd-binary", type=Path, metavar="FILE", help="your CPMD; then --cpmd-input is needed")
        group.add_argument(
            "--cpmd-input", type=Path, metavar="FILE", action="append", default=[],
            help="input of CPMD, a benchmark each (may be repeated)",
        )  # fmt: skip
        group.add_argument("--cpmd-pp", type=Path, metavar="DIR", help="folder of CPMD's pseudopotentials")
        group.add_argument(
            "--benchmarks", type=different_of(INSTEAD), metavar="B,...", default=list(INSTEAD),
            help=f"without CPMD: of {', '.join(INSTEAD)}: a self-consistent calculation of eight silicon atoms by "
            "Quantum ESPRESSO, and HPC Challenge with small sizes (default: both)",
        )  # fmt: skip
        for name, option in (("pw.x", "--pw-binary"), ("hpcc", "--hpcc-binary")):
            group.add_argument(option, type=Path, metavar="FILE", help=f"{name} (default: that of PATH)")

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        self._ranks = ranks
        self._inputs: Dict[str, Path] = {}
        self._pseudopotentials: Optional[Path] = None
        if given.cpmd_binary is not None:
            self._take_cpmd(parser, given)
            return
        if given.cpmd_input or given.cpmd_pp is not None:
            parser.error("--cpmd-input and --cpmd-pp are of CPMD: name it with --cpmd-binary")
        self.benchmarks = list(given.benchmarks)
        what = {
            PW: ("pw.x", "quantum-espresso", given.pw_binary, "Quantum ESPRESSO pw.x, eight silicon atoms (our input)"),
            HPCC: ("hpcc", "hpcc", given.hpcc_binary, "HPC Challenge, small sizes (our input)"),
        }
        for benchmark in self.benchmarks:
            self._find(benchmark, *what[benchmark])

    def _take_cpmd(self, parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
        if not given.cpmd_input:
            parser.error("--cpmd-binary: --cpmd-input is missing")
        for path in given.cpmd_input:
            if not path.is_file():
                parser.error(f"--cpmd-input {path}: no such file")
            self._inputs[f"{_CPMD}.{path.stem}"] = path.resolve()
        if len(self._inputs) != len(given.cpmd_input):
            parser.error("--cpmd-input: two inputs have the same name")
        if given.cpmd_pp is not None and not given.cpmd_pp.is_dir():
            parser.error(f"--cpmd-pp {given.cpmd_pp}: no such directory")
        self._pseudopotentials = given.cpmd_pp.resolve() if given.cpmd_pp is not None else None
        self.benchmarks = list(self._inputs)
        path = executable([given.cpmd_binary])
        for benchmark, source in self._inputs.items():
            self._take_program(benchmark, path, GIVEN, f"CPMD, {source.name}", str(given.cpmd_binary))

    def _find(self, benchmark: str, name: str, package: str, given: Optional[Path], label: str) -> None:
        of_path = shutil.which(name)
        path = executable([given] if given is not None else [Path(of_path)] if of_path is not None else [])
        missing = f"{given or name} (Debian, Ubuntu: package {package})"
        self._take_program(benchmark, path, PACKAGED if given is None else GIVEN, label, missing)

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        path = str(self.programs[benchmark].path)
        if benchmark == PW:
            silicon.write(folder)
            return [*_ONE_THREAD, path, "-in", silicon.INPUT]
        if benchmark == HPCC:
            (folder / "hpccinf.txt").write_text(hpcc_input(self._ranks), encoding="ascii")
            return [*_ONE_THREAD, path]
        line = [*_ONE_THREAD, path, str(self._inputs[benchmark])]
        return line if self._pseudopotentials is None else [*line, str(self._pseudopotentials)]

    def read(self, benchmark: str, folder: Path) -> Outcome:
        if benchmark != HPCC:
            return (read_pw if benchmark == PW else read_cpmd)(output_of(folder))
        try:
            return read_hpcc((folder / "hpccoutf.txt").read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            return Outcome(failure=f"hpccoutf.txt: {error.strerror}")

    def compare(self, runs: List[Run], first: str) -> None:
        """By total energy."""
        for benchmark in self.benchmarks:
            good = [(run, run.result.total_energy) for run in runs if run.benchmark == benchmark and run.failure is None and run.result]
            told = [(run, energy) for run, energy in good if energy is not None]
            right = next((each for each in told if each[0].scheme == first), None)
            for run, energy in told:
                if right is not None and abs(energy - right[1]) > _SAME_ENERGY:
                    run.failure = f"total energy {energy:.8f}, not {right[1]:.8f} as in {right[0].id}"


def read_pw(text: str) -> Outcome:
    """Right is the energy that one process has found without us."""
    energy = re.search(r"^!\s+total energy\s+=\s+(\S+) Ry", text, re.MULTILINE)
    wall = re.search(r"^\s+PWSCF\s+:.*CPU\s+(\S.*?)\s*WALL", text, re.MULTILINE)
    seconds = None if wall is None else _seconds(wall.group(1))
    check = f"total energy {silicon.TOTAL_ENERGY_RY} Ry within {silicon.TOLERANCE_RY:g}"
    if "convergence has been achieved" not in text or "JOB DONE" not in text or energy is None:
        return Outcome(result=Result(seconds, None, check), failure="the calculation did not converge")
    right = abs(float(energy.group(1)) - silicon.TOTAL_ENERGY_RY) <= silicon.TOLERANCE_RY
    failure = None if right else f"wrong total energy: {energy.group(1)} Ry, not {silicon.TOTAL_ENERGY_RY}"
    return Outcome(result=Result(seconds, right, check, float(energy.group(1))), failure=failure)


def read_hpcc(text: str) -> Outcome:
    """Its summary says whether all of its tests are right; it tells no time of the whole."""
    success = re.search(r"^Success=(\d+)$", text, re.MULTILINE)
    result = Result(None, None if success is None else success.group(1) == "1", "HPC Challenge's own tests")
    if success is None:
        return Outcome(result=result, failure="hpccoutf.txt has no summary")
    return Outcome(result=result, failure=None if result.verified else "its results are wrong (Success=0)")


def read_cpmd(text: str) -> Outcome:
    """CPMD has nothing to compare its results with, but runs with one another: by the last energy that it tells."""
    found = re.search(r"ELAPSED TIME\s*:\s*(\d+) HOURS\s+(\d+) MINUTES\s+([\d.]+) SECONDS", text)
    seconds = None
    if found is not None:
        seconds = 3600 * int(found.group(1)) + 60 * int(found.group(2)) + float(found.group(3))
    ended = "PROGRAM CPMD ENDED" in text
    energies = re.findall(r"TOTAL ENERGY\s*=\s*(-?\d+\.\d+)\s+A\.U\.", text)
    check = "total energy as in the other runs" if energies else "it ended by itself; results are not checked"
    return Outcome(
        result=Result(seconds, None, check, float(energies[-1]) if energies else None),
        failure=None if ended else "CPMD did not say that it ended",
    )


def _seconds(text: str) -> Optional[float]:
    """Times as pw.x prints them: 2.79s, 1m43.15s, 1h 2m."""
    found = re.fullmatch(r"\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:([\d.]+)s)?\s*", text)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds = (float(group or 0) for group in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def hpcc_input(ranks: int) -> str:
    """The smallest problem that keeps every rank busy, on the squarest grid of ranks."""
    rows = max(each for each in range(1, math.isqrt(ranks) + 1) if ranks % each == 0)
    order, block = 64 * math.isqrt(ranks), 32
    values = [
        "HPCC input of poweraware", "", "HPL.out", "8", "1", str(order), "1", str(block), "0", "1",
        str(rows), str(ranks // rows), "16.0", "1", "2", "1", "4", "1", "2", "1", "1", "1", "1", "1", "0",
        "2", "64", "0", "0", "1", "8", "", "0", "0", "0", "0",
    ]  # fmt: skip
    return "\n".join(values) + "\n"
