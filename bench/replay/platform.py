# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A machine of the models as a platform of SimGrid: nodes with a link of their own each, to one switch that has no
bottlenecks, or to a fat tree of switches."""
from __future__ import annotations

from bench.model.machines import Machine

_LATENCY_S = 1e-6  # of a link; a message between two nodes passes at least two
_MEMORY_LATENCY_S = 0.3e-6

NODES_PER_SWITCH = 16


def _topology(nodes: int, oversubscription: int) -> str:
    """Attributes of a tree of two levels, with links of one kind: each switch has so many of them to its nodes, and an
    oversubscription-th of that to the upper ones.  Routes are static, as they are in InfiniBand."""
    if oversubscription == 0:
        return ""
    up = NODES_PER_SWITCH // oversubscription
    return f'topology="FAT_TREE" topo_parameters="2;{NODES_PER_SWITCH},{nodes // NODES_PER_SWITCH};1,{up};1,1"\n    '


def platform(machine: Machine, ranks_per_node: int, oversubscription: int = 0) -> str:
    """The platform file; oversubscription of the switches, 0 for one switch without bottlenecks.  The messages within a
    node do not contend with each other in SimGrid: each rank has its share of what the node copies."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="n" suffix="" radical="0-{machine.nodes - 1}" speed="1Gf" core="{machine.cores}"
    bw="{1 / machine.t_w_s:.0f}Bps" lat="{_LATENCY_S}s" sharing_policy="SPLITDUPLEX"
    {_topology(machine.nodes, oversubscription)}loopback_bw="{machine.copy_bytes_s / ranks_per_node:.0f}Bps" loopback_lat="{_MEMORY_LATENCY_S}s"/>
</platform>
"""


def hosts(machine: Machine, ranks_per_node: int) -> str:
    """The host file: the ranks of a node one after the other."""
    return "".join(f"n{node}:{ranks_per_node}\n" for node in range(machine.nodes))
