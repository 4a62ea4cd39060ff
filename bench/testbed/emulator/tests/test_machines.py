# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Each shipped machine is what it claims to be, seen through its files and registers."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import pytest

from conftest import SOURCES, Emulate, need_tool

# What a process on the machine finds, as JSON.  Errors are negative errno values.
LOOK = r"""
import glob, json, os

def text(path):
    try:
        with open(path) as stream:
            return stream.read().strip()
    except OSError as error:
        return -error.errno

def register(number, device="msr"):
    try:
        fd = os.open("/dev/cpu/0/" + device, os.O_RDONLY)
        value = int.from_bytes(os.pread(fd, 8, number), "little")
        os.close(fd)
        return value
    except OSError as error:
        return -error.errno

def wrote(number, value):
    try:
        fd = os.open("/dev/cpu/0/msr", os.O_RDWR)
        os.pwrite(fd, value.to_bytes(8, "little"), number)
        os.close(fd)
        return 0
    except OSError as error:
        return -error.errno

cpu0 = "/sys/devices/system/cpu/cpu0/"
info = text("/proc/cpuinfo").split("\n\n")[0]
info = info.replace("\t\t:", "\t:").splitlines()
keys = dict(line.split("\t: ") for line in info if "\t: " in line)
print(json.dumps({
    "online": text("/sys/devices/system/cpu/online"),
    "cpu": [keys["vendor_id"], int(keys["cpu family"]), int(keys["model"])],
    "files": sorted(os.listdir(cpu0 + "cpufreq")) if os.path.exists(cpu0 + "cpufreq") else [],
    "driver": text(cpu0 + "cpufreq/scaling_driver"),
    "governor": text(cpu0 + "cpufreq/scaling_governor"),
    "speed": text(cpu0 + "cpufreq/scaling_setspeed"),
    "related": text(cpu0 + "cpufreq/related_cpus"),
    "siblings": text(cpu0 + "topology/thread_siblings_list"),
    "zones": [text(p) for p in sorted(glob.glob("/sys/class/powercap/intel-rapl:*/name"))],
    "step": [wrote(0x19a, 0x19), wrote(0x19a, 0)],
    "perf_ctl": register(0x199), "hwp": register(0x774),
    "rapl": register(0x606), "amd_rapl": register(0xc0010299),
    "safe": register(0x19a, "msr_safe"),
}))
"""

EIO = -5
INTEL_ZONES = ["core", "dram"]


@dataclass
class Machine:
    """What is expected; the defaults are those of most machines."""

    online: str = "0-7"
    model: int = 85
    family: int = 6
    driver: Optional[str] = "acpi-cpufreq"
    governor: str = "performance"
    related: str = "0"
    siblings: str = "0"
    step: str = "6.25"
    packages: int = 2
    rapl: bool = True
    powercap: bool = True
    safe: bool = False
    hwp: bool = False


MACHINES: Dict[str, Machine] = {
    "amd_acpi": Machine(family=23, model=1, governor="ondemand"),
    "amd_epyc": Machine(
        online="0-15", family=25, model=1, driver="amd-pstate-epp", governor="powersave", siblings="0,8",
    ),
    "amd_passive": Machine(
        family=25, model=17, driver="amd-pstate", governor="schedutil", packages=1
    ),
    "daemon_only": Machine(model=106, powercap=False),
    "four_packages": Machine(packages=4),
    "hwp_msr": Machine(model=106, driver=None, hwp=True),
    "icpp2010": Machine(step="12.5"),
    "intel_passive": Machine(
        model=143, driver="intel_cpufreq", governor="schedutil",
        hwp=True,
    ),
    "intel_pstate": Machine(
        driver="intel_pstate", governor="powersave", hwp=True
    ),
    "laptop1": Machine(online="0-3", model=142, step="12.5", siblings="0,2", packages=1),
    "msr_safe": Machine(safe=True),
    "msr_safe_readonly": Machine(
        driver="intel_pstate", governor="powersave", hwp=True, safe=True
    ),
    "no_cpufreq": Machine(driver=None),
    "no_rapl": Machine(rapl=False),
    "one_core": Machine(online="0", model=42, governor="ondemand", step="12.5", packages=1),
    "read_only": Machine(),
    "setspeed": Machine(model=79, governor="userspace"),
    "shared_clock": Machine(
        model=23, governor="ondemand", related="0 1 2 3", step="12.5", rapl=False
    ),
    "skylake": Machine(),
    "smt_highest": Machine(
        model=26, governor="ondemand", siblings="0,4", step="12.5", rapl=False
    ),
    "smt_lowest": Machine(
        model=106, driver="intel_pstate", governor="powersave",
        siblings="0,4", hwp=True,
    ),
}


def test_all_are_known() -> None:
    shipped = {path.stem for path in (SOURCES / "machines").glob("*.machine")}
    assert shipped == set(MACHINES)
    assert len(shipped) >= 14


def zones(machine: Machine) -> List[str]:
    if not machine.rapl or not machine.powercap:
        return []
    if machine.family != 6:
        return [name for i in range(machine.packages) for name in (f"package-{i}", "core")]
    return [name for i in range(machine.packages) for name in (f"package-{i}", *INTEL_ZONES)] + [
        "psys"
    ]


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_machine(emulate: Emulate, name: str) -> None:
    machine = MACHINES[name]
    amd = machine.family != 6
    result = emulate(name, f"exec {sys.executable} -c '{LOOK}'")
    found: Dict[str, Any] = json.loads(result.stdout or "{}")
    assert found, result.stderr

    vendor = "AuthenticAMD" if amd else "GenuineIntel"
    assert found["cpu"] == [vendor, machine.family, machine.model]
    assert found["online"] == machine.online
    assert found["siblings"] == machine.siblings
    assert found["zones"] == zones(machine)
    assert (found["safe"] >= 0) == machine.safe

    # registers: those of the vendor, T-states by step, hardware P-states, RAPL
    assert (found["perf_ctl"] == EIO) == amd
    assert (found["hwp"] == EIO) == (not machine.hwp)
    assert (found["rapl"] == EIO) == (amd or not machine.rapl)
    assert (found["amd_rapl"] == EIO) == (not amd or not machine.rapl)
    steps = [EIO, EIO] if amd else [0 if machine.step == "6.25" else EIO, 0]
    assert found["step"] == steps

    if machine.driver is None:
        assert found["files"] == []
        return
    assert found["driver"] == machine.driver
    assert found["governor"] == machine.governor
    assert found["related"] == machine.related
    acpi = machine.driver == "acpi-cpufreq"
    for file in ("scaling_available_frequencies", "cpuinfo_cur_freq"):
        assert (file in found["files"]) == acpi, file
    assert (found["speed"] == "<unsupported>") == (machine.governor != "userspace")


def test_nobody_may_write(emulate: Emulate) -> None:
    """read_only, as an ordinary user: all can be seen, nothing written, no energy read."""
    need_tool("setpriv")
    result = emulate(
        "read_only",
        "setpriv --reuid 65534 --clear-groups sh -c '"
        "cd /sys/devices/system/cpu/cpu1/cpufreq; cat scaling_max_freq scaling_available_governors;"
        "for f in scaling_max_freq scaling_min_freq scaling_governor /dev/cpu/1/msr; do"
        " test -w $f && echo $f; done;"
        "cat /sys/class/powercap/intel-rapl:0/energy_uj /dev/cpu/1/msr; true'",
    )
    assert result.stdout.split() == [
        "3000000", "performance", "powersave", "userspace", "ondemand", "schedutil",
    ]
    assert result.stderr.count("Permission denied") == 2


def test_rawio(emulate: Emulate) -> None:
    """daemon_only: even an administrator's chmod does not help without CAP_SYS_RAWIO."""
    need_tool("setpriv")
    result = emulate(
        "daemon_only",
        "chmod 666 /dev/cpu/0/msr; dd if=/dev/cpu/0/msr bs=8 count=1 skip=206 2>&1 >/dev/null | "
        "tail -1; setpriv --reuid 65534 --clear-groups dd if=/dev/cpu/0/msr bs=8 count=1",
    )
    assert "Operation not permitted" in result.stderr


def test_amd_active(emulate: Emulate) -> None:
    result = emulate(
        "amd_epyc",
        "cd /sys/devices/system/cpu; cat amd_pstate/status; cd cpu5/cpufreq;"
        "echo 1600000 > scaling_max_freq;"
        "cat scaling_cur_freq; echo 1600000 > ../policy13/scaling_max_freq;"
        "cat scaling_cur_freq; echo 1600000 > scaling_setspeed",
    )
    assert result.stdout.split() == [
        "active", "3700000", "1600000",  # the core runs at the highest its two threads ask for
    ]
    assert (result.state / "log").read_text().count("Invalid argument") == 1  # setspeed


def test_setspeed(emulate: Emulate) -> None:
    """By an ordinary user; intel_cpufreq has it too, once the governor is userspace."""
    need_tool("setpriv")
    result = emulate(
        "setspeed",
        "cd /sys/devices/system/cpu/cpu3/cpufreq; setpriv --reuid 65534 --clear-groups sh -c '"
        "echo 1300000 > scaling_setspeed'; cat scaling_setspeed scaling_cur_freq",
    )
    assert result.stdout.split() == ["1300000", "1300000"]
    assert [(w.cpu, w.control, w.value) for w in result.writes()] == [
        (3, "scaling_setspeed", "1300000")
    ]
    result = emulate(
        "intel_passive",
        "cd /sys/devices/system/cpu/cpu3/cpufreq; echo 1300000 > scaling_setspeed;"
        "echo userspace > scaling_governor; echo 1300000 > scaling_setspeed; cat scaling_cur_freq;"
        "cat ../../intel_pstate/status",
    )
    assert result.stdout.split() == ["1300000", "passive"]


def test_shared_policy(emulate: Emulate) -> None:
    """One policy for a package: writing through any of its CPUs is the same write."""
    result = emulate(
        "shared_clock",
        "cd /sys/devices/system/cpu; ls cpufreq; readlink cpu6/cpufreq;"
        "echo 2000000 > cpu6/cpufreq/scaling_max_freq; cat cpu[4-7]/cpufreq/scaling_max_freq;"
        "cat cpu1/cpufreq/affected_cpus cpu1/cpufreq/scaling_max_freq",
    )
    assert result.stdout.split("\n")[:-1] == [
        "policy0", "policy4", "../cpufreq/policy4", *4 * ["2000000"], "0 1 2 3", "2833000",
    ]
    assert [(w.cpu, w.control) for w in result.writes()] == [(4, "scaling_max_freq")]


# an attribute, machine, a value other than what is found
_WRITABLE = [
    ("cpu1/cpufreq/scaling_max_freq", "skylake", "2000000"),
    ("cpu1/cpufreq/scaling_min_freq", "skylake", "1500000"),
    ("cpu1/cpufreq/scaling_governor", "skylake", "powersave"),
    ("cpu1/cpufreq/scaling_setspeed", "setspeed", "1200000"),
    ("cpu1/online", "skylake", "0"),
    ("intel_uncore_frequency/package_00_die_00/max_freq_khz", "skylake", "1800000"),
    ("intel_uncore_frequency/package_00_die_00/min_freq_khz", "skylake", "1300000"),
]


@pytest.mark.parametrize("path, machine, value", _WRITABLE)
def test_what_is_behind_a_nul_does_not_count(emulate: Emulate, path: str, machine: str, value: str) -> None:
    """As in Linux, whose parsers take what is written for a string; COUNTDOWN 2.0 writes 4 KiB."""
    file = f"/sys/devices/system/cpu/{path}"
    rubbish = "x\\0\\001" * 1000  # no digit behind \\0, which would be its next octal one
    at_once = f"dd bs=8k iflag=fullblock status=none of={file}"
    result = emulate(
        machine,
        f"printf '{value}\\0{rubbish}' | {at_once} && cat {file}; printf '{value}\\n\\0{rubbish}' | {at_once} && cat {file};"
        f"printf '\\000{value}' | {at_once} || echo refused; printf '{value}x\\0' | {at_once} || echo refused",
    )
    assert result.stdout.splitlines() == [value, value, "refused", "refused"], result.stderr


def test_uncore(emulate: Emulate) -> None:
    """Limits of a package in the driver's files and in the register, by whoever may write."""
    need_tool("rdmsr")
    need_tool("setpriv")
    result = emulate(
        "skylake",
        "cd /sys/devices/system/cpu/intel_uncore_frequency; ls; cd package_01_die_00;"
        "stat -c '%a %n' *; echo 1850000 > max_freq_khz; rdmsr -p 6 0x620; rdmsr -p 1 0x620;"
        "wrmsr -p 7 0x620 0xe14; cat max_freq_khz min_freq_khz current_freq_khz initial_*;"
        "echo 0 > max_freq_khz; setpriv --reuid 65534 --clear-groups sh -c '"
        "cat min_freq_khz; test -w max_freq_khz || echo no; cat current_freq_khz'",
    )
    assert result.stdout.splitlines() == [
        "package_00_die_00", "package_01_die_00",
        "400 current_freq_khz", "444 initial_max_freq_khz", "444 initial_min_freq_khz",
        "644 max_freq_khz", "644 min_freq_khz",
        "c12", "c18", "2000000", "1400000", "2000000", "2400000", "1200000",
        "1400000", "no",
    ]
    assert "Permission denied" in result.stderr
    assert [(w.cpu, w.control, w.value) for w in result.writes()] == [
        (4, "uncore_max_khz", "1850000"), (7, "msr:0x620", "0xe14"),
    ]
    start = {(w.control, w.cpu): w.value for w in result.trace() if w.pid == 0}
    assert start["uncore_max_khz", 4] == "2400000"
    assert start["msr:0x620", 7] == "0xc18"
    assert "write of 0 to max_freq_khz" in (result.state / "log").read_text()


def test_uncore_energy(emulate: Emulate) -> None:
    """An idle package draws less with a lower uncore limit: 12 + 8 W, and 12 + 2 W at half speed."""
    result = emulate(
        "skylake",
        "echo 1200000 > /sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00/"
        "max_freq_khz; sleep 0.5",
        more="activity = fixed:0",
    )
    since = result.writes()[0].t_ns
    for package, expected in ("0", 20), ("1", 14):
        rows = [
            row for row in result.ledger()
            if row["package"] == package and int(row["t_ns"]) >= since
        ]
        seconds = (int(rows[-1]["t_ns"]) - int(rows[0]["t_ns"])) * 1e-9
        joules = float(rows[-1]["package_j"]) - float(rows[0]["package_j"])
        assert joules / seconds == pytest.approx(expected + 4 * 0.5, rel=0.01)


def test_cpupower_amd(emulate: Emulate) -> None:
    need_tool("cpupower")
    result = emulate(
        "amd_acpi",
        "cpupower -c 1 frequency-info; cpupower -c 1 frequency-set -f 1.7GHz;"
        "cat /sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq",
    )
    assert "driver: acpi-cpufreq" in result.stdout
    assert "available frequency steps:  2.20 GHz, 1.70 GHz, 1.20 GHz" in result.stdout
    assert result.stdout.split()[-1] == "1700000"


def test_amd_powercap(emulate: Emulate) -> None:
    """The package's "core" zone counts its first core alone, as Linux has it; no limits."""
    result = emulate(
        "amd_acpi",
        "cd /sys/class/powercap/intel-rapl:0; ls; sleep 0.5;"
        "cat energy_uj intel-rapl:0:0/energy_uj",
        more="activity = fixed:1",
    )
    words = result.stdout.split()
    assert not [word for word in words if word.startswith("constraint")]
    package, core = int(words[-2]), int(words[-1])
    assert core / package == pytest.approx(5 / (4 * 5 + 80), rel=0.05)
