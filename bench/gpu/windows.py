# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Windows of gpu_collectives: read, compared with the better way of staging in the same round, drawn."""
from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from poweraware.ratios import Ratio, geometric_mean, paired

STAGED = ("staged", "staged-2")
OTHERS = ("direct", "enqueued", "enqueued-1", "in-kernel", "nccl", "nvshmem")
# of files: KIND-COLLECTIVE-RANKS.txt
KINDS = {
    "times": "",
    "joules": "",
    "nodes": ", two nodes of one machine",
    "nccl": ", beside NCCL",
    "nvshmem": ", beside NVSHMEM",
    "peers": ", beside NCCL and NVSHMEM in one job",
}


@dataclass(frozen=True)
class Window:
    """One line of gpu_collectives; times and joules are per call, CPU time is that of all ranks."""

    way: str
    ranks: int
    nbytes: int
    round: int
    calls: int
    us: float
    cpu_us: float
    joules: float  # 0: not measured


def read(path: Path) -> List[Window]:
    """The windows of a file; ValueError names the line that is none."""
    windows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            way, ranks, nbytes, turn, calls, us, cpu_us, joules = line.split()
            windows.append(
                Window(way, int(ranks), int(nbytes), int(turn), int(calls), float(us), float(cpu_us), float(joules))
            )
        except ValueError:
            raise ValueError(f"{path}:{number}: not a window: {line!r}") from None
    return windows


Figure = Callable[[Window], float]
Rows = Dict[Tuple[int, int], List[Window]]  # by ranks and bytes


def rows_of(windows: Sequence[Window]) -> Rows:
    rows: Rows = defaultdict(list)
    for window in windows:
        rows[window.ranks, window.nbytes].append(window)
    return dict(sorted(rows.items()))


def _of(windows: Sequence[Window], way: str, figure: Figure) -> Dict[int, float]:
    return {w.round: figure(w) for w in windows if w.way == way}


def baseline(windows: Sequence[Window], figure: Figure) -> Dict[int, float]:
    """Of each round, the figure of the better way of staging."""
    ways = [_of(windows, way, figure) for way in STAGED]
    return {turn: min(way[turn] for way in ways if turn in way) for turn in sorted(set().union(*ways))}


def ratio(windows: Sequence[Window], way: str, figure: Figure) -> Optional[Ratio]:
    """Of a way over the baseline, round by round; None where one of them was not measured."""
    mine, base = _of(windows, way, figure), baseline(windows, figure)
    rounds = sorted(mine.keys() & base.keys())
    if not rounds or any(base[turn] <= 0 or mine[turn] <= 0 for turn in rounds):
        return None
    return paired([mine[turn] for turn in rounds], [base[turn] for turn in rounds])


def _size(nbytes: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return f"{nbytes // unit} {name}"
    return f"{nbytes} B"


def table(rows: Rows, name: str, figure: Figure, unit: str) -> List[str]:
    """In Markdown: the baseline in units, the ways that were measured as ratios to it with intervals."""
    measured = {window.way for windows in rows.values() for window in windows if figure(window) > 0}
    ways = [way for way in OTHERS if way in measured]
    lines = [
        f"| ranks | bytes | better staging, {unit} | " + " | ".join(f"{way}, {name}" for way in ways) + " |",
        "|" + "---|" * (3 + len(ways)),
    ]
    for (ranks, nbytes), windows in rows.items():
        base = [value for value in baseline(windows, figure).values() if value > 0]
        if not base:
            continue
        ratios = [ratio(windows, way, figure) for way in ways]
        cells = ["-" if each is None else each.text() for each in ratios]
        lines.append(f"| {ranks} | {_size(nbytes)} | {geometric_mean(base):.4g} | " + " | ".join(cells) + " |")
    return lines


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "poweraware", "svg.fonttype": "none"})
    from matplotlib import pyplot

    return pyplot


def draw(rows: Rows, path: Path, title: str) -> None:
    """Time per call by bytes, one panel for each number of ranks."""
    pyplot = _pyplot()
    colours = {"staged": "#8a8a8a", "staged-2": "#c4c4c4", "direct": "#0072B2", "enqueued": "#009E73"}
    colours |= {"enqueued-1": "#E69F00", "in-kernel": "#CC79A7", "nccl": "#56B4E9", "nvshmem": "#D55E00"}
    numbers = sorted({ranks for ranks, _ in rows})
    figure, panels = pyplot.subplots(1, len(numbers), figsize=(4 * len(numbers), 3.6), sharey=True, squeeze=False)
    for panel, ranks in zip(panels[0], numbers):
        for way in STAGED + OTHERS:
            points = [
                (nbytes, geometric_mean(list(_of(windows, way, lambda w: w.us).values())))
                for (its, nbytes), windows in rows.items()
                if its == ranks and _of(windows, way, lambda w: w.us)
            ]
            if points:
                panel.plot(*zip(*points), marker="o", markersize=3, color=colours[way], label=way)
        panel.set(xscale="log", yscale="log", title=f"{ranks} ranks", xlabel="bytes")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("µs per call")
    panels[0][-1].legend(fontsize=8)
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def draw_power(rows: Rows, path: Path, title: str) -> None:
    """What each component takes (GGAS, figures 11 to 13): power of the GPU, and CPUs that are busy; for each number of ranks."""
    pyplot = _pyplot()
    metered = {key: [w for w in windows if w.joules > 0] for key, windows in rows.items()}
    metered = {key: windows for key, windows in metered.items() if windows}
    figures: List[Tuple[str, Figure, str]] = [
        ("GPU, W (NVML)", lambda w: 1e6 * w.joules / w.us, "#009E73"),
        ("busy CPUs", lambda w: w.cpu_us / w.us, "#0072B2"),
        ("time per call, µs", lambda w: w.us, "#8a8a8a"),
    ]
    figure, panels = pyplot.subplots(len(metered), 3, figsize=(9, 2.2 * len(metered)), squeeze=False)
    for row, ((ranks, nbytes), windows) in zip(panels, metered.items()):
        ways = [way for way in STAGED + OTHERS if any(w.way == way for w in windows)]
        for panel, (name, of, colour) in zip(row, figures):
            values = [geometric_mean(list(_of(windows, way, of).values())) for way in ways]
            panel.bar_label(panel.barh(ways, values, color=colour), fmt="%.3g", fontsize=7, padding=2)
            panel.set_title(f"{name}: {ranks} ranks, {_size(nbytes)}", fontsize=8)
            panel.tick_params(labelsize=8)
            panel.margins(x=0.2)
            panel.invert_yaxis()
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="bench/gpu/report", description=__doc__)
    parser.add_argument("results", type=Path, help="folder that bench/gpu/measure has written")
    parser.add_argument("--picture", type=Path, help="times as SVG")
    parser.add_argument("--power", type=Path, help="power of the components as SVG, of joules-*-*.txt")
    parser.add_argument("--collective", default="allreduce", help="in the pictures (%(default)s)")
    options = parser.parse_args(arguments)
    files = [path for kind in KINDS for path in sorted(options.results.glob(f"{kind}-*-*.txt"))]
    if not files:
        print(f"bench/gpu/report: {options.results} has no windows ({', '.join(f'{kind}-*-*.txt' for kind in KINDS)})", file=sys.stderr)
        return 2
    try:
        windows: Dict[Tuple[str, str], List[Window]] = defaultdict(list)  # by what was measured, and collective
        for path in files:
            what, collective, _ = path.stem.split("-")
            windows[what, collective] += read(path)
        gpu = (options.results / "gpu.txt").read_text().strip() if (options.results / "gpu.txt").is_file() else "GPU"
    except (OSError, ValueError) as error:
        print(f"bench/gpu/report: {error}", file=sys.stderr)
        return 2
    print(f"{gpu}: measured; ratios are to the better staging of the same round, with 95 % intervals")
    for (what, collective), its in windows.items():
        tables = [("CPU time of all ranks", "µs", lambda w: w.cpu_us)]
        tables.insert(0, ("joules of the GPU", "mJ", lambda w: 1e3 * w.joules) if what == "joules" else ("time", "µs", lambda w: w.us))
        for name, unit, figure in tables:
            print(f"\n{collective}{KINDS[what]}\n\n" + "\n".join(table(rows_of(its), name, figure, unit)))
    title = f"{options.collective} of doubles in the memory of one GPU ({gpu.split(',')[0]}, measured)"
    if options.picture:
        draw(rows_of(windows["times", options.collective]), options.picture, title)
    if options.power:
        draw_power(rows_of(windows["joules", options.collective]), options.power, title)
    return 0
