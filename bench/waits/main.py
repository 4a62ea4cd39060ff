# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`bench/waits`: jobs, rows, document, summary, page."""
from __future__ import annotations

import contextlib
import platform
import sys
import time
from typing import Any, Dict, Optional, Sequence

from bench.common import command, launch
from bench.common.awake import awake, stolen_s
from bench.common.jobs import JobError
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.launch import find_mpirun
from bench.waits import experiments, figures, text, ways
from bench.waits.experiments import Point
from bench.waits.jobs import Jobs, Run, plan
from bench.waits.options import Options, parse


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = parse(sys.argv[1:] if arguments is None else arguments)
    return command.guarded(options, lambda: _run(options), (ClusterError, JobError, OSError))


def _run(options: Options) -> int:
    mpirun = find_mpirun(options.mpirun)
    there = ways.available(mpirun.series)
    absent = [way for way in options.ways or [] if way not in there]
    if absent:
        command.say(options, f"{', '.join(absent)}: only from Open MPI 5.0 on, {mpirun.program} is of {'.'.join(map(str, mpirun.series))}")
        return 2
    usual = ways.OPENSHMEM if options.openshmem else ways.QUICK if options.quick else there
    selected = options.ways or [way for way in there if way in usual]
    points, skipped = experiments.points(options.experiments, options.layouts, options.quick, launch.cpus())
    for line in skipped:
        command.say(options, line)
    programs = list(dict.fromkeys(point.program for point in points))
    if options.openshmem:
        programs.append(str(options.openshmem_dir / "mca_scoll_poweraware.so"))
    if not command.is_built(options, any(point.nodes > 1 for point in points), *programs):
        return 1
    if not points:
        command.say(options, "nothing to measure")
        return 1
    jobs = Jobs(options, mpirun.program, plan(points, selected, options.repetitions, options.seed))
    if not options.resume:
        jobs.forget()
    stolen, began = stolen_s(), time.monotonic()
    with awake() if options.awake else contextlib.nullcontext():
        runs = jobs.run()
    if not runs:
        raise JobError(f"every job failed; the last: {jobs.failures[-1]}")
    _report(options, runs, {
        "awake": options.awake,
        "stolen": (stolen_s() - stolen) / (time.monotonic() - began) / launch.cpus(),
        "skipped": skipped,
        "failures": jobs.failures,
    })
    return 1 if jobs.failures else 0


def _head(options: Options, runs: Sequence[Run]) -> Dict[str, Any]:
    return {
        "format": "poweraware-waits",
        "format_version": 1,
        "command": options.command,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": platform.node(),
        "cpus": launch.cpus(),
        "library": runs[0]["measured"]["library"],
        "repetitions": options.repetitions,
        "layouts": list(dict.fromkeys(Point(**run["point"]).layout for run in runs)),
        "notes": figures.notes(runs),
    }


def _report(options: Options, runs: Sequence[Run], said: Dict[str, Any]) -> None:
    found = figures.rows(runs, options.seed)
    head = {**_head(options, runs), **said}
    document = {**head, "rows": figures.as_json(found)}
    command.write(options, document, text.render(found, head), lambda: _page(found, head))


def _page(found: Sequence[figures.Row], head: Dict[str, Any]) -> str:
    from bench.waits import page  # here, so that the rest needs no matplotlib

    return page.page(found, head)
