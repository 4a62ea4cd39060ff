# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Many jobs together: who waited, what that cost, what saving brought, and which jobs to look at first.

All from an index, by sums over its rows.  Energy of different kinds is never added up: a user whose jobs have measured and modelled
energy has two rows.
"""
from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from poweraware import advice
from poweraware.documents import DocumentError
from poweraware.gather import load, printable
from poweraware.index import Index
from poweraware.table import Table, as_paragraph, as_table, without_empty_columns
from poweraware.wording import number, plural

_J_PER_KWH = 3.6e6
_PERIODS = (("hour", "%Y-%m-%d %H:00", 3600), ("day", "%Y-%m-%d", 86400), ("week", "%Y, week %W", 7 * 86400),
            ("month", "%Y-%m", 30 * 86400), ("year", "%Y", 365 * 86400))  # fmt: skip
MOST_PERIODS = 62
_LOOKED_AT = 10  # jobs, each of which is read once more
_WAITING = "spin_seconds + rest_seconds + asleep_seconds"
_SUMS = f"""count(*) jobs, sum(process_seconds) process_s, sum(cpu_seconds) cpu_s, sum(collective_seconds) collective_s,
    sum({_WAITING}) waiting_s, sum(asleep_seconds) asleep_s, sum(rest_seconds) rest_s, sum(spin_seconds) spin_s, sum(joules) joules,
    sum(waiting_joules) waiting_j, sum(saved_joules) saved_j, sum(savable_joules) savable_j"""
_NOTE = ("Waiting: of all processes in collectives, asleep included. Energy is that of whole nodes while jobs ran there: jobs that share "
         "a node at one time each have all of it. Energy of waiting and what sleeping saved are modelled, by the weights in each document.")  # fmt: skip

Row = Dict[str, Any]


@dataclass(frozen=True)
class Period:
    """What time is divided into."""

    name: str
    format: str

    @property
    def key(self) -> str:
        return f"ifnull(strftime('{self.format}', begin_time_seconds, 'unixepoch'), '-')"


def sums(index: Index, key: str, most: int, order: str = "waiting_s DESC") -> List[Row]:
    """By a column or another expression, and by kind of energy."""
    query = f"SELECT {key} name, energy_kind kind, {_SUMS} FROM counted GROUP BY 1, 2 ORDER BY {order}, 1, 2 LIMIT ?"
    return [dict(row) for row in index.select(query, [most])]


def period(index: Index) -> Period:
    """The finest that has few enough."""
    ((first, last),) = index.select("SELECT ifnull(min(begin_time_seconds), 0), ifnull(max(begin_time_seconds), 0) FROM jobs")
    fitting = [each for each in _PERIODS if last - first <= (MOST_PERIODS - 1) * each[2]]
    name, form, _ = (fitting or _PERIODS[-1:])[0]
    return Period(name, form)


def over_time(index: Index) -> List[Row]:
    """The latest periods, the first of them first."""
    return sums(index, period(index).key, MOST_PERIODS, "1 DESC")[::-1]


# ---- tables ----


def all_tables(index: Index, most: int) -> List[Table]:
    """In the order of the page; most: rows of each, but for those of time."""
    return [
        _table("All jobs", "", sums(index, "'all'", 9), _NOTE),
        _effects(index, most),
        _table("By user", "user", sums(index, "user", most), _rest(index, "user", most)),
        _table("By application", "program", sums(index, "program", most), _rest(index, "program", most)),
        _nodes(index, most),
        _table("Over time (UTC)", period(index).name, over_time(index), None),
        _first_looks(index),
        *_left_out(index, most),
    ]


def _rest(index: Index, key: str, most: int) -> Optional[str]:
    ((count,),) = index.select(f"SELECT count(*) FROM (SELECT DISTINCT {key}, energy_kind FROM counted)")
    return f"{count - most} more rows had no room (--rows)." if count > most else None


def _table(title: str, head: str, rows: List[Row], more: Optional[str]) -> Table:
    heads = [head, "jobs", "process time (h)", "CPU (%)", "waiting (h)", "of all (%)", "asleep (%)", "energy (kWh)", "is", "of waiting (kWh)",
             "sleep saved (kWh)", "would save (kWh)"]  # fmt: skip
    lines = [
        [row["name"] or "-", str(row["jobs"]), _hours(row["process_s"]), _percent(row["cpu_s"], row["process_s"]), _hours(row["waiting_s"]),
         _percent(row["waiting_s"], row["process_s"]), _percent(row["asleep_s"], row["waiting_s"]), _kwh(row["joules"]), row["kind"],
         _kwh(row["waiting_j"]), _kwh(row["saved_j"]), _kwh(row["savable_j"])]
        for row in rows
    ]  # fmt: skip
    return without_empty_columns(Table(title, heads, lines, more or ""))


def _nodes(index: Index, most: int) -> Table:
    query = """SELECT host, nodes.energy_kind kind, count(*) jobs, sum(nodes.process_seconds) process_s, sum(nodes.cpu_seconds) cpu_s,
        sum(nodes.joules) joules, sum(1.0 * nodes.process_seconds / counted.process_seconds * (SPIN)) waiting_s
        FROM nodes JOIN counted ON counted.id = job_row GROUP BY 1, 2 ORDER BY process_s - cpu_s DESC, 1, 2 LIMIT ?"""
    rows = [dict(row) for row in index.select(query.replace("SPIN", _WAITING), [most])]
    ((count,),) = index.select("SELECT count(*) FROM (SELECT DISTINCT host, energy_kind FROM nodes)")
    lines = [[row["host"], str(row["jobs"]), _hours(row["process_s"]), _percent(row["cpu_s"], row["process_s"]), _hours(row["waiting_s"]),
              _kwh(row["joules"]), row["kind"]] for row in rows]  # fmt: skip
    note = ("Waiting: each job's, shared out by the process time on its nodes (modelled): documents have it of all nodes together. "
            "Those with most time off the CPU come first.")  # fmt: skip
    more = f" {count - most} more rows had no room (--rows)." if count > most else ""
    return Table("By node", ["node", "jobs", "process time (h)", "CPU (%)", "waiting (h)", "energy (kWh)", "is"], lines, note + more)


def _effects(index: Index, most: int) -> Table:
    """A mean in which each job counts by what its interval is worth."""
    parts = ", ".join(f"sum({_weight(name)}) {name}_w, sum({_weight(name)} * ln1p({name}_effect)) {name}_m, sum({name}_effect IS NOT NULL) {name}_n"
                      for name in ("cpu", "energy", "time"))  # fmt: skip
    rows = [dict(row) for key in ("'all'", "program") for row in index.select(
        f"SELECT {key} name, energy_kind kind, {parts} FROM counted WHERE time_effect IS NOT NULL GROUP BY 1, 2 ORDER BY time_w DESC, 1, 2 LIMIT ?", [most])]
    lines = [[row["name"], str(row["time_n"]), *(_interval(row, name) for name in ("cpu", "energy", "time")), row["kind"]] for row in rows]
    note = ("Calls that save against calls that do not, as jobs with scheme auto have measured it in turns, with an interval of 3.5 standard "
            "errors; jobs that know it best count most. Jobs that ran too short to tell are not in it.")  # fmt: skip
    return Table("What saving changed, measured", ["program", "jobs", "CPU time (%)", "energy (%)", "time (%)", "energy is"], lines, note)


def _weight(name: str) -> str:
    return f"4.0 / ((ln1p({name}_effect_high) - ln1p({name}_effect_low)) * (ln1p({name}_effect_high) - ln1p({name}_effect_low)))"


def _interval(row: Row, name: str) -> str:
    if not row[f"{name}_w"]:
        return "-"
    middle, reach = row[f"{name}_m"] / row[f"{name}_w"], 1 / math.sqrt(row[f"{name}_w"])
    percents = [100 * math.expm1(value) for value in (middle, middle - reach, middle + reach)]
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*percents)


def _first_looks(index: Index) -> Table:
    query = f"""SELECT path, user, program, job, processes, complete, {_WAITING} waiting_s, process_seconds process_s, asleep_seconds asleep_s,
        waiting_joules waiting_j FROM counted JOIN documents ON documents.id = document WHERE waiting_s > 0 ORDER BY waiting_s DESC, path LIMIT ?"""
    rows = [dict(row) for row in index.select(query, [_LOOKED_AT])]
    lines = [
        [printable(os.fsdecode(row["path"])), row["user"], row["program"], row["job"], str(row["processes"]), _hours(row["waiting_s"]),
         _percent(row["waiting_s"], row["process_s"]), _percent(row["asleep_s"], row["waiting_s"]), _kwh(row["waiting_j"]), _advice(row)]
        for row in rows
    ]  # fmt: skip
    heads = ["document", "user", "program", "job", "processes", "waiting (h)", "of all (%)", "asleep (%)", "of waiting (kWh)", "what to take from it"]
    return Table("Jobs to look at first", heads, lines, "Those whose processes waited longest: poweraware report DOCUMENT shows all of one.")


def _advice(row: Row) -> str:
    if not row["complete"]:
        return "It was killed, or is still running."
    try:
        job = load(os.fsdecode(row["path"]))
        return printable((advice.of_late_ranks(job) or advice.advice(job))[0])
    except (DocumentError, OSError) as error:
        return printable(f"It cannot be read any more: {error}")


def _left_out(index: Index, most: int) -> List[Table]:
    ((count,),) = index.select("SELECT count(*) FROM documents WHERE problem IS NOT NULL")
    rows = index.select("SELECT path, problem FROM documents WHERE problem IS NOT NULL ORDER BY path LIMIT ?", [most])
    lines = [[printable(os.fsdecode(row["path"])), str(row["problem"])] for row in rows]
    more = f"{count - most} more had no room (--rows)." if count > most else "All that are left out."
    return [Table(f"Left out: {plural(count, 'document')}", ["document", "why"], lines, more)] if count else []


def summary(index: Index) -> str:
    """What there is, in a sentence."""
    ((jobs, users, programs, first, last, copies),) = index.select(
        "SELECT count(*), count(DISTINCT user), count(DISTINCT program), date(min(begin_time_seconds), 'unixepoch'), "
        "date(max(begin_time_seconds), 'unixepoch'), (SELECT count(*) FROM jobs) - count(*) FROM counted")  # fmt: skip
    if jobs == 0:
        return "There are no jobs."
    ((nodes, incomplete, wrong),) = index.select(
        "SELECT (SELECT count(DISTINCT host) FROM nodes), (SELECT count(*) FROM counted WHERE NOT complete), "
        "(SELECT count(*) FROM documents WHERE problem IS NOT NULL)")  # fmt: skip
    remarks = [(incomplete, "not complete"), (copies, "copies, which count once"), (wrong, "left out")]
    found = "".join(f"; {count} {what}" for count, what in remarks if count)
    return f"{plural(jobs, 'job')} of {plural(users, 'user')} and {plural(programs, 'program')} on {plural(nodes, 'node')}, {first or '-'} to {last or '-'}{found}."


def as_text(index: Index, most: int) -> str:
    """All tables as plain text."""
    return "\n\n".join([as_paragraph(summary(index)), *(as_table(table) for table in all_tables(index, most) if table.rows)])


def _hours(seconds: Optional[float]) -> str:
    return "-" if seconds is None else number(seconds / 3600)


def _kwh(joules: Optional[float]) -> str:
    return "-" if joules is None else number(joules / _J_PER_KWH)


def _percent(part: Optional[float], whole: Optional[float]) -> str:
    return f"{100 * part / whole:.1f}" if part is not None and whole else "-"


def parts_of_waiting(row: Row) -> Tuple[float, float, float]:
    """Hours asleep, resting and spinning."""
    return row["asleep_s"] / 3600, row["rest_s"] / 3600, row["spin_s"] / 3600
