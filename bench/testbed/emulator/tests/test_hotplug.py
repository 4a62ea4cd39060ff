# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""CPUs that go offline and come back, as processes on the machine see it."""

from __future__ import annotations

import sys

from conftest import Emulate, need_tool

CPU = "cd /sys/devices/system/cpu; "


def test_lists(emulate: Emulate) -> None:
    """The lists follow, siblings forget the CPU; all of it comes back."""
    look = (
        "cat online present; cat cpu1/online; cat cpu1/topology/core_cpus_list"
        " cpu1/topology/package_cpus_list cpu1/cache/index3/shared_cpu_list;"
        "cat ../node/node0/cpulist; grep -c ^processor /proc/cpuinfo;"
        "grep -c '^cpu[0-9]' /proc/stat; "
    )
    result = emulate(
        "smt_lowest",
        CPU + "ls cpu0/online; echo 2 > cpu5/online; echo 0 > cpu5/online;" + look + "echo --;"
        "echo 1 > cpu5/online;" + look,
    )
    assert "cpu0/online" in result.stderr  # CPU 0 cannot leave
    gone, back = (part.split() for part in result.stdout.split("--\n"))
    assert gone == ["0-4,6-7", "0-7", "1", "1", "0-1,4", "0-1,4", "0-1,4", "7", "7"]
    assert back == ["0-7", "0-7", "1", "1,5", "0-1,4-5", "0-1,4-5", "0-1,4-5", "8", "8"]
    assert [(w.cpu, w.control, w.value) for w in result.writes()] == [
        (5, "online", "0"), (5, "online", "1"),
    ]


def test_errors(emulate: Emulate) -> None:
    """Registers give ENXIO, cpufreq files EBUSY, also what is open already."""
    script = (
        "import os\n"
        "base = \"/sys/devices/system/cpu/cpu3/\"\n"
        "files = [base + \"cpufreq/scaling_max_freq\", base + \"cpufreq/scaling_governor\"]\n"
        "paths = [\"/dev/cpu/3/msr\", \"/dev/cpu/3/msr_safe\"] + files\n"
        "held = [os.open(path, os.O_RDWR) for path in paths]\n"
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
        "print(attempt(os.open, paths[0], os.O_RDONLY))\n"
        "switch(\"1\")\n"
        "print(attempt(os.pread, held[0], 8, 0x19a), attempt(os.pread, held[2], 8, 0))\n"
    )
    result = emulate("msr_safe", f"exec {sys.executable} -c '{script}'")
    no_device, busy = "No such device or address", "Device or resource busy"
    assert result.stdout.splitlines() == [
        f"{no_device}|{no_device}", f"{no_device}|{no_device}", f"{busy}|{busy}", f"{busy}|{busy}",
        no_device, "8 8",
    ], result.stderr


def test_registers_and_limits_stay(emulate: Emulate) -> None:
    need_tool("wrmsr")
    result = emulate(
        "skylake",
        CPU + "echo 1500000 > cpu3/cpufreq/scaling_max_freq; wrmsr -p 3 0x19a 0x18;"
        "echo 0 > cpu3/online; echo 1 > cpu3/online;"
        "cat cpu3/cpufreq/scaling_max_freq; rdmsr -p 3 0x19a",
    )
    assert result.stdout.split() == ["1500000", "18"]


def test_shared_policy_lives_on(emulate: Emulate) -> None:
    """A policy serves as long as one of its CPUs is there."""
    result = emulate(
        "shared_clock",
        CPU + "echo 2000000 > cpu4/cpufreq/scaling_max_freq; echo 0 > cpu4/online;"
        "cat cpu5/cpufreq/affected_cpus cpu5/cpufreq/related_cpus cpu4/cpufreq/scaling_max_freq;"
        "for cpu in 5 6 7; do echo 0 > cpu$cpu/online; done; cat cpu4/cpufreq/scaling_max_freq;"
        "echo 1 > cpu6/online; cat cpu4/cpufreq/scaling_max_freq cpu6/cpufreq/affected_cpus",
    )
    assert result.stdout.splitlines() == ["5 6 7", "4 5 6 7", "2000000", "2000000", "6"]
    assert "resource busy" in result.stderr
