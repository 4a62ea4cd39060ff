# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Emulated power hardware on the nodes: starting it, and what topology they have then."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench.common.countdown import LOOK_S, Countdown
from bench.testbed.cluster import namespaces
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.launch import host_environment
from bench.testbed.cluster.paths import TOP
from bench.testbed.cluster.state import Cluster, Host

ATTACH = TOP / "bench/testbed/emulator/attach"
ATTACH_TIMEOUT_S = 120.0


def node_state(node: Host) -> Path:
    return Path(node.state) / "emulator"


def wrapped(host: Host, program: list[str]) -> list[str]:
    """The program's command line, with the emulator's variables set first where there is one."""
    variables = node_state(host) / "env"
    if not variables.exists():
        return program
    return ["/bin/sh", "-c", '. "$0" && exec "$@"', str(variables), *program]


def attach_all(cluster: Cluster, attach: Path, progress: Callable[[str], None]) -> Cluster:
    """Gives every node the machine of the cluster's spec; returns the cluster with its topology."""
    assert cluster.spec.machine is not None
    environment = host_environment(cluster, os.environ)
    started: list[tuple[Host, subprocess.Popen[str]]] = []
    for node in cluster.nodes:
        node_state(node).mkdir()
        command = [str(attach), "--machine", cluster.spec.machine, "--state", str(node_state(node))]
        log = (Path(node.state) / "attach.log").open("w+")
        with log:
            process = namespaces.spawn(
                node.pid,
                command,
                environment=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        started.append((node, process))
    _wait_for_all([process for _node, process in started], progress)
    nodes = [_attached(node, process) for node, process in started]
    return dataclasses.replace(cluster, hosts=[cluster.head, *nodes])


def _wait_for_all(
    processes: list[subprocess.Popen[str]], progress: Callable[[str], None]
) -> None:
    countdown = Countdown(ATTACH_TIMEOUT_S)
    for done, process in enumerate(processes):
        while True:
            try:
                process.wait(timeout=LOOK_S)
                break
            except subprocess.TimeoutExpired as error:
                progress(f"{done} of {len(processes)} emulated machines attached")
                if countdown.left() == 0:
                    text = f"an emulated machine is not attached after {ATTACH_TIMEOUT_S:g} s"
                    raise ClusterError(text) from error


def _attached(node: Host, process: subprocess.Popen[str]) -> Host:
    if process.returncode != 0:
        said = (Path(node.state) / "attach.log").read_text().strip()
        raise ClusterError(f"no emulated machine on {node.name}: {said or 'attach failed'}")
    packages, cores = topology(Path(f"/proc/{node.pid}/root"))
    return dataclasses.replace(node, packages=packages, cores=cores)


def topology(root: Path) -> tuple[int, int]:
    """Packages and cores in the sysfs below root."""
    cores = set()
    for folder in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/topology"):
        package = int((folder / "physical_package_id").read_text())
        cores.add((package, int((folder / "core_id").read_text())))
    return len({package for package, _core in cores}), len(cores)
