# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A job's document made up for tests: two nodes, a few classes of calls, sums that agree."""
from __future__ import annotations

import copy
import random
from typing import Any, Dict, Optional

Json = Dict[str, Any]

_WALL_S = 10.0
_PER_NODE = 4


def make_job(nodes: int = 2, energy: bool = True, factor: float = 1.0, seed: Optional[int] = None) -> Json:
    """factor: of time and energy; seed: with a noise of 1 % on them."""
    chance = random.Random(seed)
    noise = 1.0 if seed is None else 1.0 + chance.gauss(0.0, 0.01)
    wall = _WALL_S * factor * noise
    classes = [
        _class("MPI_COMM_WORLD", nodes * _PER_NODE, "alltoall", "grouped", 65536, 1000, 2.0 * factor * noise),
        _class("MPI_COMM_WORLD", nodes * _PER_NODE, "allreduce", "stock", 16, 5000, 1.0 * factor * noise),
        _class("row", 4, "bcast", "box", None, 100, 0.5 * factor * noise),
    ]
    joules_of_node = 100.0 * wall if energy else None
    calls_j = 0.0
    for each in classes:
        each["joules"] = 20.0 * each["seconds"] if energy else None
        calls_j += each["joules"] or 0.0
    process_s = nodes * _PER_NODE * wall
    cpu_s = 0.7 * process_s
    in_calls = sum(each["seconds"] for each in classes)
    kind = "emulated" if energy else "absent"
    return {
        "format": "poweraware-job",
        "version": 6,
        "begin": "2026-11-22T12:00:00Z",
        "begin_ns": 1795348800000000000,
        "complete": True,
        "why_incomplete": None,
        "processes": nodes * _PER_NODE,
        "reported": nodes * _PER_NODE,
        "finished": nodes * _PER_NODE,
        "software": {"open_mpi": "4.1.4", "poweraware": "0.1.0"},
        "job": {"id": "12", "batch_job": None, "user": "me", "program": "a <b> & c", "command": ["./a <b> & c", "-x"]},
        "settings": {"scheme": "auto", "idle": "collectives", "max_slowdown_percent": 1.0},
        "provenance": {
            "time": {"kind": "measured", "note": "Clocks."},
            "energy": {"kind": kind, "note": "Made up." if energy else "No energy: no <powercap>"},
            "attribution": {"kind": "modelled" if energy else "absent", "note": "By time and state."},
        },
        "totals": {
            "seconds": wall,
            "process_s": process_s,
            "cpu_s": cpu_s,
            "setup_s": 0.01 * process_s,
            "joules": nodes * joules_of_node if joules_of_node is not None else None,
            "uncertainty_j": 1.0 if energy else None,
            "mean_watts": nodes * 100.0 if energy else None,
        },
        "power": _power(wall, 100.0 * nodes) if energy else None,
        "calls": classes,
        "other_calls": _sums(0, 0.0, 0.0 if energy else None),
        "outside": {
            "seconds": process_s - in_calls,
            "cpu_s": cpu_s - 0.5 * in_calls,
            "joules": nodes * joules_of_node - calls_j if joules_of_node is not None else None,
        },
        "regions": [],
        "nodes": [_node(number, wall, joules_of_node) for number in range(nodes)],
        "decisions": {"energy_provenance": None, "left_out": 0, "classes": []},
    }


def part_of(whole: Json, number: int) -> Json:
    """What one node of two would have left if the job had been killed, half a second later each."""
    part = copy.deepcopy(whole)
    part["nodes"] = [part["nodes"][number]]
    part["begin_ns"] += 500_000_000 * number
    part.update(complete=False, why_incomplete="the job was ended before it had finished", reported=_PER_NODE, finished=0, decisions=None)
    part["nodes"][0]["finished"] = 0
    for name in ("process_s", "cpu_s", "setup_s", "joules"):
        part["totals"][name] /= 2
    part["totals"]["mean_watts"] /= 2
    for each in [*part["calls"], part["other_calls"]]:
        for name in ("calls", "bytes", "transitions"):
            each[name] //= 2
        for name in ("seconds", "spin_s", "monitor_s", "sleep_s", "cpu_s", "joules"):
            each[name] /= 2
        each["held_s"] = {name: held / 2 for name, held in each["held_s"].items()}
    for name in ("seconds", "cpu_s", "joules"):
        part["outside"][name] /= 2
    part["power"] = part["nodes"][0]["power"]
    return part


def _sums(calls: int, seconds: float, joules: Optional[float]) -> Json:
    return {"calls": calls, "bytes": calls * 100, "seconds": seconds, "longest_s": seconds / 2, "spin_s": seconds / 10,
            "monitor_s": seconds / 20, "sleep_s": seconds / 2, "cpu_s": seconds / 2,
            "held_s": {"pstate": seconds / 4, "tstate": seconds / 8}, "transitions": calls // 10, "joules": joules}  # fmt: skip


def _class(comm: str, size: int, name: str, algorithm: str, up_to: Optional[int], calls: int, seconds: float) -> Json:
    return {"communicator": comm, "size": size, "collective": name, "algorithm": algorithm, "up_to_bytes": up_to,
            "processes": 8, "least_s": seconds / 10, "least_process": 3, **_sums(calls, seconds, None)}  # fmt: skip


def make_estimate(middle: float, reach: Optional[float]) -> Json:
    """reach: of the interval; None: too few samples."""
    return {"middle": middle, "low": None if reach is None else middle - reach, "high": None if reach is None else middle + reach}


def make_decided(name: str, up_to: Optional[int], calls: int, **members: Any) -> Json:
    """A class about which nothing is known yet, but for members."""
    unknown = make_estimate(0.0, None)
    found = {"collective": name, "communicators": 1, "calls": calls, "pairs": 0, "depth": "ladder", "slowdown": unknown, "cpu": unknown,
             "changes": 0, "nodes": 2, "ranks_per_node": 4, "lost_s": 0.0, "choice": None, **members}  # fmt: skip
    return found if up_to is None else {**found, "up_to_bytes": up_to}


def make_choice(algorithm: str, trials: int, take_overs: int = 0, gain: float = 1.0) -> Json:
    """What was learnt of algorithms."""
    return {"algorithm": algorithm, "trials": trials, "take_overs": take_overs, "gain": gain, "lost_s": 0.0}


def make_region(name: Optional[str], process_s: float) -> Json:
    """A region that all processes of a job spent so much time in."""
    return {"name": name, "entered": 8, "process_s": process_s, "cpu_s": process_s / 2, "joules": 10 * process_s,
            "calls": _sums(80, process_s / 4, 2 * process_s)}  # fmt: skip


def _lever(name: str, title: str, backend: Optional[str], writes: int) -> Json:
    return {"name": name, "title": title, "scope": "cpu", "backend": backend, "why_off": None, "writes": writes,
            "held_s": float(writes), "skipped": 0, "errors": 0, "adopted": 0, "yielded": 0}  # fmt: skip


def _power(wall: float, watts: float) -> Json:
    return {"begin_s": 0.0, "width_s": wall / 20, "watts": [watts] * 20}


def _node(number: int, wall: float, joules: Optional[float]) -> Json:
    domain = {"counters": 2, "joules": joules, "uncertainty_j": 0.5}
    return {
        "host": f"n{number}", "machine": f"boot-{number}", "processes": _PER_NODE, "reported": _PER_NODE, "finished": _PER_NODE,
        "cpus": 8, "packages": 2, "begin_s": 0.0, "end_s": wall, "process_s": _PER_NODE * wall, "cpu_s": 0.7 * _PER_NODE * wall,
        "setup_s": 0.01 * _PER_NODE * wall,
        "energy": {"joules": joules, "uncertainty_j": 0.5, "source": "powercap", "provenance": "emulated",
                   "domains": {"package": domain}, "shared_by": 1, "remark": None} if joules is not None else
                  {"joules": None, "uncertainty_j": None, "source": None, "provenance": None, "domains": {},
                   "shared_by": 1, "remark": "no <powercap>"},
        "power": _power(wall, 100.0) if joules is not None else None,
        "levers": [_lever("pstate", "P-states", "cpufreq", 10), _lever("tstate", "T-states", None, 0)],
    }  # fmt: skip
