# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Command line of `bench/collectives`."""
from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

TOP = Path(__file__).resolve().parents[2]

# Han of 4.1 is broken across nodes: its data would be wrong or the job would crash.
STOCK: Dict[int, Tuple[str, ...]] = {
    4: ("tuned", "basic", "sm", "adapt"),
    5: ("tuned", "basic", "sm", "adapt", "han"),
    6: ("tuned", "basic", "adapt", "han", "xhc"),
}
LAYOUTS = "1x2,2x2,4x4,8x2"
LAYOUTS_OF_A_TABLE = "1x2,2x1,2x2,4x4,8x2"

Layout = Tuple[int, int]  # nodes, ranks on each


@dataclass
class Options:
    """What is to be compared."""

    layouts: List[Layout]
    collectives: Optional[str]
    sizes: Optional[str]
    stock: List[str]
    ours: List[str]
    table: Optional[Path]
    quick: bool
    seconds: Optional[float]
    blocks: Optional[int]
    repetitions: int
    seed: int
    timeout_s: float
    mca: List[Tuple[str, str]]
    output: Path
    resume: bool
    build: Path
    plugin_dir: Path
    cluster_program: Path
    mpirun: str
    command: List[str]

    @property
    def variants(self) -> Optional[str]:
        """The --variants of poweraware-tune; None: its default, stock and all of ours."""
        return None if self.table else ",".join(["stock", *self.stock, *self.ours])


def parse(arguments: Sequence[str], series: int) -> Options:
    """Options of a command line; ends the program on errors and for --help."""
    parser = _parser(series)
    given = parser.parse_args(arguments)
    build = given.build.resolve()
    return Options(
        layouts=given.layouts or layouts(LAYOUTS_OF_A_TABLE if given.table else LAYOUTS),
        collectives=given.collectives,
        sizes=given.sizes,
        stock=given.stock,
        ours=given.ours,
        table=given.table,
        quick=given.quick,
        seconds=given.seconds,
        blocks=given.blocks,
        repetitions=given.repetitions or (1 if given.quick else 3),
        seed=given.seed,
        timeout_s=given.timeout,
        mca=[(key, value) for key, value in given.mca],
        output=(given.output or Path("results") / time.strftime("collectives-%Y-%m-%d-%H%M%S")).resolve(),
        resume=given.resume,
        build=build,
        plugin_dir=(given.plugin_dir or build / "coll_poweraware" / "component").resolve(),
        cluster_program=given.cluster_program,
        mpirun=given.mpirun,
        command=["bench/collectives", *arguments],
    )


def _parser(series: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="collectives",
        description="Compares our collectives with the best of Open MPI's own components: every collective and "
        "size, all variants interleaved in one job (poweraware-tune), on one node and on emulated ones. "
        "Writes document.json, page.html and summary.txt.",
        epilog="Exit status: 0 = done, 1 = a job failed or gave wrong data, 2 = wrong options.",
    )
    parser.add_argument("--layouts", type=layouts, metavar="NxP,...",
                        help=f"nodes x ranks on each (default: {LAYOUTS}; with --table {LAYOUTS_OF_A_TABLE})")
    parser.add_argument("--collectives", metavar="C,...", help="default: all")
    parser.add_argument("--sizes", metavar="BYTES,...", help="message sizes (default: 8 B to 4 MiB)")
    parser.add_argument("--variants", dest="ours", type=_names, default=["auto"], metavar="V,...",
                        help="ours: auto, or algorithms that are forced (default: auto)")
    stock = list(STOCK.get(series, STOCK[6]))
    parser.add_argument("--stock", type=_names, default=stock, metavar="V,...",
                        help=f"components whose best counts, besides what Open MPI selects (default: {','.join(stock)})")
    parser.add_argument("--table", type=Path, metavar="FILE",
                        help="instead: compare all our algorithms with what Open MPI selects, and write the decision "
                        "table that follows (the built-in one: coll_poweraware/decision.json)")
    parser.add_argument("--quick", action="store_true", help="three sizes, short blocks: to see whether it works")
    parser.add_argument("--seconds", type=float, metavar="S", help="for each collective and size of a job (default: 0.5)")
    parser.add_argument("--blocks", type=int, metavar="N", help="interleaved blocks of each variant (default: 21)")
    parser.add_argument("--repetitions", type=int, metavar="N", help="jobs of each layout (default: 3; quick: 1)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=3600, metavar="S", help="of one job (default: %(default)s)")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("KEY", "VALUE"),
                        help="Open MPI parameter for every job")
    parser.add_argument("--output", type=Path, metavar="DIR", help="results (default: results/collectives-<date>)")
    parser.add_argument("--resume", action="store_true", help="keep the jobs that --output has already")
    parser.add_argument("--build", type=Path, metavar="DIR", default=Path(os.environ.get("PWR_BUILDDIR", TOP / "build")),
                        help="build directory (default: $PWR_BUILDDIR, else build)")
    parser.add_argument("--plugin-dir", type=Path, metavar="DIR",
                        help="folder that holds only the component (default: from the build)")
    parser.add_argument("--cluster-program", type=Path, metavar="FILE", default=TOP / "bench/cluster/cluster",
                        help="the program that makes clusters (default: bench/cluster/cluster)")
    parser.add_argument("--mpirun", default="mpirun", metavar="PROGRAM", help="for one node (default: %(default)s)")
    return parser


def layouts(text: str) -> List[Layout]:
    """Layouts from "1x2,4x4"."""
    found: List[Layout] = []
    for part in text.split(","):
        nodes, cross, ranks = part.partition("x")
        if not (cross and nodes.isdigit() and ranks.isdigit() and int(nodes) * int(ranks) > 1):
            raise argparse.ArgumentTypeError(f"'{part}' is not NODESxRANKS with two ranks at least")
        found.append((int(nodes), int(ranks)))
    return found


def _names(text: str) -> List[str]:
    names = text.split(",")
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of names")
    return names
