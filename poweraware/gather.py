# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The documents of jobs below a folder, entry by entry, so that memory does not grow with their number.

They may be anybody's: links, FIFOs, huge, torn and foreign ones are left out, with their reason.
"""
from __future__ import annotations

import dataclasses
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional, Tuple, TypeVar, Union

from poweraware import folders, job, partial
from poweraware.documents import DocumentError, parse_json
from poweraware.job import Job

MOST_BYTES = 32 << 20  # of a document
_DEPTH = 32  # of folders
_LONGEST = 200  # letters
T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A document, or all parts of killed jobs in a folder; or what keeps it from being read."""

    path: str
    stamp: str
    parts: Tuple[str, ...] = ()
    problem: Optional[str] = None


def walk(folder: str, depth: int = 0) -> Iterator[Entry]:
    """All documents, in no order; links to folders are not followed."""
    parts: List["os.DirEntry[str]"] = []
    try:
        with os.scandir(folder) as entries:
            for each in entries:
                if each.is_dir(follow_symlinks=False):
                    yield from walk(each.path, depth + 1) if depth < _DEPTH else [Entry(each.path, "", problem="too deep a folder")]
                elif folders.is_part(each.name):
                    parts.append(each)
                elif folders.is_whole(each.name):
                    yield _entry(each)
        if parts:
            stamps = sorted((each.name, _stamp(each)) for each in parts)
            yield Entry(os.path.join(folder, "job.*.partial.json"), hashlib.sha1(repr(stamps).encode(errors="surrogateescape")).hexdigest(),
                        tuple(os.path.join(folder, name) for name, _ in stamps))  # fmt: skip
    except OSError as error:
        if depth == 0:
            raise
        yield Entry(folder, "", problem=error.strerror)


def _entry(each: "os.DirEntry[str]") -> Entry:
    try:
        return Entry(each.path, _stamp(each))
    except FileNotFoundError:  # replaced or removed this moment
        return Entry(each.path, "", problem="is gone")


def _stamp(each: "os.DirEntry[str]") -> str:
    status = each.stat(follow_symlinks=False)
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def load(path: str) -> Job:
    """A document that may be anybody's."""
    return job.from_json(parse_json(_bytes(path), Path(path)), path, one_of_many=True)


def jobs_of(entry: Entry) -> Iterator[Union[Job, str]]:
    """The job of a document, or those that left parts; or what is wrong with a document."""
    if entry.problem is not None:
        yield entry.problem
    elif not entry.parts:
        yield tried(lambda: load(entry.path), entry.path)
    groups: Dict[str, List[str]] = {}
    for path in entry.parts:
        part = tried(lambda path=path: load(path), path)  # type: ignore[misc]
        if isinstance(part, str):
            yield f"{os.path.basename(path)}: {part}"
        else:
            groups.setdefault(part.job.id, []).append(path)
    for paths in groups.values():
        yield tried(lambda paths=paths: partial.merge([_without_power(load(path)) for path in paths]), paths[0])  # type: ignore[misc]


def tried(do: Callable[[], T], path: str) -> Union[T, str]:
    """What it returns, or what is wrong."""
    try:
        return do()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except DocumentError as error:
        return str(error).splitlines()[0].removeprefix(f"{path}: ")
    except (ArithmeticError, ValueError) as error:  # numbers that no job comes to
        return f"its figures make no sense: {error}"


def _without_power(part: Job) -> Job:
    """Curves are not needed here, and could be made to fill the memory when parts are brought in line."""
    return dataclasses.replace(part, power=None, nodes=[dataclasses.replace(node, power=None) for node in part.nodes])


def _bytes(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(f"{path}: is no regular file")
        if status.st_size > MOST_BYTES:
            raise DocumentError(f"{path}: has {status.st_size} bytes, more than {MOST_BYTES}")
        return file.read(MOST_BYTES)


def printable(text: str) -> str:
    """Nothing that moves a terminal's cursor, and not too much of it."""
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return "".join(letter if letter.isprintable() else "?" for letter in short)
