# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Jobs of one benchmark: by mpirun on this machine, by bench/testbed/cluster on emulated nodes of it."""
from __future__ import annotations

import os
from typing import Dict, List, Sequence, Set

from bench.common import launch, processes
from bench.common.options import JobOptions, Layout

_UP_S = 120


class JobError(Exception):
    """A job that did not end well; the text says which and why."""


class Runner:
    """Starts jobs; a cluster that one has needed stays up for the next.  shows: what jobs write to standard error is
    for the user, else for the text of a JobError."""

    def __init__(self, name: str, options: JobOptions, mpirun: str, environment: Dict[str, str], shows: bool) -> None:
        self._name = f"{name}-{os.getpid()}"
        self._options = options
        self._mpirun = mpirun
        self._environment = environment
        self._shows = shows
        self._up: Set[int] = set()  # sizes of the clusters that are up

    def run(self, layout: Layout, mca: Sequence[str], program: Sequence[str], on_cluster: Sequence[str] = ()) -> str:
        """Runs a job to its end; returns what it wrote.  on_cluster: more options of the cluster's run."""
        nodes, ranks = layout
        timeout_s = self._options.timeout_s
        if nodes == 1:
            return self._call([self._mpirun, "-np", str(ranks), *launch.placement(ranks), *mca, *program], timeout_s)
        name = self._bring_up(nodes)
        line = [str(self._options.cluster_program), "run", "--name", name, "--ppn", str(ranks)]
        line += launch.placement_on_nodes(ranks)
        return self._call([*line, "--timeout", str(timeout_s), *on_cluster, *mca, "--", *program], timeout_s + 60)

    def take_down(self) -> List[str]:
        """Ends all clusters; returns what went wrong."""
        failures = []
        while self._up:
            name = f"{self._name}-{self._up.pop()}"
            try:
                self._call([str(self._options.cluster_program), "down", "--name", name], _UP_S)
            except JobError as error:
                failures.append(str(error))
        return failures

    def _bring_up(self, nodes: int) -> str:
        name = f"{self._name}-{nodes}"
        if nodes not in self._up:
            self._up.add(nodes)  # before: a set-up that is interrupted is taken down, too
            try:
                self._call([str(self._options.cluster_program), "up", str(nodes), "--name", name], _UP_S)
            except JobError:
                self._up.discard(nodes)
                raise
        return name

    def _call(self, line: List[str], timeout_s: float) -> str:
        output, errors = (self._options.output / f"job.{end}" for end in ("out", "err"))
        errors.unlink(missing_ok=True)
        process = processes.start(line, None if self._shows else errors, output, self._environment)
        try:
            status = processes.wait(process, timeout_s)
        finally:
            processes.stop(process)
        said = processes.last_words(errors)
        text = output.read_text(encoding="utf-8", errors="replace")
        for path in (output, errors):
            path.unlink(missing_ok=True)
        if status is None:
            raise JobError(f"took over {timeout_s:.0f} s: {' '.join(line)}")
        if status != 0:
            raise JobError(f"exit status {status}: {' '.join(line)}{': ' if said else ''}{said}")
        return text
