# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command poweraware-info: has the report gathered by poweraware-inspect, and prints it. Needs nothing but Python."""
from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import List, Tuple

from poweraware.info import report, text

_HELPERS = Path(__file__).resolve().parents[1] / "libexec"  # a link, where poweraware is installed
_DEFAULT_WIDTH, _NARROWEST, _WIDEST = 80, 60, 100000


def main() -> int:
    """Runs the command; returns its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    options = _parser().parse_args()
    program = os.path.join(options.helper_dir or _HELPERS, "poweraware-inspect")
    arguments = [options.cpus, options.run_dir, options.root, options.helper_dir, "look only" if options.no_probe else None]
    try:
        status, gathered = _gather([program, *(each or "" for each in arguments)])
    except OSError as error:
        return _fail(f"{program}: {error.strerror} (--helper-dir says where it is)")
    if status != 0:
        return status  # it has said why
    found = report.complete(json.loads(gathered))
    if options.json:
        printed = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    else:
        printed = text.render(found, _width(), options.all)
    try:
        with open(sys.stdout.fileno(), "w", encoding="utf-8", closefd=False) as out:
            out.write(printed)
    except OSError as error:
        return _fail(f"writing: {error.strerror}")
    return 0


def _gather(command: List[str]) -> Tuple[int, bytes]:
    """Exit status and output. What ends this program ends that one, whose guardian then restores what it has moved."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _: child.send_signal(number))
        printed = child.communicate()[0]
    if child.returncode < 0:
        if -child.returncode != signal.SIGKILL:
            signal.signal(-child.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -child.returncode)
    return child.returncode, printed


def _fail(message: str) -> int:
    print(f"poweraware-info: {message}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="poweraware-info",
        description="Says what poweraware can do on this machine for a process bound as this one is: each lever and energy "
        "meter with all its back ends, why some are refused, and what grants them. Run it as a job runs "
        "(mpirun --bind-to core -np 1 poweraware-info).",
    )
    options.add_argument("-c", "--cpus", type=_given, metavar="LIST", help="bind to these CPUs first (0-3,8)")
    options.add_argument("-n", "--no-probe", action="store_true", help="only look: write nothing, time nothing")
    options.add_argument("-j", "--json", action="store_true", help="print one JSON object")
    options.add_argument("-a", "--all", action="store_true", help="also say what grants back ends that are not needed")
    options.add_argument("--helper-dir", type=_given, metavar="DIR",
                         help="where poweraware's helper programs are (default: where they were installed)")  # fmt: skip
    options.add_argument("--run-dir", type=_given, metavar="DIR",
                         help="where claims and journals are (default: the user's)")  # fmt: skip
    options.add_argument("--root", type=_given, metavar="DIR",
                         help="the machine whose /sys, /proc and /dev are below DIR")  # fmt: skip
    return options


def _given(value: str) -> str:
    """For poweraware-inspect, what is empty was not given."""
    if not value:
        raise argparse.ArgumentTypeError("is empty")
    return value


def _width() -> int:
    """Of the terminal, or what COLUMNS says where there is none."""
    try:
        width = os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        width = 0
    try:
        width = width or int(os.environ.get("COLUMNS", _DEFAULT_WIDTH))
    except ValueError:
        width = _NARROWEST
    return width if _NARROWEST <= width <= _WIDEST else _NARROWEST
