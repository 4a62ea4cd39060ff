# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The jobs: at each point the ways take turns, in an order that chance makes anew for every repetition."""
from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from bench.common import launch
from bench.common.jobs import JobError, Runner
from bench.common.progress import Progress
from bench.waits import ways
from bench.waits.experiments import Point
from bench.waits.options import Options

Run = Dict[str, Any]  # what a file of runs/ holds

_FAILURES_IN_A_ROW = 3


@dataclass(frozen=True)
class Job:
    """One way at one point, once."""

    point: Point
    way: str
    repetition: int

    @property
    def name(self) -> str:
        """Of its files."""
        return f"{self.point.key}-{self.way}-{self.repetition + 1}"


def plan(points: Sequence[Point], selected: Sequence[str], repetitions: int, seed: int) -> List[Job]:
    """All jobs in their order.  Ways at one point are next to each other in time, so that what changes slowly on the
    machine belongs to none of them; repetitions are far apart."""
    chance = random.Random(seed)
    jobs = []
    for repetition in range(repetitions):
        for point in points:
            order = list(selected)
            chance.shuffle(order)
            jobs += [Job(point, way, repetition) for way in order]
    return jobs


def _variables(point: Point) -> List[str]:
    """Set for the program alone: mpirun has its own ways to pass them on, which differ between series."""
    return ["env", *(f"{name}={value}" for name, value in point.variables.items())] if point.variables else []


class Jobs:
    """Runs a plan."""

    def __init__(self, options: Options, mpirun: str, jobs: Sequence[Job]) -> None:
        self.failures: List[str] = []
        self._options = options
        self._jobs = jobs
        folders = [options.plugin_dir, *([options.openshmem_dir] if options.openshmem else [])]
        environment = ways.without_ours(launch.environment(options.build, *folders))
        self._runner = Runner("waits", options, mpirun, environment, shows=False)

    def run(self) -> List[Run]:
        """What was measured; `failures` names the jobs that were not."""
        self._options.output.joinpath("runs").mkdir(parents=True, exist_ok=True)
        left = [job for job in self._jobs if self._kept(job) is None]
        progress = Progress([(job.point.key, job.way) for job in left])
        in_a_row = 0
        try:
            for number, job in enumerate(left):
                progress.begin(f"job {number + 1}/{len(left)}: {job.point.experiment}, {job.point.label}: {job.way}, "
                               f"repetition {job.repetition + 1}")  # fmt: skip
                try:
                    self._measure(job)
                    in_a_row = 0
                except JobError as error:
                    self.failures.append(f"{job.way}: {job.point.experiment}, {job.point.label}, repetition "
                                         f"{job.repetition + 1}: {error}")  # fmt: skip
                    progress.say(f"FAILED: {self.failures[-1]}")
                    in_a_row += 1
                    if in_a_row == _FAILURES_IN_A_ROW:
                        raise JobError(f"{in_a_row} jobs in a row failed; the last: {self.failures[-1]}") from None
                progress.end()
        finally:
            self.failures += self._runner.take_down()
        return [run for run in map(self._kept, self._jobs) if run is not None]

    def _path(self, job: Job) -> Path:
        return self._options.output / "runs" / f"{job.name}.json"

    def _kept(self, job: Job) -> Optional[Run]:
        """A job's file, if it has been measured under the same conditions."""
        try:
            run: Run = json.loads(self._path(job).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        same = all(run.get(name) == value for name, value in self._conditions(job).items())
        return run if same else None

    def _conditions(self, job: Job) -> Dict[str, Any]:
        """Under which a job is measured."""
        return {"mca": self._parameters(job), "arguments": self._arguments(job), "awake": self._options.awake}

    def forget(self) -> None:
        """Removes what was measured before."""
        for job in self._jobs:
            self._path(job).unlink(missing_ok=True)

    def _parameters(self, job: Job) -> ways.Parameters:
        point = job.point
        return ways.parameters(job.way, point.nodes, point.ranks <= launch.cpus(), self._options.mca, self._options.openshmem)

    def _arguments(self, job: Job) -> List[str]:
        return job.point.arguments(self._options.seconds, self._options.quick)

    def _measure(self, job: Job) -> None:
        options, point = self._options, job.point
        mca = [word for pair in self._parameters(job).items() for word in ("--mca", *pair)]
        program = [*_variables(point), str(options.build / point.program), *self._arguments(job)]
        own = ["--mpirun", options.mpirun] if options.mpirun else []
        text = self._runner.run((point.nodes, point.ranks_per_node), mca, program, own)
        found = [line for line in text.splitlines() if line.startswith("{")]
        try:
            measured = json.loads(found[-1])
        except (IndexError, ValueError):
            raise JobError("printed no result") from None
        if measured.get("wrong"):
            raise JobError(f"{measured['wrong']} wrong results")
        run = {
            "point": asdict(job.point),
            "way": job.way,
            "repetition": job.repetition + 1,
            **self._conditions(job),
            "measured": measured,
        }
        part = self._path(job).with_suffix(".part")
        part.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        part.rename(self._path(job))
