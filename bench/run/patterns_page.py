# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The page of a session of access patterns: figures 3 to 6 of Jana et al. against the number of fragments."""
from __future__ import annotations

from html import escape
from typing import Any, Dict, List

from bench.run import patterns_figures as figures
from bench.run.patterns_figures import CHANGES, IMPACTS, METRICS, PATTERNS, Key, Metric
from poweraware.markup import as_box, as_picture, as_table, whole
from poweraware.picture import Look, Picture, legend_above, log_axis, panels, render as render_figure

_HEIGHT_IN = 2.9
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_LINES: List[Any] = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
_LOOKS = [Look(colour, line, marker, "") for colour, line, marker in zip(_COLOURS, _LINES, "os^DvX")]


def render(document: Dict[str, Any], name: str) -> str:
    """The page, self-contained."""
    parts = [f"<h1>Access patterns: {escape(name)}</h1>\n<p>{escape(_setting(document))}</p>\n"]
    if document["failures"]:
        parts.append(as_box("Warnings", document["failures"], "box warning"))
    parts.append(as_box("What is measured, what is not", _origins(document), "box"))
    for operation in dict.fromkeys(key[2] for key in figures.keys(document)):
        keys = [key for key in figures.keys(document) if key[2] == operation]
        parts += [as_picture(values(document, keys, metric)) for metric in METRICS]
        parts += [as_picture(impacts(document, keys, metric)) for metric in IMPACTS]
    for key in figures.keys(document):
        parts += [as_table(figures.values_table(document, key, METRICS[0])), as_table(figures.impact_table(document, key, METRICS[0]))]
    parts.append(as_table(figures.ways_table(document)))
    parts.append(f"<h2>Command</h2>\n<p><code>{escape(' '.join(document['command']))}</code></p>\n")
    return whole(["".join(parts)], [name])


def values(document: Dict[str, Any], keys: List[Key], metric: Metric) -> Picture:
    """A quantity of a call against the number of fragments: a panel per place and library, a line per pattern."""
    picture = Picture(
        title=f"Figure: {metric.name} of a {keys[0][2]} ({metric.unit})",
        caption=f"{document['bytes']} bytes in so many fragments. {figures.values_table(document, keys[0], metric).note}",
        alt=f"Lines of {metric.name} against the number of fragments, one per pattern, a panel for each of: "
        + "; ".join(figures.name_of(key) for key in keys) + ".",
        why_absent=_why_absent(document, metric),
    )  # fmt: skip
    lines = {key: {p: figures.by_fragments(document, key, p, metric) for p in PATTERNS} for key in keys}
    known = [value for patterns in lines.values() for points in patterns.values() for value in points.values() if value > 0]
    if known:
        figure, axes = panels([figures.name_of(key) for key in keys], _HEIGHT_IN, 2)
        for key, axis in zip(keys, axes):
            for pattern, look in zip(PATTERNS, _LOOKS):
                _line(axis, lines[key][pattern], pattern, look)
            log_axis(axis, min(known), max(known))
            axis.set(title=figures.name_of(key), xlabel="fragments", ylabel=f"{metric.name} ({metric.unit})", xscale="log")
        legend_above(figure, axes[0])
        picture.svg = render_figure(figure)
    return picture


def impacts(document: Dict[str, Any], keys: List[Key], metric: Metric) -> Picture:
    """The impact of each change of pattern."""
    picture = Picture(
        title=f"Figure: impact on {metric.name}, {keys[0][2]} (%)",
        caption="I = (M_i - M_f) / M_i * 100: above 0 the second pattern takes less; values below -150 are drawn there. "
        + figures.values_table(document, keys[0], metric).note,
        alt=f"Lines of the impact on {metric.name} in percent against the number of fragments, one for each of: "
        + "; ".join(f"{change.name}, {change.initial} to {change.final}" for change in CHANGES) + ".",
        why_absent=_why_absent(document, metric),
    )  # fmt: skip
    lines = {key: {change: figures.impacts(document, key, change, metric) for change in CHANGES} for key in keys}
    if any(points for changes in lines.values() for points in changes.values()):
        figure, axes = panels([figures.name_of(key) for key in keys], _HEIGHT_IN, 2)
        for key, axis in zip(keys, axes):
            for change, look in zip(CHANGES, _LOOKS):
                clipped = {f: max(value, -150.0) for f, value in lines[key][change].items()}
                _line(axis, clipped, f"{change.initial} to {change.final}", look)
            axis.axhline(0, color="#999999", linewidth=0.8)
            axis.set(title=figures.name_of(key), xlabel="fragments", ylabel="I (%)", xscale="log", ylim=(-160, 105))
        legend_above(figure, axes[0], 3)
        picture.svg = render_figure(figure)
    return picture


def _line(axis: Any, points: Dict[int, float], label: str, look: Look) -> None:
    if points:
        axis.plot(list(points), list(points.values()), color=look.colour, linestyle=look.line, marker=look.marker, label=label)


def _why_absent(document: Dict[str, Any], metric: Metric) -> str:
    if metric.name == "DRAM energy" and document["energy"]["kind"] != "absent":
        return "no meter of memory"
    return str(document["energy"]["note"]) if metric.is_energy else "no point was measured"


def _setting(document: Dict[str, Any]) -> str:
    machine = f"emulated power hardware {document['machine']}" if document["machine"] else "the host's own meters"
    return (f"Patterns of Jana, Schuchart and Chapman: {document['bytes']} bytes from one process to another, {document['repetitions']} runs each, "
            f"on {document['host']['name']} ({document['host']['cpu_model']}, {document['host']['cpus']} CPUs), {machine}.")  # fmt: skip


def _origins(document: Dict[str, Any]) -> List[str]:
    return [
        "Time: measured; clocks of the host around real communication of real processes.",
        f"Energy: {figures.origin(document)}",
        "Nodes are name spaces of one host: processes of two nodes share its caches, and TCP does not leave it.",
        "Each call finds its data out of the caches of a core; a last-level cache of more than 64 MiB may still hold them.",
    ]
