# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command: schedules on a simulated machine, beside what the equations say."""
from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from bench.model import machines, predict
from bench.model.equations import LEADERS_T
from bench.model.machines import DEEPEST, Machine
from bench.replay.platform import NODES_PER_SWITCH, hosts, platform
from poweraware.table import Table, as_table

_SOURCE = Path(__file__).resolve().parent / "schedules.c"
_OPTIONS = ["--cfg=smpi/simulate-computation:no", "--log=root.thresh:error"]
_LIMIT_S = 3600
_FOLD = 1 << 20

# Of each collective, by the names of bench/model; how schedules.c calls them.
SCHEMES: Dict[str, Dict[str, str]] = {
    "alltoall": {"default": "default", "dvfs": "dvfs", "throttle, paper": "throttle-paper", "throttle, log": "throttle-log",
                 "asleep": "asleep"},
    "bcast": {"default": "default", "dvfs": "dvfs", "throttle": "throttle", "asleep": "asleep"},
    "reduce": {"default": "default", "dvfs": "dvfs", "throttle": "throttle", "asleep": "asleep"},
}  # fmt: skip


class ReplayError(Exception):
    """Something that keeps a simulation from being made; the text says what to do."""


@dataclass(frozen=True)
class Setup:
    """What is simulated: a rank stands for cores / ranks cores of its node, its messages are theirs together."""

    machine: Machine
    ranks: int  # of a node
    collective: str
    bytes: int
    oversubscription: int = 0  # of a fat tree's switches; 0: all nodes at one switch

    @property
    def bundle(self) -> float:
        return self.machine.cores / self.ranks

    @property
    def block_bytes(self) -> float:
        """What two ranks of an Alltoall exchange, the longest message of all."""
        return self.bytes * self.bundle**2


@dataclass(frozen=True)
class Result:
    """One call."""

    scheme: str
    time_s: float
    energy_j: float
    changes: int  # of state, of the rank with most

    @property
    def power_w(self) -> float:
        """Of all nodes, mean."""
        return self.energy_j / self.time_s


def energy_j(machine: Machine, bundle: float, core_seconds: Sequence[float]) -> float:
    """Joules of all nodes, of core-seconds per rank in each state of schedules.c.  A core that polls is at work."""
    watts = (
        machine.core_w(machine.f_max_hz),
        machine.core_w(machine.f_min_hz),
        machine.core_w(machine.f_min_hz, machine.duties[LEADERS_T]),
        machine.core_w(machine.f_min_hz, machine.duties[DEEPEST]),
        machine.static_w / machine.cores + machine.core_idle_w,
    )
    return bundle * sum(w * s for w, s in zip(watts, core_seconds))


class Simulator:
    """Compiles the schedules once, and runs them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = folder / "schedules"
        if shutil.which("smpicc") is None:
            raise ReplayError("smpicc is not installed (Debian: apt-get install libsimgrid-dev)")
        done = subprocess.run(["smpicc", "-O2", "-o", str(self._program), str(_SOURCE)], capture_output=True, text=True,
                              timeout=300, check=False)  # fmt: skip
        if done.returncode != 0:
            raise ReplayError(f"smpicc failed:\n{done.stdout}{done.stderr}")

    def run(self, setup: Setup, scheme: str) -> Result:
        """One scheme."""
        machine = setup.machine
        (self._folder / "platform.xml").write_text(platform(machine, setup.ranks, setup.oversubscription), encoding="utf-8")
        (self._folder / "hosts").write_text(hosts(machine, setup.ranks), encoding="utf-8")
        # buffers are folded onto a file of this size, piece by piece; the kernel allows 65530 pieces in all
        piece = -(-int(setup.block_bytes) // _FOLD) * _FOLD
        command = ["smpirun", "-np", str(machine.nodes * setup.ranks), "-platform", "platform.xml", "-hostfile", "hosts", *_OPTIONS,
                   f"--cfg=smpi/shared-malloc-blocksize:{piece}",
                   str(self._program), setup.collective, SCHEMES[setup.collective][scheme], str(setup.bytes), str(machine.nodes),
                   str(setup.ranks), f"{setup.bundle:g}", f"{1e6 * machine.o_dvfs_s:g}", f"{1e6 * machine.o_throttle_s:g}",
                   f"{machine.copy_bytes_s:g}", str(int(machine.tstate_per_core))]  # fmt: skip
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith(setup.collective + " ")]
        if done.returncode != 0 or len(lines) != 1:
            raise ReplayError(f"smpirun failed: {' '.join(command)}\n{done.stdout}{done.stderr}")
        numbers = [float(word) for word in lines[0][1:]]
        return Result(scheme, numbers[0], energy_j(machine, setup.bundle, numbers[1:6]), int(numbers[6]))


def rows_of(setup: Setup, results: Sequence[Result]) -> List[Dict[str, Any]]:
    """Simulated figures, their ratios to the default, and what the equations give for those."""
    known = setup.collective in predict.COLLECTIVES
    closed = {each.scheme: each for each in predict.predict(setup.machine, setup.collective, setup.bytes)} if known else {}
    figures = ("time", "time_s"), ("power", "power_w"), ("energy", "energy_j")
    default = results[0]
    rows = []
    for each in results:
        ratios = {f"{name}_ratio": getattr(each, field) / getattr(default, field) for name, field in figures}
        model = closed.get(each.scheme)
        expected = {
            f"model_{name}_ratio": getattr(model, field) / getattr(closed["default"], field) if model else None
            for name, field in figures
        }
        rows.append({**asdict(each), "power_w": each.power_w, "machine": setup.machine.name, "nodes": setup.machine.nodes,
                     "ranks_per_node": setup.ranks, "cores_per_rank": setup.bundle, "collective": setup.collective,
                     "bytes": setup.bytes, "oversubscription": setup.oversubscription, "provenance": "modelled", **ratios, **expected})  # fmt: skip
    return rows


def table_of(setup: Setup, rows: Sequence[Dict[str, Any]]) -> Table:
    """For people."""
    heads = ["scheme", "time (ms)", "power (W)", "energy (J)", "changes", "time", "equations", "power", "equations", "energy", "equations"]
    lines = []
    for row in rows:
        ratios = []
        for what in ("time", "power", "energy"):
            model = row[f"model_{what}_ratio"]
            ratios += [f"{row[what + '_ratio']:.3f}", "-" if model is None else f"{model:.3f}"]
        lines.append([row["scheme"], f"{1e3 * row['time_s']:.4g}", f"{row['power_w']:.4g}", f"{row['energy_j']:.4g}", str(row["changes"]), *ratios])
    machine = setup.machine
    bundle = "" if setup.bundle == 1 else f", a rank for {setup.bundle:g} cores"
    tree = f", fat tree {setup.oversubscription}:1" if setup.oversubscription else ""
    return Table(
        f"{setup.collective} of {setup.bytes} B on {machine.name}, {machine.nodes} nodes x {machine.cores} cores{bundle}{tree} (modelled)",
        heads,
        lines,
        "Messages and their contention are simulated by SimGrid, cores are priced by the state they are in, polling as "
        "work. Ratios to the default, beside those of the closed equations (bench/model).",
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="replay",
        description="Runs the schedules of Alltoall, Bcast and Reduce on a simulated cluster, with contention, and compares them with the "
        "closed equations of bench/model. Needs SimGrid (Debian: libsimgrid-dev).",
    )
    parser.add_argument("--machine", default="icpp2010", metavar="NAME|FILE",
                        help=f"of {', '.join(machines.ALL)}, or a file of bench/model's calibrate -o (default: %(default)s)")  # fmt: skip
    parser.add_argument("--nodes", type=int, metavar="N", help="a power of two (default: the machine's)")
    parser.add_argument("--ranks", type=int, metavar="N", help="per node, even; each stands for cores / N cores (default: at most 8)")
    parser.add_argument("--oversubscription", type=int, default=0, metavar="R",
                        help=f"a fat tree of switches for {NODES_PER_SWITCH} nodes each, R times as many links to nodes as to other "
                        "switches: 1, 2, 4 ... (default: one switch without bottlenecks)")  # fmt: skip
    parser.add_argument("--collective", choices=sorted(SCHEMES), default="alltoall")
    parser.add_argument("--bytes", type=int, default=262144, metavar="M", help="message, of an Alltoall to each core (default 262144)")
    parser.add_argument("--schemes", metavar="A;B", help="default first (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _setup(options: argparse.Namespace) -> Setup:
    try:
        machine = machines.named(options.machine)
    except ValueError as error:
        raise ReplayError(f"--machine: {error}") from error
    nodes = machine.nodes if options.nodes is None else options.nodes
    ranks = min(8, machine.cores) if options.ranks is None else options.ranks
    if nodes < 2 or nodes & (nodes - 1):
        raise ReplayError(f"--nodes {nodes}: not a power of two from 2 on")
    if ranks < 2 or ranks % 2 or machine.cores % ranks:
        raise ReplayError(f"--ranks {ranks}: not an even divisor of {machine.cores}")
    ratio = options.oversubscription
    if ratio < 0 or ratio & (ratio - 1) or ratio > NODES_PER_SWITCH:
        raise ReplayError(f"--oversubscription {ratio}: not a power of two up to {NODES_PER_SWITCH}")
    if ratio and nodes < 2 * NODES_PER_SWITCH:
        raise ReplayError(f"--oversubscription {ratio}: {nodes} nodes are fewer than two switches have")
    setup = Setup(machine.of(nodes), ranks, options.collective, options.bytes, ratio)
    if not 1 <= setup.block_bytes < 2**31:
        raise ReplayError(f"--bytes {options.bytes}: messages must have from 1 byte to 2 GiB, those of {setup.bundle:g} cores together")
    return setup


def _schemes(options: argparse.Namespace) -> List[str]:
    known = SCHEMES[options.collective]
    wanted = list(known) if options.schemes is None else [name.strip() for name in options.schemes.split(";")]
    if wanted[0] != "default" or any(name not in known for name in wanted):
        raise ReplayError(f"--schemes {options.schemes}: of {'; '.join(known)}, default first")
    return wanted


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        setup, schemes = _setup(options), _schemes(options)
        with tempfile.TemporaryDirectory(prefix="pwr-replay-") as folder:
            simulator = Simulator(Path(folder))
            results = []
            for number, scheme in enumerate(schemes, 1):
                begin = time.monotonic()
                results.append(simulator.run(setup, scheme))
                print(f"replay: {number}/{len(schemes)} {scheme}, {time.monotonic() - begin:.1f} s", file=sys.stderr)
        rows = rows_of(setup, results)
    except (ReplayError, subprocess.TimeoutExpired) as error:
        print(f"replay: {error}", file=sys.stderr)
        return 2
    print(json.dumps(rows, indent=1) if options.json else as_table(table_of(setup, rows)))
    return 0
