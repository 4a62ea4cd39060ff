# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Benchmark documents of an invented machine whose energies are known exactly.

A node draws a constant base power and, per core, a power that depends on frequency and duty cycle
only.  A run is a list of stretches of constant state; samples are the exact integral of the power
at each sampling time.  Nothing here uses poweraware.session, so tests can compare against it.
"""
from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, List, Optional, Sequence, Tuple

CORES = 8
PACKAGES = 2
BASE_W = 60.0
DRAM_W = 10.0
FAST_KHZ = 2_400_000
SLOW_KHZ = 1_600_000
INTERVAL_MS = 20.0
EPOCH_NS = 1_700_000_000_000_000_000
STARTUP_S = 0.3
SIZES = (1024, 4096, 16384, 65536, 262144, 1048576)
STRETCH = {"off": 1.0, "dvfs": 1.08, "throttle": 1.12, "auto": 1.03, "poll": 1.0, "interrupt": 1.02, "interrupt_dvfs": 1.06}
BENCHMARK_US = {"alltoall": 900.0, "bcast": 120.0, "reduce": 150.0, "ft.S": 5000.0, "is.S": 3000.0, "get": 2500.0, "put": 2000.0}
BANDWIDTH = {"alltoall": 40.0, "bcast": 300.0, "reduce": 200.0, "ft.S": 60.0, "is.S": 60.0, "get": 5.0, "put": 5.0}  # bytes per us
ITERATIONS = 20


@dataclass(frozen=True)
class Stretch:
    """Constant state of every core for some time."""

    begin_ns: int
    end_ns: int
    freq_khz: int
    duty: Tuple[float, ...]


def core_watts(freq_khz: int, duty_percent: float) -> float:
    """Power of a core: cubic in frequency, proportional to the duty cycle."""
    return 15.0 * (freq_khz / FAST_KHZ) ** 3 * duty_percent / 100.0


@lru_cache(maxsize=None)
def package_watts(stretch: Stretch, package: int) -> float:
    """Power of one package with half of the base power."""
    per_package = CORES // PACKAGES
    cores = stretch.duty[package * per_package : (package + 1) * per_package]
    return BASE_W / PACKAGES + sum(core_watts(stretch.freq_khz, duty) for duty in cores)


def energy_j(stretches: Sequence[Stretch], package: int, until_ns: int) -> float:
    """Exact energy of a package from the first stretch until a time."""
    joules = 0.0
    for stretch in stretches:
        end_ns = min(stretch.end_ns, until_ns)
        if end_ns > stretch.begin_ns:
            joules += package_watts(stretch, package) * (end_ns - stretch.begin_ns) / 1e9
    return joules


def latency_us(benchmark: str, scheme: str, size: int, repetition: int) -> float:
    """Latency of a call: a start-up and a bandwidth term, two percent apart per repetition."""
    base = BENCHMARK_US[benchmark] + size / BANDWIDTH[benchmark]
    return base * STRETCH[scheme] * (1 + 0.02 * (repetition - 1))


def stretches(scheme: str, rows: Sequence[Dict[str, Any]], begin: int, end: int) -> List[Stretch]:
    """States of a run: idle start, the calls of each size, idle end."""
    full = (100.0,) * CORES
    found = [Stretch(begin, rows[0]["t_begin_ns"], FAST_KHZ, full)]
    half = CORES // 2
    for row in rows:
        if scheme in ("off", "auto", "poll", "interrupt"):
            found.append(Stretch(row["t_begin_ns"], row["t_end_ns"], FAST_KHZ, full))
            continue
        if scheme in ("dvfs", "interrupt_dvfs"):
            found.append(Stretch(row["t_begin_ns"], row["t_end_ns"], SLOW_KHZ, full))
            continue
        step = (row["t_end_ns"] - row["t_begin_ns"]) // (2 * row["iterations"])
        at = row["t_begin_ns"]
        for phase in range(2 * row["iterations"]):
            duty = (100.0,) * half + (12.5,) * half
            if phase % 2:
                duty = duty[::-1]
            last = phase == 2 * row["iterations"] - 1
            found.append(Stretch(at, row["t_end_ns"] if last else at + step, SLOW_KHZ, duty))
            at += step
    found.append(Stretch(rows[-1]["t_end_ns"], end, FAST_KHZ, full))
    return found


def make_rows(benchmark: str, scheme: str, repetition: int, begin_ns: int) -> List[Dict[str, Any]]:
    """Rows one after the other from begin_ns."""
    rows = []
    for size in SIZES:
        average = latency_us(benchmark, scheme, size, repetition)
        end_ns = begin_ns + int(average * 1e3) * ITERATIONS
        rows.append(
            {
                "bytes": size,
                "iterations": ITERATIONS,
                "avg_us": average,
                "min_us": average * 0.95,
                "max_us": average * 1.05,
                "t_begin_ns": begin_ns,
                "t_end_ns": end_ns,
                "cpu_s": average * 1e-6 * ITERATIONS * 0.9,
                "validated": True,
            }
        )
        begin_ns = end_ns
    return rows


def make_energy(node: int, run: Sequence[Stretch]) -> Dict[str, Any]:
    """Samples of a node: two packages and a DRAM domain of constant power."""
    begin_ns, end_ns = run[0].begin_ns, run[-1].end_ns
    step = int(INTERVAL_MS * 1e6)
    times = list(range(begin_ns, end_ns, step)) + [end_ns]
    columns = [[energy_j(run, p, t) * 1e6 for t in times] for p in range(PACKAGES)]
    columns.append([DRAM_W * (t - begin_ns) / 1e3 for t in times])
    domains = [f"package-{p}" for p in range(PACKAGES)] + ["dram-0"]
    return {
        "node": node,
        "covers": [node],
        "source": "powercap",
        "domains": domains,
        "total_domains": domains,
        "samples": {"t_ns": times, "uj": columns},
        "why_absent": None,
    }


def make_states(node: int, run: Sequence[Stretch]) -> Dict[str, Any]:
    """The states that the stretches describe."""
    cpus = []
    for cpu in range(CORES):
        merged: List[Tuple[int, int, float]] = []
        seconds: Dict[Tuple[int, float], float] = {}
        for stretch in run:
            state = (stretch.freq_khz, stretch.duty[cpu])
            length = (stretch.end_ns - stretch.begin_ns) / 1e9
            seconds[state] = seconds.get(state, 0.0) + length
            if not merged or merged[-1][1:] != state:
                merged.append((stretch.begin_ns, *state))
        cpus.append(
            {
                "cpu": cpu,
                "package": cpu * PACKAGES // CORES,
                "transitions": len(merged) - 1,
                "residency": [
                    {"freq_khz": f, "duty_percent": d, "seconds": s}
                    for (f, d), s in seconds.items()
                ],
                "changes": {
                    "t_ns": [item[0] for item in merged],
                    "freq_khz": [item[1] for item in merged],
                    "duty_percent": [item[2] for item in merged],
                },
            }
        )
    return {
        "node": node,
        "window_begin_ns": run[0].begin_ns,
        "window_end_ns": run[-1].end_ns,
        "complete": True,
        "cpus": cpus,
    }


def make_run(
    benchmark: str, scheme: str, repetition: int, nodes: int, ppn: int, start_ns: int
) -> Dict[str, Any]:
    """One run with everything."""
    rows = make_rows(benchmark, scheme, repetition, start_ns + int(STARTUP_S * 1e9))
    end_ns = rows[-1]["t_end_ns"] + int(STARTUP_S * 1e9)
    run = stretches(scheme, rows, start_ns, end_ns)
    busy_s = (rows[-1]["t_end_ns"] - rows[0]["t_begin_ns"]) / 1e9
    return {
        "id": f"{benchmark}-{scheme}-{repetition}",
        "benchmark": benchmark,
        "scheme": scheme,
        "repetition": repetition,
        "command": [f"osu_{benchmark}", "-f", "-c"],
        "mca": {"coll_poweraware_scheme": scheme},
        "exit_status": 0,
        "failure": None,
        "start_ns": start_ns,
        "end_ns": end_ns,
        "wall_s": (end_ns - start_ns) / 1e9,
        "window": "rows",
        "rows": rows,
        "ranks": [make_rank(r, r // ppn, busy_s, scheme) for r in range(nodes * ppn)],
        "energy": [make_energy(node, run) for node in range(nodes)],
        "states": [make_states(node, run) for node in range(nodes)],
        "result": None,
        "job": make_job(benchmark, scheme, nodes, ppn, busy_s),
    }


def make_rank(rank: int, node: int, busy_s: float, scheme: str) -> Dict[str, Any]:
    """A rank that spins, less so under auto."""
    share = (0.4 if scheme == "auto" else 0.9) + 0.01 * (rank % 5)
    return {"rank": rank, "host": f"n{node}", "node": node, "pid": 100 + rank, "cpu_s": busy_s * share}


def make_job(benchmark: str, scheme: str, nodes: int, ppn: int, busy_s: float) -> Dict[str, Any]:
    """What the page takes from a job's document."""
    ranks, calls = nodes * ppn, len(SIZES) * ITERATIONS
    writes = 2 * calls if scheme in ("dvfs", "throttle", "interrupt_dvfs") else 0
    sums = {"calls": calls * ranks, "seconds": busy_s * ranks, "spin_s": 0.5 * busy_s * ranks, "monitor_s": 0.25, "sleep_s": 0.0}
    throttled = 2 * calls if scheme == "throttle" else 0
    levers = [{"title": title, "writes": number, "skipped": 0, "why_off": None}
              for title, number in (("P-states", writes), ("T-states", throttled))]  # fmt: skip
    return {
        "reported": ranks,
        "totals": {"cpu_s": 0.8 * busy_s * ranks, "process_s": (busy_s + STARTUP_S) * ranks},
        "calls": [{"collective": benchmark, **sums}],
        "other_calls": {name: 0 for name in sums},
        "regions": [],
        "nodes": [{"levers": copy.deepcopy(levers)} for _ in range(nodes)],
    }


def make_applications(ranks_per_node: int = 4) -> Dict[str, Any]:
    """A session of applications: no sizes, a result each."""
    document = make_document(["ft.S", "is.S"], ["off", "auto"], 3, 2, ranks_per_node)
    settings: Dict[str, Any] = {"family": "npb", "messages": None}
    settings["programs"] = [{"benchmark": name, "origin": "ours", "label": f"{name}, ours"} for name in ("ft.S", "is.S")]
    document["settings"].update(settings)
    for run in document["runs"]:
        rows, run["rows"], run["ranks"] = run["rows"], [], []
        begin_ns, end_ns = rows[0]["t_begin_ns"], rows[-1]["t_end_ns"]
        run["window"] = "job"
        run["job"].update(begin_ns=begin_ns)
        run["job"]["totals"]["seconds"] = (end_ns - begin_ns) / 1e9
        run["result"] = {"seconds": (end_ns - begin_ns) / 1e9, "verified": True, "check": "made up", "total_energy": None}
        exchange = {**run["job"]["calls"][0], "collective": "alltoall"}
        run["job"]["calls"] = [exchange, {**exchange, "collective": "allreduce", "seconds": exchange["seconds"] / 10}]
        run["job"]["provenance"] = {"attribution": {"kind": "modelled", "note": "Shares by time and state."}}
        run["job"]["regions"] = [make_region("solve", 4.0, 40.0, run), make_region(None, 1.0, None, run)]
    return document


def make_shift(repetitions: int = 3) -> Dict[str, Any]:
    """A session of one-sided operations, a paper's figures and a model beside it.  interrupt_dvfs saves energy from 64 KiB on only:
    below it takes five times as long."""
    document = make_document(["get", "put"], ["poll", "interrupt", "interrupt_dvfs"], 1, 2, 2)
    document["settings"]["family"] = "shift"
    template, document["runs"] = document["runs"], []
    for repetition in range(1, repetitions + 1):
        for run in copy.deepcopy(template):
            run.update(repetition=repetition, id=f"{run['benchmark']}-{run['scheme']}-{repetition}")
            for row in run["rows"]:
                row["moved_bytes"] = row["bytes"] * row["iterations"] * 4
                if run["scheme"] == "interrupt_dvfs" and row["bytes"] < 65536:  # as much energy for a fifth of the bytes
                    row["moved_bytes"] //= 5
            document["runs"].append(run)
    document["settings"]["repetitions"] = repetitions
    point = {"benchmark": "put", "scheme": "interrupt_dvfs", "bytes": 16384, "latency": 1.05, "power": None, "energy": 0.94}
    document["references"] = [
        {"name": "A paper", "kind": "published", "note": "By somebody.", "break_evens": [point], "points": [point]},
        {"name": "a model", "kind": "modelled", "note": "By equations.", "break_evens": [], "points": [{**point, "bytes": size} for size in SIZES]},
    ]
    return document


def make_region(name: Optional[str], seconds: float, joules: Optional[float], run: Dict[str, Any]) -> Dict[str, Any]:
    """A region of an application; auto takes a tenth more time, one percent more from one repetition to the next, and half of the
    energy."""
    if run["scheme"] == "auto":
        seconds *= 1.1 * (1 + 0.01 * (run["repetition"] - 2))
        joules = None if joules is None else joules / 2
    return {"name": name, "entered": 1, "process_s": seconds, "cpu_s": seconds / 2, "joules": joules, "calls": {"seconds": seconds / 4}}


def make_document(
    benchmarks: Sequence[str] = ("alltoall", "bcast", "reduce"),
    schemes: Sequence[str] = ("off", "dvfs", "throttle"),
    repetitions: int = 3,
    nodes: int = 4,
    ppn: int = 8,
) -> Dict[str, Any]:
    """A complete session as parsed JSON."""
    runs = []
    start_ns = EPOCH_NS
    for repetition in range(1, repetitions + 1):
        for benchmark in benchmarks:
            for scheme in schemes:
                runs.append(make_run(benchmark, scheme, repetition, nodes, ppn, start_ns))
                start_ns = runs[-1]["end_ns"] + 1_000_000_000
    emulated = {"kind": "emulated", "note": "Accounted by the emulated machine icpp2010."}
    return {
        "format": "poweraware-benchmark",
        "version": 5,
        "created": "2026-01-02T03:04:05Z",
        "complete": True,
        "command": ["bench/run/run", "osu"],
        "host": {
            "name": "example",
            "cpus": 2,
            "cpu_model": "Invented CPU",
            "kernel": "6.1",
            "memory_bytes": 1 << 33,
            "governor": None,
            "kernel_parameters": "quiet",
        },
        "software": {"open_mpi": "4.1.4", "poweraware": "0.1.0", "commit": "abc", "compiler": "cc 12"},
        "cluster": {
            "nodes": nodes,
            "layout": [ppn] * nodes,
            "ranks": nodes * ppn,
            "binding": {"bind_to": "core", "map_by": "core"},
            "virtual": True,
            "machine": "icpp2010",
            "link": {"rate_mbit": None, "latency_us": None},
        },
        "provenance": {
            "time": {"kind": "measured", "note": "Read from the clocks of the host."},
            "energy": emulated,
            "states": dict(emulated),
        },
        "settings": {
            "family": "osu",
            "benchmarks": list(benchmarks),
            "programs": [{"benchmark": name, "origin": "ours", "label": f"osu_{name}"} for name in benchmarks],
            "schemes": list(schemes),
            "preloads": {},
            "messages": {"min_bytes": SIZES[0], "max_bytes": SIZES[-1], "iterations": ITERATIONS, "warmup": 5},
            "repetitions": repetitions,
            "seed": 1,
            "interval_ms": INTERVAL_MS,
        },
        "runs": runs,
    }
