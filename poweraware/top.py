# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Who waits where, now: of the jobs on this node from the pages of their processes, of a whole job from what its recorders write."""
from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from poweraware import partial
from poweraware.documents import DocumentError
from poweraware.folders import Folder
from poweraware.job import Node
from poweraware.table import Table, as_table
from poweraware.wording import number, plural

_HELPERS = Path(__file__).resolve().parent / "libexec"  # a link, where poweraware is installed
_TICK = 1.0 / os.sysconf("SC_CLK_TCK")
_HOME = "\033[H\033[J"
_NAMED = 8  # ranks in a line

Json = Dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call in progress."""

    id: str
    operation: str
    communicator: Optional[str]
    size: int


@dataclass(frozen=True)
class Process:
    """One process at one look; sums are since its begin."""

    job: str
    rank: int
    pid: int
    finished: bool
    call: Optional[Call]
    region: Optional[str]
    calls: int
    in_calls_s: float
    cpu_s: float
    node_j: float
    energy: Optional[str]


@dataclass(frozen=True)
class Look:
    """All processes at one time, seconds of any clock that goes on."""

    at_s: float
    processes: List[Process]


# ---- this node ----


def look(helper_dir: Optional[Path], run_dir: Optional[str]) -> Look:
    """Reads the pages of this user's processes on this node."""
    program = (helper_dir or _HELPERS) / "poweraware-pages"
    try:
        found = subprocess.run([program, run_dir or ""], stdout=subprocess.PIPE, check=False)
    except FileNotFoundError as error:
        raise DocumentError(f"{program}: No such file or directory: it comes with the plug-in, not with the Python package (--build says where "
                            "poweraware was built)") from error  # fmt: skip
    except OSError as error:
        raise DocumentError(f"{program}: {error.strerror} (--build says where poweraware was built)") from error
    if found.returncode != 0:
        raise DocumentError("top: the pages of this node's processes cannot be read")  # it has said why
    processes = [_process(each) for each in json.loads(found.stdout)]
    return Look(time.monotonic(), sorted(processes, key=lambda each: (each.job, each.rank)))


def _process(page: Json) -> Process:
    call = page["call"]
    return Process(
        page["job"], page["process"], page["pid"], page["finished"],
        Call(call["id"], call["operation"] or "?", call["communicator"], call["size"]) if call else None,
        page["region"], page["calls"], page["in_calls_s"], _cpu_s(page["pid"]), page["node_j"], page.get("energy"),
    )  # fmt: skip


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
    except OSError:
        return 0.0  # it has just ended
    return (int(fields[11]) + int(fields[12])) * _TICK


class Watch:
    """Compares each look with the ones before it."""

    def __init__(self) -> None:
        self._last: Optional[Look] = None
        self._since: Dict[Tuple[str, int], Tuple[str, float]] = {}  # the call that a rank is in, and the first look at it
        self._energy: Dict[str, Tuple[float, float]] = {}  # of a job: its node's joules, and the first look at them
        self._watts: Dict[str, float] = {}

    def text(self, now: Look) -> str:
        """What to show; call it in the order of looks."""
        before = {(each.job, each.rank): each for each in self._last.processes} if self._last else {}
        passed_s = now.at_s - self._last.at_s if self._last else 0.0
        for each in now.processes:
            self._note(each, now.at_s)
        self._last = now
        self._forget(now)
        jobs = list(dict.fromkeys(each.job for each in now.processes))
        parts = [f"{socket.gethostname()}: {plural(len(jobs), 'job')} with a report, {len(now.processes)} processes"]
        for name in jobs:
            members = [each for each in now.processes if each.job == name]
            rows = [self._row(each, before.get((name, each.rank)), passed_s, now.at_s) for each in members]
            heads = ["rank", "pid", "CPU (%)", "in collectives (%)", "calls/s", "is in", "for (s)", "region"]
            parts += [self._head(members), *self._waits(members, now.at_s), _lines(heads, rows)]
        return "\n".join(parts) + "\n"

    def _note(self, each: Process, at_s: float) -> None:
        key = (each.job, each.rank)
        if each.call is None:
            self._since.pop(key, None)
        elif self._since.get(key, ("", 0.0))[0] != each.call.id:
            self._since[key] = (each.call.id, at_s)
        joules, since_s = self._energy.get(each.job, (each.node_j, at_s))
        if each.node_j > joules and at_s > since_s:  # the recorder reads less and less often
            self._watts[each.job] = (each.node_j - joules) / (at_s - since_s)
            self._energy[each.job] = (each.node_j, at_s)
        else:
            self._energy.setdefault(each.job, (joules, since_s))

    def _forget(self, now: Look) -> None:
        ranks, jobs = {(each.job, each.rank) for each in now.processes}, {each.job for each in now.processes}
        self._since = {key: value for key, value in self._since.items() if key in ranks}
        self._energy = {key: value for key, value in self._energy.items() if key in jobs}
        self._watts = {key: value for key, value in self._watts.items() if key in jobs}

    def _head(self, members: List[Process]) -> str:
        first = members[0]
        watts = self._watts.get(first.job)
        if first.energy is None:
            power = "no energy meter"
        else:
            power = "power not known yet" if watts is None else f"the node draws {number(watts)} W ({first.energy})"
        return f"\njob {first.job}: {_program(first.pid)}, {plural(len(members), 'rank')} here; {power}"

    def _in_call_s(self, each: Process, at_s: float) -> float:
        return at_s - self._since[each.job, each.rank][1] if each.call is not None else 0.0

    def _waits(self, members: List[Process], at_s: float) -> List[str]:
        """Per call that ranks have been in for two looks: who they are, and who is in no call."""
        waiting: Dict[Tuple[Optional[str], str], List[Process]] = {}
        for each in members:
            if each.call is not None and self._in_call_s(each, at_s) > 0.0:
                waiting.setdefault((each.call.communicator, each.call.operation), []).append(each)
        away = [each.rank for each in members if each.call is None and not each.finished]
        lines = []
        for (communicator, operation), ranks in waiting.items():
            longest_s = max(self._in_call_s(each, at_s) for each in ranks)
            line = f"{plural(len(ranks), 'rank')} in {operation} on {communicator or 'a communicator'}, for {longest_s:.1f} s and more"
            lines.append(line + (f"; in no collective: {_ranks(away)}" if away else ""))
        return lines

    def _row(self, each: Process, before: Optional[Process], passed_s: float, at_s: float) -> List[str]:
        row = [str(each.rank), str(each.pid)]
        if before is None or before.pid != each.pid or passed_s <= 0.0:
            row += ["", "", ""]
        else:
            same = each.call is not None and before.call is not None and each.call.id == before.call.id
            in_calls_s = passed_s if same else each.in_calls_s - before.in_calls_s
            row += [_percent(max(0.0, each.cpu_s - before.cpu_s), passed_s), _percent(min(in_calls_s, passed_s), passed_s),
                    number((each.calls - before.calls) / passed_s)]  # fmt: skip
        now = "MPI_Finalize" if each.finished else f"{each.call.operation} on {each.call.communicator or '?'}" if each.call else ""
        return [*row, now, f"{self._in_call_s(each, at_s):.1f}" if each.call else "", each.region or ""]


def _lines(heads: List[str], rows: List[List[str]]) -> str:
    return as_table(Table("", heads, rows, "")).strip("\n")


def _ranks(ranks: List[int]) -> str:
    named = ", ".join(map(str, ranks[:_NAMED]))
    return ("rank " if len(ranks) == 1 else "ranks ") + named + (f" and {len(ranks) - _NAMED} more" if len(ranks) > _NAMED else "")


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}"


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "a program"


# ---- a whole job ----


def of_folder(folder: Folder) -> str:
    """The nodes of the latest job that writes there: their recorders leave a document each, now and then, while it runs."""
    if not folder.path.is_dir():
        raise DocumentError(f"{folder.path}: no such folder")
    try:
        whole, parts = folder.latest()
    except FileNotFoundError:
        return f"{folder.path}: the job is just ending\n"  # documents of nodes give way to that of the job
    if whole is not None:
        return f"{folder.path}: job {whole.job.id} has ended after {number(whole.totals.seconds)} s\n"
    if not parts:
        return f"{folder.path}: no job has written there yet; each does after one second\n"
    found = partial.merge(parts)
    calls = found.all_calls()
    share = _percent(calls.seconds, found.totals.process_s) if found.totals.process_s > 0 else "-"
    head = (f"job {found.job.id}: {found.job.program}, {found.reported} of {found.processes} processes on {plural(len(parts), 'node')}; "
            f"{share} % of their time in collectives; energy: {found.provenance.energy.kind}\n{found.why_incomplete}")  # fmt: skip
    heads = ["node", "ranks", "written after (s)", "power (W)", "energy (J)", "CPU (%)"]
    rows = [_node_row(node, part.totals.seconds) for part in parts for node in part.nodes]
    return head + "\n" + _lines(heads, rows) + "\n"


def _node_row(node: Node, written_s: float) -> List[str]:
    power = node.power.watts[-1] if node.power is not None and node.power.watts else None
    joules = node.energy.joules
    return [node.host, str(node.reported), f"{written_s:.1f}", "-" if power is None else number(power), "-" if joules is None else number(joules),
            _percent(node.cpu_s, node.process_s) if node.process_s > 0 else "-"]  # fmt: skip


# ---- again and again ----


def follow(show: Callable[[], str], interval_s: float, iterations: Optional[int]) -> None:
    """Prints what show returns every interval, on a terminal in one place, until it is interrupted."""
    left = iterations
    try:
        while left is None or left > 0:
            text = show()
            sys.stdout.write(_on_terminal(text) if sys.stdout.isatty() else text + "\n")
            sys.stdout.flush()
            left = None if left is None else left - 1
            if left != 0:
                time.sleep(interval_s)
    except KeyboardInterrupt:
        pass


def _on_terminal(text: str) -> str:
    size = os.get_terminal_size(sys.stdout.fileno())
    lines = [line[: size.columns] for line in text.splitlines()]
    if len(lines) >= size.lines:
        lines = lines[: size.lines - 2] + [f"... {len(lines) - size.lines + 2} more lines"]
    return _HOME + "\n".join(lines) + "\n"
