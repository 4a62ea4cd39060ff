# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Command line of `bench/run osu`."""
from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

TOP = Path(__file__).resolve().parents[2]
NO_MACHINE = "none"

BENCHMARKS = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scatter",
)
PAPERS = ("alltoall", "bcast", "reduce")  # those whose power ICPP 2010 shows
WITHOUT_SIZES = "barrier"
SCHEMES = ("off", "dvfs", "throttle", "auto")
ANY = ""


@dataclass
class Options:
    """What a session is asked to do."""

    layout: List[int]
    machine: Optional[Path]
    benchmarks: List[str]
    schemes: List[str]
    sizes: Dict[str, Tuple[int, int]]  # benchmark -> smallest, largest message in bytes
    iterations: int
    warmup: int
    repetitions: int
    seed: int
    timeout_s: float
    interval_ms: int
    rate_mbit: Optional[float]
    latency_us: Optional[float]
    osu_dir: Optional[Path]
    output: Path
    force: bool
    mca: Dict[str, str]
    keep_cluster: bool
    cluster_name: str
    cluster_program: Path
    build: Path
    plugin_dir: Optional[Path]
    command: List[str]


def parse(arguments: Sequence[str]) -> Options:
    """Options of a command line; ends the program on errors and for --help."""
    parser = _parser()
    given = parser.parse_args(arguments)
    layout = given.layout or [given.ppn] * given.nodes
    machine = None if str(given.machine) == NO_MACHINE else given.machine
    if machine is not None and not machine.is_file():
        parser.error(f"--machine {machine}: no such file; '{NO_MACHINE}' uses the real hardware")
    if given.osu_dir is not None and not given.osu_dir.is_dir():
        parser.error(f"--osu-dir {given.osu_dir}: no such directory")
    return Options(
        layout=layout,
        machine=machine,
        benchmarks=given.benchmarks,
        schemes=given.schemes,
        sizes=_sizes_of(parser, given.benchmarks, given.sizes),
        iterations=given.iterations,
        warmup=given.warmup,
        repetitions=given.repetitions,
        seed=given.seed if given.seed is not None else time.time_ns() % 1_000_000,
        timeout_s=given.timeout,
        interval_ms=given.interval_ms,
        rate_mbit=given.rate_mbit,
        latency_us=given.latency_us,
        osu_dir=given.osu_dir,
        output=(given.output or _dated_folder()).resolve(),
        force=given.force,
        mca=dict(given.mca),
        keep_cluster=given.keep_cluster,
        cluster_name=given.cluster_name or f"bench-{os.getpid()}",
        cluster_program=given.cluster_program,
        build=given.build.resolve(),
        plugin_dir=given.plugin_dir,
        command=["bench/run", "osu", *arguments],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="run osu",
        description="Runs the OSU collective benchmarks under each power scheme on a cluster of "
        "its own, samples the energy of every node, and writes document.json, report.html and "
        "summary.txt.",
        epilog="Exit status: 0 = every run is good, 1 = a run failed or the session could not go "
        "on, 2 = wrong options, 128 + N = stopped by signal N.",
    )
    _add_cluster(parser)
    _add_benchmark(parser)
    _add_places(parser)
    return parser


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument("--nodes", type=_positive, default=4, metavar="N", help="number of nodes (default: %(default)s)")
    group.add_argument("--ppn", type=_positive, default=8, metavar="N", help="ranks on each node (default: %(default)s)")
    group.add_argument(
        "--layout", type=_layout, metavar="A,B,...", help="ranks per node, instead of the two above"
    )
    group.add_argument(
        "--machine",
        type=Path,
        metavar="FILE",
        default=TOP / "bench/emulator/machines/icpp2010.machine",
        help=f"emulated power hardware of each node; '{NO_MACHINE}': the real one (default: "
        "icpp2010.machine of bench/emulator)",
    )
    group.add_argument("--rate-mbit", type=float, metavar="R", help="limit of each node's link")
    group.add_argument("--latency-us", type=float, metavar="L", help="latency added to the link")
    group.add_argument(
        "--keep-cluster", action="store_true", help="leave the cluster up at the end"
    )
    group.add_argument("--cluster-name", metavar="NAME", help="its name (default: one of its own)")


def _add_benchmark(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("benchmark")
    group.add_argument(
        "--benchmarks",
        type=_names,
        metavar="B,...",
        default=list(PAPERS),
        help=f"collectives: of {', '.join(BENCHMARKS)}, or others of which there is a program "
        f"osu_B (default: {','.join(PAPERS)})",
    )
    group.add_argument(
        "--schemes",
        type=_schemes,
        metavar="S,...",
        default=["off", "dvfs", "throttle"],
        help=f"of {', '.join(SCHEMES)}; off is the baseline (default: off,dvfs,throttle)",
    )
    group.add_argument(
        "--sizes",
        type=_sizes,
        metavar="MIN:MAX or B=MIN:MAX,...",
        default={ANY: (1024, 65536)},
        help="message sizes in bytes, of all benchmarks or of each (default: 1024:65536)",
    )
    group.add_argument("--iterations", type=_positive, default=10, metavar="N", help="timed calls per size (default: %(default)s)")
    group.add_argument("--warmup", type=_count, default=2, metavar="N", help="untimed calls per size (default: %(default)s)")
    group.add_argument("--repetitions", type=_positive, default=3, metavar="N", help="runs of each scheme (default: %(default)s)")
    group.add_argument(
        "--seed", type=int, help="of the order of the schemes (default: from the clock)"
    )
    group.add_argument(
        "--interval-ms", type=_positive, default=50, metavar="MS", help="distance of two energy samples (default: %(default)s)"
    )
    group.add_argument(
        "--timeout", type=_positive, default=600, metavar="S", help="seconds a run may take (default: %(default)s)"
    )
    group.add_argument(
        "--mca",
        nargs=2,
        action="append",
        default=[],
        metavar=("KEY", "VALUE"),
        help="Open MPI parameter for every run",
    )


def _add_places(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("places")
    group.add_argument(
        "--osu-dir", type=Path, metavar="DIR", help="use the OSU programs installed below DIR"
    )
    group.add_argument(
        "--output", type=Path, metavar="DIR", help="results (default: results/<date>)"
    )
    group.add_argument(
        "--force", action="store_true", help="replace the results of an earlier session there"
    )
    group.add_argument(
        "--build",
        type=Path,
        metavar="DIR",
        default=Path(os.environ.get("PWR_BUILDDIR", TOP / "build")),
        help="build directory (default: $PWR_BUILDDIR, else build)",
    )
    group.add_argument(
        "--plugin-dir",
        type=Path,
        metavar="DIR",
        help="folder that holds only the component (default: from the build)",
    )
    group.add_argument(
        "--cluster-program",
        type=Path,
        metavar="FILE",
        default=TOP / "bench/cluster/cluster",
        help="the program that makes clusters (default: bench/cluster/cluster)",
    )


def _dated_folder() -> Path:
    return Path("results") / time.strftime("%Y-%m-%d-%H%M%S")


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def _layout(text: str) -> List[int]:
    layout = [_count(part) for part in text.split(",")]
    if sum(layout) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' has no ranks")
    return layout


def _names(text: str) -> List[str]:
    names = text.split(",")
    if not all(name.isidentifier() for name in names) or len(set(names)) != len(names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of different names")
    return names


def _schemes(text: str) -> List[str]:
    names = _names(text)
    for name in names:
        if name not in SCHEMES:
            raise argparse.ArgumentTypeError(f"scheme '{name}' is not of {', '.join(SCHEMES)}")
    return names


def _sizes(text: str) -> Dict[str, Tuple[int, int]]:
    """Sizes by benchmark, or of ANY benchmark that is not named."""
    sizes: Dict[str, Tuple[int, int]] = {}
    for part in text.split(","):
        name, equals, bounds = part.rpartition("=")
        numbers = bounds.split(":")
        if len(numbers) != 2 or not all(number.isdigit() for number in numbers):
            raise argparse.ArgumentTypeError(f"'{part}' is not MIN:MAX or BENCHMARK=MIN:MAX in bytes")
        low, high = int(numbers[0]), int(numbers[1])
        if low > high:
            raise argparse.ArgumentTypeError(f"'{part}': MIN is above MAX")
        sizes[name if equals else ANY] = (low, high)
    return sizes


def _sizes_of(
    parser: argparse.ArgumentParser, benchmarks: List[str], sizes: Dict[str, Tuple[int, int]]
) -> Dict[str, Tuple[int, int]]:
    for name in sizes:
        if name != ANY and name not in benchmarks:
            parser.error(f"--sizes: '{name}' is not of the benchmarks {','.join(benchmarks)}")
    sizes = {**sizes, WITHOUT_SIZES: (0, 0)}
    for name in benchmarks:
        if name not in sizes and ANY not in sizes:
            parser.error(f"--sizes: no sizes for '{name}'")
    return {name: sizes.get(name) or sizes[ANY] for name in benchmarks}
