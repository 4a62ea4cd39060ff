# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`bench/collectives`: jobs, ratios, document, page; or jobs and a decision table."""
from __future__ import annotations

import os
import sys
import time
from typing import Any, Dict, List, Optional, Sequence

from bench.collectives import figures, text
from bench.collectives.jobs import Jobs
from bench.collectives.options import Options, parse
from bench.common import command, launch
from bench.common.jobs import JobError
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.launch import find_mpirun
from poweraware import before, decide
from poweraware.documents import DocumentError


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = parse(sys.argv[1:] if arguments is None else arguments, series())
    return command.guarded(options, lambda: _run(options), (JobError, DocumentError, OSError))


def _run(options: Options) -> int:
    if not command.is_built(options, any(nodes > 1 for nodes, _ in options.layouts), "bench/tune/poweraware-tune"):
        return 1
    if options.table and not os.access(options.table.resolve().parent, os.W_OK):
        raise JobError(f"{options.table}: cannot be written there")
    table_before = before.load(options.before)
    jobs = Jobs(options)
    documents = jobs.run()
    return _table(options, jobs, documents, table_before) if options.table else _report(options, documents)


def series() -> int:
    """Major version of the Open MPI on PATH; 0: there is none."""
    try:
        return find_mpirun(None).series[0]
    except ClusterError:
        return 0


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
        command.say(options, "nothing to compare: none of ours could do any of the calls")
        return 1
    document = {**head, "wrong": wrong, "ratios": figures.as_json(found)}
    command.write(options, document, text.render(found, head, wrong), lambda: _page(found, head, wrong))
    return 1 if wrong else 0


def _page(found: Sequence[figures.Ratio], head: Dict[str, Any], wrong: Sequence[str]) -> str:
    from bench.collectives import page  # here, so that the rest needs no matplotlib

    return page.page(found, head, wrong)


def _table(options: Options, jobs: Jobs, documents: Sequence[Dict[str, Any]], table_before: before.TableBefore) -> int:
    assert options.table is not None
    head = _head(options, documents)
    source = (f"{' '.join(options.command)} ({head['date'][:10]}, {head['library']}, a machine with {head['cpus']} CPUs, "
              f"nodes emulated: layouts with more ranks than CPUs share them)")  # fmt: skip
    print(decide.write(jobs.paths(), options.table, decide.Rules(), source, table_before))
    return 0
