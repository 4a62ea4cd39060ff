# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of bench/run, where documents of jobs are expected: what of theirs is a job's."""
from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from poweraware import job
from poweraware.compare import Group
from poweraware.documents import DocumentError, read_json
from poweraware.job import Job
from poweraware.session import document
from poweraware.session.document import BASELINE, Document

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


def jobs_of(path: Path) -> List[Job]:
    """The jobs of a session's good runs."""
    return [each for jobs in _jobs(load(path), str(path)).values() for each in jobs]


def groups(paths: Sequence[Path]) -> List[List[Group]]:
    """What to compare: of one session for each benchmark the schemes with the first one, of several for each benchmark
    and scheme the sessions with the first one."""
    sessions = [(name_of(path), _jobs(load(path), str(path))) for path in paths]
    first = sessions[0][1]
    if len(sessions) == 1:
        benchmarks = list(dict.fromkeys(benchmark for benchmark, _ in first))
        return [
            [Group(f"{benchmark} {scheme}", jobs) for (of, scheme), jobs in first.items() if of == benchmark]
            for benchmark in benchmarks
        ]
    shared = [key for key in first if all(key in runs for _, runs in sessions)]
    if not shared:
        raise DocumentError("not comparable: the sessions have no benchmark under the same scheme")
    return [[Group(f"{name} {key[0]} {key[1]}", runs[key]) for name, runs in sessions] for key in shared]


def check(path: Path) -> None:
    """Raises a DocumentError when the session's document, or that of one of its jobs, is wrong."""
    for run in load(path).runs:
        if run.job is not None:
            job.from_json(run.job, f"{path}: {run.id}")


def _jobs(session: Document, origin: str) -> Dict[Tuple[str, str], List[Job]]:
    """Jobs by benchmark and scheme, the baseline first."""
    found: Dict[Tuple[str, str], List[Job]] = {}
    for run in sorted(session.runs, key=lambda run: run.scheme != BASELINE):
        if run.failure is None and run.job is not None:
            found.setdefault((run.benchmark, run.scheme), []).append(job.from_json(run.job, f"{origin}: {run.id}"))
    if not found:
        raise DocumentError(f"{origin}: there is no good run with a job's document in it")
    return found
