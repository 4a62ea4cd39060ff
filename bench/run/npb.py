# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The NAS Parallel Benchmarks: the user's build, or our kernels with the communication of FT and IS."""
from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import List, Optional, Tuple

from bench.common.values import different_of
from bench.run.family import GIVEN, OURS, Family, Outcome, executable, output_of
from poweraware.session.document import Result

BENCHMARKS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
CLASSES = ("S", "W", "A", "B", "C", "D", "E", "F")
_OURS = ("ft", "is")  # of classes S to C
_LAST_OF_OURS = "C"
_SQUARES = ("bt", "sp")  # run on a square number of ranks
_ANY_NUMBER = ("ep", "lu")  # the others run on a power of two
_CHECK = "the benchmark's own verification"


class Npb(Family):
    """Benchmarks are called ft.S, is.S .."""

    name = "npb"

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark")
        group.add_argument(
            "--benchmarks", type=different_of(BENCHMARKS), metavar="B,...",
            help=f"of {', '.join(BENCHMARKS)} (default: all of --npb-dir that run on this number of ranks; without it "
            f"{','.join(_OURS)}, of which there are kernels of ours)",
        )  # fmt: skip
        group.add_argument(
            "--classes", type=different_of(CLASSES), metavar="C,...", default=["W"],
            help=f"of {', '.join(CLASSES)}; of our own kernels S to {_LAST_OF_OURS} (default: W)",
        )  # fmt: skip
        group.add_argument(
            "--npb-dir", type=Path, metavar="DIR",
            help="folder of your build of NPB, in which or below which ft.S.x or ft.S.<ranks> is; without it "
            "our own kernels run, which are not NPB and are labelled as ours",
        )  # fmt: skip

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        if given.npb_dir is not None and not given.npb_dir.is_dir():
            parser.error(f"--npb-dir {given.npb_dir}: no such directory")
        if given.benchmarks is None:
            given.benchmarks = _all_given(given, ranks) or list(_OURS)
        if given.npb_dir is None:
            _refuse_others(parser, given)
        for name in given.benchmarks:
            if not _runs_on(name, ranks, given.npb_dir is None):
                wanted = "a square number" if name in _SQUARES else "a power of two"
                parser.error(f"{ranks} ranks: {name.upper()} runs on {wanted} (--nodes, --ppn)")
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
            path, origin = _given(folder, benchmark, ranks), GIVEN
            label = f"NPB {name.upper()}, class {letter}"
            where = f"{' or '.join(_file_names(benchmark, ranks))} in {folder}"
        self._take_program(benchmark, path, origin, label, where)

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        program = self.programs[benchmark]
        return [str(program.path)] + ([benchmark.split(".")[1]] if program.origin == OURS else [])

    def read(self, benchmark: str, folder: Path) -> Outcome:
        result = parse(output_of(folder))
        if result.verified is None:
            return Outcome(result=result, failure="it did not say whether its results are right")
        return Outcome(result=result, failure=None if result.verified else "its results are wrong (verification)")


def _all_given(given: argparse.Namespace, ranks: int) -> List[str]:
    """The kernels that the user's build has in all classes and that run on this number of ranks."""
    if given.npb_dir is None:
        return []
    fitting = [name for name in BENCHMARKS if _runs_on(name, ranks, ours=False)]
    return [name for name in fitting if all(_given(given.npb_dir, f"{name}.{letter}", ranks) for letter in given.classes)]


def _given(folder: Path, benchmark: str, ranks: int) -> Optional[Path]:
    names = _file_names(benchmark, ranks)
    return executable(each for wanted in names for each in [folder / wanted, *sorted(folder.rglob(wanted))])


def _file_names(benchmark: str, ranks: int) -> Tuple[str, str]:
    return f"{benchmark}.{ranks}", f"{benchmark}.x"


def _refuse_others(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Ends the program where there are no kernels of ours for what is asked."""
    for name in given.benchmarks:
        if name not in _OURS:
            parser.error(f"--benchmarks: there is no {name.upper()}-like kernel of ours: name your build of NPB (--npb-dir)")
    for letter in given.classes:
        if CLASSES.index(letter) > CLASSES.index(_LAST_OF_OURS):
            parser.error(f"--classes: our kernels have no class {letter}: name your build of NPB (--npb-dir)")


def _runs_on(name: str, ranks: int, ours: bool) -> bool:
    if name in _ANY_NUMBER or (ours and name == "is"):
        return True
    return math.isqrt(ranks) ** 2 == ranks if name in _SQUARES else ranks & (ranks - 1) == 0


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
