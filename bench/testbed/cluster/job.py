# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Watching over a started program: signals passed on, a time-out, and no survivors on any node.

Every process of a job has PWR_CLUSTER_JOB=<id> in its environment, from mpirun down to the ranks.
A job that did not end well is swept by that mark: Open MPI's daemons end their ranks within a second
or two of losing mpirun, but ranks whose daemon was killed may go on for ever. What is still there
after a grace period gets SIGKILL.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from bench.common.countdown import LOOK_S, Countdown
from bench.testbed.cluster.launch import JOB_VARIABLE

TIMEOUT_STATUS = 124  # as of timeout(1)

_PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_SI_KERNEL = 0x80  # si_code of a signal from the terminal, which went to the whole group
_TERM_GRACE_S = 5.0  # for mpirun to end its job after SIGTERM
_SWEEP_GRACE_S = 3.0  # for daemons to notice that mpirun is gone
_SWEEP_INTERVAL_S = 0.1


def hold_signals() -> None:
    """Call before starting the program: from then on supervise() takes the signals."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON | {signal.SIGCHLD})


def supervise(
    process: subprocess.Popen[str], job_id: Optional[str], timeout_s: Optional[float]
) -> int:
    """Waits for the program's end and sees to it that the whole job ended; its exit status.

    128 + N when signal N ended it, TIMEOUT_STATUS after a time-out. Without a job_id it is a program
    alone, which may leave others running.
    """
    timed_out, interrupted = _wait(process, timeout_s)
    status = process.returncode
    if job_id is not None and (timed_out or interrupted or status != 0):
        _sweep(job_id)
    if timed_out:
        return TIMEOUT_STATUS
    return 128 - status if status < 0 else status


def _wait(process: subprocess.Popen[str], timeout_s: Optional[float]) -> tuple[bool, bool]:
    """Returns whether it took too long and whether a signal asked it to end."""
    countdown = None if timeout_s is None else Countdown(timeout_s)
    timed_out = False
    interrupted = False
    while process.poll() is None:
        received = _next_signal(countdown)
        if received is None:
            process.send_signal(signal.SIGKILL if timed_out else signal.SIGTERM)
            timed_out = True
            countdown = Countdown(_TERM_GRACE_S)
        elif received.si_signo != signal.SIGCHLD:
            interrupted |= received.si_signo in _ENDING
            if received.si_code != _SI_KERNEL:
                process.send_signal(received.si_signo)
    return timed_out, interrupted


def _next_signal(countdown: Optional[Countdown]) -> Optional[signal.struct_siginfo]:
    """One of those hold_signals() holds; None when the countdown is over first."""
    held = _PASSED_ON | {signal.SIGCHLD}
    if countdown is None:
        return signal.sigwaitinfo(held)
    received = None
    while received is None and (left_s := countdown.left()) > 0:
        received = signal.sigtimedwait(held, min(left_s, LOOK_S))
    return received


def _sweep(job_id: str) -> None:
    countdown = Countdown(_SWEEP_GRACE_S)
    while True:
        late = countdown.left() == 0
        survivors = 0
        for descriptor in _marked(job_id):
            survivors += 1
            if late:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        if survivors == 0:
            return
        time.sleep(_SWEEP_INTERVAL_S)


def _marked(job_id: str) -> Iterator[int]:
    """pidfds of the job's processes, each closed again by the next step."""
    mark = f"{JOB_VARIABLE}={job_id}".encode()
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            # The descriptor comes first: then what is read is about the process it stands for.
            descriptor = os.pidfd_open(int(entry))
        except OSError:
            continue
        try:
            if mark in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                yield descriptor
        except OSError:
            pass  # it has ended, or it is another user's
        finally:
            os.close(descriptor)
