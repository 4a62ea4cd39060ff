# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`bench/run`: sessions of benchmarks.  A subcommand per family of benchmarks."""
from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import List, NoReturn, Optional

from bench.run import placed_session, places
from bench.run.errors import DriverError, Stopped
from bench.run.options import FAMILIES, Options, parse
from bench.run.placed import PlacedFamily
from bench.run.session import Session
from poweraware.session import text
from poweraware.session.document import Document

DOCUMENTS = tuple(family.document_name for family in FAMILIES.values() if issubclass(family, PlacedFamily))
RESULTS = ("document.json", *DOCUMENTS, "knowledge.json", "report.html", "summary.txt", "runs")

USAGE = """usage: run osu|shift|waits|patterns|isx|npb|cpmd [options]

Runs benchmarks under the power schemes and writes a document, a page and a summary.
  osu    latency benchmarks of collectives: OSU's, or ours with their options and output
  shift  put, get, accumulate and strided put over MPI windows: PASCoL's benchmark, figures and table
  waits  one rank is late, the others wait in calls of MPI or OpenSHMEM: the energy of waiting
  patterns  put and get in fragments, OpenSHMEM and MPI windows: the patterns of Jana et al., figures 3 to 6
  isx    a bucket sort with the communication of ISx, by OpenSHMEM and by libshnode
  npb    your build of the NAS Parallel Benchmarks, or kernels of ours with the communication of FT and IS
  cpmd   plane-wave codes: your CPMD, or the distribution's Quantum ESPRESSO and HPC Challenge
'run osu --help' and so on list the options.
"""


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] in (["--help"], ["-h"]):
        print(USAGE, end="")
        return 0
    if not given or given[0] not in FAMILIES:
        print(f"run: {given[0] if given else 'nothing'} is not a benchmark\n{USAGE}", end="",
              file=sys.stderr)  # fmt: skip
        return 2
    return _run(parse(given[0], given[1:]))


def _run(options: Options) -> int:
    _turn_signals_into_exceptions()
    os.environ["PWR_BUILDDIR"] = str(options.build)  # the cluster's programs look there, too
    session: Optional[Session] = None
    status = 0
    try:
        found = places.find(options)
        options.family.meet(options.schemes, found.environment())
        _make_room(options)
        if isinstance(options.family, PlacedFamily):
            return placed_session.run(options, found)
        session = Session(options, found)
        session.run()
    except DriverError as error:
        print(f"run: {error}", file=sys.stderr)
        status = 1
    except OSError as error:
        print(f"run: {error.filename or options.output}: {error.strerror}", file=sys.stderr)
        status = 1
    except Stopped as stopped:
        print(f"run: {stopped}; the runs made so far are kept", file=sys.stderr)
        status = 128 + stopped.signal_number
    if session is not None and session.document.runs:
        if not _report(session.document, options):
            status = status or 1
        if any(run.failure is not None for run in session.document.runs):
            status = status or 1
    return status


def _make_room(options: Options) -> None:
    """An output folder without results, unless they are resumed; only what a session writes is ever removed."""
    earlier = [path for path in map(options.output.joinpath, RESULTS) if path.exists() and not options.resume]
    if earlier and not options.force:
        raise DriverError(f"{earlier[0]} is there from an earlier session: choose another --output, replace it with --force "
                          "or go on with --resume")  # fmt: skip
    for path in earlier:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    options.output.mkdir(parents=True, exist_ok=True)


def _write(path: Path, content: str) -> bool:
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        path.unlink(missing_ok=True)  # half a page helps nobody
        print(f"run: {path}: cannot be written: {error.strerror}; make it later with "
              f"poweraware/poweraware report {path.parent} -o PAGE.html", file=sys.stderr)  # fmt: skip
        return False
    return True


def _report(document: Document, options: Options) -> bool:
    """Writes summary and page and prints the summary; false when a file could not be written."""
    summary = text.render(document)
    print(summary, end="")
    written = _write(options.output / "summary.txt", summary)
    try:
        from poweraware.session import page  # here, so that runs need no matplotlib
    except ImportError as error:
        print(
            f"run: no page: {error} in {sys.executable}; later: poweraware/poweraware report {options.output} -o PAGE.html",
            file=sys.stderr,
        )
        return written
    if not _write(options.output / "report.html", page.render([document], [options.output.name])):
        return False
    print(f"\nPage: {options.output}/report.html")
    return written


def _turn_signals_into_exceptions() -> None:
    """The first signal unwinds the session, which cleans up; later ones must not cut that short."""

    def stop(number: int, _frame: Optional[FrameType]) -> NoReturn:
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        raise Stopped(number)

    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, stop)


if __name__ == "__main__":
    sys.exit(main())
