# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command line: builds and tests the work tree with the Open MPI of other distributions."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from bench.testbed.cluster.launch import parse_version
from bench.testbed.cluster.paths import TOP, search_administration
from series import archive, results, sources, spaces
from series.cache import Distribution
from series.errors import Unavailable

_CHECKING_S = 3600  # two minutes on two idle cores
_WORTH_SAYING = re.compile(r"^(PASS|FAIL|SKIP|ERROR|XPASS): |^== ")


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="series/run",
        description="Builds and tests this work tree with the Open MPI of other Debian releases, each in"
        " a root file system that is kept between runs. Environment: PWR_SERIES_MIRROR, an archive of"
        " Debian, if apt here knows none.",
    )
    parser.add_argument("series", nargs="*", metavar="SERIES", help="default: " + " ".join(archive.SUITES))
    parser.add_argument(
        "--build-only", action="store_true", help="prepare the next run: no tests, no results"
    )
    parser.add_argument(
        "--brief", action="store_true", help="only the tests in which Open MPI has a part"
    )
    parser.add_argument("--but-own", action="store_true", help="leave out the series installed here")
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), help="where root file systems are kept [%(default)s]"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=TOP / "build/open-mpi",
        help="where automake's .trs and .log files go [%(default)s]",
    )
    parser.add_argument(
        "--refresh-days", type=float, default=7, help="age at which one is made anew [%(default)s]"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.series if name not in archive.SUITES]
    if unknown:
        parser.error(f"no series {unknown[0]}: there are {', '.join(archive.SUITES)}")
    return options


def default_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "poweraware" / "series"


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    search_administration()
    failed = 0
    try:
        for series in options.series or archive.SUITES:
            if options.but_own and series == _own_series():
                continue
            failed += _check(series, options)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 1 if failed else 0


def _own_series() -> str:
    mpirun = os.environ.get("MPIRUN", "mpirun")
    try:
        text = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return ".".join(str(part) for part in parse_version(mpirun, text).series)


def _check(series: str, options: argparse.Namespace) -> int:
    """Checks one series and writes its results; returns how many of them are failures."""
    folder = options.results / series
    options.results.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    (options.results / f"{series}.trs").unlink(missing_ok=True)
    try:
        _run(series, options, folder)
    except Unavailable as reason:
        _say(series, f"skipped: {reason}")
        if options.build_only:
            return 0
        (options.results / f"{series}.log").write_text(f"skipped: {reason}\n", encoding="utf-8")
        results.write(options.results, series, "SKIP")
    return results.failures(folder)


def _run(series: str, options: argparse.Namespace, folder: Path) -> None:
    suite = archive.SUITES[series]
    spaces.require()
    distribution = Distribution(options.cache.resolve(), suite, lambda text: _say(series, text))
    with distribution.used(options.refresh_days) as root:
        version = archive.version_in(root)
        if not version.startswith(f"{series}."):
            raise Unavailable(f"{suite} has Open MPI {version} now")
        with distribution.tree(TOP) as tree:
            changed = sources.update(TOP, tree / "src", tree / "sources")
            _say(series, f"Open MPI {version} of {suite}, {changed} source files changed")
            log = folder / "build.log"
            log.parent.mkdir(parents=True)
            what = "build" if options.build_only else "check" if options.brief else "check-all"
            status = _watch(series, spaces.inside(root, tree, "/poweraware/src/series/inside", what), log)
            if status < 0:  # killed: what was being written is not to be trusted
                spaces.remove(tree / "build")
            if options.build_only:  # the next run meets the same errors, and counts them
                return
            results.collect(tree / "build", folder)
    if status:
        _say(series, f"FAIL: exit status {status}, see {log}")
    results.write(folder, "build", "FAIL" if status else "PASS")


def _watch(series: str, command: Sequence[str], log: Path) -> int:
    """Runs a command, its output to a log and what is worth saying to the terminal."""
    with log.open("w", encoding="utf-8") as out, subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as running:
        assert running.stdout is not None
        limit = threading.Timer(_CHECKING_S, running.kill)  # takes all processes inside along
        limit.start()
        for line in running.stdout:
            out.write(line)
            if _WORTH_SAYING.match(line):
                _say(series, line.rstrip())
        running.wait()
        expired = not limit.is_alive()
        limit.cancel()
        out.write(f"took more than {_CHECKING_S} s\n" if expired else f"exit status {running.returncode}\n")
    return running.returncode


def _say(series: str, text: str) -> None:
    print(f"{series}  {text}", flush=True)
