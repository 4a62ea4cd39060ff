# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A machine of the models as a platform of SimGrid: nodes with a link of their own each, to a network that has no
bottlenecks, as fat trees are built."""
from __future__ import annotations

from bench.model.machines import Machine

_LATENCY_S = 1e-6  # of a link; a message between nodes passes two
_MEMORY_LATENCY_S = 0.3e-6


def platform(machine: Machine, ranks_per_node: int) -> str:
    """The platform file.  The messages within a node do not contend with each other in SimGrid: each rank has its share of
    what the node copies."""
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="machine" prefix="n" suffix="" radical="0-{machine.nodes - 1}" speed="1Gf" core="{machine.cores}"
    bw="{1 / machine.t_w_s:.0f}Bps" lat="{_LATENCY_S}s" sharing_policy="SPLITDUPLEX"
    loopback_bw="{machine.copy_bytes_s / ranks_per_node:.0f}Bps" loopback_lat="{_MEMORY_LATENCY_S}s"/>
</platform>
"""


def hosts(machine: Machine, ranks_per_node: int) -> str:
    """The host file: the ranks of a node one after the other."""
    return "".join(f"n{node}:{ranks_per_node}\n" for node in range(machine.nodes))
