# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Pictures over message sizes, schemes and ranks."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

from poweraware import wording
from poweraware.picture import Look, Picture, draw_products, from_zero, legend_above, log_axis, look, panels, render, ticker
from poweraware.ratios import Ratio
from poweraware.session import jobs, onesided, summary, words
from poweraware.session.document import Document, ReferencePoint, Run

_BARS = "percent: change against the first scheme and its 95 % interval, where one is shown; bars: standard deviation over repetitions."

# Parts of bars, distinct without colour: fill and hatch.
_PART_LOOKS = (("#0072B2", ""), ("#56B4E9", "///"), ("#eeeeee", "..."))

BySize = Callable[[Document, str, str], Dict[int, summary.Spread]]


def latency(document: Document) -> Picture:
    """Latency by message size, schemes side by side."""
    picture = Picture(
        title="Latency by message size",
        caption="Mean latency of a call; bars: standard deviation over repetitions. "
        + words.time_caption(document)
        + ".",
        alt=_alt("Latency in microseconds against message size in bytes", document),
    )
    return _by_size(document, picture, summary.latency_by_size, "latency (µs)")


def over_polling(document: Document, quantity: str) -> Picture:
    """A figure of one-sided operations over polling's, by message size: a third of figures 4 to 15 of PASCoL."""
    name = {"latency": "Latency", "power": "Power", "energy": "Energy per MB"}[quantity]
    origin = words.time_caption(document)
    if quantity != "latency":
        origin = f"sizes too short for the sampling interval are left out. {_energy_caption(document)}"
    picture = Picture(
        title=f"{name} over polling, as figures 4 to 15 of PASCoL",
        caption=f"{name} of an operation with its flush over that of {document.baseline()}, geometric mean of pairs of repetitions; bars: "
        f"95 % interval; {origin}. {_references_caption(document, quantity)}",
        alt=_alt(f"{name} over polling against message size in bytes", document),
        why_absent=None if quantity == "latency" else summary.why_no_energy(document),
    )
    if picture.why_absent is not None:
        return picture
    figure, axes = panels(document.benchmarks(), 2.9, columns=2)
    for axis, benchmark in zip(axes, document.benchmarks()):
        ends = [1.0, *_reference_lines(axis, document, benchmark, quantity)]
        for scheme in document.schemes():
            if scheme != document.baseline():
                ends += _ratio_line(axis, onesided.ratios_by_size(document, benchmark, scheme, quantity), scheme, document.schemes())
        axis.axhline(1.0, color="#888888", linewidth=0.8)
        axis.set(title=benchmark, xlabel="message size (bytes)", ylabel=f"{name[0].lower()}{name[1:]} / {document.baseline()}")
        _size_axis(axis, _sizes_of(document, benchmark))
        log_axis(axis, min(ends), max(ends))
    legend_above(figure, axes[0], columns=4)
    picture.svg = render(figure)
    return picture


def _references_caption(document: Document, quantity: str) -> str:
    """What points and lines of others are on a picture."""
    marks = {"published": "stars", "modelled": "thin lines"}
    drawn = [each for each in document.references if any(_is_drawn(document, point, quantity) for point in each.points)]
    return " ".join(f"{marks[each.kind].capitalize()}: {each.name}, {each.kind}." for each in drawn)


def _is_drawn(document: Document, point: ReferencePoint, quantity: str) -> bool:
    return point.benchmark in document.benchmarks() and point.scheme in document.schemes() and getattr(point, quantity) is not None


def _reference_lines(axis: Any, document: Document, benchmark: str, quantity: str) -> List[float]:
    """Draws what others say of a benchmark; returns the figures."""
    ends: List[float] = []
    for reference in document.references:
        for scheme in document.schemes():
            points = [each for each in reference.points if (each.benchmark, each.scheme) == (benchmark, scheme)]
            known = {each.bytes: getattr(each, quantity) for each in points if getattr(each, quantity) is not None}
            style = look(scheme, document.schemes())
            how = {"linestyle": "", "marker": "*", "markersize": 10} if reference.kind == "published" else {"linewidth": 0.8}
            if known:
                axis.plot(list(known), list(known.values()), color=style.colour, zorder=2, label=f"{scheme}, {reference.name}", **how)
            ends += known.values()
    return ends


def _ratio_line(axis: Any, found: Dict[int, Ratio], scheme: str, schemes: List[str]) -> List[float]:
    """Draws ratios with their intervals; returns the ends of what was drawn."""
    style = look(scheme, schemes)
    middles = [each.middle for each in found.values()]
    reach = [(each.low or each.middle, each.high or each.middle) for each in found.values()]
    bars = [[m - low for m, (low, _) in zip(middles, reach)], [high - m for m, (_, high) in zip(middles, reach)]]
    axis.errorbar(list(found), middles, yerr=bars if found else None, color=style.colour, linestyle=style.line, marker=style.marker, capsize=2,
                  elinewidth=0.8, label=scheme, zorder=3)  # fmt: skip
    return [end for ends in reach for end in ends]


def energy_by_size(document: Document) -> Picture:
    """Energy of one call by message size, all nodes together."""
    picture = Picture(
        title="Energy per call by message size",
        caption="Energy of all nodes while a size ran, divided by its calls; sizes too short for "
        f"the sampling interval are left out. {_energy_caption(document)}.",
        alt=_alt("Energy per call in joules against message size in bytes", document),
        why_absent=summary.why_no_energy(document),
    )
    return _by_size(document, picture, summary.energy_by_size, "energy per call (J)")


def power_bars(document: Document) -> Picture:
    """Mean power of a run per benchmark and scheme."""
    picture = Picture(
        title="Mean power per benchmark and scheme",
        caption=f"Mean power of all nodes over a run; {_BARS} {words.power_caption(document)}.",
        alt=_alt("Bars of mean power in watts for each scheme", document),
        why_absent=summary.why_no_energy(document),
    )
    return _bars(document, picture, lambda cell: cell.power_w, "W", "mean power")


def energy_bars(document: Document) -> Picture:
    """Energy of a run per benchmark and scheme."""
    picture = Picture(
        title="Energy per benchmark and scheme",
        caption=f"Energy of all nodes over a run; {_BARS} {_energy_caption(document)}.",
        alt=_alt("Bars of energy in joules for each scheme", document),
        why_absent=summary.why_no_energy(document),
    )
    return _bars(document, picture, lambda cell: cell.energy_j, "J", "energy")


def energy_delay(document: Document) -> Picture:
    """The energy-delay plane: each scheme's energy over the baseline's against its time over the baseline's."""
    picture = Picture(
        title="Energy and delay",
        caption=f"Energy against time, both over those of {document.baseline()}, geometric mean over repetitions; nearer to the corner is better, and along "
        f"a dotted line the energy-delay product is the same. {_energy_caption(document)}.",
        alt=_alt(f"Marks of energy against time, both over those of {document.baseline()}", document),
        why_absent=summary.why_no_energy(document),
    )
    if picture.why_absent is not None:
        return picture
    benchmarks = document.benchmarks()
    figure, axes = panels(benchmarks, 2.9)
    for axis, benchmark in zip(axes, benchmarks):
        points = []
        for scheme in document.schemes():
            cell = summary.cell(document, benchmark, scheme)
            if cell.time_s.ratio is not None and cell.energy_j.ratio is not None:
                points.append((scheme, cell.time_s.ratio.middle, cell.energy_j.ratio.middle))
        for scheme, time, joules in points:
            style = look(scheme, document.schemes())
            axis.scatter(time, joules, color=style.colour, marker=style.marker, s=40, label=scheme, zorder=3)
        high = 1.15 * max([1.0, *(max(point[1:]) for point in points)])
        axis.set(title=benchmark, xlabel=f"time / {document.baseline()}", ylabel=f"energy / {document.baseline()}", xlim=(0, high), ylim=(0, high))
        draw_products(axis, [time * joules for _, time, joules in points])
    legend_above(figure, axes[0])
    picture.svg = render(figure)
    return picture


def cpu_seconds(document: Document) -> Picture:
    """CPU seconds of every rank: what waiting costs the processor."""
    picture = Picture(
        title="CPU seconds per rank",
        caption="User and system time of each rank over all message sizes, mean over repetitions; "
        "vertical lines separate nodes. " + words.time_caption(document) + ".",
        alt=_alt("CPU seconds against rank", document),
    )
    if not any(_cpu_by_rank([run]) for run in document.runs if run.failure is None):
        picture.why_absent = "the benchmark does not tell the CPU time of each rank"
        return picture
    benchmarks = document.benchmarks()
    figure, axes = panels(benchmarks, 2.5)
    for axis, benchmark in zip(axes, benchmarks):
        for scheme in document.schemes():
            style = look(scheme, document.schemes())
            seconds = _cpu_by_rank(document.good_runs(benchmark, scheme))
            axis.plot(
                list(seconds),
                list(seconds.values()),
                color=style.colour,
                linestyle=style.line,
                linewidth=0.8,
                marker=style.marker,
                markersize=3.5,
                label=scheme,
            )
        _node_borders(axis, document)
        axis.set(title=benchmark, xlabel="rank", ylabel="CPU time (s)")
        from_zero(axis)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    legend_above(figure, axes[0])
    picture.svg = render(figure)
    return picture


def application_times(document: Document) -> Picture:
    """Where processes of an application spent their time, per scheme (as figures 9 to 11 of the paper)."""
    picture = Picture(
        title="Time of applications",
        caption="Mean time of a process from MPI_Init to MPI_Finalize, and what part of it was in collectives; mean over "
        f"repetitions, bars: standard deviation of the whole. {words.time_caption(document)}.",
        alt=_alt("Stacked bars of the time of a process in seconds for each scheme", document),
    )
    if not any(run.job for run in document.runs if run.failure is None):
        picture.why_absent = "no run left a document of its job"
        return picture
    benchmarks, schemes = document.benchmarks(), document.schemes()
    figure, axes = panels(benchmarks, 2.7)
    for axis, benchmark in zip(axes, benchmarks):
        for place, scheme in enumerate(schemes):
            _stack(axis, place, document.good_runs(benchmark, scheme))
        axis.set(title=benchmark, ylabel="time (s)")
        axis.set_xticks(range(len(schemes)), schemes)
        axis.set_xlim(-0.6, len(schemes) - 0.4)
        axis.grid(axis="x", visible=False)
        from_zero(axis)
    legend_above(figure, axes[0])
    picture.svg = render(figure)
    return picture


def _stack(axis: Any, place: int, runs: List[Run]) -> None:
    parts = [part for part in map(jobs.per_process_s, runs) if part is not None]
    if not parts:
        return
    bottom = 0.0
    whole = summary.spread([sum(part.values()) for part in parts])
    labelled = bool(axis.get_legend_handles_labels()[1])
    for name, (colour, hatch) in zip(jobs.PARTS, _PART_LOOKS):
        height = sum(part[name] for part in parts) / len(parts)
        axis.bar(place, height, bottom=bottom, width=0.62, color=colour, edgecolor="black", hatch=hatch, linewidth=0.6,
                 label=None if labelled else name)  # fmt: skip
        bottom += height
    if whole is not None and whole.deviation:
        axis.errorbar(place, bottom, yerr=whole.deviation, color="black", capsize=3)


def _alt(what: str, document: Document) -> str:
    return (
        f"{what}; one panel per benchmark ({', '.join(document.benchmarks())}), "
        f"schemes {', '.join(document.schemes())}. The figures are in the tables of this page."
    )


def _energy_caption(document: Document) -> str:
    return f"{words.power_caption(document, 'energy')}; {words.time_caption(document)}"


def _by_size(document: Document, picture: Picture, figures: BySize, label: str) -> Picture:
    if picture.why_absent is not None:
        return picture
    benchmarks = document.benchmarks()
    figure, axes = panels(benchmarks, 2.9)
    means: List[float] = []
    for axis, benchmark in zip(axes, benchmarks):
        panel: List[float] = []
        for scheme in document.schemes():
            values = figures(document, benchmark, scheme)
            panel += _extent(values)
            _size_line(axis, values, scheme, document.schemes())
        axis.set(title=benchmark, xlabel="message size (bytes)", ylabel=label)
        _size_axis(axis, _sizes_of(document, benchmark))
        if panel:
            log_axis(axis, min(panel), max(panel))
        means += panel
    if not means:
        picture.why_absent = (
            "no run gave such figures: every run failed, or every size was too short to resolve"
        )
        return picture
    legend_above(figure, axes[0])
    picture.svg = render(figure)
    return picture


def _extent(values: Dict[int, summary.Spread]) -> List[float]:
    """What a logarithmic axis has to show: the means and the ends of their bars."""
    ends: List[float] = []
    for value in values.values():
        lowest = max(value.mean - value.deviation, value.mean / 3)
        ends += [lowest, value.mean, value.mean + value.deviation]
    return [end for end in ends if end > 0]


def _size_line(
    axis: Any, values: Dict[int, summary.Spread], scheme: str, schemes: List[str]
) -> None:
    style = look(scheme, schemes)
    deviations = [value.deviation for value in values.values()]
    axis.errorbar(
        list(values),
        [value.mean for value in values.values()],
        yerr=deviations if any(deviations) else None,
        color=style.colour,
        linestyle=style.line,
        marker=style.marker,
        capsize=2,
        elinewidth=0.8,
        label=scheme,
    )


def _sizes_of(document: Document, benchmark: str) -> List[int]:
    runs = [run for run in document.runs if run.benchmark == benchmark]
    return [row.bytes for run in runs for row in run.rows]


def _size_axis(axis: Any, sizes: List[int]) -> None:
    axis.set_xscale("log", base=2)
    if sizes:  # the same for all pictures of a benchmark, also where some sizes have no figure
        axis.set_xlim(max(min(sizes), 1) / 1.5, max(max(sizes), 1) * 1.5)
    axis.xaxis.set_major_locator(ticker.LogLocator(base=2, numticks=7))
    axis.xaxis.set_major_formatter(lambda value, _: wording.size(round(value)).replace("iB", ""))


def _bars(
    document: Document,
    picture: Picture,
    quantity: Callable[[summary.Cell], summary.Quantity],
    unit: str,
    name: str,
) -> Picture:
    if picture.why_absent is not None:
        return picture
    benchmarks, schemes = document.benchmarks(), document.schemes()
    figure, axes = panels(benchmarks, 2.5)
    for axis, benchmark in zip(axes, benchmarks):
        tops = [0.0]
        for place, scheme in enumerate(schemes):
            values = quantity(summary.cell(document, benchmark, scheme))
            if values.value is not None:
                _bar(axis, place, values, unit, look(scheme, schemes))
                tops.append(values.value.mean + values.value.deviation)
        axis.set(title=benchmark, ylabel=f"{name} ({unit})", ylim=(0, max(tops) * 1.28 or 1))
        axis.set_xticks(range(len(schemes)), schemes)
        axis.set_xlim(-0.6, len(schemes) - 0.4)
        axis.grid(axis="x", visible=False)
    picture.svg = render(figure)
    return picture


def _bar(axis: Any, place: int, values: summary.Quantity, unit: str, style: Look) -> None:
    assert values.value is not None
    axis.bar(
        place,
        values.value.mean,
        yerr=values.value.deviation or None,
        width=0.62,
        color="white" if style.hatch else "#999999",
        edgecolor=style.colour,
        hatch=style.hatch,
        capsize=3,
    )
    axis.annotate(
        _bar_label(values, unit),
        (place, values.value.mean + values.value.deviation),
        (0, 3),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=8,
    )


def _bar_label(figures: summary.Quantity, unit: str) -> str:
    assert figures.value is not None
    label = f"{wording.number(figures.value.mean)} {unit}"
    if figures.ratio is not None and figures.ratio.change():
        label += "\n" + figures.ratio.change("+.2g").replace(" % ", " %\n")  # a bar is narrow
    return label


def _cpu_by_rank(runs: List[Run]) -> Dict[int, float]:
    seconds: Dict[int, List[float]] = {}
    for run in runs:
        for rank in run.ranks:
            if rank.cpu_s is not None:
                seconds.setdefault(rank.rank, []).append(rank.cpu_s)
    return {rank: sum(values) / len(values) for rank, values in sorted(seconds.items())}


def _node_borders(axis: Any, document: Document) -> None:
    """Lines where the node changes; ranks are placed node by node."""
    rank_nodes: Dict[int, Optional[int]] = {}
    for run in document.runs:
        for rank in run.ranks:
            rank_nodes[rank.rank] = rank.node
    ordered = sorted(rank_nodes)
    for before, after in zip(ordered, ordered[1:]):
        if rank_nodes[before] != rank_nodes[after]:
            axis.axvline((before + after) / 2, color="#888888", linewidth=0.7)
