# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The options of each command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.testbed.cluster import spec as specs
from bench.testbed.cluster.emulation import ATTACH
from bench.testbed.cluster.errors import ClusterError

_DESCRIPTION = """\
Several nodes on one machine: each has network, host name, processes, shared memory and temporary
files of its own, made of Linux namespaces. Open MPI runs across them with TCP between nodes and
shared memory within one."""

_EXAMPLE = """\
example:
  cluster up 4 --rate-mbit 1000 --latency-us 50
  cluster run --ppn 2 -- ./program
  cluster down"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options; `program` is what follows the first "--"."""
    words = list(arguments)
    program: list[str] = []
    if "--" in words:
        at = words.index("--")
        words, program = words[:at], words[at + 1 :]
    parser = _parser()
    options = parser.parse_args(words)
    if options.command in ("run", "exec") and not program:
        parser.error(f"{options.command}: give the program after --")
    if options.command not in ("run", "exec") and program:
        parser.error(f"{options.command} takes no program after --")
    if options.command == "exec" and options.all == (options.node is not None):
        parser.error("exec: give one node, or --all")
    options.program = program
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cluster",
        description=_DESCRIPTION,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_up(commands.add_parser("up", parents=[_common()], help="set a cluster up"))
    _add_run(
        commands.add_parser(
            "run",
            parents=[_common()],
            help="start an MPI program on it",
            usage="cluster run [options] -- PROGRAM [ARGUMENTS]",
            description="Starts mpirun over the nodes; the exit status is mpirun's.",
        )
    )
    execute = commands.add_parser(
        "exec",
        parents=[_common()],
        help="start any program on one node or all",
        usage="cluster exec [--name NAME] (NODE | --all) -- PROGRAM [ARGUMENTS]",
    )
    execute.add_argument("node", nargs="?", metavar="NODE", help="n0, n1, ... or head")
    execute.add_argument("--all", action="store_true", help="on every node, output line by line")
    status = commands.add_parser("status", parents=[_common()], help="tell what is up")
    status.add_argument("--all", action="store_true", help="every cluster of this user")
    status.add_argument("--json", action="store_true", help="for programs")
    down = commands.add_parser("down", parents=[_common()], help="end a cluster, and all in it")
    down.add_argument("--all", action="store_true", help="every cluster of this user")
    commands.add_parser("check", parents=[_common()], help="tell what this machine lacks")
    return parser


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--name", type=_name, default="default", help="which cluster (default: %(default)s)"
    )
    # For tests: state directories elsewhere than in the runtime directory.
    common.add_argument("--base", type=Path, help=argparse.SUPPRESS)
    return common


def _add_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("nodes", type=int, metavar="N", help=f"nodes, at most {specs.MAX_NODES}")
    parser.add_argument(
        "--rate-mbit", type=float, metavar="R", help="Mbit/s of each link (default: no limit)"
    )
    parser.add_argument(
        "--latency-us",
        type=float,
        metavar="L",
        help="microseconds from node to node, one way (default: none added)",
    )
    parser.add_argument(
        "--machine",
        type=Path,
        metavar="FILE",
        help="give each node this emulated power hardware; a name: one of bench/testbed/emulator/machines",
    )
    # For tests: another program in the place of bench/testbed/emulator/attach.
    parser.add_argument("--attach", type=Path, default=ATTACH, help=argparse.SUPPRESS)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nodes", type=_positive, metavar="N", help="use n0..n(N-1) (default: all)"
    )
    parser.add_argument(
        "--ppn", type=_positive, metavar="P", help="ranks on each node (default: 1)"
    )
    parser.add_argument(
        "--layout", type=_layout, metavar="A,B,...", help="ranks on n0, n1, ..., as in 3,2,1"
    )
    parser.add_argument(
        "--map-by",
        choices=["core", "slot", "node"],
        help="number the ranks node by node (core: a core each), or round robin over the nodes"
        " (default: core where ranks are bound to cores, otherwise slot)",
    )
    parser.add_argument(
        "--bind",
        choices=["core", "none"],
        help="bind ranks to cores (default: core on emulated machines, otherwise none)",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help="end the whole job after S seconds; the exit status is then 124",
    )
    parser.add_argument(
        "--mca", nargs=2, action="append", default=[], metavar=("KEY", "VALUE"), help="for mpirun"
    )
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable for the ranks (NAME alone: with its value here)",
    )
    parser.add_argument("--mpirun", metavar="PROGRAM", help="Open MPI's mpirun, if not on PATH")


def _name(text: str) -> str:
    try:
        return specs.check_name(text)
    except ClusterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _layout(text: str) -> list[int]:
    try:
        return specs.parse_layout(text)
    except ClusterError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text}: a whole number from 1 on is needed")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text}: a number of seconds above 0 is needed")
    return value
