# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command."""
from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from bench.model import corrections, machines, paper, predict
from bench.model.machines import Machine
from bench.report.tables import Table
from bench.report.text import as_table

Answer = Tuple[Table, List[Dict[str, Any]]]  # for people, and for programs


def _paper(_options: argparse.Namespace) -> Answer:
    rows = paper.reproduction()
    worst = max(abs(row.error) for row in rows)
    table = Table(
        "The figures of the paper (ICPP 2010), and what its equations give (modelled)",
        ["figure", "paper", "model", "error", "from"],
        [[row.what, _figure(row.published, row.unit), _figure(row.modelled, row.unit), f"{row.error:+.1%}", row.basis]
         for row in rows],
        f"All within {worst:.1%}. Times are over the default's.",
    )  # fmt: skip
    return table, [{**asdict(row), "error": row.error, "provenance": "modelled"} for row in rows]


def _predict(options: argparse.Namespace) -> Answer:
    found, lines = [], []
    for nodes in options.nodes:
        machine = machines.ALL[options.machine].of(nodes)
        predictions = predict.predict(machine, options.collective, options.bytes)
        default = predictions[0]
        for each in predictions:
            found.append({"machine": machine.name, "nodes": nodes, "collective": options.collective,
                          "bytes": options.bytes, **asdict(each), "power_w": each.power_w,
                          "provenance": "modelled"})  # fmt: skip
            lines.append([str(nodes), str(machine.ranks), each.scheme, _seconds(each.time_s), _watts(each.power_w),
                          _joules(each.energy_j), f"{each.time_s / default.time_s:.3f}",
                          f"{each.energy_j / default.energy_j:.3f}"])  # fmt: skip
    heads = ["nodes", "ranks", "scheme", "time", "power", "energy", "time / default", "energy / default"]
    title = f"{options.collective} of {options.bytes} B on {options.machine} (modelled)"
    return Table(title, heads, lines, "Power of all nodes, mean of the call; assumptions in machines.py."), found


def _break_even(options: argparse.Namespace) -> Answer:
    machine = machines.ALL[options.machine].of(options.nodes[0])
    rows = [
        ("a call, for its frequency to be lowered", _seconds(corrections.break_even_dvfs_s(machine)),
         "break_even_dvfs_s", corrections.break_even_dvfs_s(machine)),
        ("a wait, for a core to sleep", _seconds(corrections.break_even_sleep_s(machine)),
         "break_even_sleep_s", corrections.break_even_sleep_s(machine)),
        ("the message of an Alltoall, for throttling", f"{corrections.break_even_alltoall_bytes(machine):.0f} B",
         "break_even_alltoall_bytes", corrections.break_even_alltoall_bytes(machine)),
    ]  # fmt: skip
    title = f"From where on energy is saved: {machine.name}, {machine.nodes} nodes (modelled)"
    table = Table(title, ["at least", ""], [list(row[:2]) for row in rows], "Assumptions in machines.py.")
    return table, [{"what": row[2], "value": row[3] if math.isfinite(row[3]) else None, "machine": machine.name,
                    "nodes": machine.nodes, "provenance": "modelled"} for row in rows]  # fmt: skip


def _machine(options: argparse.Namespace) -> Answer:
    machine = machines.ALL[options.machine]
    lines = [[name, str(value)] for name, value in asdict(machine).items()]
    return Table(f"Machine {machine.name} (assumptions)", ["", ""], lines, "Sources in machines.py."), [asdict(machine)]


_COMMANDS: Dict[str, Tuple[Callable[[argparse.Namespace], Answer], str]] = {
    "paper": (_paper, "the paper's own figures, printed and modelled"),
    "predict": (_predict, "time, power and energy of a collective under each scheme"),
    "break-even": (_break_even, "from which length or size on energy is saved"),
    "machine": (_machine, "the figures of a machine that go into the models"),
}


def _figure(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".rstrip()


def _seconds(value: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return f"{value / 1e-6:.3g} us"


def _large(value: float, unit: str) -> str:
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def _watts(value: float) -> str:
    return _large(value, "W")


def _joules(value: float) -> str:
    return _large(value, "J")


def _nodes(text: str) -> List[int]:
    numbers = []
    for part in text.split(","):
        if not part.isascii() or not part.isdigit() or not 2 <= int(part) <= 1_000_000:
            raise argparse.ArgumentTypeError(f"'{part}' is no number of nodes from 2 to 1000000")
        numbers.append(int(part))
    return numbers


def _one_number_of_nodes(text: str) -> List[int]:
    numbers = _nodes(text)
    if len(numbers) > 1:
        raise argparse.ArgumentTypeError("one number of nodes, please")
    return numbers


def _bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1 << 40:
        raise argparse.ArgumentTypeError(f"'{text}' is no message size from 1 to {1 << 40} bytes")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="model",
        description="What equations say about power-aware collectives: the paper's (ICPP 2010, section VI) and ours. "
        "Everything it prints is modelled, nothing measured.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, text) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.add_argument("--json", action="store_true", help="one JSON document instead of a table")
        if name == "paper":
            continue
        command.add_argument("--machine", choices=list(machines.ALL), default="icpp2010", help="default: %(default)s")
        if name != "machine":
            kind, words = (_nodes, "N,...") if name == "predict" else (_one_number_of_nodes, "N")
            command.add_argument("--nodes", type=kind, default=[8], metavar=words, help="default: 8")
        if name == "predict":
            command.add_argument("--collective", choices=list(predict.COLLECTIVES), default="alltoall",
                                 help="default: %(default)s")
            command.add_argument("--bytes", type=_bytes, default=65536, metavar="B",
                                 help="of a message, of an Alltoall to each rank (default: %(default)s)")
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    table, found = _COMMANDS[options.command][0](options)
    print(json.dumps(found, indent=1) if options.json else as_table(table))
    return 0
