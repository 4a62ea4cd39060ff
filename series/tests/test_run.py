# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""series/run as a program: what it says and leaves where a series cannot be checked, or when it dies."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from bench.common.countdown import comes_true
from series import spaces
from series.errors import Unavailable

RUN = Path(__file__).resolve().parents[1] / "run"


def command(folder: Path, *more: str) -> list[str]:
    return [str(RUN), "--cache", str(folder / "cache"), "--results", str(folder / "results"), *more, "5.0"]


def environment(folder: Path, mmdebstrap: str) -> dict[str, str]:
    """In which mmdebstrap is another program."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "mmdebstrap").write_text(f"#!/bin/sh\n{mmdebstrap}\n")
    (programs / "mmdebstrap").chmod(0o755)
    mirror = "http://mirror.invalid/debian"
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PWR_SERIES_MIRROR": mirror}


@pytest.fixture(autouse=True)
def _namespaces() -> None:
    try:
        spaces.require()
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_what_cannot_be_had_is_skipped_visibly(tmp_path: Path) -> None:
    fails = environment(tmp_path, "echo 'E: no network' >&2; exit 1")
    done = subprocess.run(command(tmp_path), env=fails, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "5.0  skipped: mmdebstrap: E: no network" in done.stdout
    assert ":global-test-result: SKIP" in (tmp_path / "results/5.0.trs").read_text()
    assert "E: no network" in (tmp_path / "results/5.0.log").read_text()


def test_another_version_than_promised_is_said(tmp_path: Path) -> None:
    makes = """for target; do case $target in */root.new) break ;; esac; done
mkdir -p $target/var/lib/dpkg; printf 'Package: openmpi-bin\\nVersion: 7.0.1-1\\n\\n' >$target/var/lib/dpkg/status"""
    done = subprocess.run(
        command(tmp_path), env=environment(tmp_path, makes), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "skipped: trixie has Open MPI 7.0.1 now" in done.stdout


def alive(marker: str) -> bool:
    """Whether a process has the marker on its command line."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in line.read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_runs_on_after_its_death(tmp_path: Path, how: signal.Signals) -> None:
    marker = f"9{os.getpid()}{int(how)}"  # seconds, and a word that nobody else has
    hangs = environment(tmp_path, f"mkdir {tmp_path}/cache/trixie/root.new; exec sleep {marker}")
    with subprocess.Popen(command(tmp_path), env=hangs, stdout=subprocess.DEVNULL) as running:
        assert comes_true(lambda: alive(f"sleep\0{marker}"), 60)
        running.send_signal(how)
        assert running.wait(60) != 0
    assert comes_true(lambda: not alive(f"sleep\0{marker}"), 60)
    again = environment(tmp_path, "echo 'E: no network' >&2; exit 1")
    done = subprocess.run(command(tmp_path), env=again, capture_output=True, text=True, check=False)
    assert "E: no network" in done.stdout
    assert not (tmp_path / "cache/trixie/root.new").exists()
