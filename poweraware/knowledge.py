# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What scheme auto has learnt in earlier jobs: knowledge.json (opal/include/pwr/knowledge.h), shown and forgotten."""
from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional

from poweraware.documents import DocumentError, check, load_schema, read_json, refuse, replace
from poweraware.table import Table, as_table
from poweraware.wording import number, plural

Json = Dict[str, Any]

_KEY = ("nodes", "ranks_per_node", "transport", "operation", "size_class")
_EPOCH = datetime.date(1970, 1, 1)
_LAST_CLASS = 15  # of sizes (pwr_ompi/size_class.h): no limit above
_PAUSE_S, _LOCK_ATTEMPTS = 0.01, 200  # as jobs do
_PRIVATE = 0o077  # a file to which others may write is left out by jobs


@dataclass(frozen=True)
class Selection:
    """What to forget: entries of machines whose description has these letters, not used for so many days."""

    machine: Optional[str] = None
    older_than: Optional[int] = None

    def takes_all(self) -> bool:
        return self.machine is None and self.older_than is None

    def takes(self, machine: Json, entry: Json) -> bool:
        is_meant = self.machine is None or self.machine.lower() in describe(machine).lower()
        return is_meant and (self.older_than is None or entry["day"] < today() - self.older_than)


def user_path() -> Path:
    """Where jobs of this user keep it."""
    cache, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    if not cache.startswith("/") and not home.startswith("/"):
        raise DocumentError("knowledge: neither XDG_CACHE_HOME nor HOME is an absolute path: which file?")
    return (Path(cache) if cache.startswith("/") else Path(home) / ".cache") / "poweraware" / "knowledge.json"


def today() -> int:
    """In days since 1970-01-01, as jobs count them."""
    return int(time.time()) // 86400


def load(path: Path) -> Json:
    """A checked document; one without machines where there is no file."""
    if not path.exists():
        return {"format_version": 1, "machines": []}
    document: Json = read_json(path)
    check(document, load_schema("opal/policy", "knowledge.schema.json"), str(path))
    for i, machine in enumerate(document["machines"]):
        keys = [tuple(entry[key] for key in _KEY) for entry in machine["entries"]]
        refuse(((f"$.machines[{i}].entries[{j}]", "is there twice") for j, key in enumerate(keys) if key in keys[:j]), str(path))
    return document


# ---- show ----


def describe(machine: Json) -> str:
    """A type of machine in words."""
    cpu = machine["cpu"]
    name = cpu["name"] or f"{cpu['vendor'] or 'unknown CPU'} family {cpu['family']} model {cpu['model']}"
    words = f"{name}, {plural(machine['cpus'], 'CPU')}, {machine['mpi']}"
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def sizes(size_class: int) -> str:
    """The bytes of operations of a class."""
    if size_class == 0:
        return "differ"
    least = 0 if size_class == 1 else 4 ** (size_class - 1) + 1
    return f"{least}-" if size_class == _LAST_CLASS else f"{least}-{4**size_class}"


def as_text(document: Json) -> str:
    """A table per type of machine."""
    known = [machine for machine in document["machines"] if machine["entries"]]
    return "\n\n".join(map(_table, known)) if known else "Nothing is known."


def _table(machine: Json) -> str:
    heads = ["nodes", "ranks per node", "messages by", "operation", "bytes", "algorithm", "time to next best", "trials", "depth",
             "slowdown (%)", "pairs", "calls", "last used"]  # fmt: skip
    entries = sorted(machine["entries"], key=lambda entry: [entry[key] for key in _KEY])
    return as_table(Table(describe(machine), heads, list(map(_row, entries)), "Depth: how much is saved; slowdown: what that costs. Trials are behind the algorithm, pairs behind the depth."))  # fmt: skip


def _row(entry: Json) -> List[str]:
    used = _EPOCH + datetime.timedelta(days=entry["day"])
    figures = (entry["gain"], entry["trials"], entry["depth"], 100 * entry["slowdown"], entry["pairs"], entry["calls"])
    return [str(entry["nodes"]), str(entry["ranks_per_node"]), entry["transport"], entry["operation"], sizes(entry["size_class"]),
            entry["algorithm"], *(number(each) if isinstance(each, float) else str(each) for each in figures), str(used)]  # fmt: skip


# ---- forget ----


def forget(path: Path, selection: Selection) -> List[str]:
    """Removes what is selected, while no job writes; returns what that was, in lines.  All of it: the file, whatever is in it."""
    if not path.is_symlink() and not path.exists():
        return [f"{path}: there is no such file"]
    if not stat.S_ISREG(path.lstat().st_mode):
        raise DocumentError(f"{path}: not a regular file: jobs do not use it")
    with _locked(path):
        if selection.takes_all():
            path.unlink()
            return [f"removed {path}"]
        document = load(path)
        said = [line for machine in document["machines"] for line in _forget_of(machine, selection)]
        if said:
            _write(path, document)
    return said or [f"{path}: nothing of that kind is known"]


def _forget_of(machine: Json, selection: Selection) -> Iterator[str]:
    kept = [entry for entry in machine["entries"] if not selection.takes(machine, entry)]
    gone = len(machine["entries"]) - len(kept)
    machine["entries"] = kept
    if gone:
        yield f"removed {gone} of {gone + len(kept)} entries: {describe(machine)}"


def _write(path: Path, document: Json) -> None:
    machines = [json.dumps(machine, ensure_ascii=False, separators=(",", ":")) for machine in document["machines"] if machine["entries"]]
    before = os.umask(_PRIVATE)
    try:
        replace(path, '{"format_version":1,"machines":[\n' + ",\n".join(machines) + "\n]}\n")
    finally:
        os.umask(before)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock that jobs take, too; it is asked for as long as they ask."""
    name = f"{path}.lock"
    lock = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        for _ in range(_LOCK_ATTEMPTS):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(_PAUSE_S)
        else:
            raise DocumentError(f"{name}: somebody holds it and does not let go")
        yield
    finally:
        os.close(lock)
