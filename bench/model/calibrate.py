# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A machine's figures from a session of bench/run/run osu, and how far the models are off with them.

Power: in calls every core is awake (stock functions and throttled ranks of the paper poll), so that a node draws
static_w + core_dyn_w * x, where x adds up duty * (f / f_max) ** exponent over its cores.  Runs under off, dvfs and throttle
have different x, known from the states that were traced; a least squares fit gives the two powers and the exponent.
Times: (1) to (4) are linear in the message, so that slopes over sizes give t_w C_net and C_net of half of the cores, and
C_throttle is a ratio of two times.  What a session does not tell stays as assumed."""
from __future__ import annotations

import statistics
from dataclasses import dataclass, replace
from typing import Dict, List, Optional, Sequence, Tuple

from bench.model import predict
from bench.model.machines import Machine
from poweraware.documents import DocumentError
from poweraware.session import energy, summary
from poweraware.session.document import Document, NodeStates, Run

_SCHEMES = {"off": "default", "dvfs": "dvfs", "throttle": "throttle, paper"}
_EXPONENTS = [1 + step / 100 for step in range(0, 201)]
_BITS_PER_BYTE = 8


@dataclass(frozen=True)
class Point:
    """A run's mean power of a node, and the states its cores were in: (f / f_max, duty, cores)."""

    watts: float
    states: Tuple[Tuple[float, float, float], ...]

    def x(self, exponent: float) -> float:
        """What core_dyn_w is multiplied with."""
        return float(sum(duty * speed**exponent * cores for speed, duty, cores in self.states))


@dataclass(frozen=True)
class Calibration:
    """The machine, and where each figure that is not assumed comes from."""

    machine: Machine
    basis: Dict[str, str]


@dataclass(frozen=True)
class Check:
    """What the calibrated model says of a run of the session."""

    benchmark: str
    scheme: str
    size: int
    time_s: float
    modelled_s: float
    power_w: Optional[float]
    modelled_w: float


def calibrate(document: Document, assumed: Machine) -> Calibration:
    """Raises a DocumentError when the session has nothing to calibrate with."""
    if document.cluster.nodes < 2 or len(set(document.cluster.layout)) != 1:
        raise DocumentError("the models are of at least two nodes with as many ranks each")
    machine = replace(assumed.of(document.cluster.nodes), name="calibrated", cores=document.cluster.layout[0])
    basis: Dict[str, str] = {}
    machine = _with_power(document, machine, basis)
    machine = _with_times(document, machine, basis)
    if not basis:
        raise DocumentError("the session has neither times of alltoall or bcast nor powers under off, dvfs and throttle")
    return Calibration(machine, basis)


# ---- power ----


def _with_power(document: Document, machine: Machine, basis: Dict[str, str]) -> Machine:
    speeds = [state.freq_khz for run in document.runs for node in run.states for cpu in node.cpus for state in cpu.residency
              if state.freq_khz is not None]  # fmt: skip
    points = [point for run in document.runs if run.failure is None for point in _points(document, run, max(speeds, default=0.0))]
    if len({round(point.x(2.0), 1) for point in points}) < 3:
        return machine
    fits = [(*_line([point.x(e) for point in points], [point.watts for point in points]), e) for e in _EXPONENTS]
    error, static_w, core_dyn_w, exponent = min(fits)
    kind = f"{document.provenance.energy.kind} power of {len(points)} runs of a node, {error:.1f} W root mean square off"
    basis.update(dict.fromkeys(("static_w", "core_dyn_w", "exponent"), kind))
    basis.update(dict.fromkeys(("f_max_hz", "f_min_hz"), "the states that were traced"))
    return replace(machine, static_w=static_w, core_dyn_w=core_dyn_w, exponent=exponent, f_max_hz=max(speeds) * 1e3,
                   f_min_hz=min(speeds) * 1e3)  # fmt: skip


def _points(document: Document, run: Run, fastest_khz: float) -> List[Point]:
    """Of each node; none where its states or its energy are not known for the whole of the run."""
    begin_ns, end_ns = run.interval_ns()
    found = []
    for node in run.states:
        meters = [meter for meter in run.energy if meter.covers == [node.node]]
        if run.scheme not in _SCHEMES or len(meters) != 1 or end_ns <= begin_ns:
            continue
        window_ns = max(begin_ns, node.window_begin_ns), min(end_ns, node.window_end_ns)
        if window_ns[1] - window_ns[0] < energy.RESOLVED_SAMPLES * document.settings.interval_ms * 1e6:
            continue
        joules = energy.node_energy_j(meters[0], *window_ns)
        if joules is not None:
            watts = joules / ((window_ns[1] - window_ns[0]) * 1e-9)
            found.append(Point(watts, tuple(_mean_states(node, window_ns, fastest_khz, document.cluster.layout[node.node]))))
    return found


def _mean_states(node: NodeStates, window_ns: Tuple[int, int], fastest_khz: float, cores: int) -> List[Tuple[float, float, float]]:
    """(f / f_max, duty, cores): how many cores were in each state, on average over the window."""
    seconds: Dict[Tuple[float, float], float] = {}
    for cpu in node.cpus[:cores]:
        edges = [*cpu.changes.t_ns[1:], max(window_ns[1], cpu.changes.t_ns[-1])]
        for begin, end, khz, duty in zip(cpu.changes.t_ns, edges, cpu.changes.freq_khz, cpu.changes.duty_percent):
            inside = min(end, window_ns[1]) - max(begin, window_ns[0])
            if inside > 0 and khz is not None:
                key = khz / fastest_khz, duty / 100
                seconds[key] = seconds.get(key, 0.0) + inside
    return [(*key, value / (window_ns[1] - window_ns[0])) for key, value in seconds.items()]


def _line(xs: Sequence[float], ys: Sequence[float]) -> Tuple[float, float, float]:
    """Root mean square distance, intercept and slope of the straight line through points."""
    x_mean, y_mean = statistics.fmean(xs), statistics.fmean(ys)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys)) / sum((x - x_mean) ** 2 for x in xs)
    intercept = y_mean - slope * x_mean
    error = statistics.fmean([(intercept + slope * x - y) ** 2 for x, y in zip(xs, ys)]) ** 0.5
    return error, intercept, slope


# ---- times ----


def _with_times(document: Document, machine: Machine, basis: Dict[str, str]) -> Machine:
    rate = document.cluster.link.rate_mbit
    if rate is not None:
        machine = replace(machine, t_w_s=_BITS_PER_BYTE / (rate * 1e6))
        basis["t_w_s"] = "the rate of the links"
    off, throttle = _slope(document, "bcast", "off"), _slope(document, "bcast", "throttle")
    if rate is None and off is not None:
        machine = replace(machine, t_w_s=off / ((machine.nodes - 1) * (1 + 1 / machine.nodes)))
        basis["t_w_s"] = "times of bcast, off"
    slope = _slope(document, "alltoall", "off")
    if slope is not None:
        machine = replace(machine, c_net=slope / (machine.t_w_s * (machine.ranks - machine.cores)))
        basis["c_net"] = "times of alltoall, off"
    slope = _slope(document, "alltoall", "throttle")
    if slope is not None:
        machine = replace(machine, c_net_power=slope / (0.75 * machine.t_w_s * machine.ranks))
        basis["c_net_power"] = "times of alltoall, throttle"
    if off is not None and throttle is not None:
        machine = replace(machine, c_throttle=throttle / off)
        basis["c_throttle"] = "times of bcast, throttle over off"
    return machine


def _slope(document: Document, benchmark: str, scheme: str) -> Optional[float]:
    """Seconds per byte of a message through the origin, large messages counting most."""
    times = summary.latency_by_size(document, benchmark, scheme)
    if not times:
        return None
    return sum(size * each.mean for size, each in times.items()) * 1e-6 / sum(size * size for size in times)


# ---- how far off ----


def checks(document: Document, machine: Machine) -> List[Check]:
    """Each size under each scheme that the models know."""
    found = []
    for benchmark in document.benchmarks():
        if benchmark not in predict.COLLECTIVES:
            continue
        for scheme, modelled_as in _SCHEMES.items():
            times = summary.latency_by_size(document, benchmark, scheme)
            watts = summary.power_by_size(document, benchmark, scheme)
            for size, time in times.items():
                known = {each.scheme: each for each in predict.predict(machine, benchmark, size)}
                modelled = known.get(modelled_as) or known["throttle"]
                power_w = watts[size].mean if size in watts else None
                found.append(Check(benchmark, scheme, size, time.mean * 1e-6, modelled.time_s, power_w, modelled.power_w))
    return found
