# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Everything a session of the driver touches: stand-ins for cluster, benchmarks and sampler."""
from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List

from bench.common.countdown import comes_true
from poweraware.session.document import Document, load

FAKES = Path(__file__).resolve().parent / "fakes"
TOP = Path(__file__).resolve().parents[3]
WITHOUT_PAGE = TOP / "bench" / "common" / "without_matplotlib"
GONE_S = 600.0


def install(script: str, target: Path, variable: str = "FAKE=") -> None:
    """A command that runs one of the stand-ins with this interpreter and a variable."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'#!/bin/sh\n{variable} exec "{sys.executable}" -S "{FAKES / script}" "$@"\n')
    target.chmod(0o755)


@dataclass
class World:
    """Everything a session touches."""

    folder: Path
    build: Path
    state: Path
    output: Path

    def command(self, *extra: str) -> List[str]:
        words = self.usual("osu")
        words += ["--sizes", "1024:2048", "--iterations", "4", "--benchmarks", "alltoall"]
        return [*words, "--schemes", "off,dvfs,throttle", *extra]

    def usual(self, family: str) -> List[str]:
        words = [family, "--build", str(self.build), "--output", str(self.output)]
        words += ["--cluster-program", str(self.folder / "cluster")]
        words += ["--layout", "2,1", "--machine", str(self.folder / "invented.machine")]
        words += ["--repetitions", "1", "--interval-ms", "5", "--seed", "3"]
        return [sys.executable, "-m", "bench.run.main", *words]

    def environment(self, changes: Dict[str, str]) -> Dict[str, str]:
        paths = {"FAKE_STATE": str(self.state), "PYTHONPATH": f"{WITHOUT_PAGE}:{TOP}"}
        return {**os.environ, **paths, **changes}

    def run(self, *extra: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        return self.run_command(self.command(*extra), changes)

    def run_command(self, command: List[str], changes: Dict[str, str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            env=self.environment(changes),
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *extra: str, **changes: str) -> "subprocess.Popen[bytes]":
        log = (self.folder / "driver.log").open("wb")
        return subprocess.Popen(
            self.command(*extra), env=self.environment(changes), stdout=log, stderr=log
        )

    def document(self) -> Document:
        return load(self.output / "document.json")

    def placed_document(self, name: str) -> Dict[str, Any]:
        """Of a family with a document of its own."""
        found = json.loads((self.output / name).read_text())
        assert isinstance(found, dict)
        return found

    def calls(self) -> List[str]:
        return (self.state / "calls").read_text().splitlines()

    def assert_nothing_is_left(self) -> None:
        assert not (self.state / "up").exists()
        for pid in (self.state / "pids").read_text().split():
            wait_until(functools.partial(gone, int(pid)), f"end of process {pid}")


def gone(pid: int) -> bool:
    """No such process, or a zombie nobody has asked for."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return text.rpartition(")")[2].split()[0] == "Z"


def wait_until(condition: Callable[[], bool], what: str) -> None:
    assert comes_true(condition, GONE_S), f"no {what}"


def make(tmp_path: Path) -> World:
    """One with an osu_alltoall."""
    made = World(tmp_path, tmp_path / "build", tmp_path / "state", tmp_path / "out")
    made.state.mkdir()
    install("cluster.py", tmp_path / "cluster")
    install("sampler.py", made.build / "opal/poweraware-sample")
    install("osu.py", made.build / "bench/osu/osu_alltoall")
    component = made.build / "coll_poweraware/component"
    component.mkdir(parents=True)
    (component / "mca_coll_poweraware.so").touch()
    (tmp_path / "invented.machine").write_text("# invented\ntstate_scope = package\n")
    return made
