# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command."""
from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from bench.model import calibrate, corrections, machines, onesided, paper, predict
from bench.model.machines import Machine
from poweraware import sessions
from poweraware.documents import DocumentError
from poweraware.table import Table, as_table
from poweraware.wording import size

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


def _pascol(_options: argparse.Namespace) -> Answer:
    setting = onesided.Setting()
    lines, found = [], []
    for printed, modelled in onesided.reproduction(setting):
        errors = {name: value / printed.value - 1 for name, value in modelled.items()}
        cells = [cell for name in modelled for cell in (f"{modelled[name]:.3f}", f"{errors[name]:+.1%}")]
        lines.append([f"{printed.quantity}, {printed.operation}, {size(printed.bytes)}", f"{printed.value:.2f}", *cells, printed.where])
        found.append({**asdict(printed), "modelled": modelled, "error": errors, "provenance": "modelled"})
    for operation, published, break_evens in onesided.break_evens(setting):
        cells = [cell for value in break_evens.values() for cell in (size(int(value)) if math.isfinite(value) else "none", "")]
        lines.append([f"energy is saved from, {operation}", size(published), *cells, "table 16"])
        found.append({"operation": operation, "quantity": "break_even_bytes", "value": published, "provenance": "modelled",
                      "modelled": {name: value if math.isfinite(value) else None for name, value in break_evens.items()}})  # fmt: skip
    notes = " ".join(f"{name.capitalize()}: {onesided.basis(setting, name)}" for name in onesided.predictions(setting))
    return Table("The figures of PASCoL, interrupts and DVFS over polling, and what equations give (modelled)",
                 ["figure", "paper", "constants", "error", "fitted", "error", "printed in"], lines, notes), found  # fmt: skip


def _onesided(options: argparse.Namespace) -> Answer:
    setting = onesided.Setting()
    lines, found = [], []
    for name, shares in onesided.predictions(setting).items():
        for bytes_ in onesided.doublings():
            for scheme in onesided.SCHEMES:
                figures = onesided.over_polling(setting, shares[options.operation], scheme, bytes_)
                lines.append([name, size(bytes_), scheme, *(f"{value:.3f}" for value in figures.values())])
                found.append({"prediction": name, "operation": options.operation, "bytes": bytes_, "scheme": scheme, **figures,
                              "provenance": "modelled"})  # fmt: skip
    title = f"{options.operation} over polling on the test bed of PASCoL (modelled)"
    return Table(title, ["prediction", "size", "scheme", "latency", "power", "energy per MB"], lines,
                 "What is assumed and what fitted: model pascol."), found  # fmt: skip


def _predict(options: argparse.Namespace) -> Answer:
    found, lines = [], []
    for nodes in options.nodes:
        machine = options.machine.of(nodes)
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
    title = f"{options.collective} of {options.bytes} B on {options.machine.name} (modelled)"
    return Table(title, heads, lines, "Power of all nodes, mean of the call; assumptions in machines.py."), found


def _break_even(options: argparse.Namespace) -> Answer:
    machine = options.machine.of(options.nodes[0])
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
    machine = options.machine
    lines = [[name, str(value)] for name, value in asdict(machine).items()]
    return Table(f"Machine {machine.name} (assumptions)", ["", ""], lines, "Sources in machines.py."), [asdict(machine)]


def _calibrate(options: argparse.Namespace) -> Answer:
    session = sessions.load(options.session)
    found = calibrate.calibrate(session, options.machine)
    lines = [[name, str(value), found.basis.get(name, "assumed")] for name, value in asdict(found.machine).items()]
    if options.output is not None:
        machines.save(found.machine, options.output)
    checks = calibrate.checks(session, found.machine)
    for check in checks:
        watts = "-" if check.power_w is None else f"{_watts(check.power_w)}, model {_watts(check.modelled_w)}"
        lines.append([f"{check.benchmark} {check.size} B, {check.scheme}", f"{_seconds(check.time_s)}, model "
                      f"{_seconds(check.modelled_s)}", watts])  # fmt: skip
    title = f"Machine from {options.session}, and the session beside its models"
    note = "Figures of the session: as its document says; figures of models: modelled."
    rows = [{"machine": asdict(found.machine), "basis": found.basis, "checks": [asdict(each) for each in checks],
             "provenance": "modelled"}]  # fmt: skip
    return Table(title, ["figure", "value", "from"], lines, note), rows


def _sensitivity(options: argparse.Namespace) -> Answer:
    from bench.model import sensitivity  # here, so that the rest works without matplotlib

    machine = options.machine.of(options.nodes[0])
    lines, found = [], []
    for scheme in predict.COLLECTIVES[options.collective]:
        for effect in sensitivity.effects(machine, options.collective, scheme, options.bytes) if scheme != "default" else []:
            lines.append([scheme, sensitivity.FIGURES[effect.figure], f"{effect.smaller:.3f}", f"{effect.middle:.3f}", f"{effect.larger:.3f}"])
            found.append({"scheme": scheme, **asdict(effect), "provenance": "modelled"})
    if options.output is not None:
        options.output.write_text(sensitivity.page(machine, options.collective, options.bytes), encoding="utf-8")
    change = f"{sensitivity.CHANGE:.0%}"
    title = f"Energy over the default's: {options.collective} of {options.bytes} B on {machine.name}, {machine.nodes} nodes (modelled)"
    return Table(title, ["scheme", "figure", f"{change} smaller", "as assumed", f"{change} larger"], lines,
                 "One figure is changed at a time; those without an effect are left out."), found  # fmt: skip


_COMMANDS: Dict[str, Tuple[Callable[[argparse.Namespace], Answer], str]] = {
    "paper": (_paper, "the paper's own figures, printed and modelled"),
    "pascol": (_pascol, "the figures of PASCoL's paper (one-sided operations), printed and modelled"),
    "onesided": (_onesided, "a one-sided operation under PASCoL's schemes by message size"),
    "predict": (_predict, "time, power and energy of a collective under each scheme"),
    "break-even": (_break_even, "from which length or size on energy is saved"),
    "sensitivity": (_sensitivity, "what predictions depend on, as a table and as pictures"),
    "calibrate": (_calibrate, "a machine's figures from a session of bench/run/run osu"),
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


def _machine_called(text: str) -> Machine:
    try:
        return machines.named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1 << 40:
        raise argparse.ArgumentTypeError(f"'{text}' is no message size from 1 to {1 << 40} bytes")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="model",
        description="What equations say about power-aware collectives: the paper's (ICPP 2010, section VI) and ours; and about "
        "power-aware one-sided operations (PASCoL). "
        "Everything it prints is modelled, nothing measured.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, text) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.add_argument("--json", action="store_true", help="one JSON document instead of a table")
        if name == "onesided":
            command.add_argument("--operation", choices=onesided.OPERATIONS, default="put", help="default: %(default)s")
        if name in ("paper", "pascol", "onesided"):
            continue
        command.add_argument("--machine", type=_machine_called, default="icpp2010", metavar="NAME|FILE",
                             help=f"of {', '.join(machines.ALL)}, or a file of calibrate -o (default: %(default)s)")
        if name == "calibrate":
            command.add_argument("session", type=Path, metavar="SESSION", help="folder or document; what it does not tell "
                                 "is taken from --machine")
            command.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the machine there, for --machine")
        if name not in ("machine", "calibrate"):
            kind, words = (_nodes, "N,...") if name == "predict" else (_one_number_of_nodes, "N")
            command.add_argument("--nodes", type=kind, default=[8], metavar=words, help="default: 8")
        if name == "sensitivity":
            command.add_argument("-o", "--output", type=Path, metavar="PAGE.html", help="pictures, on a self-contained page")
        if name in ("predict", "sensitivity"):
            command.add_argument("--collective", choices=list(predict.COLLECTIVES), default="alltoall",
                                 help="default: %(default)s")
            command.add_argument("--bytes", type=_bytes, default=65536, metavar="B",
                                 help="of a message, of an Alltoall to each rank (default: %(default)s)")
    return parser


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        table, found = _COMMANDS[options.command][0](options)
    except DocumentError as error:
        print(f"model: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"model: {sys.executable}: {error}: install matplotlib", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"model: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print(json.dumps(found, indent=1) if options.json else as_table(table))
    return 0
