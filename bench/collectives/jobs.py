# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The jobs: poweraware-tune on each layout, several times, on this machine or on emulated nodes."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

from bench.collectives.options import Options
from bench.common import launch
from bench.common.jobs import JobError, Runner
from bench.common.options import Layout
from bench.common.progress import Progress


class Jobs:
    """All jobs of a comparison, one after the other."""

    def __init__(self, options: Options) -> None:
        self._options = options
        environment = launch.environment(options.build, options.plugin_dir)
        self._runner = Runner("collectives", options, options.mpirun, environment, shows=True)

    def run(self) -> List[Dict[str, Any]]:
        """The measurements of all jobs.  Repetitions are apart in time, so that what changes slowly on the machine
        does not belong to one layout."""
        options = self._options
        options.output.joinpath("runs").mkdir(parents=True, exist_ok=True)
        plan = [(layout, k) for k in range(options.repetitions) for layout in options.layouts]
        left = [each for each in plan if not (options.resume and self.path(*each).exists())]
        progress = Progress([("", f"{nodes}x{ranks}") for (nodes, ranks), _ in left])
        mca = [word for pair in options.mca for word in ("--mca", *pair)]
        try:
            for number, (layout, repetition) in enumerate(left):
                progress.begin(f"job {number + 1}/{len(left)}: {layout[0]} x {layout[1]} ranks, repetition {repetition + 1}")
                self._runner.run(layout, mca, self._program(layout, repetition, self.path(layout, repetition)))
                progress.end()
        finally:
            failures = self._runner.take_down()
        if failures:
            raise JobError("; ".join(failures))
        return [json.loads(self.path(*each).read_text(encoding="utf-8")) for each in plan]

    def path(self, layout: Layout, repetition: int) -> Path:
        """Where the measurements of a job lie."""
        return self._options.output / "runs" / f"{layout[0]}x{layout[1]}-{repetition + 1}.json"

    def paths(self) -> List[Path]:
        """Those of all jobs."""
        options = self._options
        return [self.path(layout, k) for k in range(options.repetitions) for layout in options.layouts]

    def _program(self, layout: Layout, repetition: int, path: Path) -> List[str]:
        options = self._options
        line = [str(options.build / "bench/tune/poweraware-tune"), "--output", str(path)]
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
