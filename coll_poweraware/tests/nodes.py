# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Emulated nodes for tests: a cluster that is up, and MPI programs with the component on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SRC = Path(os.environ["PWR_SRCDIR"])
sys.path[:0] = [str(Path(__file__).resolve().parent), str(SRC)]
import trace_rules as rules  # noqa: E402
from bench.testbed.cluster import checks  # noqa: E402

BUILD = Path(os.environ["PWR_BUILDDIR"])
CLUSTER = SRC / "bench" / "testbed" / "cluster" / "cluster"
MACHINES = SRC / "bench" / "testbed" / "emulator" / "machines"
# a folder that is not there would cost mpirun all of its plug-ins
COMPONENTS = ":".join(str(folder) for folder in (BUILD / part / "component" for part in (
    "coll_poweraware", "osc_poweraware", "oshmem/scoll_poweraware")) if folder.is_dir())
ALWAYS = {
    "coll": "poweraware",
    "coll_poweraware_scheme": "throttle",
    "coll_poweraware_helper_dir": str(BUILD / "opal"),
}


@dataclass
class Nodes:
    """A cluster that is up."""

    name: str
    state: Path

    def run(self, program: list[str], *options: str, mca: dict[str, str] | None = None,
            timeout: int = 1800) -> subprocess.CompletedProcess[str]:
        """Runs an MPI program; output and errors come together."""
        command = [str(CLUSTER), "run", "--name", self.name, "--timeout", str(timeout), *options,
                   "--env", f"OMPI_MCA_mca_base_component_path={COMPONENTS}:SYS_DEFAULT"]
        for key, value in {**ALWAYS, **(mca or {})}.items():
            command += ["--mca", key, value]
        return subprocess.run([*command, "--", *program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)

    def levers(self) -> dict[str, rules.Levers]:
        """What the emulated hardware of each node saw."""
        return {node.name: rules.read_levers(node / "emulator" / "trace.csv")
                for node in sorted((self.state / "nodes").iterdir())
                if (node / "emulator" / "trace.csv").exists()}


def cluster(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(CLUSTER), *arguments], capture_output=True, text=True, check=False)


def bring_up(name: str, nodes: int, machine: str | Path | None = None) -> Nodes:
    """Nodes with the emulated power hardware of a machine file (relative: one of ours), or with none."""
    lacking = checks.missing_for("up --machine" if machine else "up")
    if lacking:
        pytest.skip(f"no emulated nodes here: {'; '.join(lacking)}")
    options = ["--machine", str(MACHINES / machine)] if machine else []
    done = cluster("up", str(nodes), "--name", name, *options)
    assert done.returncode == 0, done.stderr or done.stdout
    status = json.loads(cluster("status", "--name", name, "--json").stdout)
    return Nodes(name, Path(status["state"]))
