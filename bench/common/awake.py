# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""CPUs that never halt, and what the host of a virtual machine takes of them.

A host may let a virtual CPU that has halted wait for its turn, on a busy machine for tens of milliseconds, and wakes
are measured that are not ours.  A process of the lowest priority on each CPU keeps it from halting and gives way to
all others."""
from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path
from typing import Iterator, List, NoReturn

_PR_SET_PDEATHSIG = 1


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """Keeps the CPUs that this process may use from halting."""
    parent = os.getpid()
    children: List[int] = []
    try:
        for cpu in sorted(os.sched_getaffinity(0)):
            child = os.fork()
            if child == 0:
                _spin(cpu, parent)
            children.append(child)
        yield
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _spin(cpu: int, parent: int) -> NoReturn:
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        os.sched_setaffinity(0, {cpu})
        _be_last_of_sessions()
        while os.getppid() == parent:
            for _ in range(100_000):
                pass
    finally:
        os._exit(1)


def _be_last_of_sessions() -> None:
    """Where the kernel shares CPUs among sessions first, one of idle processes counts as much as any other."""
    os.setsid()
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text("19", encoding="ascii")


def stolen_s(root: Path = Path("/")) -> float:
    """CPU seconds that the host has taken from this machine since it runs (0 on hardware, and where Linux does not
    tell)."""
    try:
        times = (root / "proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
        return int(times[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0
