# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The jobs: poweraware-tune on each layout, several times, on this machine or on emulated nodes."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

from bench.collectives.options import Options
from bench.common import launch
from bench.common.options import Layout


class JobError(Exception):
    """A job that did not end well; the text says which and why."""


class Jobs:
    """All jobs of a comparison, one after the other."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._cluster = f"collectives-{os.getpid()}"
        self._begin_s = time.monotonic()

    def run(self) -> List[Dict[str, Any]]:
        """The measurements of all jobs.  Repetitions are apart in time, so that what changes slowly on the machine
        does not belong to one layout."""
        options = self._options
        documents = []
        plan = [(layout, k) for k in range(options.repetitions) for layout in options.layouts]
        for number, (layout, repetition) in enumerate(plan):
            path = self.path(layout, repetition)
            if not (options.resume and path.exists()):
                self._say(number, len(plan), layout, repetition)
                self._run_job(layout, repetition, path)
            documents.append(json.loads(path.read_text(encoding="utf-8")))
        return documents

    def path(self, layout: Layout, repetition: int) -> Path:
        """Where the measurements of a job lie."""
        return self._options.output / "runs" / f"{layout[0]}x{layout[1]}-{repetition + 1}.json"

    def paths(self) -> List[Path]:
        """Those of all jobs."""
        options = self._options
        return [self.path(layout, k) for k in range(options.repetitions) for layout in options.layouts]

    def _say(self, number: int, jobs: int, layout: Layout, repetition: int) -> None:
        spent_s = time.monotonic() - self._begin_s
        left = f"about {spent_s / number * (jobs - number):.0f} s left" if number else "time left not known yet"
        print(f"collectives: [{spent_s:.0f} s, {left}] job {number + 1}/{jobs}: {layout[0]} x {layout[1]} ranks, "
              f"repetition {repetition + 1}", file=sys.stderr, flush=True)

    def _run_job(self, layout: Layout, repetition: int, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        program = self._program(layout, repetition, path)
        nodes = layout[0]
        if nodes == 1:
            self._call([*self._mpirun(layout[1]), *program], self._options.timeout_s)
            return
        cluster = [str(self._options.cluster_program)]
        name = ["--name", self._cluster]
        self._call([*cluster, "up", str(nodes), *name], 120)
        try:
            mca = [word for pair in self._options.mca for word in ("--mca", *pair)]
            line = [*cluster, "run", *name, "--ppn", str(layout[1]), "--timeout", str(self._options.timeout_s), *mca]
            self._call([*line, "--", *program], self._options.timeout_s + 60)
        finally:
            self._call([*cluster, "down", *name], 120)

    def _mpirun(self, ranks: int) -> List[str]:
        line = [self._options.mpirun, "-np", str(ranks), *launch.placement(ranks)]
        return line + [word for pair in self._options.mca for word in ("--mca", *pair)]

    def _program(self, layout: Layout, repetition: int, path: Path) -> List[str]:
        options = self._options
        line = [str(options.build / "bench/tune/poweraware-tune"), "--measurements", str(path)]
        line += ["--quick"] if options.quick else []
        for name, value in (
            ("layouts", f"{layout[0]}x{layout[1]}"),
            ("seed", options.seed + repetition),
            ("variants", options.variants),
            ("collectives", options.collectives),
            ("sizes", options.sizes),
            ("seconds", options.seconds),
            ("blocks", options.blocks),
        ):
            line += [] if value is None else [f"--{name}", str(value)]
        return line

    def _call(self, line: List[str], timeout_s: float) -> None:
        options = self._options
        process = subprocess.Popen(line, env=launch.environment(options.build, options.plugin_dir),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise JobError(f"took over {timeout_s:.0f} s: {' '.join(line)}") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(30)
        if status != 0:
            raise JobError(f"exit status {status}: {' '.join(line)}")
