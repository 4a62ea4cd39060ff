# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Real, unmodified tools on emulated machines, each held to the right values."""

from __future__ import annotations

import re
import sys

from conftest import Emulate, need_tool

SKYLAKE_IDLE_PACKAGE_W = 20 + 4 * 0.5  # package_static_w, core_idle_w
SKYLAKE_IDLE_NODE_W = 60 + 2 * (SKYLAKE_IDLE_PACKAGE_W + 4)


def test_rdmsr_wrmsr(emulate: Emulate) -> None:
    need_tool("rdmsr")
    result = emulate(
        "skylake",
        "rdmsr -p 7 0x19a; wrmsr -p 7 0x19a 0x18; rdmsr -p 7 0x19a; rdmsr -a 0x19a;"
        "rdmsr -p 0 -f 15:8 -d 0xce; rdmsr -p 0 -f 12:8 -d 0x606; wrmsr -p 0 0x19a 0x20",
    )
    assert result.stdout.split() == ["0", "18"] + 7 * ["0"] + ["18", "24", "14"]
    assert "cannot set" in result.stderr  # reserved bits: EIO, as from hardware
    (write,) = result.writes()
    assert (write.cpu, write.control, write.value) == (7, "msr:0x19a", "0x18")


def test_trace_start(emulate: Emulate) -> None:
    result = emulate("icpp2010", "true")
    start = result.trace()
    assert all(write.pid == 0 for write in start)
    for control, value in (
        ("msr:0x19a", "0x0"),
        ("msr:0x199", "0x1800"),
        ("scaling_governor", "performance"),
        ("scaling_min_freq", "1600000"),
        ("scaling_max_freq", "2400000"),
    ):
        lines = [(w.cpu, w.value) for w in start if w.control == control]
        assert sorted(lines) == [(cpu, value) for cpu in range(8)], control


def test_trace_pid_and_order(emulate: Emulate) -> None:
    """Every write of a loop is in the trace, in order, with the writer's pid."""
    result = emulate(
        "icpp2010",
        "echo $$; cd /sys/devices/system/cpu/cpu2/cpufreq;"
        "for k in 1600000 2000000 1730000; do echo $k > scaling_max_freq; done;"
        "echo x > scaling_max_freq; echo userspace > scaling_governor",
    )
    pid = int(result.stdout)
    found = [(w.cpu, w.control, w.value, w.pid) for w in result.writes()]
    assert found == [
        (2, "scaling_max_freq", "1600000", pid),
        (2, "scaling_max_freq", "2000000", pid),
        (2, "scaling_max_freq", "1730000", pid),
        (2, "scaling_governor", "userspace", pid),
    ]
    times = [write.t_ns for write in result.trace()]
    assert times == sorted(times)


def test_cpupower(emulate: Emulate) -> None:
    need_tool("cpupower")
    result = emulate(
        "icpp2010",
        "cpupower -c 3 frequency-info; cpupower -c 3 frequency-set -u 1730MHz;"
        "cpupower -c 3 frequency-info -p; cpupower -c 3 frequency-info -f",
    )
    assert "driver: acpi-cpufreq" in result.stdout
    assert "hardware limits: 1.60 GHz - 2.40 GHz" in result.stdout
    steps = "2.40 GHz, 2.26 GHz, 2.13 GHz, 2.00 GHz, 1.86 GHz, 1.73 GHz, 1.60 GHz"
    assert f"available frequency steps:  {steps}" in result.stdout
    assert "should be within 1.60 GHz and 1.73 GHz" in result.stdout
    assert "current CPU frequency: 1730000" in result.stdout
    assert [(w.cpu, w.control, w.value) for w in result.writes()] == [
        (3, "scaling_max_freq", "1730000")
    ]


def test_cpupower_intel_pstate(emulate: Emulate) -> None:
    need_tool("cpupower")
    result = emulate("intel_pstate", "cpupower frequency-info; cpupower -c 0 frequency-set -f 1GHz")
    assert "driver: intel_pstate" in result.stdout
    assert "available frequency steps" not in result.stdout
    assert "available cpufreq governors: performance powersave" in result.stdout
    assert "setspeed" not in {write.control for write in result.writes()}


def test_likwid_powermeter(emulate: Emulate) -> None:
    need_tool("likwid-powermeter")
    result = emulate("skylake", "likwid-powermeter -M 0 -s 1s; likwid-powermeter -M 0 -i")
    assert result.stdout.count("Measure for socket") == 2, result.stderr

    rows = [row for row in result.ledger() if row["package"] == "0"]
    lifetime_s = (int(rows[-1]["t_ns"]) - int(rows[0]["t_ns"])) * 1e-9
    asked_s = 1.0
    # A busy host only makes the tool read more than it was asked for; RAPL's update is 1 ms.
    for domain, watts in (
        ("PKG", SKYLAKE_IDLE_PACKAGE_W), ("PP0", 4 * 0.5), ("DRAM", 4.0),
        ("PLATFORM", SKYLAKE_IDLE_NODE_W),
    ):
        energies = re.findall(rf"Domain {domain}:\nEnergy consumed: ([\d.e+-]+) J", result.stdout)
        assert len(energies) == 2, result.stdout
        for joules in energies:
            assert 0.99 * watts * asked_s <= float(joules) <= 1.01 * watts * lifetime_s, domain
    assert re.search(r"Base clock:\s+2400.00 MHz", result.stdout)
    assert re.search(r"Thermal Spec Power: 85 Watt", result.stdout)


def test_likwid_set_frequencies(emulate: Emulate) -> None:
    """The tool and its daemons ask CPUID for the CPU: they are given valgrind's, a Haswell.

    The tool waits 10 s for its daemons, so they go before all others, where that is allowed.
    """
    need_tool("likwid-setFrequencies")
    need_tool("valgrind")
    run = (
        "$first valgrind --tool=none -q --vgdb=no --log-file=/dev/null --trace-children=yes"
        " likwid-setFrequencies"
    )
    first = 'first="chrt -f 2"; $first true 2>/dev/null || first='
    result = emulate("skylake", f"{first}; {run} -c 0-3 -y 1.5 >&2; {run} -p")
    rows = re.findall(r"HWThread (\d).*min/cur/max ([\d.]+)/([\d.]+)/([\d.]+) GHz", result.stdout)
    assert len(rows) == 8, result.stdout + result.stderr
    for cpu, low, current, high in rows:
        limit = "1.5" if int(cpu) < 4 else "3.0"
        assert (low, current, high) == ("1.0", limit, limit)
    assert [(w.cpu, w.control, w.value) for w in result.writes()] == [
        (cpu, "scaling_max_freq", "1500000") for cpu in range(4)
    ]


def test_lscpu(emulate: Emulate) -> None:
    need_tool("lscpu")
    text = emulate("laptop1", "lscpu").stdout
    for line in (r"CPU\(s\):\s+4", r"Thread\(s\) per core:\s+2", r"Core\(s\) per socket:\s+2",
                 r"Socket\(s\):\s+1", r"Model:\s+142", r"CPU max MHz:\s+3400"):
        assert re.search(line, text), line


def test_hwloc(emulate: Emulate) -> None:
    need_tool("hwloc-calc")
    result = emulate(
        "icpp2010",
        "hwloc-calc --number-of pu all; hwloc-calc --number-of package all;"
        "hwloc-calc --physical-output --intersect pu package:1",
    )
    assert result.stdout.split() == ["8", "2", "4,5,6,7"]


def test_hwloc_scattered(emulate: Emulate) -> None:
    """The other numbering of real two-package machines."""
    need_tool("hwloc-calc")
    result = emulate(
        "icpp2010",
        "hwloc-calc --physical-output --physical-input --intersect pu package:1",
        more="cpu_numbering = scattered",
    )
    assert result.stdout.split() == ["1,3,5,7"]


def test_msr_safe_for_users(emulate: Emulate) -> None:
    """An ordinary user: msr is refused, msr_safe gives the T-state and nothing else."""
    need_tool("setpriv")
    script = (
        "u='setpriv --reuid 65534 --clear-groups';"
        "$u dd if=/dev/cpu/0/msr bs=8 count=1 2>&1 | tail -1;"
        f"$u {sys.executable} -c '"
        "import os\n"
        'f = os.open("/dev/cpu/0/msr_safe", os.O_RDWR)\n'
        "os.pwrite(f, (0x18).to_bytes(8, \"little\"), 0x19a)\n"
        "print(int.from_bytes(os.pread(f, 8, 0x19a), \"little\"))\n"
        "for reg in 0x199, 0x611:\n"
        "    try:\n"
        "        os.pwrite(f, bytes(8), reg)\n"
        "    except PermissionError:\n"
        "        print(hex(reg), \"refused\")\n"
        "'"
    )
    result = emulate("msr_safe", script)
    assert "Permission denied" in result.stdout
    assert result.stdout.splitlines()[1:] == ["24", "0x199 refused", "0x611 refused"]


def test_powercap(emulate: Emulate) -> None:
    result = emulate(
        "icpp2010",
        "cd /sys/class/powercap; cat */name; cat intel-rapl:0/max_energy_range_uj;"
        "stat -L -c %a intel-rapl:0/energy_uj; cat intel-rapl:2/energy_uj intel-rapl:2/energy_uj;"
        "echo 1 | tee intel-rapl:0/constraint_0_power_limit_uw",
    )
    words = result.stdout.split()
    assert words[:7] == ["package-0", "core", "dram", "package-1", "core", "dram", "psys"]
    assert words[7:9] == ["262144000000", "400"]
    assert int(words[9]) <= int(words[10])
    assert "Permission denied" in result.stderr  # limits are locked
