# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""An index of the documents of jobs below a folder: an SQLite file in which each job is a row of columns.JOB.

It is a cache.  What it has of a document stays while the document's stamp does, so only new and changed ones are read; what is gone
is taken out.  Documents are read in batches, and each batch is a transaction, so memory does not grow with their number.  One
process at a time has an index, from open to close.
"""
from __future__ import annotations

import contextlib
import hashlib
import itertools
import math
import multiprocessing
import os
import sqlite3
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Type

from poweraware import columns
from poweraware.columns import Value
from poweraware.documents import DocumentError
from poweraware.gather import Entry, jobs_of, printable, tried, walk
from poweraware.job import Job
from poweraware.run import say

_BATCH = 512
_FEW = 64  # are read by this process
_MOST_READERS = 8
_WAIT_S = 2.0  # for another process
_APPLICATION = 0x50575258  # says that an SQLite file is ours
_MEANING = 1  # count it up when a column changes its meaning
_FIRST_WORD_S = 5.0

Row = Dict[str, Value]


@dataclass(frozen=True)
class Content:
    """The jobs of an entry with their nodes, or what is wrong with it."""

    entry: Entry
    jobs: Tuple[Tuple[Row, Tuple[Row, ...]], ...] = ()
    problem: Optional[str] = None


@dataclass(frozen=True)
class Changes:
    """What an update did."""

    seen: int
    read: int
    removed: int


def read(entry: Entry) -> Content:
    """What the index keeps of an entry."""
    found: List[Tuple[Row, Tuple[Row, ...]]] = []
    problem: Optional[str] = None
    for each in jobs_of(entry):
        row = each if isinstance(each, str) else tried(lambda each=each: _rows(each), entry.path)  # type: ignore[misc]
        if isinstance(row, str):
            problem = problem or printable(row)
        else:
            found.append(row)
    return Content(entry, tuple(found), problem)


def _rows(each: Job) -> Tuple[Row, Tuple[Row, ...]]:
    return _clean(columns.of_job(each)), tuple(_clean(columns.values(columns.NODE, node)) for node in each.nodes)


def _clean(row: Row) -> Row:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Value) -> Value:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, (int, float)) and not (math.isfinite(value) and abs(value) < 2**63):
        raise ValueError(f"{value:.3g} is too large")
    return value


# ---- the index ----


def _declared(found: Sequence[columns.Column[columns.Of]]) -> str:
    types: Dict[Type[object], str] = {str: "TEXT", int: "INTEGER", float: "REAL", bool: "INTEGER"}
    return ", ".join(f'"{column.name}" {types[column.type]}' for column in found)


_SCHEMA = f"""
CREATE TABLE documents(id INTEGER PRIMARY KEY, path BLOB UNIQUE NOT NULL, stamp TEXT NOT NULL, round INTEGER NOT NULL, problem TEXT);
CREATE TABLE jobs(id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE, {_declared(columns.JOB)});
CREATE TABLE nodes(job_row INTEGER NOT NULL REFERENCES jobs ON DELETE CASCADE, {_declared(columns.NODE)});
CREATE INDEX jobs_by_document ON jobs(document);
CREATE INDEX nodes_by_job ON nodes(job_row);
CREATE INDEX jobs_by_name ON jobs(begin_ns, job, user);
"""
# A document that was copied counts once.
_COUNTED = "CREATE TEMP VIEW counted AS SELECT * FROM jobs WHERE id IN (SELECT min(id) FROM jobs GROUP BY begin_ns, job, user)"
_VERSION = zlib.crc32(f"{_MEANING}{_SCHEMA}".encode()) >> 1


def usual_path(folder: Path) -> Path:
    """Below the user's cache, one for each folder."""
    cache, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    if not cache.startswith("/") and not home.startswith("/"):
        raise DocumentError("neither XDG_CACHE_HOME nor HOME is an absolute path: --index which file?")
    name = hashlib.sha1(os.fsencode(folder.resolve())).hexdigest()[:12]
    return (Path(cache) if cache.startswith("/") else Path(home) / ".cache") / "poweraware" / f"fleet-{name}.sqlite"


class Index:
    """An open index, which no other process has; what goes wrong with it is a DocumentError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._explained():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))  # it says who ran what
            self._db = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        try:
            with self._explained():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def _open(self) -> None:
        for line in ("PRAGMA locking_mode = EXCLUSIVE", "PRAGMA foreign_keys = ON", "PRAGMA cache_size = -8000", "BEGIN IMMEDIATE"):
            self._db.execute(line)
        (application,), (version,) = (self._db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        tables = [name for (name,) in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if tables and application != _APPLICATION:
            raise DocumentError(f"{self.path}: is a database of another program: --index another file")
        if version != _VERSION:
            for name in sorted(tables, key=["nodes", "jobs", "documents"].index):
                self._db.execute(f"DROP TABLE {name}")
            for line in _SCHEMA.split(";\n"):
                self._db.execute(line)
            self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {_VERSION}")
        self._db.execute("COMMIT")
        self._db.row_factory = sqlite3.Row
        self._db.execute(_COUNTED)
        self._db.create_function("ln1p", 1, lambda ratio: math.log1p(ratio) if ratio is not None and ratio > -1 else None, deterministic=True)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            text = str(error)
            if "locked" in text:
                text = "is in use by another process: wait for it, or --index another file"
            elif "full" in text or "disk I/O" in text:
                text += ": what it had stays as it was; make room, or --index a file elsewhere"
            elif "not a database" in text or "malformed" in text:
                text = "is no index, or a damaged one: remove it, or --index another file"
            raise DocumentError(f"{self.path}: {text}") from error

    def update(self, folder: Path, tell: Callable[[str], None] = say) -> Changes:
        """Makes it the index of what is below folder now."""
        progress = _Progress(tell)
        seen = read_now = 0
        with self._explained(), _Readers() as readers:
            (this_round,) = self._db.execute("SELECT ifnull(max(round), 0) + 1 FROM documents").fetchone()
            for batch in _batches(walk(str(folder.resolve()))):
                new = [entry for entry in batch if not self._knows(entry)]
                with self._transaction():
                    self._db.executemany("UPDATE documents SET round = ? WHERE path = ?", ((this_round, os.fsencode(entry.path)) for entry in batch))
                    for content in readers.read(new):
                        self._put(content, this_round)
                seen, read_now = seen + len(batch), read_now + len(new)
                progress.tell(f"{seen} documents seen, {read_now} of them read")
            with self._transaction():
                removed = self._db.execute("DELETE FROM documents WHERE round != ?", (this_round,)).rowcount
        return Changes(seen, read_now, removed)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _knows(self, entry: Entry) -> bool:
        found = self._db.execute("SELECT stamp FROM documents WHERE path = ?", (os.fsencode(entry.path),)).fetchone()
        return found is not None and found[0] == entry.stamp and entry.problem is None

    def _put(self, content: Content, this_round: int) -> None:
        path = os.fsencode(content.entry.path)
        self._db.execute("DELETE FROM documents WHERE path = ?", (path,))
        document = self._insert("documents", {"path": path, "stamp": content.entry.stamp, "round": this_round, "problem": content.problem})
        for found, nodes in content.jobs:
            row = self._insert("jobs", {"document": document, **found})
            for node in nodes:
                self._insert("nodes", {"job_row": row, **node})

    def _insert(self, table: str, row: Dict[str, object]) -> Optional[int]:
        names = ", ".join(f'"{name}"' for name in row)
        return self._db.execute(f"INSERT INTO {table}({names}) VALUES ({', '.join('?' * len(row))})", list(row.values())).lastrowid

    def select(self, query: str, values: Iterable[object] = ()) -> Iterator[sqlite3.Row]:
        """Rows of a query over counted (jobs, none of them twice), nodes and documents."""
        with self._explained():
            yield from self._db.execute(query, tuple(values))


class _Readers:
    """Reads documents, many of them by several processes."""

    def __enter__(self) -> "_Readers":
        self._stack = contextlib.ExitStack()
        self._map: Callable[[Callable[[Entry], Content], List[Entry]], Iterable[Content]] = map
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self, entries: List[Entry]) -> Iterable[Content]:
        count = min(_MOST_READERS, len(os.sched_getaffinity(0)))
        if self._map is map and len(entries) > _FEW and count > 1:
            self._map = self._stack.enter_context(multiprocessing.Pool(count)).map
        return self._map(read, entries)


class _Progress:
    """A line when it takes long, and then ever less often."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._begin_s = time.monotonic()
        self._next_s = _FIRST_WORD_S

    def tell(self, line: str) -> None:
        if time.monotonic() - self._begin_s >= self._next_s:
            self._next_s *= 2
            self._tell(line)


def _batches(entries: Iterator[Entry]) -> Iterator[List[Entry]]:
    while batch := list(itertools.islice(entries, _BATCH)):
        yield batch
