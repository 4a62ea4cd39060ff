# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The OSU benchmarks: command lines, OSU's text table, and the JSON file that only ours write."""
from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from bench.common.values import count, names, positive
from bench.run.family import GIVEN, OURS, Family, Outcome, executable, output_of
from poweraware.session.document import Messages, Rank, Row

PAPERS = ("alltoall", "bcast", "reduce")  # those whose power ICPP 2010 shows
WITHOUT_SIZES = "barrier"
# Sums of floats, as by our own programs: OSU 7's default is MPI_CHAR, whose sums Open MPI 4.1.4 gets wrong (op avx).
_SUMS = ("reduce", "scan")
_TYPE = "mpi_float"
ANY = ""
_RESULT = "result.json"

Sizes = Dict[str, Tuple[int, int]]  # benchmark -> smallest, largest message in bytes

# Column heads of OSU 5 to 7; datatypes, percentiles and the like are left out.
_COLUMNS = {
    "size": "bytes",
    "avg latency(us)": "avg_us",
    "min latency(us)": "min_us",
    "max latency(us)": "max_us",
    "iterations": "iterations",
    "validation": "validated",
}


class Osu(Family):
    """Benchmarks are called as the collectives."""

    name = "osu"
    label = "with OSU's options and output"
    checked_calls = 2  # per size, of our own programs

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark")
        group.add_argument(
            "--benchmarks",
            type=names,
            metavar="B,...",
            default=list(PAPERS),
            help=f"collectives: any of which there is a program osu_B (default: {','.join(PAPERS)})",
        )
        group.add_argument(
            "--sizes",
            type=sizes,
            metavar="MIN:MAX or B=MIN:MAX,...",
            default={ANY: (1024, 65536)},
            help="message sizes in bytes, of all benchmarks or of each (default: 1024:65536)",
        )
        add_calls(group, 10, 2, "per size")
        group.add_argument(
            "--osu-dir", type=Path, metavar="DIR", help="use the OSU programs installed below DIR"
        )

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        self._take_messages(parser, given)
        if given.osu_dir is not None and not given.osu_dir.is_dir():
            parser.error(f"--osu-dir {given.osu_dir}: no such directory")
        for benchmark in self.benchmarks:
            self._find(benchmark, given.osu_dir, given.build / "bench" / self.name)

    def _take_messages(self, parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
        self.benchmarks = given.benchmarks
        self._sizes = _sizes_of(parser, given.benchmarks, given.sizes)
        self.messages = Messages(
            min_bytes=min(low for low, _ in self._sizes.values()),
            max_bytes=max(high for _, high in self._sizes.values()),
            iterations=given.iterations,
            warmup=given.warmup,
        )

    def _find(self, benchmark: str, folder: Optional[Path], build: Path) -> None:
        """Ours from the build, or OSU's, which installs into a folder per kind of benchmark."""
        name = f"{self.name}_{benchmark}"
        if folder is None:
            path, origin, label = executable([build / name]), OURS, f"{name} of poweraware, {self.label}"
        else:
            path = executable([folder / name, *sorted(folder.rglob(name))])
            origin, label = GIVEN, f"{name} of the OSU micro-benchmarks"
        self._take_program(benchmark, path, origin, label, f"{name} in {folder or build}")

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        """Full output (-f) and data validation (-c); the JSON file for our own programs only, in their working folder, so
        that all runs have the same command."""
        program = self.programs[benchmark]
        low, high = self._sizes[benchmark]
        line = [str(program.path), "-f", "-c"]
        line += [] if benchmark == WITHOUT_SIZES else ["-m", f"{low}:{high}"]
        line += self._calls()
        if any(name in benchmark for name in _SUMS) and program.origin == GIVEN and _has_types(program.path):
            line += ["-T", _TYPE]
        return line + ["--validation-calls", str(self.checked_calls), "--json", _RESULT] if program.origin == OURS else line

    def _calls(self) -> List[str]:
        assert self.messages is not None
        return ["-i", str(self.messages.iterations), "-x", str(self.messages.warmup)]

    def read(self, benchmark: str, folder: Path) -> Outcome:
        told = read_json(folder / _RESULT) if self.programs[benchmark].origin == OURS else None
        rows, ranks = told if told is not None else (parse_text(output_of(folder)), [])
        return Outcome(rows=rows, ranks=ranks, failure=why_invalid(rows, self._sizes[benchmark][1]))


def _has_types(program: Path) -> bool:
    """OSU's programs have datatypes as an option since version 7; those before refuse it."""
    return _TYPE.encode() in program.read_bytes()


def parse_text(text: str) -> List[Row]:
    """Rows of OSU's table.  Columns are found by their heads, as they differ between versions."""
    heads: List[str] = []
    rows: List[Row] = []
    for line in text.splitlines():
        if re.match(r"#\s*(Size\b|Avg Latency)", line):
            heads = re.split(r"\s{2,}", line.lstrip("# ").strip())
        elif heads and re.match(r"\s*\d", line):
            row = _text_row(heads, line.split())
            if row is not None:
                rows.append(row)
    return rows


def _text_row(heads: List[str], cells: List[str]) -> Optional[Row]:
    """None for a line that is cut off or mixed with other output."""
    if len(cells) != len(heads):
        return None
    named = {_COLUMNS.get(head.lower(), ""): cell for head, cell in zip(heads, cells)}
    try:
        return Row(
            bytes=int(named["bytes"]) if "bytes" in named else 0,
            iterations=int(named["iterations"]) if "iterations" in named else None,
            avg_us=float(named["avg_us"]),
            min_us=float(named["min_us"]) if "min_us" in named else None,
            max_us=float(named["max_us"]) if "max_us" in named else None,
            validated=named["validated"] == "Pass" if "validated" in named else None,
        )
    except (KeyError, ValueError):
        return None


def read_json(path: Path) -> Optional[Tuple[List[Row], List[Rank]]]:
    """Rows and ranks of our own programs; None when the file is absent or incomplete."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return [_json_row(row) for row in data["rows"]], [_json_rank(r) for r in data["ranks"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def why_invalid(rows: List[Row], largest: int) -> Optional[str]:
    """Why the rows are not a result; None when they are."""
    if not rows:
        return "the benchmark printed no results"
    wrong = [str(row.bytes) for row in rows if row.validated is False]
    if wrong:
        return f"wrong data for message sizes {', '.join(wrong)}"
    if rows[-1].bytes * 2 <= largest and largest > 0:
        return f"the results end at {rows[-1].bytes} bytes"
    return None


def _json_row(row: Dict[str, Any]) -> Row:
    return Row(
        bytes=row["bytes"],
        iterations=row["iterations"],
        avg_us=row["avg_us"],
        min_us=row["min_us"],
        max_us=row["max_us"],
        t_begin_ns=row["t_begin_ns"],
        t_end_ns=row["t_end_ns"],
        cpu_s=row.get("cpu_s"),
        validated=row["validated"],
        moved_bytes=row.get("moved_bytes"),
        operations=row["operations"],
    )


def _json_rank(rank: Dict[str, Any]) -> Rank:
    return Rank(rank["rank"], rank["host"], None, rank["pid"], rank["cpu_s"])


def add_calls(group: argparse._ArgumentGroup, iterations: int, warmup: int, which: str) -> None:
    """Options for the numbers of calls; which: of what."""
    group.add_argument("--iterations", type=positive, default=iterations, metavar="N", help=f"timed calls {which} (default: {iterations})")
    group.add_argument("--warmup", type=count, default=warmup, metavar="N", help=f"untimed calls {which} (default: {warmup})")


def sizes(text: str) -> Sizes:
    """Sizes by benchmark, or of ANY benchmark that is not named."""
    found: Sizes = {}
    for part in text.split(","):
        name, equals, bounds = part.rpartition("=")
        numbers = bounds.split(":")
        if len(numbers) != 2 or not all(number.isdigit() for number in numbers):
            raise argparse.ArgumentTypeError(f"'{part}' is not MIN:MAX or BENCHMARK=MIN:MAX in bytes")
        low, high = int(numbers[0]), int(numbers[1])
        if low > high:
            raise argparse.ArgumentTypeError(f"'{part}': MIN is above MAX")
        found[name if equals else ANY] = (low, high)
    return found


def _sizes_of(
    parser: argparse.ArgumentParser, benchmarks: List[str], given: Sizes
) -> Sizes:
    for name in given:
        if name != ANY and name not in benchmarks:
            parser.error(f"--sizes: '{name}' is not of the benchmarks {','.join(benchmarks)}")
    given = {**given, WITHOUT_SIZES: (0, 0)}
    for name in benchmarks:
        if name not in given and ANY not in given:
            parser.error(f"--sizes: no sizes for '{name}': give it some, or leave it out of --benchmarks")
    return {name: given.get(name) or given[ANY] for name in benchmarks}
