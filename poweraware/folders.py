# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of jobs in a folder: which there are, and which is the latest."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Generic, List, Optional, Tuple, TypeVar

from poweraware import job, partial
from poweraware.documents import DocumentError, read_json
from poweraware.job import Job

_WHOLE = re.compile(r"job(-.+)?(?<!\.partial)\.json$")
_BEGIN = re.compile(r'"begin_ns": ?(\d+),')
_ID = re.compile(r'"job": ?\{\s*"id": ?"([^"\\]*)"')
_HEAD = 1024  # characters in which the begin is
_SPAWNED = re.compile(r"job-\d+\.json$")
_T = TypeVar("_T")
_Stamp = Tuple[int, int]  # size, and time of the last change; taken before the file is read


class Folder:
    """The documents of a folder; what was read of each is remembered while it stays as it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._heads = _Memory(path, _head)
        self._documents = _Memory(path, load)

    def latest(self) -> Tuple[Optional[Job], List[Job]]:
        """Of the latest job its document; before it is there, or if it was killed, what its nodes have written so far.

        Neither where no job has written yet.
        """
        stamps = _stamps(self.path)
        heads = self._heads.of(stamps)
        if not heads:
            return None, []
        newest = min(heads, key=lambda name: (-heads[name].begin_ns, is_part(name), name))
        chosen = [newest]
        if is_part(newest):
            chosen = sorted(name for name in heads if is_part(name) and heads[name].id == heads[newest].id)
        found = [*self._documents.of({name: stamps[name] for name in chosen}).values()]
        return (None, found) if is_part(newest) else (found[0], [])


def load(path: Path) -> Job:
    """A job's document; of a folder that of its latest job, or what is left of that if it was killed."""
    if not path.is_dir():
        return job.from_json(read_json(path), str(path))
    whole, parts = Folder(path).latest()
    if whole is None and not parts:
        raise DocumentError(f"{path}: there is neither a job.json nor a job.*.partial.json in it "
                            "(poweraware fleet adds up the jobs below a folder)")  # fmt: skip
    return whole or partial.merge(parts)


def whole_documents(folder: Path, spawned: bool = True) -> List[Path]:
    """Of the jobs of a folder, and of those that they have spawned."""
    return [path for path in sorted(folder.glob("job*.json")) if is_whole(path.name, spawned)]


def partial_documents(folder: Path) -> List[Path]:
    """What jobs that were killed have left, a document per node."""
    return [path for path in sorted(folder.glob("job*.json")) if is_part(path.name)]


def is_whole(name: str, spawned: bool = True) -> bool:
    """Whether the document of a job is called so; spawned: those of jobs that jobs have spawned count, too."""
    return _WHOLE.match(name) is not None and (spawned or not _SPAWNED.match(name))


def is_part(name: str) -> bool:
    """Whether what a node has left of a killed job is called so."""
    return name.startswith("job") and name.endswith(".partial.json")


# ---- what was read ----


def _stamps(folder: Path) -> Dict[str, _Stamp]:
    """Of all documents but those of spawned jobs; without a Path for each, of which there may be 100,000."""
    with os.scandir(folder) as entries:
        found = {each.name: each.stat() for each in entries if is_part(each.name) or is_whole(each.name, spawned=False)}
    return {name: (status.st_size, status.st_mtime_ns) for name, status in found.items()}


@dataclass(frozen=True)
class _Head:
    """What tells whose a document is, without all that is needed to use it."""

    begin_ns: int
    id: Optional[str]  # of a part's job


def _head(path: Path) -> _Head:
    """Of a whole document from its first lines; the job's id is near the end."""
    part = is_part(path.name)
    with path.open(encoding="utf-8", errors="replace") as file:
        text = file.read(-1 if part else _HEAD)
    begin_ns, name = _BEGIN.search(text), _ID.search(text) if part else None
    if begin_ns is not None and (name is not None or not part):
        return _Head(int(begin_ns.group(1)), name and name.group(1))
    document = load(path)
    return _Head(document.begin_ns, document.job.id)


class _Memory(Generic[_T]):
    """What was read of a folder's files, for as long as their stamps stay."""

    def __init__(self, folder: Path, read: Callable[[Path], _T]) -> None:
        self._folder = folder
        self._read = read
        self._known: Dict[str, Tuple[_Stamp, _T]] = {}

    def of(self, stamps: Dict[str, _Stamp]) -> Dict[str, _T]:
        """By name; other files are forgotten."""
        self._known = {name: self._look(name, stamp) for name, stamp in stamps.items()}
        return {name: what for name, (_, what) in self._known.items()}

    def _look(self, name: str, stamp: _Stamp) -> Tuple[_Stamp, _T]:
        known = self._known.get(name)
        return known if known is not None and known[0] == stamp else (stamp, self._read(self._folder / name))
