# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What the paper's equations leave out: our schedule, T-states per core, ranks that sleep, and when saving pays.

Arguments and units as in equations.py."""
from __future__ import annotations

import math

from bench.model import equations
from bench.model.machines import DEEPEST, Machine


def t_alltoall_log(m: Machine, M: float) -> float:
    """Equation (3) with our order of meetings (coll_poweraware_alltoall_schedule log): a rank changes its T-state at most
    2 ceil(log2 N) + 2 times (doc/design/algorithms.md), where the paper counts N."""
    changes = 2 * math.ceil(math.log2(m.nodes)) + 2
    return equations.t_alltoall_power(m, M) + (changes - m.nodes) * m.o_throttle_s


def e_bcast_per_core(m: Machine, t_s: float) -> float:
    """Equation (8) where T-states are per core: the leader of each node at p(f_min), all others at c_7 p(f_min)."""
    return t_s * m.nodes * m.core_w(m.f_min_hz) * (1 + (m.cores - 1) * m.c(DEEPEST))


def w_asleep(m: Machine, f_hz: float, awake: float) -> float:
    """Power of a node of which a part (0 to 1) of the cores is awake at a frequency and the others sleep."""
    dyn_w = m.core_w(f_hz) - m.static_w / m.cores
    return m.static_w + m.cores * (awake * dyn_w + (1 - awake) * m.core_idle_w)


def e_bcast_asleep(m: Machine, M: float) -> float:
    """A Bcast in which leaders talk at f_max and all others sleep until the data is there: no rights are needed."""
    t_s = equations.t_bcast(m, M) + m.wake_s
    return t_s * m.nodes * w_asleep(m, m.f_max_hz, 1 / m.cores)


def t_bcast_asleep(m: Machine, M: float) -> float:
    """Its time: one wake-up more."""
    return equations.t_bcast(m, M) + m.wake_s


def break_even_dvfs_s(m: Machine) -> float:
    """How long a call must last before going to f_min and back saves energy: at the lower power, during both
    transitions too, t p(f_max) = (t + 2 O_dvfs) p(f_min)."""
    low, high = m.core_w(m.f_min_hz), m.core_w(m.f_max_hz)
    return 2 * m.o_dvfs_s * low / (high - low)


def break_even_sleep_s(m: Machine) -> float:
    """How long a wait must last before sleeping saves energy: after it a core draws full power while it wakes up."""
    spin = m.core_w(m.f_max_hz) - m.static_w / m.cores
    return m.wake_s * spin / (spin - m.core_idle_w)


def break_even_alltoall_bytes(m: Machine) -> float:
    """From which message size on the paper's Alltoall takes less energy than the default; inf: from none on.  Energies
    of both are linear in M."""
    default_j = equations.e_default(m, equations.t_alltoall(m, 1))
    fixed_s = 2 * m.o_dvfs_s + m.nodes * m.o_throttle_s
    power_j = equations.e_alltoall_power(m, equations.t_alltoall_power(m, 1) - fixed_s)
    fixed_j = equations.e_alltoall_power(m, fixed_s)
    return fixed_j / (default_j - power_j) if default_j > power_j else math.inf
