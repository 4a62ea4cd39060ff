# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The pictures of a job."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from poweraware.job import CallClass, Job, Power, Sums
from poweraware.picture import WIDTH_IN, Figure, Picture, draw_products, from_zero, legend_above, log_axis, look, render
from poweraware.wording import number, size

_MOST_NODES = 12
_MOST_ROWS = 14

# Of time in calls, from what costs nothing to what costs most; colours of Okabe and Ito.
STATES: Tuple[Tuple[str, str, str], ...] = (
    ("asleep", "#56B4E9", ""),
    ("resting on a cache line", "#009E73", "..."),
    ("spinning", "#D55E00", "xxx"),
    ("moving data and the rest", "#444444", "///"),
)


def all_pictures(job: Job) -> List[Picture]:
    """In the order of the page."""
    return [power(job), *([regions(job)] if job.regions else []), states(job), energy(job), plane(job)]


def power(job: Job) -> Picture:
    """Power over time: of each node while they are few, of all together otherwise."""
    kind = job.provenance.energy.kind
    curves = _curves(job)
    picture = Picture(
        title="Power over time",
        caption=f"Mean power of whole nodes in bins of time, {_of_what(job, curves)}. Power: {kind}; "
        f"time: {job.provenance.time.kind}.",
        alt=f"Power in watts against seconds since the job's begin, one line for each of: {', '.join(curves)}.",
        why_absent=None if curves else job.provenance.energy.note,
    )
    if not curves:
        return picture
    figure = Figure(figsize=(WIDTH_IN, 3.0), layout="constrained")
    axis = figure.subplots()
    lines = ("-", "--", "-.", ":")
    for index, (name, curve) in enumerate(curves.items()):
        edges = [curve.begin_s + k * curve.width_s for k in range(len(curve.watts) + 1)]
        axis.stairs(curve.watts, edges, baseline=None, label=name, linestyle=lines[index // 4 % 4], linewidth=1.5)
    axis.set(xlabel="time since the job's begin (s)", ylabel="power (W)")
    from_zero(axis)
    if len(curves) > 1:
        legend_above(figure, axis)
    picture.svg = render(figure)
    return picture


def regions(job: Job) -> Picture:
    """What ranks did in the regions that the program has marked."""
    found = sorted(job.regions, key=lambda each: -each.process_s)[:_MOST_ROWS]
    rows = [(each.name or "(others)", [max(0.0, each.process_s - each.calls.seconds), *_parts(each.calls)]) for each in found]
    states_of = (("outside of collectives", "#E69F00", "\\\\"), *STATES)
    picture = Picture(
        title="Where time in regions went",
        caption=f"All processes together, the regions in which most time was spent. Time: {job.provenance.time.kind}.",
        alt="Horizontal bars, one per region, of seconds outside of collectives and of those in them: "
        + ", ".join(f"{name} {number(sum(parts))} s" for name, parts in rows) + ".",
    )  # fmt: skip
    picture.svg = stacked(rows, states_of)
    return picture


def states(job: Job) -> Picture:
    """How ranks spent their time in calls, by class."""
    rows = _rows(job, lambda each: each.seconds)
    picture = Picture(
        title="Where time in calls went",
        caption="All processes together, the classes of calls in which most time was spent. Asleep: the CPU was "
        f"given back. Time: {job.provenance.time.kind}.",
        alt="Horizontal bars, one per class of calls, of seconds asleep, resting, spinning and the rest; in all "
        + ", ".join(f"{label} {number(sum(_parts(each)[k] for _, each in rows))} s" for k, (label, *_) in enumerate(STATES))
        + ".",
        why_absent=None if rows else "there were no calls",
    )
    if rows:
        picture.svg = stacked([(name, _parts(each)) for name, each in rows], STATES)
    return picture


def stacked(rows: Sequence[Tuple[str, List[float]]], states_of: Sequence[Tuple[str, str, str]], label_of_axis: str = "time, all processes (s)") -> bytes:
    """A bar per row, of the time in each of the states."""
    figure, axis = _bars(len(rows))
    for k, (label, colour, hatch) in enumerate(states_of):
        left = [sum(parts[:k]) for _, parts in rows]
        axis.barh(range(len(rows)), [parts[k] for _, parts in rows], left=left, color=colour, hatch=hatch, edgecolor="white", label=label)
    _finish_bars(figure, axis, [name for name, _ in rows], label_of_axis)
    legend_above(figure, axis)
    return render(figure)


def energy(job: Job) -> Picture:
    """Which calls the energy is attributed to."""
    rows = _rows(job, lambda each: each.joules or 0.0)
    outside = job.outside.joules
    picture = Picture(
        title="Where energy went",
        caption=f"Energy: {job.provenance.energy.kind}; its shares: {job.provenance.attribution.kind}. "
        f"{job.provenance.attribution.note}",
        alt="Horizontal bars of joules: outside of collectives, and each of the classes of calls that are charged "
        "with most.",
        why_absent=None if outside is not None else job.provenance.energy.note,
    )
    if outside is not None:
        named = [("outside of collectives", max(0.0, outside))] + [(name, each.joules or 0.0) for name, each in rows]
        figure, axis = _bars(len(named))
        colours = ["#0072B2"] + ["#E69F00"] * len(rows)
        hatches = [""] + ["///"] * len(rows)
        bars = axis.barh(range(len(named)), [joules for _, joules in named], color=colours, hatch=hatches, edgecolor="white")
        axis.bar_label(bars, [number(joules) for _, joules in named], padding=3, fontsize=8)
        axis.margins(x=0.12)
        _finish_bars(figure, axis, [name for name, _ in named], "energy (J)")
        picture.svg = render(figure)
    return picture


def plane(job: Job) -> Picture:
    """The energy-delay plane of the classes of calls: energy per call against time per call."""
    kind = job.provenance.attribution.kind
    points = [each for each in job.calls if each.joules and each.seconds > 0]
    picture = Picture(
        title="Energy and delay of a call",
        caption="Mean energy of a call, of all its ranks, against its mean time on a rank; along the thin lines "
        f"ranks draw the same power. Energy of calls: {kind}.",
        alt="A scatter plot with logarithmic axes, one mark per class of calls: " + ", ".join(points_words(points)) + ".",
        why_absent=None if points else job.provenance.energy.note if job.totals.joules is None else "no call was charged with energy",
    )
    if points:
        picture.svg = render(_plane(points))
    return picture


def side_by_side(jobs: Sequence[Job], names: Sequence[str]) -> List[Picture]:
    """Several jobs in the same pictures: calls of the same kind, and the jobs as a whole."""
    labels = labels_of(jobs, names)
    return [
        _per_call(jobs, labels, "Time of a call", "mean time on a rank (µs)", _delay_us, jobs[0].provenance.time.kind),
        _per_call(jobs, labels, "Energy of a call", "mean energy, all ranks (J)", _joules_per_call, jobs[0].provenance.attribution.kind),
        _jobs_plane(jobs, labels),
    ]


def labels_of(jobs: Sequence[Job], names: Sequence[str]) -> List[str]:
    """Jobs by their schemes where that tells them apart, else by their names too."""
    schemes = [job.settings.scheme for job in jobs]
    return schemes if len(set(schemes)) == len(schemes) else [f"{name}: {scheme}" for name, scheme in zip(names, schemes)]


Kind = Tuple[str, Optional[int]]  # a collective and its size class


def _by_kind(job: Job) -> Dict[Kind, CallClass]:
    """Whatever the algorithm, which is what schemes differ in; of communicators the one of most ranks."""
    found: Dict[Kind, CallClass] = {}
    for each in sorted(job.calls, key=lambda each: -(each.size or 0)):
        kind = each.collective, each.up_to_bytes
        if kind not in found:
            found[kind] = replace(each)
        elif (found[kind].communicator, found[kind].size) == (each.communicator, each.size):
            found[kind].add(each)
    return found


def _per_call(jobs: Sequence[Job], labels: List[str], title: str, axis_label: str, value: Callable[[CallClass], float], kind: str) -> Picture:
    tables = [_by_kind(job) for job in jobs]
    common = [key for key in tables[0] if all(key in table and value(table[key]) > 0 for table in tables)]
    common = sorted(common, key=lambda key: -sum(table[key].seconds for table in tables))[:_MOST_ROWS]
    words = "; ".join(f"{_kind_words(key)}: " + ", ".join(f"{label} {number(value(table[key]))}" for label, table in zip(labels, tables))
                      for key in common)  # fmt: skip
    picture = Picture(
        title=title,
        caption=f"The kinds of calls in which most time was spent, of those that all jobs have: {kind}. Logarithmic.",
        alt=f"Bars of {axis_label} by kind of call, one for each job. {words}.",
        why_absent=None if common else "the jobs have no kind of call in common that has such a figure",
    )
    if common:
        figure = Figure(figsize=(WIDTH_IN, 3.4), layout="constrained")
        axis = figure.subplots()
        width = 0.8 / len(jobs)
        for index, (label, table) in enumerate(zip(labels, tables)):
            style = look(label, labels)
            places = [place - 0.4 + (index + 0.5) * width for place in range(len(common))]
            axis.bar(places, [value(table[key]) for key in common], width, color=style.colour, hatch=style.hatch, edgecolor="white", label=label)
        axis.set_xticks(range(len(common)), [_kind_words(key).replace(" ≤", "\n≤") for key in common], fontsize=8)
        values = [value(table[key]) for key in common for table in tables]
        log_axis(axis, min(values) / 1.5, max(values))
        axis.set(ylabel=axis_label)
        axis.grid(axis="x", visible=False)
        legend_above(figure, axis)
        picture.svg = render(figure)
    return picture


def _jobs_plane(jobs: Sequence[Job], labels: List[str]) -> Picture:
    points = [(label, job.totals.seconds, job.totals.joules) for label, job in zip(labels, jobs) if job.totals.joules]
    picture = Picture(
        title="Energy and delay of the jobs",
        caption=f"Nearer to the corner is better; along a dotted line the energy-delay product is the same. Energy: "
        f"{jobs[0].provenance.energy.kind}; time: {jobs[0].provenance.time.kind}.",
        alt="A scatter plot of joules against seconds: " + ", ".join(f"{label} {number(s)} s {number(j or 0.0)} J" for label, s, j in points) + ".",
        why_absent=None if points else jobs[0].provenance.energy.note,
    )
    if points:
        figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
        axis = figure.subplots()
        for label, seconds, joules in points:
            style = look(label, labels)
            axis.scatter(seconds, joules, color=style.colour, marker=style.marker, s=45, label=label, zorder=3)
        axis.set(xlabel="time (s)", ylabel="energy of all nodes (J)", xlim=(0, 1.15 * max(point[1] for point in points)),
                 ylim=(0, 1.15 * max(point[2] or 0.0 for point in points)))  # fmt: skip
        draw_products(axis, [point[1] * (point[2] or 0.0) for point in points])
        legend_above(figure, axis)
        picture.svg = render(figure)
    return picture


def _kind_words(key: Kind) -> str:
    return key[0] if key[1] is None else f"{key[0]} ≤ {size(key[1])}"


def points_words(points: Sequence[CallClass]) -> List[str]:
    """The marks of the plane in words."""
    return [f"{name_of(each)} {number(_delay_us(each))} µs {number(_joules_per_call(each))} J" for each in points[:_MOST_ROWS]]


def name_of(each: CallClass) -> str:
    """A class of calls in a few words."""
    up_to = "" if each.up_to_bytes is None else f" ≤ {size(each.up_to_bytes)}"
    comm = "" if each.communicator in ("MPI_COMM_WORLD", None) else f", {each.communicator}"
    return f"{each.collective}{up_to} ({each.algorithm}{comm})"


def _curves(job: Job) -> Dict[str, Power]:
    own = {node.host: node.power for node in job.nodes if node.power is not None}
    if own and len(own) == len(job.nodes) and len(own) <= _MOST_NODES:
        return own
    return {} if job.power is None else {"all nodes": job.power}


def _of_what(job: Job, curves: Dict[str, Power]) -> str:
    return "of all together" if "all nodes" in curves and len(job.nodes) > 1 else "one line per node"


def _rows(job: Job, weight: Callable[[CallClass], float]) -> List[Tuple[str, CallClass]]:
    found = sorted((each for each in job.calls if weight(each) > 0), key=lambda each: -weight(each))
    return [(name_of(each), each) for each in found[:_MOST_ROWS]]


def _parts(each: Sums) -> List[float]:
    waiting = each.sleep_s + each.monitor_s + each.spin_s
    return [each.sleep_s, each.monitor_s, each.spin_s, max(0.0, each.seconds - waiting)]


def _bars(rows: int) -> Tuple[Figure, Any]:
    figure = Figure(figsize=(WIDTH_IN, 0.9 + 0.27 * rows), layout="constrained")
    return figure, figure.subplots()


def _finish_bars(figure: Figure, axis: Any, names: List[str], label: str) -> None:
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel(label)
    axis.grid(axis="y", visible=False)
    axis.set_xlim(left=0)


def _delay_us(each: CallClass) -> float:
    return 1e6 * each.seconds / max(1, each.calls)


def _joules_per_call(each: CallClass) -> float:
    """A class counts a call once per process; one call of the communicator is that of all."""
    return (each.joules or 0.0) * (each.size or 1) / max(1, each.calls)


def _plane(points: Sequence[CallClass]) -> Figure:
    figure = Figure(figsize=(WIDTH_IN, 4.2), layout="constrained")
    axis = figure.subplots()
    markers = "osD^vPX*<>ph"
    names: List[str] = []
    for each in points:
        if each.collective not in names:
            names.append(each.collective)
        axis.scatter(_delay_us(each), _joules_per_call(each), marker=markers[names.index(each.collective) % len(markers)],
                     color="#0072B2" if each.algorithm == "stock" else "#D55E00", s=30, zorder=3)  # fmt: skip
    for index, name in enumerate(names):
        axis.scatter([], [], marker=markers[index % len(markers)], color="#444444", label=name)
    axis.scatter([], [], marker="s", color="#0072B2", label="stock algorithm")
    axis.scatter([], [], marker="s", color="#D55E00", label="ours")
    axis.set(xscale="log", yscale="log", xlabel="time of a call (µs)", ylabel="energy of a call, all ranks (J)")
    axis.margins(0.12)
    _draw_powers(axis)
    legend_above(figure, axis)
    return figure


def _draw_powers(axis: Any) -> None:
    low, high = axis.get_xlim()
    bottom, top = axis.get_ylim()
    for exponent in range(-6, 9):
        watts = 10.0**exponent
        axis.plot([low, high], [watts * low * 1e-6, watts * high * 1e-6], color="#cccccc", linewidth=0.6, zorder=1)
    axis.set(xlim=(low, high), ylim=(bottom, top))
