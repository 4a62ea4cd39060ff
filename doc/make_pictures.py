#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Draws the two pictures of architecture.md: parts.svg and alltoall.svg."""

from __future__ import annotations

from pathlib import Path

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#E69F00", "#009E73", "#8a8a8a", "#222222"
HERE = Path(__file__).resolve().parent


class Picture:
    """Collects SVG elements."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="13" role="img"><title>{title}</title>'
            f'<rect width="{width}" height="{height}" fill="white"/>'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="{INK}"/></marker></defs>'
        )
        self.body: list[str] = []

    def box(self, x: int, y: int, w: int, h: int, colour: str, lines: list[str]) -> None:
        self.body.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{colour}" '
            f'fill-opacity="0.13" stroke="{colour}"/>'
        )
        for i, line in enumerate(lines):
            weight = ' font-weight="bold"' if i == 0 else ""
            self.text(x + 10, y + 19 + 17 * i, line, extra=weight)

    def text(self, x: int, y: int, line: str, anchor: str = "start", extra: str = "") -> None:
        safe = line.replace("&", "&amp;").replace("<", "&lt;")
        self.body.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{INK}"{extra}>{safe}</text>')

    def arrow(self, x1: int, y1: int, x2: int, y2: int, dashed: bool = False) -> None:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.body.append(
            f'<path d="M{x1} {y1} L{x2} {y2}" stroke="{INK}" fill="none" '
            f'marker-end="url(#tip)"{dash}/>'
        )

    def bar(self, x: int, y: int, w: int, h: int, colour: str, opacity: float) -> None:
        self.body.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{colour}" '
            f'fill-opacity="{opacity}" stroke="{colour}"/>'
        )

    def save(self, name: str) -> None:
        (HERE / name).write_text(self.head + "\n".join(self.body) + "</svg>\n", encoding="utf-8")


def parts() -> None:
    p = Picture(860, 558, "The parts of poweraware and who may know whom")
    p.box(20, 20, 380, 60, GREY, ["MPI application", "mpirun --mca coll poweraware ./app"])
    p.box(20, 110, 380, 78, BLUE, ["coll_poweraware/", "calls -> path -> algorithms: alltoall_grouped,",
                                  "bcast_leader, reduce_leader"])
    p.box(20, 218, 380, 78, BLUE, ["ompi/", "hierarchy, shared segment, packer, events,",
                                  "Open MPI 4.1 / 5.0 / 6.0 in one header"])
    p.box(20, 326, 380, 95, GREEN, ["opal/  (no MPI symbol)", "topo, pstate, tstate, meter, policy, wait, guard;",
                                   "control, msr, likwid: the ways to the hardware.",
                                   "File system root, clock and log are injected"])
    p.box(20, 460, 380, 78, GREEN, ["processes of their own", "poweraware-guard: journal, restores when a rank dies",
                                   "poweraware-likwid: liblikwid; likwid-accessD"])
    p.box(470, 460, 370, 78, GREEN, ["tools", "poweraware-info, -calibrate, -sample (opal/);",
                                    "poweraware-restore: what killed guardians left"])
    p.arrow(210, 421, 210, 458)
    p.text(220, 444, "socket pairs")
    p.arrow(400, 490, 468, 406)
    p.arrow(655, 460, 655, 406)
    for y in (80, 188, 296):
        p.arrow(210, y, 210, y + 29)
    p.box(470, 20, 370, 60, ORANGE, ["bench/run, collectives, waits", "jobs -> document -> page of poweraware/"])
    p.box(470, 110, 370, 60, ORANGE, ["bench/osu, bench/tune", "13 collectives; poweraware-tune: which of ours pay"])
    p.box(470, 200, 370, 60, ORANGE, ["bench/testbed/cluster", "nodes from namespaces, TCP between them"])
    p.box(470, 326, 370, 78, GREY, ["power hardware, as files", "real: /sys/.../cpufreq, /dev/cpu/N/msr, powercap",
                                   "bench/testbed/emulator: the same files from FUSE"])
    p.arrow(655, 80, 655, 108)
    p.arrow(655, 170, 655, 198)
    p.arrow(655, 260, 655, 324)
    p.arrow(400, 365, 468, 365)
    p.arrow(470, 140, 402, 60, dashed=True)
    p.text(428, 357, "files", "middle")
    p.save("parts.svg")


def alltoall() -> None:
    """Two nodes i < j with two packages each: who is at full duty in which phase."""
    columns = [("1", "inside nodes"), ("2", "A - A"), ("3", "B - B"), ("4", "Ai - Bj"), ("4", "Bi - Aj")]
    active = {"Ai": "11010", "Bi": "10101", "Aj": "11001", "Bj": "10110"}
    p = Picture(860, 330, "A socket-grouped Alltoall on two nodes: which package is active when")
    x0, width, height = 170, 118, 34
    for k, (phase, what) in enumerate(columns):
        p.text(x0 + k * width + width // 2, 30, f"phase {phase}", "middle", ' font-weight="bold"')
        p.text(x0 + k * width + width // 2, 48, what, "middle")
    for row, (group, states) in enumerate(active.items()):
        y = 62 + row * 44
        p.text(20, y + 22, f"node {group[1]}, package {group[0]}")
        for k, state in enumerate(states):
            on = state == "1"
            p.bar(x0 + k * width, y, width - 4, height, BLUE if on else GREY, 0.75 if on else 0.15)
            p.text(x0 + k * width + width // 2 - 2, y + 22, "T0 talks" if on else "T7 sleeps", "middle",
                   ' style="fill:white"' if on else "")
    y = 62 + 4 * 44 + 12
    p.arrow(x0 - 30, y, x0 + 5 * width, y)
    p.text(x0 - 34, y + 5, "time", "end")
    p.text(x0, y + 22, "DVFS down at entry, f_min all along, back to f_max when a rank's last step is over")
    p.text(20, y + 46, "A rank waits for its turn on the flag `turn` of its node's segment: the last of the active "
                       "ranks to finish wakes the next group.")
    p.save("alltoall.svg")


if __name__ == "__main__":
    parts()
    alltoall()
