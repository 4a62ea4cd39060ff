# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Schemes on a machine: time, power and energy of one collective, all of it modelled."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Tuple

from bench.model import corrections, equations
from bench.model.machines import Machine

Formula = Callable[[Machine, float], float]  # of the machine and the message


@dataclass(frozen=True)
class Prediction:
    """One call."""

    scheme: str
    time_s: float
    energy_j: float

    @property
    def power_w(self) -> float:
        """Of all nodes, mean."""
        return self.energy_j / self.time_s


def _of_time(energy: Callable[[Machine, float], float], time: Formula) -> Tuple[Formula, Formula]:
    """The time, and an energy that depends on the message by its time alone."""
    return time, lambda m, M: energy(m, time(m, M))


def _dvfs(time: Formula) -> Tuple[Formula, Formula]:
    """Frequency scaling around a stock algorithm whose time is the network's."""
    return _of_time(equations.e_dvfs, lambda m, M: time(m, M) + 2 * m.o_dvfs_s)


def _bcast_throttled(m: Machine, M: float) -> float:
    time_s = equations.t_bcast_power(m, M)
    energy = corrections.e_bcast_per_core if m.tstate_per_core else equations.e_bcast_power
    return energy(m, time_s)


COLLECTIVES: Dict[str, Dict[str, Tuple[Formula, Formula]]] = {
    "alltoall": {
        "default": _of_time(equations.e_default, equations.t_alltoall),
        "dvfs": _dvfs(equations.t_alltoall),
        "throttle, paper": _of_time(equations.e_alltoall_power, equations.t_alltoall_power),
        "throttle, log": _of_time(equations.e_alltoall_power, corrections.t_alltoall_log),
    },
    "bcast": {
        "default": _of_time(equations.e_default, equations.t_bcast),
        "dvfs": _dvfs(equations.t_bcast),
        "throttle": (equations.t_bcast_power, _bcast_throttled),
        "asleep": (corrections.t_bcast_asleep, corrections.e_bcast_asleep),
    },
}


def predict(m: Machine, collective: str, M: float) -> List[Prediction]:
    """All schemes of a collective; M is the message in bytes, of an Alltoall to each rank; at least two nodes."""
    if m.nodes < 2:
        raise ValueError(f"{m.nodes} nodes: the equations are about what passes between nodes")
    schemes = COLLECTIVES[collective]
    return [Prediction(name, time(m, M), energy(m, M)) for name, (time, energy) in schemes.items()]
