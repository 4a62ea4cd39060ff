# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Runs an MPI command with the plug-in and its report switched on.

The command's exit status is ours.  What keeps us from making a report is said in a line, and changes nothing for the command.
"""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence

from poweraware import folders
from poweraware.documents import DocumentError

_PARAMETER = "OMPI_MCA_coll_poweraware_"
_PATH = "OMPI_MCA_mca_base_component_path"
_PMIX_PATH = "PMIX_MCA_mca_base_component_path"  # PMIx of 5.0 and later would take ours for its own; empty: where it looks by itself
_DEFAULT_PATH = "SYS_DEFAULT:USER_DEFAULT"
_PLUGIN = Path(__file__).resolve().parent / "plugin"  # a link, where it is installed in a folder that Open MPI does not search
_RECORDERS_S = 8.0  # they wait five seconds for the last processes
_PAGE = "page.html"
_BATCH_JOBS = ("SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")
_NOT_FOUND, _NOT_RUN = 127, 126  # exit status of a command that cannot be started, as shells have it
_EVENTS = "OMPI_MCA_opal_event_include"  # of 4.1, whose default asks all sockets in each look; later ones do not know it
_PRIORITY = "77"  # above Open MPI's own components, below those that stage GPU buffers


@dataclass(frozen=True)
class Switches:
    """What the plug-in is to do."""

    scheme: Optional[str] = None
    trace: bool = False
    build: Optional[Path] = None  # where it was built, if it is not installed


def new_folder(output: Optional[Path]) -> Optional[Path]:
    """A folder of this job alone, which has an empty page by now; None, and why on standard error: there cannot be one."""
    for folder in _names(output):
        try:
            folder.mkdir(parents=True, exist_ok=output is not None)
            if documents(folder):
                continue
            (folder / _PAGE).touch(exist_ok=False)  # nobody else takes it from now on
        except FileExistsError:
            if folder.is_dir():
                continue
            say(f"{folder}: is no folder: the command runs without a report")
            return None
        except OSError as error:
            say(f"{folder}: {error.strerror}: the command runs without a report")
            return None
        if output is not None and folder != output.resolve():
            say(f"{output} has a report already: this one goes to {folder}")
        return folder
    return None


def run(command: Sequence[str], folder: Optional[Path], switches: Switches) -> int:
    """The command's exit status (128 + signal when one ended it); documents go to folder."""
    environment = {**parameters(folder, switches), **os.environ}
    try:
        process = subprocess.Popen(list(command), env=environment)  # pylint: disable=consider-using-with
    except OSError as error:
        say(f"cannot run {command[0]}: {error.strerror}")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN
    status = _wait(process)
    return 128 - status if status < 0 else status


def say(line: str) -> None:
    """One line for the user."""
    print(f"poweraware: {line}", file=sys.stderr)


def parameters(folder: Optional[Path], switches: Switches) -> Dict[str, str]:
    """Environment variables that switch the plug-in on."""
    found = {_PARAMETER + "priority": _PRIORITY, _EVENTS: "epoll"}
    if folder is not None:
        found[_PARAMETER + "report_dir"] = str(folder)
        found[_PARAMETER + "report"] = "summary"
    if switches.scheme is not None:
        found[_PARAMETER + "scheme"] = switches.scheme
    if switches.trace and folder is not None:
        found[_PARAMETER + "trace_dir"] = str(folder)
    build = switches.build
    if build is None and _PLUGIN.is_dir():
        found[_PATH] = f"{_PLUGIN.resolve()}:{_DEFAULT_PATH}"
    if build is not None:
        component = build.resolve() / "coll_poweraware" / "component"
        if not component.is_dir():
            raise DocumentError(f"--build {build}: there is no {component}")
        others = [build.resolve() / part / "component" for part in ("osc_poweraware", "oshmem/scoll_poweraware")]
        found[_PATH] = ":".join([str(component), *(str(folder) for folder in others if folder.is_dir()), _DEFAULT_PATH])
        found[_PARAMETER + "helper_dir"] = str(build.resolve() / "opal")
    if _PATH in found:
        found[_PMIX_PATH] = ""
    return found


def documents(folder: Path) -> List[Path]:
    """Documents of jobs in a folder, and of those that were killed the parts."""
    return folders.whole_documents(folder) or folders.partial_documents(folder)


def _names(output: Optional[Path]) -> Iterator[Path]:
    """Where documents may go, one after the other: of a batch system's jobs, which start in the same second, by their ids."""
    if output is None:
        batch = [os.environ[name] for name in _BATCH_JOBS if os.environ.get(name)]
        ids = "-".join(batch[:2] if "SLURM_ARRAY_JOB_ID" in os.environ else batch[:1])
        output = Path(time.strftime("poweraware-%Y%m%d-%H%M%S") + (f"-{ids}" if ids else ""))
    first = output.resolve()
    yield first
    for number in range(2, 100_000):
        yield first.with_name(f"{first.name}-{number}")


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
