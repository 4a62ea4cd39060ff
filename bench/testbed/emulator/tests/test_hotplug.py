# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""CPUs that go offline and come back, as processes on the machine see it."""

from __future__ import annotations

import sys

from conftest import Emulate, need_tool

CPU = "cd /sys/devices/system/cpu; "


def test_lists_and_files(emulate: Emulate) -> None:
    """The lists follow, topology vanishes, siblings forget the CPU; all of it comes back."""
    look = (
        "cat online offline present; cat cpu1/online; ls cpu5; cat cpu1/topology/core_cpus_list"
        " cpu1/topology/package_cpus_list cpu1/cache/index3/shared_cpu_list;"
        "cat ../node/node0/cpulist; grep -c ^processor /proc/cpuinfo;"
        "grep -c '^cpu[0-9]' /proc/stat; cat smt/active;"
    )
    result = emulate(
        "smt_lowest",
        CPU + "ls cpu0/online; echo 0 > cpu5/online;" + look + "cat cpu5/topology/core_id; echo --;"
        "echo 1 > cpu5/online;" + look + "cat cpu5/topology/core_id",
    )
    assert "cpu0/online" in result.stderr  # CPU 0 cannot leave
    assert "cpu5/topology/core_id: No such file" in result.stderr
    gone, back = (part.split() for part in result.stdout.split("--\n"))
    assert gone[:4] == ["0-4,6-7", "5", "0-7", "1"]
    assert sorted(gone[4:7]) == ["cpufreq", "node0", "online"]
    assert gone[-7:] == ["1", "0-1,4", "0-1,4", "0-1,4", "7", "7", "1"]
    assert back[:3] == ["0-7", "0-7", "1"] and {"topology", "cache"} <= set(back)
    assert back[-8:] == ["1,5", "0-1,4-5", "0-1,4-5", "0-1,4-5", "8", "8", "1", "1"]


def test_errors(emulate: Emulate) -> None:
    """Registers give ENXIO, cpufreq files EBUSY, topology ENODEV, also what is open already."""
    script = (
        "import os\n"
        "base = \"/sys/devices/system/cpu/cpu3/\"\n"
        "files = [base + \"cpufreq/scaling_max_freq\", base + \"cpufreq/scaling_governor\"]\n"
        "paths = [\"/dev/cpu/3/msr\", \"/dev/cpu/3/msr_safe\"] + files\n"
        "held = [os.open(path, os.O_RDWR) for path in paths]\n"
        "topology = os.open(base + \"topology/core_id\", os.O_RDONLY)\n"
        "def attempt(call, *words):\n"
        "    try:\n"
        "        return str(len(call(*words)))\n"
        "    except OSError as error:\n"
        "        return os.strerror(error.errno)\n"
        "def switch(text):\n"
        "    with open(base + \"online\", \"w\") as stream: stream.write(text)\n"
        "switch(\"0\")\n"
        "for fd in held:\n"
        "    print(attempt(os.pread, fd, 8, 0x19a), end=\"|\")\n"
        "    print(attempt(os.pwrite, fd, bytes(8), 0x19a))\n"
        "print(attempt(os.pread, topology, 8, 0))\n"
        "print(attempt(os.open, paths[0], os.O_RDONLY))\n"
        "print(attempt(os.listdir, base + \"cpufreq/\") != \"0\")\n"
        "switch(\"1\")\n"
        "print(attempt(os.pread, held[0], 8, 0x19a), attempt(os.pread, held[2], 8, 0))\n"
    )
    result = emulate("msr_safe", f"exec {sys.executable} -c '{script}'")
    no_device, busy = "No such device or address", "Device or resource busy"
    assert result.stdout.splitlines() == [
        f"{no_device}|{no_device}", f"{no_device}|{no_device}", f"{busy}|{busy}", f"{busy}|{busy}",
        "No such device", no_device, "True", "8 8",
    ], result.stderr


def test_limits_are_reset_and_duty_kept(emulate: Emulate) -> None:
    need_tool("wrmsr")
    result = emulate(
        "skylake",
        CPU + "echo 1500000 > cpu3/cpufreq/scaling_max_freq; wrmsr -p 3 0x19a 0x18;"
        "echo powersave > cpu3/cpufreq/scaling_governor;"
        "echo 0 > cpu3/online; echo 1 > cpu3/online;"
        "cat cpu3/cpufreq/scaling_max_freq cpu3/cpufreq/scaling_governor; rdmsr -p 3 0x19a;"
        "echo 2 > cpu3/online; cat cpu3/online",
    )
    assert result.stdout.split() == ["3000000", "powersave", "18", "1"]
    assert [(w.cpu, w.control, w.value) for w in result.writes()][3:] == [
        (3, "online", "0"), (3, "scaling_min_freq", "1000000"), (3, "scaling_max_freq", "3000000"),
        (3, "online", "1"),
    ]


def test_shared_policy_lives_on(emulate: Emulate) -> None:
    """A policy serves as long as one of its CPUs is there; only then are its limits forgotten."""
    result = emulate(
        "shared_clock",
        CPU + "echo 2000000 > cpu4/cpufreq/scaling_max_freq; echo 0 > cpu4/online;"
        "cat cpu5/cpufreq/affected_cpus cpu5/cpufreq/related_cpus cpu4/cpufreq/scaling_max_freq;"
        "echo 1 > cpu4/online; cat cpu4/cpufreq/scaling_cur_freq;"
        "for cpu in 4 5 6 7; do echo 0 > cpu$cpu/online; done; cat cpu4/cpufreq/scaling_max_freq;"
        "echo 1 > cpu6/online; cat cpu4/cpufreq/scaling_max_freq cpu6/cpufreq/affected_cpus",
    )
    assert result.stdout.splitlines() == ["5 6 7", "4 5 6 7", "2000000", "2000000", "2833000", "6"]
    assert "resource busy" in result.stderr


def test_affinity(emulate: Emulate) -> None:
    """Who loses a CPU runs on the others of its mask, or anywhere; and returns with it."""
    script = (
        "import os\n"
        "def switch(cpu, text):\n"
        "    with open(f\"/sys/devices/system/cpu/cpu{cpu}/online\", \"w\") as stream:\n"
        "        stream.write(text)\n"
        "show = lambda: print(*sorted(os.sched_getaffinity(0)))\n"
        "os.sched_setaffinity(0, {2, 3})\n"
        "switch(3, \"0\"); show()\n"
        "try:\n"
        "    os.sched_setaffinity(0, {3})\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
        "os.sched_setaffinity(0, {2})\n"
        "switch(2, \"0\"); show(); print(os.sysconf(\"SC_NPROCESSORS_ONLN\"))\n"
        "switch(2, \"1\"); show()\n"
    )
    result = emulate("laptop1", f"exec {sys.executable} -c '{script}'")
    assert result.stdout.splitlines() == ["2", "Invalid argument", "0 1", "2", "2"], result.stderr


def test_work_moves(emulate: Emulate) -> None:
    """A busy process is counted where it runs: nothing on the CPU while it is offline."""
    script = (
        "import os, re, time\n"
        "os.sched_setaffinity(0, {3})\n"
        "def spin(seconds):\n"
        "    end = time.monotonic() + seconds\n"
        "    while time.monotonic() < end: pass\n"
        "def active():\n"  # as of a moment after this one
        "    now, then = time.monotonic_ns(), 0\n"
        "    while then <= now:\n"
        "        text = open(os.environ[\"PWR_EMU_STATE\"] + \"/mnt/ctl/state\").read()\n"
        "        then = int(re.search(r\"t_ns ([0-9]+)\", text)[1])\n"
        "    return [float(x) for x in re.findall(r\"active_s ([0-9.]+)\", text)]\n"
        "def switch(text):\n"
        "    with open(\"/sys/devices/system/cpu/cpu3/online\", \"w\") as stream:\n"
        "        stream.write(text)\n"
        "spin(0.3)\n"
        "switch(\"0\"); before = active(); spin(0.4); after = active()\n"
        "print(after[3] - before[3], sum(after[:3]) - sum(before[:3]))\n"
        "switch(\"1\"); before = active(); spin(0.4); after = active()\n"
        "print(sum(after[:3]) - sum(before[:3]), after[3] - before[3])\n"
    )
    result = emulate("laptop1", f"exec {sys.executable} -c '{script}'")
    lines = [[float(word) for word in line.split()] for line in result.stdout.splitlines()]
    assert len(lines) == 2, result.stderr
    for elsewhere, there in lines:
        assert elsewhere == 0 and there > 0.3
