# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Living on an emulated machine: affinity, beginning and end, failures."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import List

import pytest

from bench.common.countdown import comes_true
from conftest import SOURCES, TIMEOUT_S, Emulate, environment, need_root, need_tool


def test_affinity(emulate: Emulate) -> None:
    """Binding to CPUs the host does not have; children inherit, siblings do not."""
    need_tool("taskset")
    result = emulate(
        "icpp2010",
        "taskset -cp $$; taskset -c 7 sh -c 'taskset -cp $$; sh -c \"taskset -cp \\$\\$\"';"
        "taskset -c 99 true; taskset -cp $$",
    )
    lists = [line.split(": ")[1] for line in result.stdout.splitlines()]
    assert lists == ["0-7", "7", "7", "0-7"]
    assert "Invalid argument" in result.stderr


def test_affinity_seen_from_another_thread(emulate: Emulate) -> None:
    """A thread that never bound itself has its process's mask, whoever asks."""
    script = (
        "import os, threading\n"
        "os.sched_setaffinity(0, {3})\n"
        "stop = threading.Event()\n"
        "thread = threading.Thread(target=stop.wait)\n"
        "thread.start()\n"
        "print(sorted(os.sched_getaffinity(thread.native_id)))\n"
        "stop.set()\n"
    )
    result = emulate("icpp2010", f"exec {sys.executable} -c '{script}'")
    assert result.stdout.strip() == "[3]", result.stderr


def test_affinity_of_a_process_without_a_visible_parent(emulate: Emulate) -> None:
    """In a PID namespace of its own the parent is 0, which is nobody's mask."""
    need_tool("unshare")
    script = "import os; print(len(os.sched_getaffinity(0)))"
    result = emulate("icpp2010", f"unshare --pid --fork {sys.executable} -c '{script}'")
    assert result.stdout.strip() == "8", result.stderr


def test_affinity_of_threads(emulate: Emulate) -> None:
    script = (
        "import os, threading\n"
        "os.sched_setaffinity(0, {2, 6})\n"
        "def work():\n"
        "    print(sorted(os.sched_getaffinity(0)))\n"
        "    os.sched_setaffinity(0, {6})\n"
        "    print(sorted(os.sched_getaffinity(0)))\n"
        "t = threading.Thread(target=work); t.start(); t.join()\n"
        "print(sorted(os.sched_getaffinity(0)))\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    print(sorted(os.sched_getaffinity(0)), flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
        "try:\n"
        "    os.sched_setaffinity(4000000, {1})\n"
        "except ProcessLookupError:\n"
        "    print('no such process')\n"
    )
    result = emulate("icpp2010", f'{sys.executable} -u -c "{script}"')
    assert result.stdout.splitlines() == [
        "[2, 6]", "[6]", "[2, 6]", "[2, 6]", "no such process",
    ]


def test_a_process_is_told_the_cpu_that_it_drives(emulate: Emulate) -> None:
    """Tools ask sched_getcpu whose files to write (COUNTDOWN 2.0 does): the real CPU has another number."""
    script = (
        "import ctypes, os, threading\n"
        "where = lambda: print(ctypes.CDLL(None).sched_getcpu(), flush=True)\n"
        "where()\n"
        "os.sched_setaffinity(0, {5})\n"
        "where()\n"
        "t = threading.Thread(target=where); t.start(); t.join()\n"
        "os.sched_setaffinity(0, {3, 6})\n"
        "if os.fork() == 0:\n"
        "    where(); os._exit(0)\n"
        "os.wait()\n"
        "where()\n"
    )
    result = emulate("icpp2010", f"exec {sys.executable} -c '{script}'")
    unbound, *bound, child, parent = result.stdout.split()
    assert (unbound, bound) == ("0", ["5", "5"]), result.stderr
    assert sorted([child, parent]) == ["3", "6"], "the least loaded CPU of the mask"


def emulators() -> List[str]:
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "comm").read_text() == "pwr-emulator\n":
                found.append((folder / "cmdline").read_text())
        except OSError:  # it has just ended
            continue
    return found


def test_nothing_is_left(emulate: Emulate, tmp_path: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    for _ in range(2):
        result = emulate("skylake", "cat /sys/devices/system/cpu/online")
        assert (result.returncode, result.stdout) == (0, "0-7\n")
        assert not [line for line in emulators() if str(tmp_path) in line]
        assert Path("/proc/self/mountinfo").read_text() == before
        assert (result.state / "log").read_text() == ""


def test_exit_status(emulate: Emulate) -> None:
    assert emulate("laptop1", "exit 3").returncode == 3


def test_ends_with_its_namespace(tmp_path: Path) -> None:
    """attach alone: the daemon ends when the last process of the namespace does."""
    need_root()
    state = tmp_path / "state"
    attach = f"{SOURCES}/attach --machine laptop1 --state {state} && cat {state}/pid"
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", attach],
        capture_output=True, text=True, env=environment(), check=False,
    )
    assert done.returncode == 0, done.stderr
    assert comes_true(lambda: not running(int(done.stdout)), TIMEOUT_S), "the emulator outlives its namespace"


def running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_dead_daemon_gives_errors(emulate: Emulate, tmp_path: Path) -> None:
    result = emulate(
        "skylake",
        f"exec 3</dev/cpu/1/msr; kill -9 $(cat {tmp_path}/state/pid);"
        "sleep 0.5;"
        "timeout 20 dd bs=8 count=1 <&3; echo $?; timeout 20 cat /proc/cpuinfo; echo $?",
    )
    assert result.stdout.split() == ["1", "1"]
    assert "not connected" in result.stderr


def test_killed_client_and_malformed_writes(emulate: Emulate, tmp_path: Path) -> None:
    """A client killed while it reads, writes of odd sizes, of garbage, of nothing."""
    result = emulate(
        "icpp2010",
        "(while :; do cat /proc/cpuinfo; done >/dev/null) & busy=$!; sleep 0.2; kill -9 $busy;"
        "cd /sys/devices/system/cpu/cpu0/cpufreq;"
        "printf abc | dd of=/dev/cpu/0/msr bs=3 seek=1 conv=notrunc;"
        "printf '\\0\\0' > scaling_max_freq;"
        "head -c 5000 /dev/zero | tr '\\0' 9 > scaling_max_freq;"
        "echo -1 > scaling_max_freq; echo 1e6 > scaling_min_freq; echo turbo > scaling_governor;"
        "echo 1600000 > scaling_setspeed; echo 1 > ../cpufreq/related_cpus;"
        "echo 1600000 > scaling_max_freq;"
        f"cat scaling_max_freq; grep rejected {tmp_path}/state/mnt/ctl/state",
    )
    assert result.stdout.splitlines() == ["1600000", "rejected_writes 6"]
    assert [write.value for write in result.writes()] == ["1600000"]
    assert len((result.state / "log").read_text().splitlines()) == 6


def test_full_disk(tmp_path: Path) -> None:
    """Records on a disk that fills up: levers keep working, the log says it."""
    need_root()
    need_tool("wrmsr")
    inner = (
        f"mount -t tmpfs -o size=512k tmpfs {tmp_path} && mkdir {tmp_path}/s && "
        f"{SOURCES}/emulate --machine icpp2010 --state {tmp_path}/s -- sh -c '"
        f"head -c 1m /dev/zero > {tmp_path}/fill 2>/dev/null;"
        "for i in $(seq 100); do wrmsr -p 1 0x19a 0x18 || exit 1; wrmsr -p 1 0x19a 0; done;"
        f"wrmsr -p 1 0x19a 0x16; rdmsr -p 1 0x19a; cat {tmp_path}/s/mnt/ctl/state | head -1;"
        f"rm {tmp_path}/fill; wrmsr -p 1 0x19a 0x14; wrmsr -p 1 0x19a 0x12'; "
        f"tail -1 {tmp_path}/s/trace.csv; cat {tmp_path}/s/log"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", inner],
        capture_output=True, text=True, env=environment(), check=False,
    )
    lines = done.stdout.splitlines()
    assert lines[:2] == ["16", "machine icpp2010"], done.stderr
    assert ",1,msr:0x19a,0x12," in lines[2]
    # the first message may have met the full disk too, the sum at the end has room
    assert "lines of trace.csv were lost" in done.stdout


def need_user_namespaces() -> None:
    probe = subprocess.run(["unshare", "--user", "--map-root-user", "true"], check=False)
    if probe.returncode != 0:
        pytest.skip("user namespaces are not allowed here")


def test_user_namespace(emulate: Emulate) -> None:
    need_user_namespaces()
    need_tool("rdmsr")
    result = emulate(
        "laptop1",
        "wrmsr -p 3 0x19a 0x1e && rdmsr -p 3 0x19a; cat /sys/class/powercap/intel-rapl:0/name",
        "--user-namespace",
    )
    assert result.stdout.split() == ["1e", "package-0"], result.stderr


def test_no_dev_cpu(tmp_path: Path) -> None:
    """A host without /dev/cpu, as most containers are: /dev is rebuilt with one."""
    need_root()
    need_tool("rdmsr")
    inner = (
        f"mkdir {tmp_path}/dev && mount -t tmpfs tmpfs {tmp_path}/dev && cd {tmp_path}/dev && "
        "for d in null zero full random urandom tty fuse; do touch $d;"
        " mount --bind /dev/$d $d; done;"
        "ln -s /proc/self/fd fd; mkdir shm; mount --move . /dev && cd / && "
        f"{SOURCES}/emulate --machine laptop1 --state {tmp_path}/s -- "
        "sh -c 'rdmsr -p 3 0x19a; echo x > /dev/null; ls -d /dev/shm /dev/fd'; ls -d /dev/cpu"
    )
    done = subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", inner],
        capture_output=True, text=True, env=environment(), check=False,
    )
    assert done.stdout.split() == ["0", "/dev/fd", "/dev/shm"], done.stderr


@pytest.mark.parametrize("option", [[], ["--user-namespace"]])
def test_shared_memory_is_its_own(emulate: Emulate, option: List[str]) -> None:
    """Who claims this machine's CPUs claims none of the emulated one's."""
    if option:
        need_user_namespaces()
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        result = emulate("skylake", f"stat -c %a /dev/shm; ls {file.name}; touch {file.name}.inside && ls {file.name}.inside",
                         *option)  # fmt: skip
        assert result.stdout.splitlines() == ["1777", f"{file.name}.inside"], result.stderr
        assert not Path(f"{file.name}.inside").exists()


def test_errors_before_start(tmp_path: Path) -> None:
    bad = tmp_path / "bad.machine"
    bad.write_text("packages = 2\ncoers = 4\n")

    def attempt(*words: str) -> str:
        done = subprocess.run(
            [str(SOURCES / "emulate"), *words],
            capture_output=True, text=True, env=environment(), check=False,
        )
        assert done.returncode != 0
        return done.stderr

    assert f"{bad}:2: coers: no such key" in attempt("--machine", str(bad), "--", "true")
    assert "cannot read machine file" in attempt("--machine", "nosuch", "--", "true")
    assert "usage: emulate" in attempt("--machine", "laptop1")
    env = {**environment(), "PWR_BUILDDIR": str(tmp_path)}
    done = subprocess.run(
        [str(SOURCES / "emulate"), "--machine", "laptop1", "--", "true"],
        capture_output=True, text=True, env=env, check=False,
    )
    assert "build it first" in done.stderr


def test_keys_are_documented() -> None:
    """README.md has the keys of the parser, all of them, with their defaults."""
    source = (SOURCES / "machine_file.c").read_text()
    table = source.split("struct key keys[] = {")[1].split("\n};")[0]
    row = r"^    (?:[A-Z]+\(|\{\.name = \")(\w+)\"?, (?:\.fallback = )?(NULL|\".*?\")"
    known = dict(re.findall(row, table, re.MULTILINE))
    words = {"NULL": "must be given", '""': "empty"}
    readme = (SOURCES / "README.md").read_text().split("| key | unit")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]+) \|", readme, re.MULTILINE)
    assert len(known) > 40
    assert dict(rows) == {key: words.get(text, text.strip('"')) for key, text in known.items()}
