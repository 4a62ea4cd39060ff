# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What the end-to-end tests share: running commands on an emulated machine, reading its records."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Optional

import pytest

SOURCES = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("PWR_BUILDDIR", str(SOURCES.parents[2] / "build")))
TIMEOUT_S = 1800  # for a hang; no test comes near it
NOT_SUPPORTED = 77


@dataclass
class Write:
    """One line of trace.csv."""

    t_ns: int
    cpu: int
    control: str
    value: str
    pid: int


@dataclass
class Result:
    """What a command on an emulated machine left behind."""

    returncode: int
    stdout: str
    stderr: str
    state: Path

    def trace(self) -> List[Write]:
        with (self.state / "trace.csv").open(newline="") as stream:
            return [
                Write(int(r["t_ns"]), int(r["cpu"]), r["control"], r["value"], int(r["pid"]))
                for r in csv.DictReader(stream)
            ]

    def writes(self) -> List[Write]:
        """The trace without the values at start."""
        return [write for write in self.trace() if write.pid != 0]

    def ledger(self) -> List[Dict[str, str]]:
        with (self.state / "ledger.csv").open(newline="") as stream:
            return list(csv.DictReader(stream))


Emulate = Callable[..., Result]


def need_emulator() -> None:
    if not (BUILD / "bench" / "testbed" / "emulator" / "pwr-emulator").exists():
        pytest.skip("no pwr-emulator is built: needs fuse3, and 'make' before 'make check'")
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        pytest.skip("/dev/fuse cannot be opened: 'modprobe fuse', or run as root")


def need_tool(name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


def need_root() -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to make a mount namespace")


def environment() -> Dict[str, str]:
    return {**os.environ, "PWR_BUILDDIR": str(BUILD)}


@pytest.fixture(autouse=True)
def _rights() -> None:
    need_emulator()


@pytest.fixture
def emulate(tmp_path: Path) -> Iterator[Emulate]:
    """emulate(machine, script, *options): a shell script on a machine; state in tmp_path/state."""

    def run(machine: str, script: str, *options: str, more: Optional[str] = None) -> Result:
        state = tmp_path / "state"
        path = SOURCES / "machines" / f"{machine}.machine"
        if more is not None:  # the shipped machine with lines replaced or added
            keys = {line.split("=")[0].strip() for line in more.splitlines()}
            kept = [
                line
                for line in path.read_text().splitlines()
                if line.split("=")[0].strip() not in keys
            ]
            path = tmp_path / "test.machine"
            path.write_text("\n".join(kept + [more, ""]))
        done = subprocess.run(
            [str(SOURCES / "emulate"), "--machine", str(path), "--state", str(state), *options]
            + ["--", "sh", "-c", script],
            capture_output=True,
            text=True,
            env=environment(),
            check=False,
        )
        return Result(done.returncode, done.stdout, done.stderr, state)

    yield run


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Automake's word for skipped, if nothing at all could be tested."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or exitstatus != 0:
        return
    if reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = NOT_SUPPORTED
