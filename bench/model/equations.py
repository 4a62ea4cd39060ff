# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Equations (1) to (8) of Kandalla et al., ICPP 2010, section VI, with the paper's symbols.

m is the machine (N nodes, c cores, P = N c ranks), M the bytes of a message: of an Alltoall from a rank to each other one.
Times in seconds, energies in joules.  The paper's p(f) is the power of a core, of which it does not say what becomes of
the rest of the node: here a core has its share of that (Machine.core_w), so that the power of all cores is that of all
nodes."""
from __future__ import annotations

from bench.model.machines import DEEPEST, Machine

LEADERS_T = 4  # the T-state of a leader's package


def t_alltoall(m: Machine, M: float) -> float:
    """(1) t_w (P - c) C_net M"""
    return m.t_w_s * (m.ranks - m.cores) * m.c_net * M


def t_bcast(m: Machine, M: float) -> float:
    """(2) M (N - 1) t_w (1 + 1/N): scatter and ring allgather among leaders"""
    return M * (m.nodes - 1) * m.t_w_s * (1 + 1 / m.nodes)


def t_alltoall_power(m: Machine, M: float) -> float:
    """(3) 3/4 t_w N c C_net M + 2 O_dvfs + N O_throttle; C_net is that of half of the cores"""
    return 0.75 * m.t_w_s * m.nodes * m.cores * m.c_net_power * M + 2 * m.o_dvfs_s + m.nodes * m.o_throttle_s


def t_bcast_power(m: Machine, M: float) -> float:
    """(4) M (N - 1) t_w (1 + 1/N) C_throttle + 2 O_dvfs + 2 O_throttle"""
    return t_bcast(m, M) * m.c_throttle + 2 * m.o_dvfs_s + 2 * m.o_throttle_s


def e_default(m: Machine, t_s: float) -> float:
    """(5) all N c cores at p(f_max) for the time"""
    return t_s * m.ranks * m.core_w(m.f_max_hz)


def e_dvfs(m: Machine, t_s: float) -> float:
    """(6) all of them at p(f_min)"""
    return t_s * m.ranks * m.core_w(m.f_min_hz)


def e_alltoall_power(m: Machine, t_s: float) -> float:
    """(7) half of the interval at p(f_min), half at c_7 p(f_min), all cores"""
    return t_s * m.ranks * m.core_w(m.f_min_hz) * (1 + m.c(DEEPEST)) / 2


def e_bcast_power(m: Machine, t_s: float) -> float:
    """(8) half of the cores at c_4 p(f_min), half at c_7 p(f_min)"""
    return t_s * m.ranks * m.core_w(m.f_min_hz) * (m.c(LEADERS_T) + m.c(DEEPEST)) / 2
