# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Frames of pandas, of one document or of all below a folder.

Each has the columns of poweraware.columns, in their order and units, and before them "document", the path, by which frames can be
merged.  Documents that are wrong are left out with a warning; one that is asked for by name raises a DocumentError.
"""
from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Type, Union

from poweraware import columns, folders
from poweraware.gather import jobs_of, walk
from poweraware.index import Index
from poweraware.job import Job

if TYPE_CHECKING:
    import pandas

Place = Union[str, "os.PathLike[str]"]
_Row = Dict[str, Any]
_DTYPES: Dict[Type[Any], str] = {str: "object", int: "Int64", float: "float64", bool: "bool"}
_POWER: Tuple[Tuple[str, Type[Any]], ...] = (("host", str), ("time_seconds", float), ("seconds", float), ("watts", float))


def read(path: Place) -> Job:
    """A document, or the latest job of a folder, as objects."""
    return folders.load(Path(path))


def jobs(path: Place, index: Optional[Place] = None) -> "pandas.DataFrame":
    """A row per job: columns.JOB, and "begin" as a time in UTC.

    index: a file that keeps what was read of a folder, as poweraware fleet does; worth it from some hundreds of documents on.
    """
    rows = _from_index(path, Path(index)) if index is not None else ({"document": name, **columns.of_job(job)} for name, job in _jobs(path))
    frame = _frame(rows, [(column.name, column.type) for column in columns.JOB])
    import pandas

    frame.insert(1, "begin", pandas.to_datetime(frame["begin_ns"].astype("int64"), unit="ns", utc=True))
    return frame


def nodes(path: Place) -> "pandas.DataFrame":
    """A row per node of each job: columns.NODE."""
    return _parts(path, columns.NODE, lambda job: job.nodes)


def calls(path: Place) -> "pandas.DataFrame":
    """A row per class of calls of each job: columns.CALL."""
    return _parts(path, columns.CALL, lambda job: job.calls)


def regions(path: Place) -> "pandas.DataFrame":
    """A row per region that each program has marked: columns.REGION."""
    return _parts(path, columns.REGION, lambda job: job.regions)


def power(path: Place) -> "pandas.DataFrame":
    """Power over time, a row per node and bin: host; time_seconds, s, the bin's begin after the job's; seconds, s, its width; watts, W."""
    rows = (
        {"document": name, "host": node.host, "time_seconds": curve.begin_s + k * curve.width_s, "seconds": curve.width_s, "watts": watts}
        for name, job in _jobs(path) for node in job.nodes for curve in ([node.power] if node.power else []) for k, watts in enumerate(curve.watts)
    )  # fmt: skip
    return _frame(rows, _POWER)


def _parts(path: Place, found: Sequence[columns.Column[Any]], of: Callable[[Job], Iterable[Any]]) -> "pandas.DataFrame":
    rows = ({"document": name, **columns.values(found, part)} for name, job in _jobs(path) for part in of(job))
    return _frame(rows, [(column.name, column.type) for column in found])


def _jobs(path: Place) -> Iterator[Tuple[str, Job]]:
    """With the paths of their documents."""
    if not os.path.isdir(path):
        yield os.fspath(path), folders.load(Path(path))
        return
    problems: List[str] = []
    for entry in walk(os.fspath(path)):
        for found in jobs_of(entry):
            if isinstance(found, str):
                problems.append(f"{entry.path}: {found}")
            else:
                yield entry.path, found
    if problems:
        warnings.warn(f"{len(problems)} documents are left out, such as {problems[0]}", stacklevel=6)


def _from_index(path: Place, file: Path) -> Iterator[_Row]:
    with Index(file) as index:
        index.update(Path(path))
        for row in index.select("SELECT path, counted.* FROM counted JOIN documents ON documents.id = document"):
            yield {"document": os.fsdecode(row["path"]), **{column.name: row[column.name] for column in columns.JOB}}


def _frame(rows: Iterable[_Row], found: Sequence[Tuple[str, Type[Any]]]) -> "pandas.DataFrame":
    import pandas  # here, so that all else works without it

    types: Dict[str, Type[Any]] = {"document": str, **dict(found)}
    table: Dict[str, List[Any]] = {name: [] for name in types}
    for row in rows:
        for name, values in table.items():
            values.append(row[name])
    return pandas.DataFrame({name: pandas.Series(values, dtype=_DTYPES[types[name]]) for name, values in table.items()})
