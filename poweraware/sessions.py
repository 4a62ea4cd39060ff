# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of bench/run, where documents of jobs are expected: what of theirs is a job's."""
from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from poweraware import job
from poweraware.compare import Group, Repeat
from poweraware.documents import DocumentError, read_json
from poweraware.export import Exported
from poweraware.job import Job
from poweraware.session import document, energy, summary
from poweraware.session.document import Document, Run

_FILE = "document.json"


def is_one(path: Path) -> bool:
    """Whether this is the document of a session, or a folder with one."""
    if path.is_dir():
        return (path / _FILE).exists()
    data = read_json(path) if path.exists() else None
    return isinstance(data, dict) and data.get("format") == document.FORMAT


def all_or_none(paths: Sequence[Path]) -> bool:
    """Whether all of these are sessions; raises a DocumentError when only some are."""
    found = [is_one(path) for path in paths]
    if any(found) and not all(found):
        raise DocumentError(f"{paths[found.index(False)]}: is a job's document, {paths[found.index(True)]} a session's: "
                            "take one kind")  # fmt: skip
    return any(found)


def load(path: Path) -> Document:
    """The document of a session."""
    return document.load(path / _FILE if path.is_dir() else path)


def name_of(path: Path) -> str:
    """What a session is called: its folder."""
    return (path if path.is_dir() else path.parent).resolve().name


def exported(path: Path) -> List[Exported]:
    """The jobs of a session's good runs."""
    return [Exported(found, run.benchmark, str(run.repetition), run.scheme) for run, found in _good(load(path), str(path))]


def groups(paths: Sequence[Path]) -> List[List[Group]]:
    """What to compare: of one session for each benchmark the schemes with the first one, of several for each benchmark
    and scheme the sessions with the first one."""
    sessions = [(name_of(path), _repeats(load(path), str(path))) for path in paths]
    first = sessions[0][1]
    if len(sessions) == 1:
        benchmarks = list(dict.fromkeys(benchmark for benchmark, _ in first))
        return [
            [Group(f"{benchmark} {scheme}", runs) for (of, scheme), runs in first.items() if of == benchmark]
            for benchmark in benchmarks
        ]
    shared = [key for key in first if all(key in runs for _, runs in sessions)]
    if not shared:
        raise DocumentError("not comparable: the sessions have no benchmark under the same scheme")
    return [[Group(f"{name} {key[0]} {key[1]}", _alone(runs[key])) for name, runs in sessions] for key in shared]


def check(path: Path) -> None:
    """Raises a DocumentError when the session's document, or that of one of its jobs, is wrong."""
    for run in load(path).runs:
        if run.job is not None:
            job.from_json(run.job, f"{path}: {run.id}")


def _alone(repeats: List[Repeat]) -> List[Repeat]:
    """Of sessions that ran apart: a repetition of one belongs to none of the other."""
    return [dataclasses.replace(repeat, repetition=None) for repeat in repeats]


def _repeats(session: Document, origin: str) -> Dict[Tuple[str, str], List[Repeat]]:
    """By benchmark and scheme, the baseline first; figures are those of the session's page."""
    found: Dict[Tuple[str, str], List[Repeat]] = {}
    nodes = session.cluster.nodes
    for run, each in _good(session, origin):
        figures = {"time": summary.run_time_s(run), "energy": energy.run_energy_j(run, nodes),
                   "mean power": summary.run_power_w(run, nodes), "CPU time": summary.run_cpu_s(run)}  # fmt: skip
        found.setdefault((run.benchmark, run.scheme), []).append(Repeat(each, figures, run.repetition))
    return found


def _good(session: Document, origin: str) -> List[Tuple[Run, Job]]:
    """Runs that count and have a job's document, those of the baseline first."""
    runs = sorted(session.runs, key=lambda run: run.scheme != session.baseline())
    good = [(run, job.from_json(run.job, f"{origin}: {run.id}")) for run in runs if run.failure is None and run.job is not None]
    if not good:
        raise DocumentError(f"{origin}: there is no good run with a job's document in it")
    return good
