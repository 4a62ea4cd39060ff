# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Clusters for tests: in a state directory of their own, and gone for certain afterwards."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import pytest

from bench.common.countdown import comes_true
from bench.testbed.cluster import checks
from bench.testbed.cluster.spec import Spec

PROGRAM = Path(__file__).resolve().parents[1] / "cluster"
GONE_S = 600.0


def needs(spec: Spec) -> pytest.MarkDecorator:
    """Skips where this machine cannot make such a cluster, and says why."""
    lacking = checks.missing(spec)
    return pytest.mark.skipif(bool(lacking), reason="; ".join(lacking) or "-")


def needs_mpirun() -> pytest.MarkDecorator:
    lacking = checks.missing_for("run")
    return pytest.mark.skipif(bool(lacking), reason="; ".join(lacking) or "-")


def built(name: str) -> Path:
    """A program that the Makefile makes for these tests."""
    path = Path(os.environ.get("PWR_BUILDDIR", "build"), "bench/testbed/cluster", name)
    if not path.exists():
        pytest.skip(f"{path} is not built: make check builds it")
    return path.resolve()


class Commands:
    """The cluster program, on a state directory of this test alone."""

    def __init__(self, base: Path):
        self.base = base

    def line(self, command: str, *words: str) -> list[str]:
        return [str(PROGRAM), command, "--base", str(self.base), *words]

    def start(self, command: str, *words: str, **streams: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(self.line(command, *words), text=True, **streams)

    def call(
        self, command: str, *words: str, status: Optional[int] = 0, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end and checks its exit status; None: any."""
        done = subprocess.run(
            self.line(command, *words),
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        said = f"{command} {words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert status is None or done.returncode == status, said
        return done

    def out(self, command: str, *words: str, **more: Any) -> str:
        return self.call(command, *words, **more).stdout

    def status(self, *words: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out("status", "--json", *words, status=None))
        return document

    def processes(self) -> dict[int, str]:
        """Everything alive that belongs to clusters of this base, by PID."""
        found = {}
        mark = str(self.base).encode()
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in _words(entry):
                    found[int(entry.name)] = (entry / "comm").read_text().strip()
            except OSError:
                continue
        return found

    def assert_nothing_left(self) -> None:
        """No process, no folder, no mount, no interface, within a time that means for ever."""
        assert comes_true(lambda: not self.processes(), GONE_S), f"still there: {self.processes()}"
        assert comes_true(lambda: not self.base.exists(), GONE_S), list(self.base.rglob("*"))
        assert str(self.base) not in Path("/proc/self/mountinfo").read_text()
        assert "port-n0" not in Path("/proc/net/dev").read_text()

    def clean(self) -> None:
        subprocess.run(self.line("down", "--all"), capture_output=True, check=False)
        shutil.rmtree(self.base, ignore_errors=True)


def _words(entry: Path) -> bytes:
    """Arguments and environment of a process; both are empty for a zombie."""
    return (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()


def temporary_commands() -> Iterator[Commands]:
    """For a fixture. The path is short: Open MPI puts sockets below it, whose names are bounded."""
    folder = Path(tempfile.mkdtemp(prefix="pwrc", dir="/tmp"))
    commands = Commands(folder / "c")
    try:
        yield commands
    finally:
        commands.clean()
        shutil.rmtree(folder, ignore_errors=True)
