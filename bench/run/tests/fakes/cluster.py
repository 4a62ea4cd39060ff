# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for bench/testbed/cluster/cluster: the same command line, every program runs on this host.

FAKE_STATE is its folder: `up` while a cluster is up, `calls` has a line per call, `pids` the
programs it started, which `down` kills as the end of a node's processes would.  As on a real
cluster a program starts before `down`, and is killed, or not at all: `lock` sees to that.
A session calls it some twenty times: it loads few modules, which take longer than what it does.
"""
from __future__ import annotations

import fcntl
import os
import signal
import sys

STATE = os.environ["FAKE_STATE"]


def path(name: str) -> str:
    return f"{STATE}/{name}"


def read(name: str) -> str:
    with open(path(name)) as file:
        return file.read()


def write(name: str, text: str, mode: str = "w") -> None:
    with open(path(name), mode) as file:
        file.write(text)


def is_up() -> bool:
    return os.path.exists(path("up"))


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Options before and program after the first --."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def up(words: list[str]) -> int:
    if os.environ.get("FAKE_CLUSTER") == "no-up":
        print("cluster: user namespaces are switched off", file=sys.stderr)
        return 1
    write("up", words[0])
    for node in range(int(words[0])):
        os.makedirs(path(f"nodes/n{node}/emulator"))
        lines = ["t_ns,cpu,control,value,pid"]
        for cpu in range(2):
            lines.append(f"1,{cpu},msr:0x199,0x1000,0")
            lines.append(f"1,{cpu},msr:0x19a,0x0,0")
            lines.append(f"1,{cpu},scaling_max_freq,2400000,0")
        write(f"nodes/n{node}/emulator/trace.csv", "\n".join(lines) + "\n")
    return 0


def is_not_up() -> int:
    print("cluster: is not up", file=sys.stderr)
    return 1


def status() -> int:
    import json

    if not is_up():
        return is_not_up()
    nodes = [{"name": f"n{k}", "state": path(f"nodes/n{k}")} for k in range(int(read("up")))]
    print(json.dumps({"up": True, "nodes": nodes}))
    return 0


def send(number: int, pid: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def start(program: list[str], extra: dict[str, str]) -> int:
    """Runs a program, passing signals on; its status, as mpirun would give it."""
    with open(path("lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_up():
            return is_not_up()
        pid = os.spawnvpe(os.P_NOWAIT, program[0], program, {**os.environ, **extra})
        write("pids", f"{pid}\n", "a")
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda number, _frame: send(number, pid))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run(words: list[str], program: list[str]) -> int:
    extra = {}
    for at, word in enumerate(words):
        if word == "--mca":
            extra[f"OMPI_MCA_{words[at + 1]}"] = words[at + 2]
        if word == "--layout":
            extra["FAKE_LAYOUT"] = words[at + 1]
    return start(program, extra)


def down() -> int:
    import shutil

    with open(path("lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_up():
            os.unlink(path("up"))
        shutil.rmtree(path("nodes"), ignore_errors=True)
        if os.path.exists(path("pids")):
            for pid in read("pids").split():
                send(signal.SIGKILL, int(pid))
    return 0


def main() -> int:
    write("calls", " ".join(sys.argv[1:]) + "\n", "a")
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
