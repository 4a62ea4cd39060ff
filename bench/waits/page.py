# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What waiting costs, as one self-contained HTML page."""
from __future__ import annotations

from html import escape
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from bench.waits import experiments, text, ways
from bench.waits.figures import Estimate, Row
from poweraware import wording
from poweraware.markup import as_box, as_picture, as_table, whole
from poweraware.picture import Look, Picture, from_zero, legend_above, log_axis, panels, render

# Okabe and Ito's palette, and never by colour alone.
_LOOKS = {
    "spin": Look("#000000", "-", "o", ""),
    "yield": Look("#E69F00", "--", "s", "///"),
    "stock": Look("#56B4E9", "-.", "^", "xxx"),
    "nanosleep": Look("#CC79A7", ":", "v", "\\\\\\"),
    "ours": Look("#009E73", "-", "D", "..."),
    "ours-all": Look("#D55E00", "--", "P", "+++"),
}

Value = Callable[[Row], Optional[Estimate]]
Place = Callable[[Row], float]


def page(found: Sequence[Row], head: Dict[str, Any]) -> str:
    """The page."""
    parts = ["<h1>What waiting costs</h1>\n"]
    if head["failures"]:
        parts.append(as_box("Failed, left out", head["failures"], "box warning"))
    parts.append(as_box("What is measured, what is not", text.setting(head), "box"))
    measured = list(dict.fromkeys(row.way for row in found))
    parts.append(as_box("Ways to wait", [f"{way}: {ways.WORDS[way]}" for way in measured], "box"))
    if any(row.point.openshmem for row in found):
        parts.append(as_table(text.side_by_side(found)))
    for name in experiments.names(found[0].point.openshmem):
        experiment = experiments.ALL[name]
        mine = [row for row in found if row.point.experiment == experiment.name]
        if mine:
            parts += [as_picture(picture) for picture in _pictures(experiment, _once(mine), head)]
            parts += [as_table(text.table(experiment, mine))]
        else:
            why = [line for line in head["skipped"] if line.startswith(experiment.name)]
            parts.append(f'<h2>{escape(experiment.name)}</h2>\n<p class="absent">'
                         f'{escape(why[0] if why else "was not asked for, or failed")}</p>\n')  # fmt: skip
    parts += [f"<p>{escape(line)}.</p>\n" for line in text.goals_met(found)]
    parts.append(f"<h2>Command</h2><p><code>{escape(' '.join(head['command']))}</code></p>\n")
    return whole(parts, ["what waiting costs"])


def _once(mine: Sequence[Row]) -> List[Row]:
    """A row for each point and way, whatever it is compared with."""
    return list({(row.point, row.way): row for row in reversed(mine)}.values())[::-1]


def _pictures(experiment: experiments.Experiment, mine: List[Row], head: Dict[str, Any]) -> List[Picture]:
    if mine[0].point.openshmem:
        return [_calls(mine, f"{experiment.title}: CPU", head)]
    if experiment.name == "skew":
        return [
            _lines(mine, "CPU of waiting ranks by lateness", "share of a CPU", lambda row: row.cpu_share,
                   ("lateness", lambda row: row.point.late_us, experiments.duration),
                   "CPU time of waiting ranks by the time of their call.", head),
            _lines(mine, "Time after the late rank's arrival", "us", lambda row: row.after_us,
                   ("lateness", lambda row: row.point.late_us, experiments.duration),
                   "From the last rank's call on until all have returned.", head),
        ]  # fmt: skip
    if experiment.name == "crowded":
        return [_lines(mine, "More ranks than CPUs: time of a call", "us", lambda row: row.time_us,
                       ("size", lambda row: max(row.point.bytes, 1), lambda size: wording.size(size).replace("iB", "")),
                       "Median time of a call.", head)]  # fmt: skip
    return [
        _bars(mine, f"{experiment.title}: time", "us", lambda row: row.time_us, experiment.note, head),
        _bars(mine, f"{experiment.title}: CPU time", "us", lambda row: row.cpu_us, experiment.note, head),
    ]


def _calls(mine: List[Row], title: str, head: Dict[str, Any]) -> Picture:
    """Calls of OpenSHMEM below each other, with a bar for each way."""
    names = list(dict.fromkeys(row.point.collective for row in mine))
    of_ways = _names(mine)
    figure, axes = panels([title], 0.6 + 0.17 * len(names) * len(of_ways))
    for number, way in enumerate(of_ways):
        own = [(names.index(row.point.collective), row.cpu_share) for row in mine if row.way == way]
        found = [(at, share) for at, share in own if share is not None]
        ends = [[100 * max(0.0, e.value - e.low) for _, e in found], [100 * max(0.0, e.high - e.value) for _, e in found]]
        places = [at + (number - (len(of_ways) - 1) / 2) * 0.8 / len(of_ways) for at, _ in found]
        style = _LOOKS[way]
        axes[0].barh(places, [100 * e.value for _, e in found], 0.7 / len(of_ways), xerr=ends, capsize=2, label=way,
                     hatch=style.hatch, color="white" if style.hatch else "#999999", edgecolor=style.colour)
        for at, (_, share) in zip(places, found):
            axes[0].annotate(text.percent(share).split()[0], (100 * share.high, at), (4, 0), textcoords="offset points", va="center",
                             fontsize=7)
    axes[0].axvline(3, color="#D55E00", linewidth=0.8, linestyle="--", label="goal of ours: 3 %")
    axes[0].set(xlabel="% of a CPU", xlim=(0, 112))
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    axes[0].grid(axis="y", visible=False)
    legend_above(figure, axes[0])
    alt = f"{title}; calls: {', '.join(names)}. The figures are in the table below."
    return Picture(title, _caption("CPU time of waiting PEs by the time of their call.", mine, head), alt, render(figure))


def _panels_of(mine: Sequence[Row]) -> Dict[str, List[Row]]:
    found: Dict[str, List[Row]] = {}
    for row in mine:
        point = row.point
        size = "" if point.experiment == "crowded" else f" {wording.size(point.bytes)}"
        found.setdefault(f"{point.layout} {point.collective}{size}", []).append(row)
    return found


def _caption(start: str, mine: Sequence[Row], head: Dict[str, Any]) -> str:
    crowded = sorted({row.point.layout for row in mine if row.point.ranks > head["cpus"]})
    emulated = sorted({row.point.layout for row in mine if row.point.nodes > 1})
    text_of = f"{start} Medians over repetitions, bars: 95 % intervals. Measured."
    text_of += f" Nodes of {', '.join(emulated)}: emulated." if emulated else ""
    return text_of + (f" {', '.join(crowded)}: ranks share {wording.plural(head['cpus'], 'CPU')}." if crowded else "")


def _alt(title: str, panel_names: Sequence[str]) -> str:
    return f"{title}; panels: {', '.join(panel_names)}. The figures are in the table below."


def _names(mine: Sequence[Row]) -> List[str]:
    return [way for way in ways.ALL if any(row.way == way for row in mine)]


def _lines(
    mine: List[Row], title: str, unit: str, value: Value, across: Tuple[str, Place, Callable[[int], str]], start: str,
    head: Dict[str, Any],
) -> Picture:  # fmt: skip
    label, place, tick = across
    grouped = _panels_of(mine)
    figure, axes = panels(list(grouped), 2.9)
    for axis, (name, group) in zip(axes, grouped.items()):
        places = sorted({place(row) for row in group})
        ends: List[float] = []
        for way in _names(mine):
            ends += _line(axis, [row for row in group if row.way == way], way, value, place)
        axis.set(title=name, xlabel=label, xscale="log")
        axis.set_xlim(places[0] / 1.6, places[-1] * 1.6)
        axis.set_xticks(places, [tick(round(at)) for at in places])
        axis.minorticks_off()
        log_axis(axis, max(min(ends), 1e-6), max(max(ends), 1e-6))
    axes[0].set_ylabel(unit)
    legend_above(figure, axes[0])
    return Picture(title, _caption(start, mine, head), _alt(title, list(grouped)), render(figure))


def _line(axis: Any, mine: List[Row], way: str, value: Value, place: Place) -> List[float]:
    """Draws a way; returns what the axis has to show."""
    found = [(place(row), estimate) for row in mine for estimate in [value(row)] if estimate is not None]
    if not found:
        return []
    style = _LOOKS[way]
    bars = [[max(0.0, e.value - e.low) for _, e in found], [max(0.0, e.high - e.value) for _, e in found]]
    axis.errorbar([at for at, _ in found], [e.value for _, e in found], yerr=bars, color=style.colour,
                  linestyle=style.line, marker=style.marker, markersize=4, capsize=2, elinewidth=0.8, label=way)
    return [end for _, e in found for end in (e.low, e.high)]


def _bars(
    mine: List[Row], title: str, unit: str, value: Value, start: str, head: Dict[str, Any]
) -> Picture:
    grouped = _panels_of(mine)
    figure, axes = panels(list(grouped), 2.7)
    for axis, (name, group) in zip(axes, grouped.items()):
        for at, row in enumerate(group):
            estimate = value(row)
            assert estimate is not None
            style = _LOOKS[row.way]
            bars = [[max(0.0, estimate.value - estimate.low)], [max(0.0, estimate.high - estimate.value)]]
            axis.bar(at, estimate.value, yerr=bars, width=0.62, capsize=3, hatch=style.hatch,
                     color="white" if style.hatch else "#999999", edgecolor=style.colour)
            axis.annotate(wording.number(estimate.value), (at, estimate.high), (0, 3), textcoords="offset points",
                          ha="center", va="bottom", fontsize=7)
        axis.set(title=name)
        axis.set_xticks(range(len(group)), [row.way for row in group])
        axis.tick_params(axis="x", labelsize=7)
        axis.grid(axis="x", visible=False)
        from_zero(axis)
    axes[0].set_ylabel(unit)
    return Picture(title, _caption(start[0].upper() + start[1:], mine, head), _alt(title, list(grouped)), render(figure))
