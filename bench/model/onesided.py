# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""PASCoL (Vishnu et al.): one-sided operations under polling, DVFS, interrupts and both, over polling.

An operation with its flush takes t(M) = t_0 + M t_w c r: c ranks of a node share its link, r of their targets are on other
nodes.  A part w of that is work which slows down with the frequency, a part u is work at f_max whatever the scheme
(copies, atomic updates), the rest is slack.  With x = f_max / f_min and o what a scheme adds to each operation:

    (1) T / T_poll = 1 + w (x - 1) + o / t            the middle term only where the frequency is lowered
    (2) E / E_poll = w x (1 - g d) + u + s (1 - z) + o / t,  s = 1 - w - u

g is what the machine saves when all of its cores are idle, d = 1 - x^-3 the part of that which lowering the frequency of a
busy core saves, z what a waiting core saves: g d where it polls at f_min, g where it sleeps.  P = E / T.

Two predictions: from the paper's constants alone (all of the transfer is slack, o as assumed), and with w, u and o fitted to
what the paper prints."""
from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Dict, Iterator, List, Optional, Tuple

from bench.model.machines import ICPP2010
from poweraware.ratios import geometric_mean
from poweraware.session.document import Reference, ReferencePoint

SCHEMES = ("dvfs", "interrupt", "interrupt_dvfs")
SMALLEST, LARGEST = 8, 1 << 20


@dataclass(frozen=True)
class Setting:
    """The paper's."""

    nodes: int = 8  # 64 processes on packages of four cores, two a node: an assumption
    cores: int = 8
    f_max_hz: float = 2.33e9  # the paper's
    f_min_hz: float = 1.9e9  # the paper's
    ceiling: float = 0.16  # g, the paper's
    link_bytes_s: float = 1.4e9  # DDR InfiniBand behind PCI Express 1.1 x8: an assumption
    base_s: float = 5e-6  # t_0, an assumption
    interrupt_s: float = ICPP2010.wake_s  # an assumption
    o_dvfs_s: float = ICPP2010.o_dvfs_s  # of ICPP 2010's machine: an assumption

    @property
    def x(self) -> float:
        """f_max / f_min."""
        return self.f_max_hz / self.f_min_hz

    @property
    def d(self) -> float:
        """What lowering the frequency of a busy core saves of g: power goes with its third power, an assumption."""
        return 1 - self.x**-3

    def t(self, M: float) -> float:
        """Seconds of an operation of M bytes and its flush, polling."""
        ranks = self.nodes * self.cores
        remote = (ranks - self.cores) / (ranks - 1)
        return self.base_s + M * self.cores * remote / self.link_bytes_s


@dataclass(frozen=True)
class Shares:
    """Of an operation's time, and the seconds that a scheme adds to each; None: as the test bed's transitions say."""

    w: float = 0.0
    u: float = 0.0
    added_s: Optional[float] = None


@dataclass(frozen=True)
class Printed:
    """A figure of the paper, of interrupt_dvfs over polling."""

    operation: str
    bytes: int
    quantity: str  # latency, power or energy
    value: float
    where: str


def _row(operation: str, size: int, latency: float, energy: float) -> Tuple[Printed, Printed]:
    return Printed(operation, size, "latency", latency, "table 16"), Printed(operation, size, "energy", energy, "table 16")


BREAK_EVENS = {"get": 32 << 10, "put": 16 << 10, "accumulate": 16 << 10, "strided": 16 << 10}  # table 16
_TEXT_BYTES = 256 << 10  # of what the text tells of put; taken for those of get and accumulate, too
PRINTED: Tuple[Printed, ...] = (
    *_row("get", BREAK_EVENS["get"], 1.05, 0.94),
    *_row("put", BREAK_EVENS["put"], 1.05, 0.94),
    *_row("accumulate", BREAK_EVENS["accumulate"], 1.03, 0.95),
    *_row("strided", BREAK_EVENS["strided"], 1.02, 0.94),
    Printed("get", _TEXT_BYTES, "power", 0.89, "text"),
    Printed("put", _TEXT_BYTES, "power", 0.88, "text"),
    Printed("put", _TEXT_BYTES, "energy", 0.92, "text"),
    Printed("accumulate", _TEXT_BYTES, "power", 0.92, "text"),
    Printed("accumulate", _TEXT_BYTES, "energy", 0.94, "text"),
)
OPERATIONS = tuple(BREAK_EVENS)


def over_polling(m: Setting, shares: Shares, scheme: str, M: float) -> Dict[str, float]:
    """Latency, power and energy of an operation over polling's, by (1) and (2)."""
    lowers, sleeps = scheme != "interrupt", scheme != "dvfs"
    added_s = shares.added_s if shares.added_s is not None else sleeps * m.interrupt_s + lowers * 2 * m.o_dvfs_s
    added = added_s / m.t(M)
    slower, saved = (m.x, m.ceiling * m.d) if lowers else (1.0, 0.0)
    slack = 1 - shares.w - shares.u
    latency = 1 + shares.w * (slower - 1) + added
    energy = shares.w * slower * (1 - saved) + shares.u + slack * (1 - (m.ceiling if sleeps else saved)) + added
    return {"latency": latency, "power": energy / latency, "energy": energy}


def fit(m: Setting) -> Dict[str, Shares]:
    """w and u of operations whose energy the text tells, too, from that, as if nothing were added to so large a message; the
    time that is added to all, which is what table 16 is above these on average; w and u of the others from table 16."""
    told = {(each.operation, each.quantity, each.where): each.value for each in PRINTED}
    twice = [name for name in OPERATIONS if (name, "energy", "text") in told]
    ends = {name: _shares(m, told[name, "energy", "text"] / told[name, "power", "text"], told[name, "energy", "text"]) for name in twice}
    added_s = statistics.fmean(
        (each.value - over_polling(m, ends[each.operation], "interrupt_dvfs", each.bytes)[each.quantity]) * m.t(each.bytes)
        for each in PRINTED
        if each.where == "table 16" and each.operation in twice
    )
    for name in OPERATIONS:
        if name not in twice:
            added = added_s / m.t(BREAK_EVENS[name])
            ends[name] = _shares(m, told[name, "latency", "table 16"] - added, told[name, "energy", "table 16"] - added)
    return {name: Shares(ends[name].w, ends[name].u, added_s) for name in OPERATIONS}


def _shares(m: Setting, latency: float, energy: float) -> Shares:
    """w and u that make (1) and (2) give these for interrupt_dvfs where nothing is added."""
    w = (latency - 1) / (m.x - 1)
    u = (energy - w * m.x * (1 - m.ceiling * m.d) - (1 - w) * (1 - m.ceiling)) / m.ceiling
    return Shares(w, u, 0.0)


def predictions(m: Setting) -> Dict[str, Dict[str, Shares]]:
    """Shares by operation, of both predictions."""
    return {"constants": {name: Shares() for name in OPERATIONS}, "fitted": fit(m)}


def doublings(low: int = SMALLEST, high: int = LARGEST) -> Iterator[int]:
    """Message sizes."""
    while low <= high:
        yield low
        low *= 2


def break_even(m: Setting, shares: Shares, operation: str) -> Optional[ReferencePoint]:
    """From which size of a doubling sweep on interrupt_dvfs takes less energy than polling, and its geometric means from there
    on; None: from none on."""
    found = {size: over_polling(m, shares, "interrupt_dvfs", size) for size in doublings()}
    first = next((size for size, each in found.items() if each["energy"] < 1), None)  # the energy falls with the size
    if first is None:
        return None
    means = {name: geometric_mean([each[name] for size, each in found.items() if size >= first]) for name in ("latency", "power", "energy")}
    return ReferencePoint(operation, "interrupt_dvfs", first, **means)


def references(sizes: Dict[str, Tuple[int, int]], m: Setting = Setting()) -> List[Reference]:
    """For a session's document: what the paper prints, and both predictions.  sizes: smallest and largest of each operation."""
    found = [_published(list(sizes))]
    for name, shares in predictions(m).items():
        told = [break_even(m, shares[operation], operation) for operation in sizes]
        points = [
            ReferencePoint(operation, scheme, size, **over_polling(m, shares[operation], scheme, size))
            for operation, (low, high) in sizes.items()
            for scheme in SCHEMES
            for size in doublings(low, high)
        ]
        # lines of the prediction with nothing fitted are for the table: two sets of them hide the session's own
        found.append(Reference(f"model, {name}", "modelled", basis(m, name), [each for each in told if each is not None],
                               points if name == "fitted" else []))  # fmt: skip
    return found


def _published(operations: List[str]) -> Reference:
    table = {name: {each.quantity: each.value for each in PRINTED if (each.operation, each.where) == (name, "table 16")} for name in operations}
    points: Dict[Tuple[str, int], Dict[str, float]] = {}
    for each in PRINTED:
        if each.operation in operations:
            points.setdefault((each.operation, each.bytes), {})[each.quantity] = each.value
    return Reference(
        "PASCoL",
        "published",
        "Vishnu et al.: table 16, and what the text says of 256 KB (the size is told for put, and taken for get and accumulate); 64 "
        "processes on Xeon E5345, DDR InfiniBand.",
        [ReferencePoint(name, "interrupt_dvfs", BREAK_EVENS[name], **table[name]) for name in operations],
        [ReferencePoint(name, "interrupt_dvfs", size, **values) for (name, size), values in points.items()],
    )


def basis(m: Setting, name: str) -> str:
    """What of a prediction is the paper's, what is assumed, what is fitted."""
    papers = f"The paper's: {m.f_max_hz / 1e9:g} and {m.f_min_hz / 1e9:g} GHz, 64 processes, {m.ceiling:.0%} of power at most"
    assumed = f"assumed: {m.cores} cores a node, {m.link_bytes_s / 1e9:g} GB/s, {1e6 * m.base_s:g} us for the smallest operation"
    if name == "constants":
        return (f"{papers}; {assumed}, all of the transfer is slack, {1e6 * m.interrupt_s:g} us for an interrupt and "
                f"{1e6 * m.o_dvfs_s:g} us for a change of frequency, as on ICPP 2010's machine; nothing is fitted.")  # fmt: skip
    shares = fit(m)
    parts = ", ".join(f"{each} {100 * value.w:.0f} and {100 * value.u:.0f} %" for each, value in shares.items())
    added_us = 1e6 * next(iter(shares.values())).added_s  # type: ignore[operator]
    return (f"{papers}; {assumed}; fitted to what the paper prints: the parts of the time that are work at the frequency of the scheme and at "
            f"the highest ({parts}), and {added_us:.1f} us added to each operation, less than an interrupt takes: break-evens come "
            "out too early, and small messages too fast.")  # fmt: skip


def reproduction(m: Setting = Setting()) -> List[Tuple[Printed, Dict[str, float]]]:
    """What the paper prints, and what the predictions say of it."""
    found = predictions(m)
    return [
        (each, {name: over_polling(m, shares[each.operation], "interrupt_dvfs", each.bytes)[each.quantity] for name, shares in found.items()})
        for each in PRINTED
    ]


def break_evens(m: Setting = Setting()) -> List[Tuple[str, int, Dict[str, float]]]:
    """Operation, the paper's size, and those of the predictions; inf: none."""
    found = []
    for operation, size in BREAK_EVENS.items():
        told = {name: break_even(m, shares[operation], operation) for name, shares in predictions(m).items()}
        found.append((operation, size, {name: float(each.bytes) if each is not None else math.inf for name, each in told.items()}))
    return found
