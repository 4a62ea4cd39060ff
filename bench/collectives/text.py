# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The comparison in words: geometric means, the worst points, and copies of the messages."""
from __future__ import annotations

from typing import Any, Dict, List, Sequence

from bench.collectives.figures import Ratio, geometric_mean
from poweraware import wording

_WORST = 12


def layouts_of(found: Sequence[Ratio]) -> List[str]:
    """In the order of their size."""
    known = {(ratio.nodes * ratio.ranks_per_node, ratio.nodes, ratio.layout) for ratio in found}
    return [layout for _, _, layout in sorted(known)]


def names_of(found: Sequence[Ratio]) -> List[str]:
    """Variants of ours."""
    return sorted({ratio.ours for ratio in found})


def means(found: Sequence[Ratio], ours: str) -> List[List[str]]:
    """A table: collectives by layouts, and all of them together."""
    mine = [ratio for ratio in found if ratio.ours == ours]
    layouts = layouts_of(mine)
    collectives = sorted({ratio.collective for ratio in mine})
    table = [["geometric mean of " + ours, *layouts, "all"]]
    for collective in [*collectives, "all"]:
        line = [collective]
        for layout in [*layouts, "all"]:
            chosen = [
                ratio
                for ratio in mine
                if collective in (ratio.collective, "all") and layout in (ratio.layout, "all")
            ]
            line.append(f"{geometric_mean(chosen):.3f}" if chosen else "-")
        table.append(line)
    return table


def copies(found: Sequence[Ratio], ours: str) -> List[List[str]]:
    """A table of two ranks on one node: time over that of a copy of the message, collectives by sizes."""
    mine = [r for r in found if r.ours == ours and r.layout == "1x2" and r.size > 0 and r.copy_us]
    if not mine:
        return []
    sizes = sorted({ratio.size for ratio in mine})
    times = {(r.collective, r.size): f"{r.us / r.copy_us:.2f}" for r in mine if r.copy_us}
    table = [[f"{ours} over a copy", *(wording.size(size) for size in sizes)]]
    for collective in sorted({ratio.collective for ratio in mine}):
        table.append([collective, *(times.get((collective, size), "-") for size in sizes)])
    return table


def render(found: Sequence[Ratio], head: Dict[str, Any], wrong: Sequence[str]) -> str:
    """The summary."""
    lines = [f"{head['library']} on {head['host']} ({head['cpus']} CPUs), {head['date']}",
             "Time of ours over that of the best stock component; below 1 is faster.", ""]  # fmt: skip
    for ours in names_of(found):
        lines += [_line(cells) for cells in means(found, ours)] + [""]
        mine = sorted((r for r in found if r.ours == ours), key=lambda r: -r.ratio)
        slower = [ratio for ratio in mine if ratio.ratio > 1.05]
        lines.append(f"{len(mine)} points, {len(slower)} above 1.05; the worst:")
        lines += [_point(ratio) for ratio in mine[:_WORST]] + [""]
        lines += [_line(cells) for cells in copies(found, ours)] + [""]
    lines += [f"WRONG DATA, left out: {text}" for text in wrong]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"{cells[0]:28}" + "".join(f"{cell:>9}" for cell in cells[1:])


def _point(ratio: Ratio) -> str:
    return (f"  {ratio.ratio:6.2f} ({ratio.low:.2f} to {ratio.high:.2f})  {ratio.collective}, {ratio.size} bytes, "
            f"{ratio.layout}: {ratio.us:.1f} us, {ratio.best_stock} {ratio.best_us:.1f} us")  # fmt: skip
