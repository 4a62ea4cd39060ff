# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Command line of `bench/waits`."""
from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Collection, List, Optional, Sequence

from bench.common.options import JobOptions, Layout, add_job_options, job_options, layouts
from bench.common.values import positive
from bench.waits import experiments, ways

_WAYS = "\n".join(f"  {name:10} {text}" for name, text in ways.WORDS.items())


@dataclass
class Options(JobOptions):
    """What is to be measured."""

    experiments: List[str]
    ways: Optional[List[str]]  # None: all that there are
    layouts: List[Layout]  # empty: all
    seconds: int
    awake: bool
    mpirun: Optional[str]
    openshmem: bool

    @property
    def openshmem_dir(self) -> Path:
        """The folder of the component for OpenSHMEM."""
        return self.build / "oshmem" / "scoll_poweraware" / "component"


def parse(arguments: Sequence[str]) -> Options:
    """Options of a command line; ends the program on errors and for --help."""
    parser = _parser()
    given = parser.parse_args(arguments)
    there = experiments.names(given.openshmem)
    for name in given.experiments or []:
        if name not in there:
            parser.error(f"--experiments: {name} is {'of MPI: leave out' if given.openshmem else 'only with'} --openshmem")
    return Options(
        experiments=given.experiments or there,
        ways=given.ways,
        layouts=given.layouts,
        seconds=given.seconds,
        awake=given.awake,
        mpirun=given.mpirun,
        openshmem=given.openshmem,
        **job_options(given, "waits", arguments),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="waits",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="What waiting costs in time and CPU seconds, with several ways to wait, each in jobs of its own that "
        "take turns\nin random order. Writes document.json, page.html and summary.txt.\n\n"
        f"ways:\n{_WAYS}",
        epilog="Exit status: 0 = done, whether goals are met or not; 1 = a job failed; 2 = wrong options.",
    )
    parser.add_argument("--openshmem", action="store_true", help="calls of OpenSHMEM with the last PE late, instead of MPI's")
    parser.add_argument("--experiments", type=_some_of(experiments.ALL), metavar="E,...",
                        help=f"default: {','.join(experiments.names(False))}; with --openshmem: {','.join(experiments.names(True))}")
    parser.add_argument("--ways", type=_some_of(ways.ALL), metavar="W,...",
                        help=f"default: {','.join(ways.ALL)} (quick: {','.join(ways.QUICK)}; --openshmem: "
                        f"{','.join(ways.OPENSHMEM)}); nanosleep only from Open MPI 5.0 on")
    parser.add_argument("--layouts", type=layouts, default=[], metavar="NxP,...",
                        help="only points with these nodes x ranks on each (default: all)")
    parser.add_argument("--quick", action="store_true", help="few points, once: to see whether it works")
    parser.add_argument("--seconds", type=positive, default=1, metavar="S",
                        help="of each job, about, besides its start (default: %(default)s)")
    parser.add_argument("--awake", action="store_true", help="keep CPUs from halting by a process of lowest priority on "
                        "each, for virtual machines whose host wakes halted CPUs late")
    add_job_options(parser, jobs="jobs of each way at each point", repetitions=5, timeout_s=300, mca="ours and ours-all")
    parser.add_argument("--mpirun", metavar="PROGRAM", help="Open MPI's mpirun, if not on PATH")
    return parser


def _some_of(known: Collection[str]) -> Callable[[str], List[str]]:
    def names(text: str) -> List[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(known)}")
        return [name for name in known if name in chosen]

    return names
