# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The cluster, through its command line only."""
from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

from bench.common import processes
from bench.run import machine
from bench.run.errors import DriverError
from bench.run.options import Options

_TIMEOUT_S = 300.0  # of each call; a loaded machine is slow

# Outlives a driver that is killed with SIGKILL: its standard input then closes without a word.
_WATCHDOG = 'read -r word && exit 0; exec "$0" down --name "$1"'


@dataclass
class Node:
    """A node and where its emulated hardware keeps its state (None: real hardware)."""

    name: str
    emulator: Optional[Path]


class Cluster:
    """A cluster that is up between start and stop."""

    def __init__(self, options: Options, log: Path) -> None:
        self.nodes: List[Node] = []
        self._options = options
        self._log = log
        self._watchdog: Optional["subprocess.Popen[bytes]"] = None

    def start(self) -> None:
        """Brings the cluster up."""
        options = self._options
        arguments = [str(len(options.layout))]
        for flag, value in (
            ("--machine", options.machine),
            ("--rate-mbit", options.rate_mbit),
            ("--latency-us", options.latency_us),
        ):
            arguments += [] if value is None else [flag, str(value)]
        if not options.keep_cluster and self._watchdog is None:
            self._watch()
        self._call("up", arguments, _TIMEOUT_S)
        self.nodes = self._read_status()

    def is_up(self) -> bool:
        """Whether the cluster is still there: a node that dies takes all of it down."""
        try:
            return bool(self._read_status())
        except DriverError:
            return False

    def stop(self) -> None:
        """Takes the cluster down, also one that came up only in part."""
        if self._options.keep_cluster:
            return
        try:
            self.take_down()
        finally:
            if self._watchdog is not None and self._watchdog.stdin is not None:
                self._watchdog.stdin.write(b"done\n")
                self._watchdog.stdin.close()
                self._watchdog.wait()
                self._watchdog = None

    def take_down(self) -> None:
        """Ends all nodes; start brings up new ones."""
        self._call("down", [], _TIMEOUT_S)

    def run_command(self, mca: Dict[str, str], program: List[str]) -> List[str]:
        """Command line that runs an MPI program over the nodes."""
        binding = machine.binding(self._options.machine)
        line = self._line("run") + ["--layout", ",".join(map(str, self._options.layout))]
        line += ["--bind", binding.bind_to, "--map-by", binding.map_by]
        for key, value in mca.items():
            line += ["--mca", key, value]
        return line + ["--"] + program

    def exec_command(self, node: str, program: List[str]) -> List[str]:
        """Command line that runs a program on one node."""
        return self._line("exec") + [node, "--"] + program

    def call_on(self, node: str, program: List[str]) -> Optional[str]:
        """Output of a short program on a node; None when it failed."""
        try:
            done = subprocess.run(
                self.exec_command(node, program),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None
        return done.stdout if done.returncode == 0 else None

    def _line(self, command: str) -> List[str]:
        options = self._options
        return [str(options.cluster_program), command, "--name", options.cluster_name]

    def _watch(self) -> None:
        options = self._options
        self._watchdog = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHDOG, str(options.cluster_program), options.cluster_name],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _call(self, command: str, arguments: List[str], timeout_s: float) -> None:
        log = self._log.with_name(f"cluster-{command}.log")
        log.unlink(missing_ok=True)
        process = processes.start(self._line(command) + arguments, log)
        try:
            status = processes.wait(process, timeout_s)
        finally:
            processes.stop(process)
        if status != 0:
            how = f"took over {timeout_s:.0f} s" if status is None else f"exit status {status}"
            raise DriverError(f"cluster {command} failed ({how}): {processes.last_words(log)}")

    def _read_status(self) -> List[Node]:
        done = subprocess.run(
            self._line("status") + ["--json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        try:
            document = json.loads(done.stdout)
            return [self._node(node) for node in document["nodes"]]
        except (ValueError, KeyError, TypeError) as error:
            raise DriverError(f"cluster status --json gave no nodes: {error!r}") from error

    def _node(self, node: Dict[str, Any]) -> Node:
        emulated = self._options.machine is not None
        return Node(node["name"], Path(node["state"]) / "emulator" if emulated else None)
