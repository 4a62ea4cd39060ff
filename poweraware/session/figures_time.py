# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Pictures over time: power of the schemes, and the states of one node's CPUs."""
from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from poweraware import wording
from poweraware.picture import WIDTH_IN, Figure, Picture, from_zero, legend_above, look, numpy, panels, render
from poweraware.session import energy, summary, words
from poweraware.session.document import CpuStates, Document, NodeStates, Row, Run

KHZ_PER_GHZ = 1e6
_COLUMNS = 700  # of the raster that shows states
_ZOOM_CALLS = 3.0
_STATES_SCHEMES = ("auto", "throttle")


def power(document: Document) -> Picture:
    """Power of all nodes over time, the schemes aligned at the start of their runs."""
    picture = Picture(
        title="Power over time",
        caption="Power of all nodes together, from differences of the energy counters, since the "
        "start of the run; of each scheme the repetition with the median energy. "
        f"{words.power_caption(document)}; {words.time_caption(document)}.",
        alt="Power in watts against seconds since the start of the run; one panel per benchmark "
        f"({', '.join(document.benchmarks())}), one line per scheme "
        f"({', '.join(document.schemes())}).",
        why_absent=summary.why_no_energy(document),
    )
    if picture.why_absent is not None:
        return picture
    picture.svg = _power_panels(document, [None])
    return picture


def power_per_node(document: Document) -> Optional[Picture]:
    """Power of each node over time, one panel per benchmark; None when one meter is all there is."""
    benchmarks = document.benchmarks()
    nodes = sorted({item.node for run in document.runs for item in run.energy})
    if len(nodes) < 2:
        return None
    return Picture(
        title="Power of each node",
        caption=f"The same runs as above, a line for each of {len(nodes)} nodes: lines of a scheme that lie on one another are nodes "
        f"that draw alike. {words.power_caption(document)}; {words.time_caption(document)}.",
        alt=f"Power in watts against seconds; one panel per benchmark ({', '.join(benchmarks)}), for each scheme a line per node.",
        svg=_power_panels(document, nodes),
    )


def _power_panels(document: Document, nodes: Sequence[Optional[int]]) -> bytes:
    """One panel per benchmark, with a line per scheme and node; None: all nodes together."""
    benchmarks = document.benchmarks()
    figure, axes = panels(benchmarks, 2.7)
    for axis, benchmark in zip(axes, benchmarks):
        for run in (_median_run(document, benchmark, scheme) for scheme in document.schemes()):
            for node in nodes if run is not None else []:
                _power_line(axis, document, run, node)
        axis.set(title=benchmark, xlabel="time since start of run (s)", ylabel="power (W)")
        from_zero(axis)
        axis.set_xlim(left=0)
    legend_above(figure, axes[0])
    return render(figure)


def states_schemes(document: Document) -> List[str]:
    """Whose states are worth a picture: the default's and those of the one that moves levers most, or the last one's."""
    return [name for name in _STATES_SCHEMES if name in document.schemes()] or document.schemes()[-1:]


def states(document: Document, benchmark: str, scheme: str) -> Picture:
    """Frequency and duty cycle of each CPU of one node over time."""
    runs = [run for run in document.good_runs(benchmark, scheme) if run.states]
    picture = Picture(
        title=f"States over time, {benchmark}, {scheme}",
        caption="",
        alt=f"Frequency and duty cycle of each CPU of one node against time, {benchmark} under "
        f"{scheme}: on the left the run, on the right a few calls.",
    )
    if not runs:
        picture.why_absent = f"no states were recorded: {document.provenance.states.note}"
        return picture
    run = runs[0]
    node = run.states[0]
    begin_ns, end_ns = _overview_window(run, node)
    whole = "the run" if node.complete else "the part of the run that was kept"
    zoom = _zoom_window(run, begin_ns, end_ns)
    picture.caption = (
        f"Node n{node.node}, repetition {run.repetition}; left: {whole} (mean state of each "
        f"moment of the plot), right: {zoom[2]}; the white line separates packages. "
        f"{words.states_caption(document)}; "
        f"{words.time_caption(document)}."
    )
    picture.svg = render(_states_figure(node, run.interval_ns()[0], (begin_ns, end_ns), zoom[:2]))
    return picture


def _median_run(document: Document, benchmark: str, scheme: str) -> Optional[Run]:
    nodes = document.cluster.nodes
    known: List[Tuple[float, int, Run]] = []
    for run in document.good_runs(benchmark, scheme):
        joules = energy.run_energy_j(run, nodes)
        if joules is not None:
            known.append((joules, run.repetition, run))
    known.sort(key=lambda item: item[:2])
    return known[(len(known) - 1) // 2][2] if known else None


def _power_line(axis: Any, document: Document, run: Run, node: Optional[int] = None) -> None:
    begin_ns, end_ns = run.interval_ns()
    bins = energy.power_bins(end_ns - begin_ns, document.settings.interval_ms)
    meters = [item for item in run.energy if node is None or item.node == node]
    edges, watts = energy.power_over_time(meters, begin_ns, end_ns, bins)
    if not watts:
        return
    style = look(run.scheme, document.schemes())
    axis.step(
        edges,
        watts + watts[-1:],
        where="post",
        color=style.colour,
        linestyle=style.line,
        linewidth=1.2 if node is None else 0.7,
        label=run.scheme if run.scheme not in axis.get_legend_handles_labels()[1] else None,
    )


def _overview_window(run: Run, node: NodeStates) -> Tuple[int, int]:
    begin_ns, end_ns = run.interval_ns()
    return max(begin_ns, node.window_begin_ns), min(end_ns, node.window_end_ns)


def _zoom_window(run: Run, begin_ns: int, end_ns: int) -> Tuple[int, int, str]:
    """A few calls in the middle of the largest message whose calls the window holds."""
    timed: List[Tuple[Row, int]] = []
    for row in run.rows:
        if row.t_begin_ns is not None and row.t_end_ns is not None:
            middle_ns = (row.t_begin_ns + row.t_end_ns) // 2
            if begin_ns <= middle_ns <= end_ns:
                timed.append((row, middle_ns))
    if timed:
        row, middle_ns = max(timed, key=lambda item: item[0].bytes)
        half_ns = int(row.avg_us * 1e3 * _ZOOM_CALLS / 2)
        if begin_ns < middle_ns - half_ns and middle_ns + half_ns < end_ns:
            text = f"about {_ZOOM_CALLS:.0f} calls with {wording.size(row.bytes)}"
            return middle_ns - half_ns, middle_ns + half_ns, text
    span_ns = (end_ns - begin_ns) // 20
    middle_ns = (begin_ns + end_ns) // 2
    return middle_ns - span_ns // 2, middle_ns + span_ns // 2, "a twentieth of it from the middle"


def _states_figure(
    node: NodeStates, run_begin_ns: int, whole: Tuple[int, int], zoom: Tuple[int, int]
) -> Figure:
    cpus = sorted(node.cpus, key=lambda cpu: (cpu.package or 0, cpu.cpu))
    quantities = (("frequency (GHz)", _freq_limits(cpus)), ("duty cycle (%)", (0.0, 100.0)))
    figure = Figure(figsize=(WIDTH_IN, 2.0 + 0.26 * len(cpus)), layout="constrained")
    grid = figure.subplots(2, 2, sharey=True, width_ratios=(3, 2))
    for axes, (label, limits) in zip(grid, quantities):
        for axis, window in zip(axes, (whole, zoom)):
            image = _raster(axis, cpus, window, label.startswith("frequency"), limits)
        figure.colorbar(image, ax=list(axes), label=label, pad=0.01)
        axes[0].set_ylabel("CPU")
    for axis, window in zip(grid[1], (whole, zoom)):
        after_s = (window[0] - run_begin_ns) / energy.NS_PER_S
        axis.set_xlabel(f"time ({_time_scale(window)[1]}), from {after_s:.3f} s of the run")
    _package_borders(grid, cpus)
    return figure


def _freq_limits(cpus: List[CpuStates]) -> Tuple[float, float]:
    known = [value for cpu in cpus for value in cpu.changes.freq_khz if value is not None]
    known += [item.freq_khz for cpu in cpus for item in cpu.residency if item.freq_khz is not None]
    if not known:
        return 0.0, 1.0
    low, high = min(known) / KHZ_PER_GHZ, max(known) / KHZ_PER_GHZ
    return (low, high) if low < high else (low - 0.1, high)


def _raster(
    axis: Any, cpus: List[CpuStates], window: Tuple[int, int], frequency: bool,
    limits: Tuple[float, float],
) -> Any:
    edges = numpy.linspace(0.0, (window[1] - window[0]) / energy.NS_PER_S, _COLUMNS + 1)
    lines = [_mean_states(cpu, window, edges, frequency) for cpu in cpus]
    axis.grid(visible=False)
    return axis.imshow(
        numpy.array(lines),
        aspect="auto",
        interpolation="nearest",
        cmap="cividis",
        vmin=limits[0],
        vmax=limits[1],
        extent=(0.0, edges[-1] * _time_scale(window)[0], len(cpus) - 0.5, -0.5),
    )


def _time_scale(window: Tuple[int, int]) -> Tuple[float, str]:
    """Units per second, and the unit, that suit the length of a window."""
    return (1.0, "s") if window[1] - window[0] > energy.NS_PER_S else (1e3, "ms")


def _mean_states(
    cpu: CpuStates, window: Tuple[int, int], edges: Any, frequency: bool
) -> Any:
    """Time-weighted mean state in each column: short states stay visible in proportion."""
    begins = (numpy.array(cpu.changes.t_ns, dtype=numpy.int64) - window[0]) / energy.NS_PER_S
    if frequency:
        values = numpy.array(
            [numpy.nan if v is None else v / KHZ_PER_GHZ for v in cpu.changes.freq_khz]
        )
    else:
        values = numpy.array(cpu.changes.duty_percent, dtype=float)
    ends = numpy.append(begins[1:], max(edges[-1], begins[-1]))
    area = numpy.concatenate(([0.0], numpy.cumsum(values * (ends - begins))))
    return numpy.diff(numpy.interp(edges, numpy.append(begins, ends[-1]), area)) / numpy.diff(edges)


def _package_borders(grid: Any, cpus: List[CpuStates]) -> None:
    labels = [str(cpu.cpu) for cpu in cpus]
    for axis in grid[:, 0]:
        axis.set_yticks(range(len(cpus)), labels)
    for place in range(1, len(cpus)):
        if cpus[place].package != cpus[place - 1].package:
            for axis in grid.flat:
                axis.axhline(place - 0.5, color="white", linewidth=1.5)
