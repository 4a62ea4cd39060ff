# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of jobs in a folder: which there are, and which is the latest."""
from __future__ import annotations

import re
from pathlib import Path
from typing import List, Optional, Tuple

from poweraware import job, partial
from poweraware.documents import DocumentError, read_json
from poweraware.job import Job

_WHOLE = re.compile(r"job(-.+)?(?<!\.partial)\.json$")
_BEGIN = re.compile(r'"begin_ns": ?(\d+),')
_HEAD = 1024  # characters in which it is
_SPAWNED = re.compile(r"job-\d+\.json$")


def load(path: Path) -> Job:
    """A job's document; of a folder that of its latest job, or what is left of that if it was killed."""
    if not path.is_dir():
        return job.from_json(read_json(path), str(path))
    whole, parts = latest(path)
    if whole is None and not parts:
        raise DocumentError(f"{path}: there is neither a job.json nor a job.*.partial.json in it")
    return whole or partial.merge(parts)


def latest(folder: Path) -> Tuple[Optional[Job], List[Job]]:
    """Of the latest job of a folder its document; before it is there, or if it was killed, what its nodes have written so far.

    Neither where no job has written yet.
    """
    left = partial_documents(folder)
    found = [*whole_documents(folder, spawned=False), *left]
    if not found:
        return None, []
    begins = {each: _begin_ns(each) for each in found}
    newest = max(found, key=lambda each: begins[each])
    document = load(newest)
    if newest not in left:
        return document, []
    return None, [part for part in map(load, left) if part.job.id == document.job.id]


def _begin_ns(path: Path) -> int:
    """When a document's job began, from its first lines: a folder may have 100,000 of them."""
    with path.open(encoding="utf-8", errors="replace") as file:
        found = _BEGIN.search(file.read(_HEAD))
    return int(found.group(1)) if found else load(path).begin_ns


def whole_documents(folder: Path, spawned: bool = True) -> List[Path]:
    """Of the jobs of a folder, and of those that they have spawned."""
    found = [path for path in sorted(folder.glob("job*.json")) if _WHOLE.match(path.name)]
    return found if spawned else [path for path in found if not _SPAWNED.match(path.name)]


def partial_documents(folder: Path) -> List[Path]:
    """What jobs that were killed have left, a document per node."""
    return sorted(folder.glob("job*.partial.json"))
