# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Command line of `bench/run/run FAMILY`."""
from __future__ import annotations

import argparse
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Type

from bench.common.options import TOP, add_places
from bench.common.values import different_of, layout, positive
from bench.run.cpmd import PlaneWaves
from bench.run.family import Family
from bench.run.isx import Isx
from bench.run.npb import Npb
from bench.run.osu import Osu
from bench.run.patterns import Patterns
from bench.run.shift import Shift
from bench.run.waits import Waits
from poweraware.session.document import Preload

NO_MACHINE = "none"

FAMILIES: Dict[str, Type[Family]] = {family.name: family for family in (Osu, Shift, Waits, Patterns, Isx, Npb, PlaneWaves)}


@dataclass
class Options:
    """What a session is asked to do."""

    family: Family
    layout: List[int]
    machine: Optional[Path]
    schemes: List[str]
    preloads: Dict[str, Preload]  # schemes that are stock Open MPI with a library of somebody else
    repetitions: int
    seed: int
    timeout_s: float
    interval_ms: int
    rate_mbit: Optional[float]
    latency_us: Optional[float]
    output: Path
    force: bool
    resume: bool
    mca: Dict[str, str]
    keep_cluster: bool
    cluster_name: str
    cluster_program: Path
    build: Path
    plugin_dir: Optional[Path]
    command: List[str]


def parse(name: str, arguments: Sequence[str]) -> Options:
    """Options of a command line of one family; ends the program on errors and for --help."""
    parser = _parser(name)
    given = parser.parse_args(arguments)
    given.build = given.build.resolve()
    ranks = given.layout or [given.ppn] * given.nodes
    machine = None if str(given.machine) == NO_MACHINE else given.machine
    if machine is not None and not machine.is_file():
        parser.error(f"--machine {machine}: no such file; '{NO_MACHINE}' uses the real hardware")
    preloads = _preloads(parser, given.preload, FAMILIES[name].schemes)
    _take_variables(parser, preloads, given.preload_env)
    return Options(
        family=FAMILIES[name](parser, given, sum(ranks)),
        layout=ranks,
        machine=machine,
        schemes=[*given.schemes, *preloads],
        preloads=preloads,
        repetitions=given.repetitions,
        seed=given.seed if given.seed is not None else time.time_ns() % 1_000_000,
        timeout_s=given.timeout,
        interval_ms=given.interval_ms,
        rate_mbit=given.rate_mbit,
        latency_us=given.latency_us,
        output=(given.output or _dated_folder()).resolve(),
        force=given.force,
        resume=given.resume,
        mca=dict(given.mca),
        keep_cluster=given.keep_cluster,
        cluster_name=given.cluster_name or f"bench-{os.getpid()}",
        cluster_program=given.cluster_program.resolve(),
        build=given.build,
        plugin_dir=given.plugin_dir,
        command=["bench/run/run", name, *arguments],
    )


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"run {name}",
        description="Runs benchmarks under each power scheme on a cluster of its own, samples the energy of "
        "every node, and writes document.json, report.html and summary.txt.",
        epilog="Exit status: 0 = every run is good, 1 = a run failed or the session could not go "
        "on, 2 = wrong options, 128 + N = stopped by signal N.",
    )
    _add_cluster(parser)
    FAMILIES[name].add_options(parser)
    _add_session(parser, FAMILIES[name].schemes)
    _add_places(parser)
    return parser


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("cluster")
    group.add_argument("--nodes", type=positive, default=4, metavar="N", help="number of nodes (default: %(default)s)")
    group.add_argument("--ppn", type=positive, default=8, metavar="N", help="ranks on each node (default: %(default)s)")
    group.add_argument(
        "--layout", type=layout, metavar="A,B,...", help="ranks per node, instead of the two above"
    )
    group.add_argument(
        "--machine",
        type=Path,
        metavar="FILE",
        default=TOP / "bench/testbed/emulator/machines/icpp2010.machine",
        help=f"emulated power hardware of each node; '{NO_MACHINE}': the real one (default: "
        "icpp2010.machine of bench/testbed/emulator)",
    )
    group.add_argument("--rate-mbit", type=float, metavar="R", help="limit of each node's link")
    group.add_argument("--latency-us", type=float, metavar="L", help="latency added to the link")
    group.add_argument(
        "--keep-cluster", action="store_true", help="leave the cluster up at the end"
    )
    group.add_argument("--cluster-name", metavar="NAME", help="its name (default: one of its own)")


def _add_session(parser: argparse.ArgumentParser, schemes: Sequence[str]) -> None:
    group = parser.add_argument_group("runs")
    group.add_argument(
        "--schemes",
        type=different_of(schemes, "scheme "),
        metavar="S,...",
        default=list(schemes),
        help=f"of {', '.join(schemes)}; {schemes[0]} is the baseline (default: all)",
    )
    group.add_argument(
        "--preload", action="append", default=[], metavar="NAME=FILE",
        help=f"one more scheme, NAME: {schemes[0]}, with this library preloaded into the program, as peers want it "
        "(countdown=/opt/countdown/lib/libcntd.so); may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--preload-env", nargs=2, action="append", default=[], metavar=("NAME", "VARIABLE=VALUE"),
        help="a variable of the environment for the scheme NAME of --preload alone, as peers want them "
        "(countdown CNTD_ENABLE=on); the document has it; may be repeated",
    )  # fmt: skip
    group.add_argument("--repetitions", type=positive, default=3, metavar="N", help="runs of each scheme (default: %(default)s)")
    group.add_argument(
        "--seed", type=int, help="of the order of the schemes (default: from the clock)"
    )
    group.add_argument(
        "--interval-ms", type=positive, default=50, metavar="MS", help="distance of two energy samples (default: %(default)s)"
    )
    group.add_argument(
        "--timeout", type=positive, default=600, metavar="S", help="seconds a run may take (default: %(default)s)"
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
        "--output", type=Path, metavar="DIR", help="results (default: results/<date>)"
    )
    group.add_argument(
        "--force", action="store_true", help="replace the results of an earlier session there"
    )
    group.add_argument(
        "--resume", action="store_true", help="keep the good runs of an earlier session there, of the same cluster and sizes, "
        "and make those that are missing",
    )  # fmt: skip
    add_places(group)


def _preloads(parser: argparse.ArgumentParser, given: Sequence[str], schemes: Sequence[str]) -> Dict[str, Preload]:
    found: Dict[str, Preload] = {}
    for text in given:
        name, _, file = text.partition("=")
        if not re.fullmatch(r"[A-Za-z][\w-]*", name) or name in schemes or name in found:
            parser.error(f"--preload {text}: NAME=FILE is wanted, NAME a word that no other scheme has")
        if not Path(file).is_file():
            parser.error(f"--preload {text}: there is no file {file}")
        path = str(Path(file).resolve())
        if re.search(r"[\s:]", path):
            parser.error(f"--preload {text}: the loader takes no blanks and colons in {path}")
        found[name] = Preload(path)
    return found


def _take_variables(parser: argparse.ArgumentParser, preloads: Dict[str, Preload], given: Sequence[Sequence[str]]) -> None:
    for name, text in given:
        variable, equals, value = text.partition("=")
        if name not in preloads:
            parser.error(f"--preload-env {name} {text}: no --preload has the name {name}")
        if not (variable.isidentifier() and equals):
            parser.error(f"--preload-env {name} {text}: VARIABLE=VALUE is wanted")
        preloads[name].variables[variable] = value


def _dated_folder() -> Path:
    return Path("results") / time.strftime("%Y-%m-%d-%H%M%S")
