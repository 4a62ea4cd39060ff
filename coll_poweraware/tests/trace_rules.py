# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What must hold between the ranks' event traces and the emulator's trace of lever writes.

The ranks say when they talked (rank-<N>.events.csv), the hardware says how its CPUs stood
(trace.csv); both use CLOCK_MONOTONIC.  Each rule returns the list of its violations, in words.
"""

from __future__ import annotations

import bisect
import csv
import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

COLLECTIVES = ("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier",
               "bcast", "exscan", "gather", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter")
ALLTOALLS = tuple(COLLECTIVES.index(name) for name in ("alltoall", "alltoallv", "alltoallw"))
ALLTOALL = ALLTOALLS[0]
MSR = "msr:0x19a"
CEILING = "scaling_max_freq"
UNCORE = "uncore_max_khz"


@dataclass
class Interval:
    """A stretch in which a rank talked to other nodes."""

    begin_ns: int
    end_ns: int
    collective: int
    call: int
    phase: int


@dataclass
class Rank:
    """One rank's identity and what it did."""

    rank: int
    host: str
    cpu: int
    package: int
    net: list[Interval] = field(default_factory=list)
    calls: list[tuple[int, int, int]] = field(default_factory=list)  # begin, end, collective


@dataclass
class Levers:
    """The values a node's controls had over time: (cpu, control) -> times and values."""

    times: dict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    values: dict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, t_ns: int, cpu: int, control: str, value: int) -> None:
        """Appends a write; writes come in the order of their times."""
        self.times[cpu, control].append(t_ns)
        self.values[cpu, control].append(value)

    def during(self, cpu: int, control: str, begin_ns: int, end_ns: int) -> list[int]:
        """The value in force at begin_ns and all written until end_ns."""
        times = self.times[cpu, control]
        first = max(bisect.bisect_right(times, begin_ns) - 1, 0)
        return self.values[cpu, control][first:bisect.bisect_left(times, end_ns)]


def level(msr: int) -> int:
    """T-state of a value of IA32_CLOCK_MODULATION: 0 is full duty."""
    return 8 - (msr >> 1 & 7) if msr & 0x10 and msr >> 1 & 7 else 0


def read_rank(directory: Path, number: int) -> Rank:
    """Reads rank-<number>.json and rank-<number>.events.csv."""
    identity = json.loads((directory / f"rank-{number}.json").read_text())
    rank = Rank(number, identity["host"], identity["cpu"], identity["package"])
    begin = phase = collective = 0
    net: list[int] = []
    with (directory / f"rank-{number}.events.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            t_ns, event = int(row["t_ns"]), row["event"]
            if event == "call":
                begin, collective, phase = t_ns, int(row["detail"]), 0
            elif event == "return":
                rank.calls.append((begin, t_ns, collective))
            elif event == "phase":
                phase = int(row["detail"])
            elif event == "net":
                net.append(t_ns)
            elif event == "net_end":
                rank.net.append(Interval(net.pop(), t_ns, collective, len(rank.calls), phase))
    return rank


def read_levers(trace: Path) -> Levers:
    """Reads the emulator's trace.csv of one node."""
    levers = Levers()
    with trace.open(newline="") as file:
        for row in csv.DictReader(file):
            try:
                value = int(row["value"], 0)
            except ValueError:
                continue  # a governor's name
            levers.add(int(row["t_ns"]), int(row["cpu"]), row["control"], value)
    return levers


def throttled_while_talking(ranks: list[Rank], levers: dict[str, Levers], partial: int) -> list[str]:
    """No rank talks between nodes while its CPU is throttled; a leader of Bcast or Reduce may be in
    the partial state (0 where T-states are per core)."""
    found = []
    for rank in ranks:
        for talk in rank.net:
            allowed = 0 if talk.collective in ALLTOALLS else partial
            states = levers[rank.host].during(rank.cpu, MSR, talk.begin_ns, talk.end_ns)
            worst = max((level(value) for value in states), default=0)
            if worst > allowed:
                found.append(f"rank {rank.rank} was in T{worst} while talking in phase {talk.phase} of "
                             f"{COLLECTIVES[talk.collective]} (call {talk.call})")
    return found


def several_groups_at_once(ranks: list[Rank]) -> list[str]:
    """In an Alltoall at most one package of a node talks at a time."""
    found = []
    per_node: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for rank in ranks:
        for talk in rank.net:
            if talk.collective in ALLTOALLS:
                per_node[rank.host].append((talk.begin_ns, talk.end_ns, rank.package))
    for host, talks in per_node.items():
        last_end: dict[int, int] = {}
        for begin, end, package in sorted(talks):
            for other, other_end in last_end.items():
                if other != package and other_end > begin:
                    found.append(f"{host}: packages {other} and {package} talk at the same time")
            last_end[package] = max(end, last_end.get(package, 0))
    return found


def phases_out_of_order(ranks: list[Rank]) -> list[str]:
    """In an Alltoall a rank goes through the phases in order, and a package of its node in a lower phase is done
    before another one starts with a higher one.  (Ranks of one package need not wait for each other.)"""
    found = []
    spans: dict[tuple[str, int], dict[tuple[int, int], list[int]]] = defaultdict(dict)
    for rank in ranks:
        last: dict[int, int] = defaultdict(int)  # call -> the highest phase so far
        for talk in rank.net:
            if talk.collective not in ALLTOALLS:
                continue
            if talk.phase not in (2, 3, 4) or talk.phase < last[talk.call]:
                found.append(f"rank {rank.rank}: talk in phase {talk.phase} after phase {last[talk.call]} of "
                             f"call {talk.call}")
            last[talk.call] = talk.phase
            span = spans[rank.host, talk.call].setdefault((talk.phase, rank.package), [talk.begin_ns, talk.end_ns])
            span[0], span[1] = min(span[0], talk.begin_ns), max(span[1], talk.end_ns)
    for (host, call), of_call in spans.items():
        for (low, package), (_, end) in of_call.items():
            for (high, other), (begin, _) in of_call.items():
                if low < high and package != other and begin < end:
                    found.append(f"{host}: package {other} starts with phase {high} of call {call} before package "
                                 f"{package} is done with phase {low}")
    return found


def state_changes(rank: Rank, levers: dict[str, Levers]) -> list[int]:
    """How often a rank was throttled or unthrottled in each of its Alltoalls.

    A waiting rank now and then goes to full duty for a moment, to let other messages of the application progress,
    and back: where it talked to nobody in between, that is one long rest."""
    times, values = levers[rank.host].times[rank.cpu, MSR], levers[rank.host].values[rank.cpu, MSR]
    counts = []
    for number, (begin, end, collective) in enumerate(rank.calls):
        if collective not in ALLTOALLS:
            continue
        talks = [talk for talk in rank.net if talk.call == number]
        rests, since = 0, begin  # since: the end of the last rest
        for at, value in zip(times, values):
            if not begin <= at <= end:
                continue
            if level(value) == 0:
                since = at
            elif rests == 0 or any(talk.begin_ns < at and talk.end_ns > since for talk in talks):
                rests += 1
        counts.append(2 * rests)
    return counts


def several_talkers(ranks: list[Rank]) -> list[str]:
    """In Bcast and Reduce only one rank of a node talks to other nodes."""
    talkers: dict[tuple[str, int], set[int]] = defaultdict(set)
    for rank in ranks:
        for talk in rank.net:
            if talk.collective not in ALLTOALLS:
                talkers[rank.host, talk.call].add(rank.rank)
    return [f"{host}: ranks {sorted(who)} all talk in call {call}"
            for (host, call), who in talkers.items() if len(who) > 1]


def fast_while_talking(ranks: list[Rank], levers: dict[str, Levers], lowest_khz: int) -> list[str]:
    """DVFS: while a rank talks in our algorithms, its ceiling is the lowest frequency."""
    found = []
    for rank in ranks:
        for talk in rank.net:
            ceilings = levers[rank.host].during(rank.cpu, CEILING, talk.begin_ns, talk.end_ns)
            if ceilings and max(ceilings) > lowest_khz:
                found.append(f"rank {rank.rank} talked at {max(ceilings)} kHz in call {talk.call}")
    return found


def not_restored(levers: dict[str, Levers]) -> list[str]:
    """Every lever ends at the value it was found at."""
    return [f"{host}: CPU {cpu} {control} was {values[0]:#x} and is {values[-1]:#x}"
            for host, node in levers.items() for (cpu, control), values in node.values.items()
            if values[0] != values[-1]]


def package_slow_outside_calls(ranks: list[Rank], levers: dict[str, Levers], full_khz: int) -> list[str]:
    """While the uncore of a package is low, all ranks on it are in a call of a collective."""
    found = []
    for rank in ranks:
        first = min(other.cpu for other in ranks if (other.host, other.package) == (rank.host, rank.package))
        times = levers[rank.host].times[first, UNCORE]
        values = levers[rank.host].values[first, UNCORE]
        for begin_ns, end_ns, value in zip(times, times[1:], values):
            if value < full_khz and not any(call[0] <= begin_ns and end_ns <= call[1] for call in rank.calls):
                found.append(f"rank {rank.rank} was in no call from {begin_ns} to {end_ns} ns")
    return found


def never_throttled(ranks: list[Rank], levers: dict[str, Levers]) -> list[str]:
    """Every rank rests at least once: else the rules above prove nothing."""
    return [f"rank {rank.rank} was never throttled" for rank in ranks
            if not any(level(value) for value in levers[rank.host].values[rank.cpu, MSR])]
