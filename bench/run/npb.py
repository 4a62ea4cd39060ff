# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""FT and IS of the NAS Parallel Benchmarks: the user's build, or our kernels with their communication."""
from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import List, Optional

from bench.common.values import different_of
from bench.run.family import GIVEN, OURS, Family, Outcome, executable, output_of
from poweraware.session.document import Result

BENCHMARKS = ("ft", "is")
CLASSES = ("S", "W", "A", "B", "C")
_CHECK = "the benchmark's own verification"


class Npb(Family):
    """Benchmarks are called ft.S, is.S .."""

    name = "npb"

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark")
        group.add_argument(
            "--benchmarks", type=different_of(BENCHMARKS), metavar="B,...", default=list(BENCHMARKS),
            help=f"of {', '.join(BENCHMARKS)} (default: both)",
        )  # fmt: skip
        group.add_argument(
            "--classes", type=different_of(CLASSES), metavar="C,...", default=["W"],
            help=f"of {', '.join(CLASSES)} (default: W)",
        )  # fmt: skip
        group.add_argument(
            "--npb-dir", type=Path, metavar="DIR",
            help="folder of your build of NPB, in which or below which ft.S.x or ft.S.<ranks> is; without it "
            "our own kernels run, which are not NPB and are labelled as ours",
        )  # fmt: skip

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        if given.npb_dir is not None and not given.npb_dir.is_dir():
            parser.error(f"--npb-dir {given.npb_dir}: no such directory")
        if ranks & (ranks - 1) and (given.npb_dir is not None or "ft" in given.benchmarks):
            parser.error(f"{ranks} ranks: NPB, and our FT-like kernel, run on a power of two (--nodes, --ppn)")
        self.benchmarks = [f"{name}.{letter}" for letter in given.classes for name in given.benchmarks]
        for benchmark in self.benchmarks:
            self._find(benchmark, given.npb_dir, given.build / "bench" / "npb", ranks)

    def _find(self, benchmark: str, folder: Optional[Path], build: Path, ranks: int) -> None:
        name, letter = benchmark.split(".")
        if folder is None:
            path, origin = executable([build / f"{name}_like"]), OURS
            label = f"{name.upper()}-like kernel of poweraware (not NPB), class {letter}"
            where = f"{name}_like in {build}" + (" (needs fftw3)" if name == "ft" else "")
        else:
            names = (f"{benchmark}.{ranks}", f"{benchmark}.x")
            path = executable(each for wanted in names for each in [folder / wanted, *sorted(folder.rglob(wanted))])
            origin, label = GIVEN, f"NPB {name.upper()}, class {letter}"
            where = f"{' or '.join(names)} in {folder}"
        self._take_program(benchmark, path, origin, label, where)

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        program = self.programs[benchmark]
        return [str(program.path)] + ([benchmark.split(".")[1]] if program.origin == OURS else [])

    def read(self, benchmark: str, folder: Path) -> Outcome:
        result = parse(output_of(folder))
        if result.verified is None:
            return Outcome(result=result, failure="it did not say whether its results are right")
        return Outcome(result=result, failure=None if result.verified else "its results are wrong (verification)")


def parse(text: str) -> Result:
    """NPB's report, or our kernels', which look alike."""
    seconds = _field(text, "Time in seconds", r"[\d.]+(?:[Ee][+-]?\d+)?")
    verdict = _field(text, "Verification", r"[A-Z ]+")
    return Result(
        seconds=None if seconds is None else float(seconds),
        verified=None if verdict is None else verdict.strip() == "SUCCESSFUL",
        check=_CHECK,
    )


def _field(text: str, name: str, pattern: str) -> Optional[str]:
    found = re.search(rf"^\s*{name}\s*=\s*({pattern})", text, re.MULTILINE)
    return found.group(1) if found else None
