# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Supervision of a started program: statuses, time-out, signals, survivors."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.common.countdown import Countdown, comes_true
from bench.testbed.cluster.launch import JOB_VARIABLE
from bench.testbed.cluster.tests.support import GONE_S

SUPERVISE = """
import os, subprocess, sys
from bench.testbed.cluster import job
job.hold_signals()
environment = {**os.environ, "%s": sys.argv[1]}
timeout = float(sys.argv[2]) or None
unblock = lambda: job.signal.pthread_sigmask(job.signal.SIG_SETMASK, [])
process = subprocess.Popen(sys.argv[3:], env=environment, preexec_fn=unblock)
print("started", flush=True)
sys.exit(job.supervise(process, sys.argv[1], timeout))
""" % JOB_VARIABLE


def supervised(job_id: str, timeout_s: float, *command: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", SUPERVISE, job_id, str(timeout_s), *command]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True)


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate()
    return process.returncode


@pytest.fixture(name="job_id")
def _job_id(request: pytest.FixtureRequest) -> str:
    return f"{os.getpid()}-{request.node.name}"


def test_status_is_the_programs(job_id: str) -> None:
    assert finish(supervised(job_id, 0, "sh", "-c", "exit 7")) == 7


def test_killed_program(job_id: str) -> None:
    assert finish(supervised(job_id, 0, "sh", "-c", "kill -9 $$")) == 137


def test_time_out(job_id: str) -> None:
    assert finish(supervised(job_id, 0.2, "sleep", "1000")) == 124


def test_no_time_out_when_it_ends_before(job_id: str) -> None:
    assert finish(supervised(job_id, 100, "true")) == 0


def test_time_in_which_the_machine_stands_still_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 100.0
    monkeypatch.setattr("time.monotonic", lambda: clock)
    countdown = Countdown(3.0)
    for left in (2.5, 2.0):
        clock += 0.5
        assert countdown.left() == left
    clock += 1000.0
    assert countdown.left() == 1.0
    clock += 2.0
    assert countdown.left() == 0.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_signals_are_passed_on(job_id: str, number: signal.Signals) -> None:
    script = f"trap 'exit 33' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    process = supervised(job_id, 0, "sh", "-c", script)
    assert process.stdout is not None
    # both write to one pipe, and Python may write its line in two pieces (PYTHONUNBUFFERED)
    assert any(line.endswith("ready\n") for line in process.stdout)
    process.send_signal(number)
    assert finish(process) == 33


def test_survivors_are_killed(job_id: str, tmp_path: Path) -> None:
    """A program that leaves its session and ignores SIGTERM, as a lost rank might, of a job that fails."""
    note = tmp_path / "pid"
    survivor = tmp_path / "survivor"
    survivor.write_text(f"trap '' TERM; echo $$ >{note}; while :; do sleep 0.1; done")
    script = f"setsid sh {survivor} & until [ -s {note} ]; do sleep 0.1; done; exit 3"
    assert finish(supervised(job_id, 0, "sh", "-c", script)) == 3
    pid = int(note.read_text())
    assert comes_true(lambda: not _runs(pid), GONE_S)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
