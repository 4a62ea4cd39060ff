# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`bench/collectives`: jobs, ratios, document, page; or jobs and a decision table."""
from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from bench.collectives import figures, text
from bench.collectives.jobs import JobError, Jobs
from bench.collectives.options import Options, parse
from bench.common import launch


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    signal.signal(signal.SIGTERM, _stop)
    options = parse(sys.argv[1:] if arguments is None else arguments, series())
    missing = _missing(options)
    if missing:
        print(f"collectives: missing: {', '.join(missing)}: build first, or see --build", file=sys.stderr)
        return 1
    try:
        jobs = Jobs(options)
        documents = jobs.run()
        return _table(options, jobs) if options.table else _report(options, documents)
    except (JobError, OSError) as error:
        print(f"collectives: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"collectives: stopped; --resume --output {options.output} goes on", file=sys.stderr)
        return 130


def _stop(_number: int, _frame: Optional[FrameType]) -> NoReturn:
    raise KeyboardInterrupt


def series() -> int:
    """Major version of the Open MPI on PATH; 0: there is none."""
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if mpirun is None:
        return 0
    done = subprocess.run([mpirun, "--version"], capture_output=True, text=True, timeout=60, check=False)
    found = re.search(r"\((?:Open MPI|OpenRTE)\) (\d+)", done.stdout)
    return int(found[1]) if found else 0


def _missing(options: Options) -> List[str]:
    needed = [options.build / "bench/tune/poweraware-tune", options.plugin_dir / "mca_coll_poweraware.so"]
    needed += [options.cluster_program] if any(nodes > 1 for nodes, _ in options.layouts) else []
    return [str(path) for path in needed if not path.exists()]


def _head(options: Options, documents: Sequence[Dict[str, Any]]) -> Dict[str, Any]:
    return {
        "format": "poweraware-collectives",
        "format_version": 1,
        "command": options.command,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "host": documents[0]["host"],
        "cpus": launch.cpus(),
        "library": documents[0]["library"],
        "repetitions": options.repetitions,
    }


def _report(options: Options, documents: List[Dict[str, Any]]) -> int:
    found = figures.ratios(documents, options.seed)
    wrong = figures.wrong(documents)
    head = _head(options, documents)
    if not found:
        print("collectives: nothing to compare: none of ours could do any of the calls", file=sys.stderr)
        return 1
    document = {**head, "wrong": wrong, "ratios": figures.as_json(found)}
    _write(options.output / "document.json", json.dumps(document, indent=1) + "\n")
    summary = text.render(found, head, wrong)
    _write(options.output / "summary.txt", summary)
    print(summary, end="")
    try:
        from bench.collectives import page  # here, so that the rest needs no matplotlib
    except ImportError as error:
        print(f"collectives: no page: {error} in {sys.executable}", file=sys.stderr)
    else:
        _write(options.output / "page.html", page.page(found, head, wrong))
        print(f"\nPage: {options.output}/page.html")
    return 1 if wrong else 0


def _table(options: Options, jobs: Jobs) -> int:
    assert options.table is not None
    line = [str(options.build / "bench/tune/poweraware-tune"), "--output", str(options.table)]
    for path in jobs.paths():
        line += ["--from", str(path)]
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in jobs.paths()]
    head = _head(options, documents)
    source = (f"{' '.join(options.command)} ({head['date'][:10]}, {head['library']}, a machine with {head['cpus']} CPUs, "
              f"nodes emulated: layouts with more ranks than CPUs share them)")  # fmt: skip
    return subprocess.run([*line, "--source", source], check=False).returncode


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
