# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for bench/testbed/cluster/cluster: the same command line, every program runs on this host.

FAKE_STATE is its folder: `up` while a cluster is up, `calls` has a line per call, `pids` the
programs it started, which `down` kills as the end of a node's processes would.  As on a real
cluster a program starts before `down`, and is killed, or not at all: `lock` sees to that.
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

STATE = Path(os.environ["FAKE_STATE"])


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Alone with the cluster."""
    with (STATE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def split(arguments: List[str]) -> Tuple[List[str], List[str]]:
    """Options before and program after the first --."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def up(words: List[str]) -> int:
    if os.environ.get("FAKE_CLUSTER") == "no-up":
        print("cluster: user namespaces are switched off", file=sys.stderr)
        return 1
    (STATE / "up").write_text(words[0])
    for node in range(int(words[0])):
        emulator = STATE / f"nodes/n{node}/emulator"
        emulator.mkdir(parents=True)
        lines = ["t_ns,cpu,control,value,pid"]
        for cpu in range(2):
            lines.append(f"1,{cpu},msr:0x199,0x1000,0")
            lines.append(f"1,{cpu},msr:0x19a,0x0,0")
            lines.append(f"1,{cpu},scaling_max_freq,2400000,0")
        (emulator / "trace.csv").write_text("\n".join(lines) + "\n")
    return 0


def is_not_up() -> int:
    print("cluster: is not up", file=sys.stderr)
    return 1


def status() -> int:
    if not (STATE / "up").exists():
        return is_not_up()
    count = int((STATE / "up").read_text())
    nodes = [{"name": f"n{k}", "state": str(STATE / f"nodes/n{k}")} for k in range(count)]
    print(json.dumps({"up": True, "nodes": nodes}))
    return 0


def start(program: List[str], extra: Dict[str, str]) -> int:
    """Runs a program, passing signals on; its status, as mpirun would give it."""
    with locked():
        if not (STATE / "up").exists():
            return is_not_up()
        process = subprocess.Popen(program, env={**os.environ, **extra})
        with (STATE / "pids").open("a") as pids:
            pids.write(f"{process.pid}\n")
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda number, _frame: process.send_signal(number))
    return process.wait()


def run(words: List[str], program: List[str]) -> int:
    extra = {}
    for at, word in enumerate(words):
        if word == "--mca":
            extra[f"OMPI_MCA_{words[at + 1]}"] = words[at + 2]
        if word == "--layout":
            extra["FAKE_LAYOUT"] = words[at + 1]
    return start(program, extra)


def down() -> int:
    with locked():
        (STATE / "up").unlink(missing_ok=True)
        shutil.rmtree(STATE / "nodes", ignore_errors=True)
        if (STATE / "pids").exists():
            for pid in (STATE / "pids").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
    return 0


def main() -> int:
    with (STATE / "calls").open("a") as calls:
        calls.write(" ".join(sys.argv[1:]) + "\n")
    command, words = sys.argv[1], sys.argv[2:]
    assert words[:1] == ["--name"], "the driver names its cluster in every call"
    words, program = split(words[2:])
    if command == "up":
        return up(words)
    if command == "down":
        return down()
    if command == "status":
        return status()
    return run(words, program) if command == "run" else start(program, {})


if __name__ == "__main__":
    sys.exit(main())
