# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A Gantt chart of ranks: who talked, copied, spun and slept when, and how the levers stood."""
from __future__ import annotations

from html import escape
from typing import Any, Dict, List, Optional, Sequence, Tuple

from poweraware.documents import DocumentError
from poweraware.markup import as_picture, as_table, whole
from poweraware.picture import WIDTH_IN, Figure, Picture, legend_above, render
from poweraware.table import Table
from poweraware.trace import Interval, Rank
from poweraware.wording import number

_MOST_RANKS = 64
_MARGIN = 0.05  # of the call, before and behind it

# Drawn in this order: what a rank does in a call, and over it how it waits.
_LOOKS: Dict[str, Tuple[str, str, str]] = {
    "call": ("in the call: working", "#444444", ""),
    "net": ("talking between nodes", "#E69F00", ""),
    "local": ("talking within the node", "#F0E442", ""),
    "copy": ("copying", "#CC79A7", ""),
    "spin": ("spinning", "#D55E00", "xxxx"),
    "rest": ("resting on a cache line", "#009E73", "...."),
    "sleep": ("asleep", "#56B4E9", ""),
}
_PHASES = {1: "1 within nodes", 2: "2 A with A", 3: "3 B with B", 4: "4 A with B"}  # ICPP 2010, V-A


def choose(ranks: Sequence[Rank], collective: Optional[str], call: Optional[int]) -> Tuple[float, float, str]:
    """The window of one call, by rank 0's trace: of the named collective, or that in which most time was spent; the
    given one, or that of the median length.  Returns begin, end and what it is."""
    first = next((rank for rank in ranks if rank.calls), None)
    if first is None:
        raise DocumentError("the trace has no calls")
    spent: Dict[str, float] = {}
    for each in first.calls:
        spent[each.what] = spent.get(each.what, 0.0) + each.end_s - each.begin_s
    if collective is not None and collective not in spent:
        raise DocumentError(f"there is no {collective} in the trace, but {', '.join(sorted(spent))}")
    name = collective or max(spent, key=lambda what: spent[what])
    of_name = [index for index, each in enumerate(first.calls) if each.what == name]
    if call is None:
        place = sorted(of_name, key=lambda index: first.calls[index].end_s - first.calls[index].begin_s)[len(of_name) // 2]
    elif 1 <= call <= len(of_name):
        place = of_name[call - 1]
    else:
        raise DocumentError(f"--call {call}: the trace has {len(of_name)} calls of {name}")
    every = [rank.calls[place] for rank in ranks if len(rank.calls) > place and rank.calls[place].what == name]
    begin, end = min(each.begin_s for each in every), max(each.end_s for each in every)
    margin = _MARGIN * (end - begin)
    return begin - margin, end + margin, f"call {of_name.index(place) + 1} of {len(of_name)} of {name}"


def picture(ranks: Sequence[Rank], begin_s: float, end_s: float, what: str) -> Picture:
    """The chart between two times."""
    shown = sorted(ranks, key=lambda rank: (rank.host, rank.rank))[:_MOST_RANKS]
    figure = Figure(figsize=(WIDTH_IN, 2.0 + 0.22 * len(shown)), layout="constrained")
    axis = figure.subplots()
    for row, rank in enumerate(shown):
        _draw_rank(axis, row, rank, begin_s, end_s)
    _draw_phases(axis, shown[0], begin_s, end_s)
    _draw_nodes(axis, shown)
    axis.set(xlim=(0, 1e3 * (end_s - begin_s)), ylim=(len(shown) - 0.4, -0.6), xlabel="time (ms)")
    axis.set_yticks(range(len(shown)), [f"rank {rank.rank}" for rank in shown], fontsize=7)
    axis.grid(visible=False)
    for label, colour, hatch in _LOOKS.values():
        axis.barh([-9], [0], color=colour, hatch=hatch, edgecolor="white", label=label)
    axis.barh([-9], [0], color="#000000", label="throttled (T-state)")
    axis.barh([-9], [0], color="#0072B2", label="lowest frequency")
    legend_above(figure, axis, columns=4)
    left_out = "" if len(shown) == len(ranks) else f" The first {len(shown)} of {len(ranks)} ranks."
    return Picture(
        title="Who did what when",
        caption=f"{what[0].upper()}{what[1:]}. Each row is a rank; above it the thin lines say how its levers stood. Time: measured, by each "
        f"node's own clock.{left_out}",
        alt=f"A Gantt chart of {len(shown)} ranks over {number(1e3 * (end_s - begin_s))} ms, {what}. The table below has the "
        "sums.",
        svg=render(figure),
    )


def table(ranks: Sequence[Rank], begin_s: float, end_s: float) -> Table:
    """What each rank did, in milliseconds."""
    heads = ["rank", "node", "in calls", *(_LOOKS[what][0] for what in ("net", "local", "copy", "spin", "rest", "sleep")),
             "throttled", "lowest frequency"]  # fmt: skip
    rows = []
    for rank in ranks:
        sums = [_sum(rank.calls, begin_s, end_s)]
        sums += [_sum([each for each in rank.states if each.what == what], begin_s, end_s) for what in list(_LOOKS)[1:]]
        sums += [_sum(rank.tstates, begin_s, end_s), _sum(rank.low, begin_s, end_s)]
        rows.append([str(rank.rank), rank.host, *(number(1e3 * seconds) for seconds in sums)])
    note = "Milliseconds. A rank waits while it talks or copies, too, so these overlap."
    return Table("Sums", heads, rows, note)


def page(ranks: Sequence[Rank], begin_s: float, end_s: float, what: str, name: str) -> str:
    """The chart and its sums as one self-contained page."""
    parts = [f"<h1>Timeline: {escape(name)}</h1>\n", as_picture(picture(ranks, begin_s, end_s, what)),
             as_table(table(ranks, begin_s, end_s))]  # fmt: skip
    if any(rank.lost for rank in ranks):
        parts.insert(1, '<p class="note">The trace was longer than its buffer: its end is missing.</p>\n')
    return whole(["".join(parts)], [name])


def _sum(intervals: Sequence[Interval], begin_s: float, end_s: float) -> float:
    return sum(part.end_s - part.begin_s for each in intervals if (part := each.within(begin_s, end_s)) is not None)


def _bars(intervals: Sequence[Interval], begin_s: float, end_s: float) -> List[Tuple[float, float]]:
    parts = [each.within(begin_s, end_s) for each in intervals]
    return [(1e3 * (part.begin_s - begin_s), 1e3 * (part.end_s - part.begin_s)) for part in parts if part is not None]


def _draw_rank(axis: Any, row: int, rank: Rank, begin_s: float, end_s: float) -> None:
    for what, (_, colour, hatch) in _LOOKS.items():
        intervals = rank.calls if what == "call" else [each for each in rank.states if each.what == what]
        bars = _bars(intervals, begin_s, end_s)
        if bars:
            axis.broken_barh(bars, (row - 0.22, 0.58), facecolor=colour, hatch=hatch or None, edgecolor="white", linewidth=0)
    for intervals, colour, top in ((rank.low, "#0072B2", -0.44), (rank.tstates, "#000000", -0.34)):
        bars = _bars(intervals, begin_s, end_s)
        if bars:
            axis.broken_barh(bars, (row + top, 0.09), facecolor=colour, linewidth=0)


def _draw_phases(axis: Any, rank: Rank, begin_s: float, end_s: float) -> None:
    """Where the first rank's phases begin; one that goes on in further steps is named once."""
    before = None
    for at_s, phase in rank.phases:
        if begin_s <= at_s <= end_s and phase != before:
            at_ms = 1e3 * (at_s - begin_s)
            axis.axvline(at_ms, color="#777777", linewidth=0.7, linestyle=":")
            axis.text(at_ms, -0.55, " " + _PHASES.get(phase, str(phase)), fontsize=7, va="bottom")
            before = phase


def _draw_nodes(axis: Any, ranks: Sequence[Rank]) -> None:
    for row, (left, right) in enumerate(zip(ranks, ranks[1:])):
        if left.host != right.host:
            axis.axhline(row + 0.47, color="#333333", linewidth=0.8)
    for host in dict.fromkeys(rank.host for rank in ranks):
        rows = [row for row, rank in enumerate(ranks) if rank.host == host]
        axis.text(1.005, (rows[0] + rows[-1]) / 2, host, transform=axis.get_yaxis_transform(), fontsize=8, va="center")
