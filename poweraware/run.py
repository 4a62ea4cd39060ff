# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Runs an MPI command with the plug-in and its report switched on."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple

from poweraware.documents import DocumentError

_PARAMETER = "OMPI_MCA_coll_poweraware_"
_WHOLE = re.compile(r"job(-\d+)?\.json$")
_RECORDERS_S = 8.0  # they wait five seconds for the last processes
_PRIORITY = "77"  # above Open MPI's own components, below those that stage GPU buffers


@dataclass(frozen=True)
class Switches:
    """What the plug-in is to do."""

    scheme: Optional[str] = None
    trace: bool = False
    build: Optional[Path] = None  # where it was built, if it is not installed


def run(command: Sequence[str], output: Optional[Path], switches: Switches) -> Tuple[Path, int]:
    """The folder of the documents, and the command's exit status (128 + signal when one ended it)."""
    folder = (output or Path(time.strftime("poweraware-%Y%m%d-%H%M%S"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*_whole(folder), *_parts(folder)):
        old.unlink()
    environment = {**parameters(folder, switches), **os.environ}
    try:
        process = subprocess.Popen(list(command), env=environment)  # pylint: disable=consider-using-with
    except OSError as error:
        raise DocumentError(f"cannot run {command[0]}: {error.strerror}") from error
    status = _wait(process)
    return folder, 128 - status if status < 0 else status


def parameters(folder: Path, switches: Switches) -> Dict[str, str]:
    """Environment variables that switch the plug-in on."""
    found = {
        _PARAMETER + "priority": _PRIORITY,
        _PARAMETER + "report_dir": str(folder),
        _PARAMETER + "report": "summary",
    }
    if switches.scheme is not None:
        found[_PARAMETER + "scheme"] = switches.scheme
    if switches.trace:
        found[_PARAMETER + "trace_dir"] = str(folder)
    build = switches.build
    if build is not None:
        component = build.resolve() / "coll_poweraware" / "component"
        if not component.is_dir():
            raise DocumentError(f"--build {build}: there is no {component}")
        found["OMPI_MCA_mca_base_component_path"] = f"{component}:SYS_DEFAULT"
        found[_PARAMETER + "helper_dir"] = str(build.resolve() / "opal")
    return found


def documents(folder: Path) -> List[Path]:
    """Documents of jobs in a folder, and of those that were killed the parts."""
    return _whole(folder) or _parts(folder)


def _whole(folder: Path) -> List[Path]:
    """Of the job, and of those that it has spawned."""
    return [path for path in sorted(folder.glob("job*.json")) if _WHOLE.match(path.name)]


def _parts(folder: Path) -> List[Path]:
    return sorted(folder.glob("job*.partial.json"))


def wait_for_documents(folder: Path) -> List[Path]:
    """The same, when the job is over: of one that was killed, recorders still write for a moment."""
    deadline = time.monotonic() + _RECORDERS_S
    found = documents(folder)
    while any(_is_unfinished(path) for path in found) and time.monotonic() < deadline:
        time.sleep(0.1)
        found = documents(folder)
    return found


def _is_unfinished(path: Path) -> bool:
    try:
        return path.name.endswith(".partial.json") and "was not over" in path.read_text(encoding="utf-8")
    except OSError:  # replaced or removed this moment
        return True


def _wait(process: "subprocess.Popen[bytes]") -> int:
    """An interrupt goes to the command as well, which ends its job; the report is made after that."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, previous)
