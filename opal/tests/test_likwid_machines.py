# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""likwid's own programs and library, unmodified, on emulated machines.

likwid-accessD asks the CPU by CPUID which model it is and what it may let through, which no file
can emulate; on a model newer than likwid it ends at once.  Under valgrind a program meets valgrind's
own CPU, a Haswell with eight counters per core, whatever the host is: so the daemon stays, and lets
T-states through.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Dict, List, Optional, Tuple

import pytest

from bench.testbed.emulator.tests.conftest import _rights, emulate  # noqa: F401  (fixtures)
from bench.testbed.emulator.tests.conftest import Emulate, Result, need_root

BUILD = Path(os.environ["PWR_BUILDDIR"]) / "opal"
SBIN = "/usr/sbin:/usr/local/sbin:" + os.environ.get("PATH", "")
HELPERS = ["poweraware-guard", "poweraware-likwid", "poweraware-start"]
ORDINARY_USER = 65534
STEADY = "activity = fixed:0.5\nledger_interval_ms = 10"

needs_liblikwid = pytest.mark.skipif(
    not (BUILD / "poweraware-likwid").exists(), reason="this build found no likwid.h"
)


def program(name: str) -> str:
    found = shutil.which(name, path=SBIN)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


# All that a user needs lies in a file system of the machine's own: build and test folders may be
# closed to others, and their file systems may ignore set-uid bits.
def prepare(*lines: str) -> str:
    programs = " ".join(str(BUILD / name) for name in HELPERS if (BUILD / name).exists())
    return "\n".join(
        [
            "set -e",
            "mount -t tmpfs -o suid,mode=755 none /mnt",
            f"cp {programs} {BUILD}/tests/drive $LD_PRELOAD /mnt",
            "mkdir /mnt/state; mount --rbind $PWR_EMU_STATE /mnt/state",
            "export PWR_EMU_STATE=/mnt/state LD_PRELOAD=/mnt/${LD_PRELOAD##*/}",
            "mkdir -m 1777 /mnt/run",
            "export PWR_HELPERS=/mnt PWR_RUN=/mnt/run",
            *lines,
        ]
    )


def daemon_on_valgrinds_cpu() -> str:
    daemon = program("likwid-accessD")
    valgrind = program("valgrind")
    return "\n".join(
        [
            f"mkdir /mnt/real; cp {daemon} /mnt/real",
            # Debian's valgrind is a script, which gives the rights of a set-uid caller away.
            f"ln -s {shutil.which(valgrind + '.bin') or valgrind} /mnt/valgrind",
            f"cp {BUILD}/tests/on_valgrind /mnt/likwid-accessD",
            f"mount --bind /mnt/likwid-accessD {daemon}",
        ]
    )


SET_UID_DAEMON = "chmod 4755 /mnt/likwid-accessD"


def set_uid(path: str) -> str:
    copy = "/mnt/" + Path(path).name
    return f"cp {path} {copy}; chown 0:0 {copy}; chmod 4755 {copy}; mount --bind {copy} {path}"


def as_user(command: str) -> str:
    return (
        f"setpriv --reuid {ORDINARY_USER} --regid {ORDINARY_USER} --clear-groups"
        f" --inh-caps=-all {command}"
    )


def values(result: Result, control: str, cpu: int) -> List[str]:
    return [w.value for w in result.writes() if (w.control, w.cpu) == (control, cpu)]


def assert_writes(result: Result, expected: Dict[Tuple[str, int], List[str]]) -> None:
    """These controls were written with exactly these values, and no others at all."""
    found = {(w.control, w.cpu): values(result, w.control, w.cpu) for w in result.writes()}
    assert found == expected


def assert_fine(result: Result) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stderr == ""  # likwid prints much, none of it may reach a job's output
    assert "children: none" in result.stdout


# ---- likwid-accessD ----


def test_tstates(emulate: Emulate) -> None:
    result = emulate(
        "skylake",
        prepare(
            daemon_on_valgrinds_cpu(),
            "taskset -c 2-3 /mnt/drive lever tstate likwid-accessD 6"
            " control likwid-accessD clock_modulation 5 15",
        ),
    )
    assert_fine(result)
    assert_writes(
        result,
        {
            ("msr:0x19a", 2): ["0x0", "0x16", "0x0"],
            ("msr:0x19a", 3): ["0x0", "0x16", "0x0"],
            ("msr:0x19a", 5): ["0x0", "0x1f", "0x0"],
        },
    )


def test_pstates_by_register(emulate: Emulate) -> None:
    result = emulate(
        "skylake",
        prepare(
            daemon_on_valgrinds_cpu(),
            "taskset -c 1 /mnt/drive lever pstate perf_ctl-likwid-accessD 1500000",
        ),
        more="cpufreq_driver = none",
    )
    assert_fine(result)
    assert "lever: perf_ctl-likwid-accessD 1000000 3000000" in result.stdout
    assert_writes(result, {("msr:0x199", 1): ["0x1e00", "0xf00", "0x1e00"]})


def test_hwp_by_register(emulate: Emulate) -> None:
    result = emulate(
        "intel_pstate",
        prepare(
            daemon_on_valgrinds_cpu(),
            "taskset -c 1 /mnt/drive control likwid-accessD hwp_request 1 12",
        ),
    )
    assert_fine(result)
    written = values(result, "msr:0x774", 1)
    assert len(written) == 3 and written[0] == written[2]
    before, lowered = int(written[0], 16), int(written[1], 16)
    assert lowered >> 8 & 0xFF == 12
    assert before & ~0xFFFF == lowered & ~0xFFFF  # all other fields are kept


def test_rapl_register(emulate: Emulate) -> None:
    result = emulate(
        "skylake",
        prepare(daemon_on_valgrinds_cpu(), "/mnt/drive register 0 0x606 register 4 0x611"),
    )
    assert_fine(result)
    unit, energy = [int(n, 16) for n in re.findall("^register: (.*)", result.stdout, re.M)]
    assert unit == 0xA0E03
    package = [float(r["package_j"]) for r in result.ledger() if r["package"] == "1"]
    assert 0 < energy * 2**-14 <= package[-1]


def test_set_uid_daemon(emulate: Emulate) -> None:
    need_root()
    daemon = program("likwid-accessD")
    drive = as_user("taskset -c 2 /mnt/drive")
    result = emulate(
        "skylake",
        prepare(
            daemon_on_valgrinds_cpu(),
            f"{drive} register 0 0x611 || true",
            SET_UID_DAEMON,
            f"{drive} register 0 0x611 register 0 0x3a || true",
        ),
    )
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"register: no permission: {daemon}: no rights (needs 'chown root:")
    assert re.fullmatch("register: 0x[0-9a-f]+", lines[2])
    assert lines[3].startswith("register: no permission")
    assert result.stderr == ""


# ---- liblikwid ----


@needs_liblikwid
def test_frequencies(emulate: Emulate) -> None:
    result = emulate(
        "skylake",
        prepare(
            "cd /sys/devices/system/cpu/cpu2/cpufreq; echo 2000000 > scaling_min_freq",
            "taskset -c 2 /mnt/drive lever pstate likwid 1500000",
        ),
    )
    assert_fine(result)
    assert "lever: likwid 1000000 3000000" in result.stdout
    assert_writes(
        result,
        {
            ("scaling_max_freq", 2): ["3000000", "1500000", "3000000"],
            ("scaling_min_freq", 2): ["2000000", "2000000", "1500000", "2000000"],
        },
    )


@needs_liblikwid
def test_set_uid_frequency_daemon(emulate: Emulate) -> None:
    need_root()
    daemon = program("likwid-setFreq")
    drive = as_user("taskset -c 2 /mnt/drive")
    result = emulate(
        "skylake",
        prepare(
            f"{drive} lever pstate likwid 1200000 || true",
            set_uid(daemon),
            f"{drive} lever pstate any 1200000",
        ),
    )
    lines = result.stdout.splitlines()
    assert lines[0].startswith("lever: no permission: likwid: no right to set frequencies")
    assert f"needs 'chown root: {daemon}" in lines[0]
    assert lines[2] == "lever: likwid 1000000 3000000"
    assert result.returncode == 0 and result.stderr == ""
    assert_writes(
        result,
        {
            ("scaling_max_freq", 2): ["3000000", "1200000", "3000000"],
            ("scaling_min_freq", 2): ["1000000"],
        },
    )


# likwid-setFreq reads 199 characters of the list of frequencies and refuses what comes after.
@needs_liblikwid
def test_more_frequencies_than_the_daemon_reads(emulate: Emulate) -> None:
    need_root()
    result = emulate(
        "skylake",
        prepare(
            set_uid(program("likwid-setFreq")),
            as_user("taskset -c 2 /mnt/drive lever pstate likwid 1200000 || true"),
        ),
        more="pstate_max_khz = 3600000",
    )
    assert "scaling_min_freq: writing back: no permission" in result.stdout
    assert "accepts only values of scaling_available_frequencies" in result.stdout
    assert_writes(result, {("scaling_max_freq", 2): ["3600000"]})  # what was found


def joules(result: Result, column: str, package: int, t_ns: int) -> float:
    """The ledger at that time, between its lines as straight as the power was constant."""
    rows = [r for r in result.ledger() if int(r["package"]) == package]
    points = [(int(r["t_ns"]), float(r[column])) for r in rows]
    for (t0, e0), (t1, e1) in zip(points, points[1:]):
        if t0 <= t_ns <= t1:
            return e0 + (e1 - e0) * (t_ns - t0) / (t1 - t0)
    raise AssertionError(f"{t_ns} is not in the ledger")


@needs_liblikwid
def test_energy(emulate: Emulate) -> None:
    result = emulate(
        "skylake",
        prepare("/mnt/drive energy 1000", "sleep 0.2"),
        more=STEADY,
    )
    assert_fine(result)
    times = dict(re.findall(r"^energy: (begin|end) (\d+ \d+)$", result.stdout, re.M))
    begin = [int(t) for t in times["begin"].split()]
    end = [int(t) for t in times["end"].split()]
    found = re.findall(r"^energy: (package|core|dram)-(\d) ([\d.]+)$", result.stdout, re.M)
    assert len(found) == 6
    for domain, package, energy in found:

        def at(t_ns: int) -> float:
            return joules(result, f"{domain}_j", int(package), t_ns)

        # Between the surest interval and the widest; a counter may be 1 ms behind at either end,
        # and likwid rounds the unit of DRAM up by 0.3 %.
        slack = 0.005 * float(energy) + (at(end[0]) - at(begin[1])) * 2e6 / (end[0] - begin[1])
        assert at(end[0]) - at(begin[1]) - slack <= float(energy)
        assert float(energy) <= at(end[1]) - at(begin[0]) + slack


# Only the daemon gives this user registers, and likwid asks it.
@needs_liblikwid
def test_energy_of_an_ordinary_user(emulate: Emulate) -> None:
    need_root()
    drive = as_user("/mnt/drive")
    result = emulate(
        "skylake",
        prepare(
            daemon_on_valgrinds_cpu(),
            f"{drive} energy 1 || true",
            SET_UID_DAEMON,
            f"{drive} energy 500",
        ),
        more=STEADY,
    )
    assert result.returncode == 0 and result.stderr == ""
    refused, answered = result.stdout.split("children: none\n")[:2]
    assert "likwid: no right to read registers (needs likwid-accessD set-uid root)" in refused
    found = dict(re.findall(r"^energy: (\S+) ([\d.]+)$", answered, re.M))
    rows = [r for r in result.ledger() if r["package"] == "0"]
    seconds = (int(rows[-1]["t_ns"]) - int(rows[0]["t_ns"])) * 1e-9
    watts = (float(rows[-1]["package_j"]) - float(rows[0]["package_j"])) / seconds
    assert watts * 0.5 * 0.99 < float(found["package-0"]) < watts * seconds


# ---- all of it ----

ALL_WAYS = (
    "lever tstate likwid-accessD 6 lever pstate perf_ctl-likwid-accessD 1500000"
    " lever pstate likwid 1200000 energy 10 lever pstate any 1500000 lever tstate any 4"
)


@needs_liblikwid
def test_no_exit_handler_runs_in_a_child(emulate: Emulate, tmp_path: Path) -> None:
    """liblikwid's children end with exit(): they must not be ours."""
    result = emulate(
        "skylake",
        prepare(
            daemon_on_valgrinds_cpu(),
            f"taskset -c 2 /mnt/drive --exits {tmp_path}/exits {ALL_WAYS} & ",
            "pid=$!; wait $pid; echo pid: $pid",
            "sleep 1",
        ),
    )
    assert_fine(result)
    pid = re.search(r"^pid: (\d+)$", result.stdout, re.M)
    assert pid is not None
    assert (tmp_path / "exits").read_text().split() == [pid.group(1)]


# Whoever lives in the machine's mount namespace is of this test.
LIVING = """
living() {
    here=$(readlink /proc/self/ns/mnt)
    for process in /proc/[0-9]*; do
        if [ "$(readlink $process/ns/mnt)" = "$here" ]; then
            read -r name < $process/comm && case $name in
                poweraware-*|likwid-*|none-*) echo $name ;;
            esac
        fi
    done 2>/dev/null
}
"""


@needs_liblikwid
@pytest.mark.parametrize(
    "words, helper, restored",
    [
        ("hold likwid ceiling 2 1500000", "poweraware-likw", ("scaling_max_freq", "3000000")),
        ("hold likwid-accessD clock_modulation 2 6", "none-amd64", ("msr:0x19a", "0x0")),
        ("energy 60000", "poweraware-likw", None),
    ],
)
def test_killed_client(
    emulate: Emulate, words: str, helper: str, restored: Optional[Tuple[str, str]]
) -> None:
    """All helpers end, and the guardian has restored what was lowered, through its own."""
    result = emulate(
        "skylake",
        prepare(
            LIVING,
            daemon_on_valgrinds_cpu(),
            f"/mnt/drive {words} > /mnt/out & pid=$!",
            "for i in $(seq 1200); do grep -qE 'lowered|begin' /mnt/out && break; sleep 0.05; done",
            "echo before: $(living)",
            "kill -9 $pid; wait $pid || true",
            "for i in $(seq 1200); do [ -n \"$(living)\" ] || break; sleep 0.05; done",
            "echo after: $(living)",
            "ls -A /mnt/run/0",
        ),
    )
    assert result.returncode == 0, result.stderr
    before, after, *left = result.stdout.splitlines()
    assert helper in before
    assert after == "after:"
    assert [name for name in left if name.startswith("journal")] == []
    if restored is not None:
        control, original = restored
        written = values(result, control, 2)
        assert len(written) == 3 and written[-1] == original != written[-2]
