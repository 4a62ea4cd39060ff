# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Options that benchmarks of many jobs share: where things are, how often, in which order."""
from __future__ import annotations

import argparse
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from bench.common.values import positive

TOP = Path(__file__).resolve().parents[2]

Layout = Tuple[int, int]  # nodes, ranks on each


@dataclass
class JobOptions:
    """Of all jobs."""

    name: str  # of the command
    quick: bool
    repetitions: int
    seed: int
    timeout_s: float
    mca: List[Tuple[str, str]]
    output: Path
    resume: bool
    build: Path
    plugin_dir: Path
    cluster_program: Path
    command: List[str]


def add_job_options(parser: argparse.ArgumentParser, jobs: str, repetitions: int, timeout_s: int, mca: str) -> None:
    """Adds these options but --quick.  jobs: what --repetitions counts; mca: what --mca is for."""
    parser.set_defaults(default_repetitions=repetitions)
    parser.add_argument("--repetitions", type=positive, metavar="N",
                        help=f"{jobs} (default: {repetitions}; quick: 1)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=timeout_s, metavar="S", help="of one job (default: %(default)s)")
    parser.add_argument("--mca", nargs=2, action="append", default=[], metavar=("KEY", "VALUE"),
                        help=f"Open MPI parameter for {mca}")
    parser.add_argument("--output", type=Path, metavar="DIR", help=f"results (default: results/{parser.prog}-<date>)")
    parser.add_argument("--resume", action="store_true", help="keep the jobs that --output has already")
    add_places(parser)


def add_places(parser: argparse._ActionsContainer) -> None:
    """Where the plug-in and the program that makes clusters are."""
    _add_build(parser)
    parser.add_argument("--plugin-dir", type=Path, metavar="DIR",
                        help="folder that holds only the component (default: from the build)")
    parser.add_argument("--cluster-program", type=Path, metavar="FILE", default=TOP / "bench/testbed/cluster/cluster",
                        help="the program that makes clusters (default: bench/testbed/cluster/cluster)")


def _add_build(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--build", type=Path, metavar="DIR", default=Path(os.environ.get("PWR_BUILDDIR", TOP / "build")),
                        help="build directory (default: $PWR_BUILDDIR, else build)")


def add_builds(parser: argparse.ArgumentParser) -> None:
    """The build that is measured, and another one to compare it with."""
    _add_build(parser)
    parser.add_argument("--before", type=Path, metavar="DIR",
                        help="build directory of another state, to compare with")


def find_builds(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Makes them absolute; the user is told which is none, and the program ends."""
    for build in filter(None, (given.build, given.before)):
        if not (build / "coll_poweraware/component").is_dir():
            parser.error(f"{build} is no build directory, or nothing is built there")
    given.build = given.build.resolve()
    given.before = given.before and given.before.resolve()


def job_options(given: argparse.Namespace, name: str, arguments: Sequence[str]) -> Dict[str, Any]:
    """The fields of JobOptions from parsed arguments of the benchmark of that name."""
    build = given.build.resolve()
    output = given.output or Path("results") / time.strftime(f"{name}-%Y-%m-%d-%H%M%S")
    return {
        "name": name,
        "quick": given.quick,
        "repetitions": given.repetitions or (1 if given.quick else given.default_repetitions),
        "seed": given.seed,
        "timeout_s": given.timeout,
        "mca": [(key, value) for key, value in given.mca],
        "output": output.resolve(),
        "resume": given.resume,
        "build": build,
        "plugin_dir": (given.plugin_dir or build / "coll_poweraware" / "component").resolve(),
        "cluster_program": given.cluster_program,
        "command": [f"bench/{name}/{name}", *arguments],
    }


def layouts(text: str) -> List[Layout]:
    """Layouts from "1x2,4x4"."""
    found: List[Layout] = []
    for part in text.split(","):
        nodes, cross, ranks = part.partition("x")
        if not (cross and nodes.isdigit() and ranks.isdigit() and int(nodes) * int(ranks) > 1):
            raise argparse.ArgumentTypeError(f"'{part}' is not NODESxRANKS with two ranks at least")
        found.append((int(nodes), int(ranks)))
    return found
