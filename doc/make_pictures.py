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

    def box(
        self, x: int, y: int, w: int, h: int, colour: str, lines: list[str], dashed: bool = False
    ) -> None:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.body.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{colour}" '
            f'fill-opacity="0.13" stroke="{colour}"{dash}/>'
        )
        for i, line in enumerate(lines):
            weight = ' font-weight="bold"' if i == 0 else ""
            self.text(x + 10, y + 19 + 17 * i, line, extra=weight)

    def grid(
        self, x: int, y: int, w: int, h: int, columns: int, colour: str, boxes: list[list[str]]
    ) -> None:
        """Boxes of w by h in rows, 8 apart."""
        for i, lines in enumerate(boxes):
            self.box(x + i % columns * (w + 8), y + i // columns * (h + 8), w, h, colour, lines)

    def text(self, x: int, y: int, line: str, anchor: str = "start", extra: str = "") -> None:
        safe = line.replace("&", "&amp;").replace("<", "&lt;")
        self.body.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{INK}"{extra}>{safe}</text>')

    def arrow(
        self, x1: int, y1: int, x2: int, y2: int, dashed: bool = False, tip: bool = True
    ) -> None:
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        end = ' marker-end="url(#tip)"' if tip else ""
        self.body.append(f'<path d="M{x1} {y1} L{x2} {y2}" stroke="{INK}" fill="none"{end}{dash}/>')

    def bar(self, x: int, y: int, w: int, h: int, colour: str, opacity: float) -> None:
        self.body.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{colour}" '
            f'fill-opacity="{opacity}" stroke="{colour}"/>'
        )

    def save(self, name: str) -> None:
        (HERE / name).write_text(self.head + "\n".join(self.body) + "</svg>\n", encoding="utf-8")


def parts() -> None:
    """Layers from the application down to the hardware; what is beside them uses files and programs."""
    p = Picture(1000, 716, "The parts of poweraware and which may use which")
    p.box(20, 20, 670, 56, GREY, ["application of MPI or OpenSHMEM", "on Open MPI 4.1, 5.0 or 6.0"])
    p.box(20, 112, 480, 148, BLUE, ["coll_poweraware/   component, params, module"])
    p.grid(32, 142, 146, 46, 3, BLUE, [
        ["entry.c, call.c", "begin, run, end"], ["choose/", "decision table"], ["comm/", "state on first use"],
        ["algorithms/", "one per file"], ["primitives/", "post, wait, chunks"], ["collectives.h", "a row for each"]])
    p.box(516, 112, 174, 66, BLUE, ["osc_poweraware/", "calls of MPI windows"])
    p.box(516, 194, 174, 66, BLUE, ["oshmem/", "calls of OpenSHMEM:", "scoll_poweraware/"])
    p.box(20, 296, 670, 98, BLUE, ["ompi/ = libpoweraware.so, once per process"])
    p.grid(32, 326, 122, 60, 5, BLUE, [
        ["operation/", "begin, start,", "wait, end"], ["process/", "power, record,", "meter, names"],
        ["wait/", "messages:", "idle, bell, ucx"], ["node/", "hierarchy,", "segment, boxes"],
        ["series/", "4.1, 5.0, 6.0"]])
    p.box(20, 430, 670, 142, GREEN, ["opal/ = power library, no MPI symbol; clock, root and log are injected"])
    p.grid(32, 460, 210, 46, 3, GREEN, [
        ["power.c", "low, full, throttle, unthrottle"], ["wait/, policy/", "ladder; costs, audit"],
        ["meter/, account/, record/", "energy, sums of calls"], ["lever/", "an array of descriptors"],
        ["control/, msr/, likwid/", "accesses to one CPU's values"],
        ["guard/, helper/, topo/", "journal; claims, neighbours"]])
    p.box(20, 610, 327, 86, GREEN, ["processes of their own", "poweraware-guard: restores levers",
                                   "poweraware-record: job document", "poweraware-likwid: liblikwid"])
    p.box(363, 610, 327, 86, GREY, ["power hardware, as files", "/sys/devices/system/cpu/cpu*/cpufreq",
                                    "/dev/cpu/*/msr, /dev/cpu/*/msr_safe", "/sys/class/powercap"])
    for x, top in ((260, 76), (110, 260), (260, 394)):
        p.arrow(x, top, x, top + 34)
    p.text(270, 99, "collective calls")
    p.text(120, 282, "pwr_operation_begin, _start, _wait, _end; pwr_process_open, _close")
    p.text(270, 416, "pwr_power_*, pwr_wait_*, pwr_record_*")
    p.arrow(672, 260, 672, 294)
    p.arrow(184, 572, 184, 608)
    p.text(194, 595, "socket pairs")
    p.arrow(527, 572, 527, 608)
    p.text(537, 595, "accesses")
    p.box(740, 20, 240, 56, ORANGE, ["bench/", "benchmarks; they start jobs"])
    p.box(740, 112, 240, 66, ORANGE, ["poweraware/", "runs jobs; pages and tables", "of job documents"])
    p.box(740, 430, 240, 66, GREEN, ["opal/tools/", "poweraware-inspect, -calibrate,", "-sample, -restore"])
    p.box(740, 610, 240, 86, ORANGE, ["bench/testbed/", "emulator: the same files,", "by FUSE; cluster: nodes",
                                     "made of namespaces"])
    p.arrow(740, 42, 692, 42, dashed=True)
    p.arrow(860, 76, 860, 110, dashed=True)
    p.arrow(740, 134, 718, 134, dashed=True, tip=False)
    p.arrow(718, 134, 718, 60, dashed=True, tip=False)
    p.arrow(718, 60, 692, 60, dashed=True)
    p.arrow(740, 463, 692, 463)
    p.arrow(740, 652, 692, 652, dashed=True)
    p.arrow(740, 224, 780, 224)
    p.text(788, 228, "calls functions")
    p.arrow(740, 246, 780, 246, dashed=True)
    p.text(788, 250, "runs programs, makes files")
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
            p.text(x0 + k * width + width // 2 - 2, y + 22, "T0 active" if on else "T7 waits", "middle",
                   ' style="fill:white"' if on else "")
    y = 62 + 4 * 44 + 12
    p.arrow(x0 - 30, y, x0 + 5 * width, y)
    p.text(x0 - 34, y + 5, "time", "end")
    p.text(x0, y + 22, "DVFS down at entry, f_min all along, back to f_max when a rank's last step is over")
    p.text(20, y + 46, "A rank waits for its turn on the flag turn of its node's segment: the last of the active "
                       "ranks to finish wakes the next group.")
    p.save("alltoall.svg")


if __name__ == "__main__":
    parts()
    alltoall()
