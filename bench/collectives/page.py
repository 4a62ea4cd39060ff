# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The comparison as one self-contained HTML page."""
from __future__ import annotations

from html import escape
from typing import Any, Dict, List, Sequence

from bench.collectives import text
from bench.collectives.figures import Ratio
from poweraware import wording
from poweraware.markup import as_box, as_picture, as_table, whole
from poweraware.picture import Picture, legend_above, look, panels, render
from poweraware.table import Table

_GOAL = 0.90
_BOUND = 1.05


def page(found: Sequence[Ratio], head: Dict[str, Any], wrong: Sequence[str]) -> str:
    """The page."""
    parts = [f"<h1>Collectives: ours and the best stock component</h1>\n<p class=\"note\">{escape(_setting(head))}</p>\n"]
    if wrong:
        parts.append(as_box("Wrong data, left out", wrong, "box warning"))
    for ours in text.names_of(found):
        parts.append(as_table(_table(text.means(found, ours))))
        over_copy = text.copies(found, ours)
        parts += [as_table(_table(over_copy))] if over_copy else []
    for layout in text.layouts_of(found):
        parts.append(as_picture(ratios_of_layout([ratio for ratio in found if ratio.layout == layout], layout, head)))
    parts.append(as_table(_points(found)))
    parts.append(f"<h2>Command</h2><p><code>{escape(' '.join(head['command']))}</code></p>\n")
    return whole(parts, ["collectives"])


def ratios_of_layout(found: Sequence[Ratio], layout: str, head: Dict[str, Any]) -> Picture:
    """A panel per collective: ratio over size, with intervals."""
    collectives = sorted({ratio.collective for ratio in found})
    names = text.names_of(found)
    figure, axes = panels(collectives, 1.9)
    for axis, collective in zip(axes, collectives):
        for name in names:
            _draw(axis, [r for r in found if r.collective == collective and r.ours == name], name, names)
        axis.axhline(1, color="#000000", linewidth=0.8)
        axis.axhspan(_BOUND, 1e3, color="#D55E00", alpha=0.08)
        axis.axhline(_GOAL, color="#009E73", linewidth=0.8, linestyle=":")
        axis.set(title=collective, yscale="log")
        shown = [end for r in found if r.collective == collective for end in (r.low, r.high)]
        axis.set_ylim(min([*shown, 0.8]) / 1.1, max([*shown, 1.2]) * 1.1)
        axis.yaxis.set_major_formatter(lambda value, _: wording.number(value))
        axis.yaxis.set_minor_formatter(lambda value, _: wording.number(value) if f"{value:e}"[0] in "25" else "")
        axis.tick_params(axis="y", which="both", labelsize=7)
    legend_above(figure, axes[0])
    nodes, ranks = map(int, layout.split("x"))
    crowded = nodes * ranks > head["cpus"]
    caption = (f"Time of ours over that of the best stock component, {wording.plural(nodes, 'node')} of {ranks} ranks; "
               f"median of blocks, bars: 95 % intervals; dotted: {_GOAL}, shaded: above {_BOUND}.")
    if crowded:
        caption += f" {nodes * ranks} ranks shared {head['cpus']} CPUs: all times are stretched."
    alt = f"Ratios of {', '.join(names)} to the best stock component for {', '.join(collectives)}"
    return Picture(f"{layout}: {wording.plural(nodes * ranks, 'rank')}", caption, alt, render(figure))


def _draw(axis: Any, mine: List[Ratio], name: str, names: List[str]) -> None:
    if not mine:
        return
    style = look(name, names)
    sizes = [max(r.size, 1) for r in mine]
    values = [r.ratio for r in mine]
    bars = [[max(0.0, r.ratio - r.low) for r in mine], [max(0.0, r.high - r.ratio) for r in mine]]
    axis.errorbar(sizes, values, yerr=bars, color=style.colour, linestyle=style.line,
                  marker=style.marker, markersize=3, capsize=2, elinewidth=0.8, label=name)
    axis.tick_params(axis="x", labelsize=7)
    if max(sizes) > 1:
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: wording.size(round(value)).replace("iB", ""))
    else:
        axis.set_xticks([])


def _setting(head: Dict[str, Any]) -> str:
    return (f"{head['library']}, {head['host']} with {wording.plural(head['cpus'], 'CPU')}, {head['date']}; "
            f"{wording.plural(head['repetitions'], 'job')} of each layout. Nodes are name spaces of this machine.")


def _table(rows: List[List[str]]) -> Table:
    return Table(rows[0][0], rows[0], rows[1:], "")


def _points(found: Sequence[Ratio]) -> Table:
    rows = [["every point", "layout", "size", "ours", "us", "best stock", "us", "ratio", "95 %", "CPU time"]]
    for r in found:
        rows.append([r.collective, r.layout, wording.size(r.size), r.ours, wording.number(r.us), r.best_stock,
                     wording.number(r.best_us), f"{r.ratio:.3f}", f"{r.low:.2f} to {r.high:.2f}", f"{r.cpu_ratio:.2f}"])
    return _table(rows)
