# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Energy and power of a run from its cumulative samples.

The counters are cumulative, so the energy of any interval is the difference of two linear
interpolations: nothing is lost or counted twice at the seams of neighbouring intervals.
"""
from __future__ import annotations

from bisect import bisect_left
from typing import Dict, List, Optional, Tuple

from poweraware.session.document import NodeEnergy, Row, Run

UJ_PER_J = 1e6
NS_PER_S = 1e9
WHOLE_NODE = "platform"  # the domain that has all others of a node

# An interval shorter than this many samples is mostly interpolation: its energy is not shown.
RESOLVED_SAMPLES = 4


def interpolate(t_ns: List[int], column: List[float], when_ns: int) -> Optional[float]:
    """Linear interpolation of an ascending column; None outside what was sampled."""
    if not t_ns or when_ns < t_ns[0] or when_ns > t_ns[-1]:
        return None
    right = bisect_left(t_ns, when_ns)
    if t_ns[right] == when_ns:
        return column[right]
    left = right - 1
    share = (when_ns - t_ns[left]) / (t_ns[right] - t_ns[left])
    return column[left] + share * (column[right] - column[left])


def domain_energy_j(
    energy: NodeEnergy, domain: str, begin_ns: int, end_ns: int
) -> Optional[float]:
    """Joules of one domain of one node between two times."""
    column = energy.samples.uj[energy.domains.index(domain)]
    first = interpolate(energy.samples.t_ns, column, begin_ns)
    last = interpolate(energy.samples.t_ns, column, end_ns)
    if first is None or last is None:
        return None
    return (last - first) / UJ_PER_J


def node_energy_j(energy: NodeEnergy, begin_ns: int, end_ns: int) -> Optional[float]:
    """Joules of one node: the sum of the domains that count as its total."""
    parts = [domain_energy_j(energy, name, begin_ns, end_ns) for name in energy.total_domains]
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def why_no_energy(run: Run, nodes: int) -> Optional[str]:
    """Why the energy of the run is unknown; None when every node is covered."""
    covered = set()
    for energy in run.energy:
        if energy.why_absent is not None:
            return f"node {energy.node}: {energy.why_absent}"
        begin_ns, end_ns = run.interval_ns()
        if node_energy_j(energy, begin_ns, end_ns) is None:
            return f"node {energy.node}: the samples do not cover the run"
        covered.update(energy.covers)
    missing = sorted(set(range(nodes)) - covered)
    if missing:
        return f"no energy samples of node {', '.join(map(str, missing))}"
    return None


def total_energy_j(run: Run, nodes: int, begin_ns: int, end_ns: int) -> Optional[float]:
    """Joules of all nodes between two times; None when a node is not covered."""
    if why_no_energy(run, nodes) is not None:
        return None
    parts = [node_energy_j(energy, begin_ns, end_ns) for energy in run.energy]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def run_energy_j(run: Run, nodes: int) -> Optional[float]:
    """Joules of all nodes over the run's interval."""
    return total_energy_j(run, nodes, *run.interval_ns())


def domain_totals_j(run: Run) -> Dict[str, float]:
    """Joules over the run's interval by domain name, summed over the nodes that know it."""
    totals: Dict[str, float] = {}
    for energy in run.energy:
        for name in energy.domains:
            joules = domain_energy_j(energy, name, *run.interval_ns())
            if joules is not None:
                totals[name] = totals.get(name, 0.0) + joules
    return totals


def row_energy_j(run: Run, row: Row, nodes: int, interval_ms: float) -> Optional[float]:
    """Joules of one message size; None when untimed, not covered or too short to resolve."""
    if row.t_begin_ns is None or row.t_end_ns is None:
        return None
    if row.t_end_ns - row.t_begin_ns < RESOLVED_SAMPLES * interval_ms * 1e6:
        return None
    return total_energy_j(run, nodes, row.t_begin_ns, row.t_end_ns)


def power_over_time(
    energies: List[NodeEnergy], begin_ns: int, end_ns: int, bins: int
) -> Tuple[List[float], List[float]]:
    """Bin edges in seconds since begin (bins + 1) and mean watts of each bin, summed over the
    nodes given.  Both empty when a node does not cover the interval."""
    edges_ns = [begin_ns + (end_ns - begin_ns) * k // bins for k in range(bins + 1)]
    watts = [0.0] * bins
    for energy in energies:
        for k in range(bins):
            joules = node_energy_j(energy, edges_ns[k], edges_ns[k + 1])
            if joules is None:
                return [], []
            watts[k] += joules * NS_PER_S / (edges_ns[k + 1] - edges_ns[k])
    return [(edge - begin_ns) / NS_PER_S for edge in edges_ns], watts


def power_bins(duration_ns: int, interval_ms: float) -> int:
    """Number of bins for a power curve: no finer than two samples, at most 200."""
    return max(1, min(200, int(duration_ns / (2 * interval_ms * 1e6))))
