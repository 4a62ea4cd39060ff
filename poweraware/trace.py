# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What ranks did when: the files of coll_poweraware_trace_dir."""
from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

from poweraware.documents import DocumentError

RUNGS = ("spin", "rest", "sleep")  # in the order in which a wait goes through them
_INTERVALS = ("net", "local", "copy")
_NAME = re.compile(r"rank-(\d+)\.events\.csv$")
_NS = 1e-9


@dataclass(frozen=True)
class Interval:
    """Seconds of the real clock."""

    begin_s: float
    end_s: float
    what: str

    def within(self, begin_s: float, end_s: float) -> Optional["Interval"]:
        """The part between two times; None: there is none."""
        if self.end_s <= begin_s or self.begin_s >= end_s:
            return None
        return Interval(max(begin_s, self.begin_s), min(end_s, self.end_s), self.what)


@dataclass
class Rank:
    """One rank's trace."""

    rank: int
    host: str
    package: int
    calls: List[Interval] = field(default_factory=list)  # what: the collective
    states: List[Interval] = field(default_factory=list)  # what: one of RUNGS, net, local or copy
    tstates: List[Interval] = field(default_factory=list)  # what: "T7"; only while throttled
    low: List[Interval] = field(default_factory=list)  # at the lowest frequency
    phases: List[Tuple[float, int]] = field(default_factory=list)  # when, number
    lost: bool = False


def load(folder: Path) -> List[Rank]:
    """All ranks of a job, in order."""
    found = sorted((int(match.group(1)), path) for path in folder.glob("rank-*.events.csv") if (match := _NAME.search(path.name)))
    if not found:
        raise DocumentError(f"{folder}: there is no rank-N.events.csv in it (mpirun --mca coll_poweraware_trace_dir {folder} ...)")
    return [_load_rank(number, path) for number, path in found]


def _load_rank(number: int, path: Path) -> Rank:
    report_path = path.with_name(f"rank-{number}.json")
    try:
        report = json.loads(report_path.read_text(encoding="utf-8"))
        names = list(report["operations"])
        offset = int(report["realtime_offset_ns"])
        rank = Rank(number, str(report["host"]), int(report["package"]))
    except OSError as error:
        raise DocumentError(f"{report_path}: {error.strerror}: what a rank says of itself is beside its trace") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DocumentError(f"{report_path}: is no report of a rank: {error!r}") from error
    try:
        with path.open(newline="", encoding="utf-8") as file:
            _Reader(rank, names, offset).read(file)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DocumentError(f"{path}: is no trace: {error!r}") from error
    return rank


class _Reader:
    """Makes intervals of the events of one rank."""

    def __init__(self, rank: Rank, names: List[str], offset_ns: int) -> None:
        self._rank = rank
        self._names = names
        self._offset_ns = offset_ns
        self._open: Dict[str, List[float]] = {what: [] for what in (*_INTERVALS, "call")}
        self._collective = ""
        self._level: Tuple[float, int] = (0.0, 0)
        self._low_since: Optional[float] = None
        self._waits: List[Tuple[str, float]] = []  # rungs of the wait that is being read
        self._waited_until = 0.0
        self._last = 0.0

    def read(self, file: Iterable[str]) -> None:
        for row in csv.DictReader(file):
            if row["t_ns"].startswith("#"):
                self._rank.lost = True
                continue
            self._take(row["event"], (int(row["t_ns"]) + self._offset_ns) * _NS, int(row["detail"]), int(row["bytes"]))
        self._end_wait()
        self._set_level(self._last, 0)
        self._set_speed(self._last, 1)
        self._rank.states.sort(key=lambda each: each.begin_s)

    def _take(self, event: str, at_s: float, detail: int, number: int) -> None:
        self._last = at_s
        if event in RUNGS:
            if self._is_another_wait(event, at_s, number * _NS):
                self._end_wait()
            self._waits.append((event, number * _NS))
            self._waited_until = at_s
            return
        self._end_wait()
        if event == "call":
            self._collective = self._names[detail]
            self._open["call"].append(at_s)
        elif event == "return" and self._open["call"]:
            self._rank.calls.append(Interval(self._open["call"].pop(), at_s, self._collective))
        elif event in _INTERVALS:
            self._open[event].append(at_s)
        elif event.endswith("_end") and self._open[event[:-4]]:
            self._rank.states.append(Interval(self._open[event[:-4]].pop(), at_s, event[:-4]))
        elif event == "phase":
            self._rank.phases.append((at_s, detail))
        elif event == "tstate":
            self._set_level(at_s, detail)
        elif event == "speed":
            self._set_speed(at_s, detail)

    def _is_another_wait(self, rung: str, at_s: float, seconds: float) -> bool:
        """Rungs of one wait are told together, in their order; one that has room behind them is of a later wait."""
        return bool(self._waits) and (
            RUNGS.index(rung) <= RUNGS.index(self._waits[-1][0]) or seconds <= at_s - self._waited_until
        )

    def _end_wait(self) -> None:
        begin = self._waited_until - sum(seconds for _, seconds in self._waits)
        for rung, seconds in self._waits:
            self._rank.states.append(Interval(begin, begin + seconds, rung))
            begin += seconds
        self._waits = []

    def _set_level(self, at_s: float, level: int) -> None:
        since, before = self._level
        if before > 0 and level != before:
            self._rank.tstates.append(Interval(since, at_s, f"T{before}"))
        if level != before:
            self._level = (at_s, level)

    def _set_speed(self, at_s: float, usual: int) -> None:
        if usual and self._low_since is not None:
            self._rank.low.append(Interval(self._low_since, at_s, "lowest frequency"))
            self._low_since = None
        elif not usual and self._low_since is None:
            self._low_since = at_s
