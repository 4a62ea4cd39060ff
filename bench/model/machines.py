# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The machines that the models speak of, each figure with where it comes from."""
from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Dict, Tuple, get_type_hints

DEEPEST = 7  # T7


@dataclass(frozen=True)
class Machine:
    """N equal nodes of c cores, a rank on each.  Times in seconds, powers in watts, sizes in bytes.

    The power of a node is static_w + sum over cores of duty * core_dyn_w * (f / f_max) ** exponent; of a core that
    sleeps it is core_idle_w instead."""

    name: str
    nodes: int  # N
    cores: int  # c, of a node
    f_max_hz: float
    f_min_hz: float
    core_dyn_w: float  # an active core at f_max, beyond core_idle_w's share of static_w
    exponent: float
    core_idle_w: float  # a core that sleeps
    static_w: float  # of a node
    duties: Tuple[float, ...]  # of T0 .. T7
    tstate_per_core: bool  # else a package is throttled as one
    o_dvfs_s: float  # O_dvfs, one change of frequency
    o_throttle_s: float  # O_throttle, one change of T-state
    t_w_s: float  # t_w, per byte between nodes, of a node's link without contention
    c_net: float  # C_net, contention of an Alltoall in which all cores talk at once
    c_net_power: float  # the same where half of them do
    c_throttle: float  # C_throttle, what throttled neighbours make of a Bcast's time
    copy_bytes_s: float  # what all cores of a node copy from shared memory together
    wake_s: float  # from a signal until a sleeping rank runs

    @property
    def ranks(self) -> int:
        """P = N * c."""
        return self.nodes * self.cores

    def of(self, nodes: int) -> "Machine":
        """The same with another number of nodes."""
        return replace(self, nodes=nodes)

    def core_w(self, f_hz: float, duty: float = 1.0) -> float:
        """p: a core with its share of the node's static power, at a frequency and duty cycle."""
        return self.static_w / self.cores + duty * self.core_dyn_w * (f_hz / self.f_max_hz) ** self.exponent

    def c(self, j: int) -> float:
        """c_j: what a core in T<j> draws of p(f_min), 0 <= c_j <= 1."""
        return self.core_w(self.f_min_hz, self.duties[j]) / self.core_w(self.f_min_hz)


_NEHALEM_DUTIES = tuple(1 - j / 8 for j in range(8))

# ICPP 2010, section VII: 8 nodes, 2 packages x 4 cores, 1.6 to 2.4 GHz, transitions of 10-15 us, InfiniBand QDR.
# Power as derived in bench/testbed/emulator/machines/icpp2010.machine from the paper's 2.3, 1.8 and 1.6 kW; core_idle_w is an
# assumption there.  t_w: QDR carries 3.2 GB/s of data through PCIe 2.0 x8.  C_net = 1.5 is our assumption (only its
# ratio to c_net_power shows in what the paper prints); c_net_power and c_throttle are fitted to the paper's +10 % and
# +15 %, see paper.py.  Eight cores copy 6 GB/s through shared memory together: an assumption.
ICPP2010 = Machine(
    name="icpp2010",
    nodes=8,
    cores=8,
    f_max_hz=2.4e9,
    f_min_hz=1.6e9,
    core_dyn_w=14.9,
    exponent=1.83,
    core_idle_w=1.0,
    static_w=168.0,
    duties=_NEHALEM_DUTIES,
    tstate_per_core=False,
    o_dvfs_s=12.5e-6,
    o_throttle_s=12.5e-6,
    t_w_s=1 / 3.2e9,
    c_net=1.5,
    c_net_power=1.92,
    c_throttle=1.15,
    copy_bytes_s=6e9,
    wake_s=5e-6,
)

# A node of today, all of it assumptions: 2 x 64 cores of 2.4 GHz (0.8 at the lowest), 2 x 360 W when all of them compute
# (4.2 W a core and 90 W for the rest of a package), 0.3 W for a core in C0.2 or C1, 170 W for memory, board and fans;
# 400 Gb/s and 200 GB/s of copies; P-states by HWP in 10 us, T-states of each core by a register write in 3 us.
MODERN = Machine(
    name="modern",
    nodes=8,
    cores=128,
    f_max_hz=2.4e9,
    f_min_hz=0.8e9,
    core_dyn_w=4.2,
    exponent=1.83,
    core_idle_w=0.3,
    static_w=350.0,
    duties=_NEHALEM_DUTIES,
    tstate_per_core=True,
    o_dvfs_s=10e-6,
    o_throttle_s=3e-6,
    t_w_s=8 / 400e9,
    c_net=1.5,
    c_net_power=1.92,
    c_throttle=1.15,
    copy_bytes_s=200e9,
    wake_s=3e-6,
)

ALL: Dict[str, Machine] = {machine.name: machine for machine in (ICPP2010, MODERN)}


def save(machine: Machine, path: Path) -> None:
    """Writes a machine as JSON, one member per figure."""
    path.write_text(json.dumps(asdict(machine), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Machine:
    """Reads one; OSError, ValueError or TypeError say what is wrong with it."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict):
        raise ValueError("not a JSON object")
    duties = data.get("duties")
    machine = Machine(**{**data, "duties": tuple(duties) if isinstance(duties, list) else duties})
    for name, wanted in get_type_hints(Machine).items():
        value = getattr(machine, name)
        if name == "duties":
            fits = isinstance(value, tuple) and len(value) == DEEPEST + 1 and all(isinstance(each, (int, float)) for each in value)
        elif wanted is float:
            fits = isinstance(value, (int, float)) and not isinstance(value, bool)
        else:
            fits = isinstance(value, wanted)
        if not fits:
            raise ValueError(f"{name} is {value!r}")
    return machine


def named(text: str) -> Machine:
    """One of ALL, or what a file describes; ValueError says of which there are and what is wrong with the file."""
    if text in ALL:
        return ALL[text]
    try:
        return load(Path(text))
    except (OSError, ValueError, TypeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ValueError(f"'{text}' is not of {', '.join(ALL)}, nor a machine's file: {reason}") from error
