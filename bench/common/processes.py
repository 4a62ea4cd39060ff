# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Child processes that this program alone may end.

Each child leads a session of its own, so that Ctrl-C in the terminal reaches only the driver, which
then ends its children in order.  Output goes to files: pipes would have to be drained all the time,
and a daemon that inherits one keeps it open.
"""
from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import IO, Callable, Dict, Iterable, List, Optional

from bench.common.countdown import Countdown

TERM_GRACE_S = 10.0
_POLL_S = 0.02

_RULE = "-" * 20
# What Open MPI adds to any MPI_Abort, and to any message that several processes have.
_PADDING = re.compile(
    r"NOTE: invoking MPI_ABORT|You may or may not see output|exactly when Open MPI kills"
    r'|\[\S+\] (\d+ more process|Set MCA parameter "orte_base_help_aggregate")'
)
_NOTICE = re.compile(r"Primary job +terminated|\S*(mpirun|prterun)\S* (detected|has exited)")


def start(
    command: List[str], log: Optional[Path], output: Optional[Path] = None,
    environment: Optional[Dict[str, str]] = None, folder: Optional[Path] = None,
) -> "subprocess.Popen[bytes]":
    """Starts a command in a folder (None: here); standard error, and output without a file of its own, go to log
    (None: to where ours go)."""
    with log.open("ab") if log else contextlib.nullcontext() as errors:
        if output is None:
            return _popen(command, errors, errors, environment, folder)
        with output.open("wb") as target:
            return _popen(command, target, errors, environment, folder)


def wait(
    process: "subprocess.Popen[bytes]", timeout_s: float,
    tick: Callable[[], None] = lambda: None,
) -> Optional[int]:
    """Waits for the end, calling tick meanwhile; None when the time is over."""
    countdown = Countdown(timeout_s)
    while process.poll() is None:
        if countdown.left() == 0:
            return None
        time.sleep(_POLL_S)
        tick()
    return process.returncode


def stop(process: "subprocess.Popen[bytes]", grace_s: float = TERM_GRACE_S) -> None:
    """Asks the process to end, and kills its session when it does not."""
    if process.poll() is not None:
        return
    process.terminate()
    if wait(process, grace_s) is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def last_words(log: Path, limit: int = 300, notices: bool = True) -> str:
    """The last non-empty lines of a log in one line, to say why something failed; what mpirun says about any failure
    is left out where there is more, and always without notices."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    words = _joined(_without_notices(lines)) or (_joined(lines) if notices else "")
    return words if len(words) <= limit else "..." + words[-limit:]


def _joined(lines: Iterable[str]) -> str:
    return " / ".join(line.strip() for line in lines if line.strip())


def _without_notices(lines: Iterable[str]) -> List[str]:
    """Notices of mpirun are between rules of hyphens; those that name a process that failed say nothing else.  Padding goes,
    too."""
    kept: List[str] = []
    part: List[str] = []
    for line in [*lines, _RULE]:
        if not line.startswith(_RULE):
            part.append(line)
            continue
        if not _NOTICE.match(_joined(part)):
            kept += [each for each in part if not _PADDING.match(each)]
        part = []
    return kept


def _popen(
    command: List[str],
    output: Optional[IO[bytes]],
    errors: Optional[IO[bytes]],
    environment: Optional[Dict[str, str]],
    folder: Optional[Path],
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        env=environment,
        start_new_session=True,
    )
