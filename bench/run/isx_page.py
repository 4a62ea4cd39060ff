# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The page of a session of the bucket sort: the phases' times as bars, and the speed-up."""
from __future__ import annotations

from html import escape
from typing import Any, Dict

from bench.run import isx_figures as figures
from bench.run.isx_figures import BASE, GAINS, PHASES
from poweraware.markup import as_box, as_picture, as_table, whole
from poweraware.picture import Picture, from_zero, legend_above, panels, render as render_figure

_HEIGHT_IN = 2.9
_BARS = (("#999999", ""), ("#0072B2", ""), ("#56B4E9", "///"), ("#D55E00", ""), ("#E69F00", "xxx"), ("#009E73", "..."))
_POINTS = (("#000000", "o"), ("#0072B2", "s"), ("#D55E00", "^"))


def render(document: Dict[str, Any], name: str) -> str:
    """The page, self-contained."""
    host = document["host"]
    setting = (f"Keys below {document['key_range']:,}, {document['repetitions']} runs each, on {host['name']} ({host['cpu_model']}, "
               f"{host['cpus']} CPUs), stock Open MPI.")  # fmt: skip
    parts = [f"<h1>Bucket sort with the communication of ISx: {escape(name)}</h1>\n<p>{escape(setting)}</p>\n"]
    if document["failures"]:
        parts.append(as_box("Warnings", document["failures"], "box warning"))
    parts.append(as_box("What is measured, what is not", [figures.NOTE, figures.EMULATED], "box"))
    for benchmark in figures.benchmarks(document):
        parts += [as_picture(bars(document, benchmark)), as_picture(speedups(document, benchmark)), as_table(figures.table(document, benchmark))]
    parts.append(f"<h2>Command</h2>\n<p><code>{escape(' '.join(document['command']))}</code></p>\n")
    return whole(["".join(parts)], [name])


def bars(document: Dict[str, Any], benchmark: str) -> Picture:
    """A panel per place, a bar per way, its phases one above the other."""
    title = figures.title(benchmark)
    picture = Picture(f"Figure: time by phase. {title}", f"{figures.NOTE} {figures.EMULATED}",
                      f"Bars of the time of each way by phase, a panel for each of: {', '.join(figures.places(document))}.")  # fmt: skip
    ways = figures.ways(document)
    labels = [way.replace("-", "-\n") for way in ways]
    figure, axes = panels([f"nodes x PEs: {place}" for place in figures.places(document)], _HEIGHT_IN)
    for place, axis in zip(figures.places(document), axes):
        bottom = [0.0] * len(ways)
        for phase, (colour, hatch) in zip(PHASES, _BARS):
            heights = [figures.milliseconds(document, place, benchmark, way, phase) or 0.0 for way in ways]
            axis.bar(labels, heights, bottom=bottom, color=colour, hatch=hatch, edgecolor="#333333", linewidth=0.5, label=phase)
            bottom = [low + height for low, height in zip(bottom, heights)]
        axis.set(title=f"nodes x PEs: {place}", ylabel="ms")
        from_zero(axis)
    legend_above(figure, axes[0])
    picture.svg = render_figure(figure)
    return picture


def speedups(document: Dict[str, Any], benchmark: str) -> Picture:
    """A panel each for puts, exchange and the whole sort, a point with its interval per place and way."""
    picture = Picture(f"Figure: speed-up over stock. {figures.title(benchmark)}", f"Above 1 the way is faster. {figures.NOTE} {figures.EMULATED}",
                      "Points with intervals of the speed-up by place, a panel for the puts, the exchange and the whole sort.")  # fmt: skip
    places, ways = figures.places(document), [way for way in figures.ways(document) if way != BASE]
    figure, axes = panels(list(GAINS), _HEIGHT_IN)
    for phase, axis in zip(GAINS, axes):
        for k, (way, (colour, marker)) in enumerate(zip(ways, _POINTS)):
            for at, place in enumerate(places):
                found = figures.speedup(document, place, benchmark, way, phase)
                if found is not None:
                    low, high = found.low or found.middle, found.high or found.middle
                    axis.errorbar([at + 0.15 * k], [found.middle], yerr=[[found.middle - low], [high - found.middle]], color=colour, marker=marker,
                                  capsize=2, label=way if at == 0 else None)  # fmt: skip
        axis.axhline(1, color="#999999", linewidth=0.8)
        axis.set(title=phase, ylabel="times as fast as stock", xticks=range(len(places)), xticklabels=places)
        from_zero(axis)
    legend_above(figure, axes[-1])  # the puts have not all ways
    picture.svg = render_figure(figure)
    return picture
