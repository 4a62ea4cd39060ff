# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Command line of `bench/collectives`."""
from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from bench.common.options import JobOptions, Layout, add_job_options, job_options, layouts
from poweraware.measurements import COPY

# Han of 4.1 is broken across nodes: its data would be wrong or the job would crash.
STOCK: Dict[int, Tuple[str, ...]] = {
    4: ("tuned", "basic", "sm", "adapt"),
    5: ("tuned", "basic", "sm", "adapt", "han"),
    6: ("tuned", "basic", "adapt", "han", "xhc"),
}
LAYOUTS = "1x2,2x2,4x4,8x2"
LAYOUTS_OF_A_TABLE = "1x2,2x1,2x2,4x4,8x2"


@dataclass
class Options(JobOptions):
    """What is to be compared."""

    layouts: List[Layout]
    collectives: Optional[str]
    sizes: Optional[str]
    stock: List[str]
    ours: List[str]
    table: Optional[Path]
    before: Optional[Path]
    seconds: Optional[float]
    blocks: Optional[int]
    mpirun: str

    @property
    def variants(self) -> Optional[str]:
        """The --variants of poweraware-tune; None: its default, stock and all of ours."""
        return None if self.table else ",".join(["stock", *self.stock, *self.ours, COPY])


def parse(arguments: Sequence[str], series: int) -> Options:
    """Options of a command line; ends the program on errors and for --help."""
    parser = _parser(series)
    given = parser.parse_args(arguments)
    if given.before and not given.table:
        parser.error("--before is for --table")
    return Options(
        layouts=given.layouts or layouts(LAYOUTS_OF_A_TABLE if given.table else LAYOUTS),
        collectives=given.collectives,
        sizes=given.sizes,
        stock=given.stock,
        ours=given.ours,
        table=given.table,
        before=given.before,
        seconds=given.seconds,
        blocks=given.blocks,
        mpirun=given.mpirun,
        **job_options(given, "collectives", arguments),
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
    parser.add_argument("--before", type=Path, metavar="FILE", help="with --table: the decision table to start from (poweraware decide)")
    parser.add_argument("--quick", action="store_true", help="three sizes, short blocks: to see whether it works")
    parser.add_argument("--seconds", type=float, metavar="S", help="for each collective and size of a job (default: 0.5)")
    parser.add_argument("--blocks", type=int, metavar="N", help="interleaved blocks of each variant (default: 21)")
    add_job_options(parser, jobs="jobs of each layout", repetitions=3, timeout_s=3600, mca="every job")
    parser.add_argument("--mpirun", default="mpirun", metavar="PROGRAM", help="for one node (default: %(default)s)")
    return parser


def _names(text: str) -> List[str]:
    names = text.split(",")
    if not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of names")
    return names
