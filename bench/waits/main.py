# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`bench/waits`: jobs, rows, document, summary, page."""
from __future__ import annotations

import contextlib
import json
import platform
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from bench.common import launch
from bench.common.awake import awake, stolen_s
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.launch import find_mpirun
from bench.waits import experiments, figures, text, ways
from bench.waits.experiments import Point
from bench.waits.jobs import JobError, Jobs, Run, plan
from bench.waits.options import Options, parse


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    signal.signal(signal.SIGTERM, _stop)
    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(options)
    except (ClusterError, JobError, OSError) as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say(f"stopped; --resume --output {options.output} goes on")
        return 130


def _stop(_number: int, _frame: Optional[FrameType]) -> NoReturn:
    raise KeyboardInterrupt


def _say(words: str) -> None:
    print(f"waits: {words}", file=sys.stderr, flush=True)


def _run(options: Options) -> int:
    mpirun = find_mpirun(options.mpirun)
    there = ways.available(mpirun.series)
    absent = [way for way in options.ways or [] if way not in there]
    if absent:
        _say(f"{', '.join(absent)}: only from Open MPI 5.0 on, {mpirun.program} is of {'.'.join(map(str, mpirun.series))}")
        return 2
    selected = options.ways or [way for way in there if way in ways.QUICK or not options.quick]
    points, skipped = experiments.points(options.experiments, options.layouts, options.quick, launch.cpus())
    for line in skipped:
        _say(line)
    missing = _missing(options, points)
    if missing:
        _say(f"missing: {', '.join(missing)}: build first, or see --build")
        return 1
    if not points:
        _say("nothing to measure")
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


def _missing(options: Options, points: Sequence[Point]) -> List[str]:
    needed = [options.build / "bench/waits/wait_load", options.plugin_dir / "mca_coll_poweraware.so"]
    needed += [options.cluster_program] if any(point.nodes > 1 for point in points) else []
    return [str(path) for path in needed if not path.exists()]


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
    _write(options.output / "document.json", json.dumps({**head, "rows": figures.as_json(found)}, indent=1) + "\n")
    summary = text.render(found, head)
    _write(options.output / "summary.txt", summary)
    print(summary, end="")
    try:
        from bench.waits import page  # here, so that the rest needs no matplotlib
    except ImportError as error:
        _say(f"no page: {error} in {sys.executable}")
    else:
        _write(options.output / "page.html", page.page(found, head))
        print(f"\nPage: {options.output}/page.html")


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
