# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The levers on every kind of machine: which back ends are chosen, what exactly is written, and that
all of it is put back.

Each machine of bench/testbed/emulator/machines is met as root and as an ordinary user; walk_levers goes once
down (lowest frequency, T7) and up again; the emulator's trace tells what the hardware saw.
"""

from __future__ import annotations

import csv
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.testbed.emulator.tests.conftest import need_emulator

SRC = Path(os.environ["PWR_SRCDIR"])
BUILD = Path(os.environ["PWR_BUILDDIR"])
EMULATE = SRC / "bench" / "testbed" / "emulator" / "emulate"
MACHINES = SRC / "bench" / "testbed" / "emulator" / "machines"
MSR = "msr:0x19a"
MAX, MIN, SPEED = "scaling_max_freq", "scaling_min_freq", "scaling_setspeed"
NOBODY = 65534
AS_USER = f"setpriv --reuid {NOBODY} --clear-groups "

Write = tuple[int, str, str]  # CPU, control, value


@dataclass
class Case:
    """What a process with this binding gets on this machine."""

    machine: str
    cpus: str
    user: str  # root, nobody
    pstates: str
    tstates: str
    meter: str
    writes: list[Write]
    why: list[str] = field(default_factory=list)  # parts of the reason for what is off
    domains: str = ""

    def __str__(self) -> str:
        return f"{self.machine}-{self.user}-{self.cpus}"


def walk(cpus: list[int], ceiling: tuple[int, int, int] | None = None, tstate: bool = True,
         control: tuple[str, str, str] | None = None) -> list[Write]:
    """All writes of a walk in their order: write-backs at open, down, up.

    ceiling is (found, floor found, lowest) of cpufreq; control is (name, found, low) of a single
    control that says it all.
    """
    name, found, low = control or (MAX, "", "")
    if ceiling is not None:
        found, low = str(ceiling[0]), str(ceiling[2])
    writes: list[Write] = []
    if found:
        for cpu in cpus:
            writes.append((cpu, name, found))
            if ceiling is not None:
                writes.append((cpu, MIN, str(ceiling[1])))
    if tstate:
        writes += [(cpu, MSR, "0x0") for cpu in cpus]
    if found:
        writes += [(cpu, name, low) for cpu in cpus]
    if tstate:
        writes += [(cpu, MSR, "0x12") for cpu in cpus]
        writes += [(cpu, MSR, "0x0") for cpu in cpus]
    if found:
        writes += [(cpu, name, found) for cpu in cpus]
    return writes


SKYLAKE = (3000000, 1000000, 1000000)
NO_CPUFREQ_RIGHT = ["P-states off: ", "scaling_max_freq: no permission", "udev"]
NO_MSR_RIGHT = ["T-states off: ", "/msr: no permission"]
NOTHING = NO_CPUFREQ_RIGHT + NO_MSR_RIGHT
PACKAGES = "package-0 core-0 dram-0 package-1 core-1 dram-1 platform"

CASES = [
    # the paper's node and its modern relatives
    Case("icpp2010", "5", "root", "cpufreq", "msr", "powercap", walk([5], (2400000, 1600000, 1600000)), domains=PACKAGES),
    Case("skylake", "1-2", "root", "cpufreq", "msr", "powercap", walk([1, 2], SKYLAKE), domains=PACKAGES),
    Case("skylake", "1", "nobody", "none", "none", "model", [], NOTHING),
    Case("four_packages", "6", "root", "cpufreq", "msr", "powercap", walk([6], SKYLAKE)),
    # how distributions run Intel: HWP by intel_pstate, its passive mode, the userspace governor
    Case("intel_pstate", "1", "root", "cpufreq", "msr", "powercap", walk([1], SKYLAKE)),
    Case("intel_passive", "1", "root", "cpufreq", "msr", "powercap", walk([1], (3800000, 800000, 800000))),
    Case("setspeed", "1", "root", "cpufreq-setspeed", "msr", "powercap",
         walk([1], control=(SPEED, "2400000", "1200000"))),
    # registers instead of cpufreq
    Case("hwp_msr", "1", "root", "hwp-msr", "msr", "powercap", walk([1], control=("msr:0x774", "0x80002308", "0x80000808"))),
    Case("no_cpufreq", "1", "root", "perf_ctl-msr", "msr", "powercap", walk([1], control=("msr:0x199", "0x1e00", "0xa00"))),
    # AMD: no clock modulation
    Case("amd_epyc", "1", "root", "cpufreq", "none", "powercap", walk([1], (3700000, 1500000, 1500000), tstate=False),
         ["T-states off: ", "MSR 0x19a: reading: not supported"]),
    Case("amd_acpi", "1", "root", "cpufreq", "none", "powercap", walk([1], (2200000, 1200000, 1200000), tstate=False),
         ["T-states off: "]),
    Case("amd_passive", "1", "root", "cpufreq", "none", "powercap", walk([1], (3700000, 400000, 400000), tstate=False),
         ["T-states off: "]),
    # rights
    Case("msr_safe", "1", "nobody", "none", "msr_safe", "msr_safe", walk([1]), NO_CPUFREQ_RIGHT),
    Case("msr_safe", "1", "root", "cpufreq", "msr_safe", "powercap", walk([1], SKYLAKE)),
    Case("msr_safe_readonly", "1", "nobody", "none", "none", "msr_safe", [],
         NO_CPUFREQ_RIGHT + ["msr_safe: CPU 1, MSR 0x19a: writing back: no permission "
                             "(msr-safe: allow-list line 0x0000019A 0x000000000000001F)"]),
    Case("read_only", "1", "nobody", "none", "none", "model", [], NOTHING),
    Case("daemon_only", "1", "nobody", "none", "none", "model", [], NOTHING),
    # meters
    Case("no_rapl", "1", "root", "cpufreq", "msr", "model", walk([1], SKYLAKE)),
    # SMT: where the highest duty wins, half a core is not enough; where the lowest wins, it is
    Case("smt_highest", "1,5", "root", "cpufreq", "msr", "model", walk([1, 5], (2933000, 1600000, 1600000))),
    Case("smt_highest", "1", "root", "cpufreq", "none", "model", walk([1], (2933000, 1600000, 1600000), tstate=False),
         ["T-states off: a core of this processor runs at the highest duty"]),
    Case("smt_lowest", "1", "root", "cpufreq", "msr", "powercap", walk([1], (3500000, 800000, 800000))),
    Case("laptop1", "1", "root", "cpufreq", "msr", "powercap", walk([1], (3400000, 400000, 400000))),
    # sizes and scopes
    Case("one_core", "0", "root", "cpufreq", "msr", "powercap", walk([0], (1600000, 800000, 800000))),
    Case("shared_clock", "1", "root", "none", "msr", "model", walk([1]),
         ["P-states off: ", "one frequency for CPU 1 and CPU"]),
    # binding
    Case("skylake", "0-7", "root", "none", "none", "powercap", [],
         ["P-states, T-states off: this process is not bound to CPUs of its own"]),
]


def values(lines: list[str], key: str) -> list[str]:
    return [line.partition(": ")[2] for line in lines if line.startswith(key + ": ")]


class Machine:
    """A place in which machines run, reachable by every user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.helpers = folder / "bin"
        self.state = folder / "state"
        self.helpers.mkdir()
        for program in ["poweraware-guard", "poweraware-restore", "tests/walk_levers"]:
            shutil.copy(BUILD / "opal" / program, self.helpers)

    def run(self, machine: str, script: str) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(self.state, ignore_errors=True)
        return subprocess.run([str(EMULATE), "--machine", machine, "--state", str(self.state), "--", "bash", "-c", script],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "PWR_BUILDDIR": str(BUILD)})

    def walk(self, cpus: str, user: str = "root", more: str = "") -> str:
        """The command line that walks."""
        become = AS_USER if user == "nobody" else ""
        return f"{become}{self.helpers}/walk_levers {cpus} {self.helpers} {self.folder}/run.{user} {more}"

    def trace(self) -> list[tuple[int, str, str, int]]:
        with (self.state / "trace.csv").open(newline="") as file:
            return [(int(row["cpu"]), row["control"], row["value"], int(row["pid"])) for row in csv.DictReader(file)]

    def writes(self) -> list[Write]:
        return [(cpu, control, value) for cpu, control, value, pid in self.trace() if pid != 0]

    def moved(self) -> list[Write]:
        """Controls whose last value is not their first."""
        first: dict[tuple[int, str], str] = {}
        last: dict[tuple[int, str], str] = {}
        for cpu, control, value, _ in self.trace():
            first.setdefault((cpu, control), value)
            last[cpu, control] = value
        return [(cpu, control, value) for (cpu, control), value in last.items() if value != first[cpu, control]]


@pytest.fixture
def machine() -> Iterator[Machine]:
    if os.getuid() != 0:
        pytest.skip("needs root, to be two kinds of user")
    need_emulator()
    folder = Path(tempfile.mkdtemp(prefix="pwr-machines-"))
    folder.chmod(0o1777)
    yield Machine(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_machine(machine: Machine, case: Case) -> None:
    done = machine.run(case.machine, machine.walk(case.cpus, case.user))
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert values(lines, "pstate") == [case.pstates], done.stdout
    assert values(lines, "tstate") == [case.tstates], done.stdout
    assert values(lines, "meter") == [case.meter], done.stdout
    (why,) = values(lines, "why")
    for part in case.why:
        assert part in why, why
    assert case.why or why == ""
    if case.domains:
        assert " ".join(values(lines, "domain")) == case.domains
    for counter in ("errors", "adopted", "yielded", "withdrawn"):
        assert values(lines, counter) == ["0"], done.stdout
    assert machine.writes() == case.writes
    assert machine.moved() == []


UNCORE_MAX, UNCORE_MIN = "uncore_max_khz", "uncore_min_khz"


def test_uncore_of_a_whole_package(machine: Machine) -> None:
    done = machine.run("skylake", machine.walk("4-7", more="uncore"))
    assert values(done.stdout.splitlines(), "uncore") == ["intel_uncore_frequency"], done.stdout + done.stderr
    assert [write for write in machine.writes() if "uncore" in write[1]] == [
        (4, UNCORE_MAX, "2400000"), (4, UNCORE_MIN, "1200000"), (4, UNCORE_MAX, "1200000"), (4, UNCORE_MAX, "2400000")]
    assert machine.moved() == []


def test_uncore_stays_where_a_cpu_is_nobodys(machine: Machine) -> None:
    done = machine.run("skylake", machine.walk("4-6", more="uncore"))
    lines = done.stdout.splitlines()
    assert values(lines, "uncore") == ["none"] and values(lines, "pstate") == ["cpufreq"], done.stdout + done.stderr
    assert "uncore frequencies off: CPU 7 has the same control as ours" in values(lines, "why")[0]
    assert [write for write in machine.writes() if "uncore" in write[1]] == []


# Two processes of one package, which go on when they are told; prints the ceiling in between.
PAIR = """
import pathlib, subprocess, sys, time
ceiling = pathlib.Path("/sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00/max_freq_khz")
walks = [subprocess.Popen(line, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for line in (%r, %r)]
def until(walk, what):
    while (line := walk.stdout.readline()) != f"now: {what}\\n":
        assert line, what
def go(walk, what):
    print("go", file=walk.stdin, flush=True)
    until(walk, what)
for walk in walks:
    until(walk, "claimed")
for walk in walks:
    go(walk, "held")
    print("ceiling:", ceiling.read_text(), end="", flush=True)
%s
print("ceiling:", ceiling.read_text(), end="", flush=True)
"""
LOWERED = ["2400000", "1200000"]  # with one of two, with both


def run_pair(machine: Machine, then: str) -> list[str]:
    """The ceilings that two processes of one package make, the second of which does something."""
    walks = [f"exec {machine.walk(cpus, more='uncore meet pause')}" for cpus in ("4-5", "6-7")]
    done = machine.run("skylake", f"exec python3 -c {shlex.quote(PAIR % (*walks, then))}")
    assert done.returncode == 0, done.stdout + done.stderr
    return values(done.stdout.splitlines(), "ceiling")


def test_uncore_of_a_package_that_two_share(machine: Machine) -> None:
    then = 'go(walks[0], "full")\nfor walk in walks:\n    walk.communicate("go\\ngo\\n")\n    assert walk.returncode == 0'
    assert run_pair(machine, then) == [*LOWERED, "2400000"]
    # both prove that they may write; the first one goes down once more while the second one still holds
    assert [write[2] for write in machine.writes() if write[1] == UNCORE_MAX] == [
        "2400000", "2400000", "1200000", "2400000", "1200000", "2400000"]
    assert machine.moved() == []


@pytest.mark.parametrize("killed", ["walks[:1]", "walks[1:]", "walks"])
def test_uncore_of_a_package_after_a_kill(machine: Machine, killed: str) -> None:
    """Whoever is killed, it is raised: by a guardian, or by the next who ends its wait."""
    then = (f"for walk in {killed}:\n    walk.kill()\n    walk.wait()\n"
            "for walk in walks:\n    if walk.poll() is None: walk.communicate('go\\ngo\\n')\n"
            "end = time.monotonic() + 60\nwhile ceiling.read_text() != '2400000\\n': assert time.monotonic() < end")
    assert run_pair(machine, then) == [*LOWERED, "2400000"]


def test_uncore_after_a_kill(machine: Machine) -> None:
    walk = machine.walk("4-7", more="uncore pause")
    script = f"coproc {{ exec {walk}; }}; while read -r line <&${{COPROC[0]}}; do [[ $line == 'now: held' ]] && break; done; "
    done = machine.run("skylake", script + "kill -9 $COPROC_PID; wait $COPROC_PID; sleep 1")
    assert (4, UNCORE_MAX, "1200000") in machine.writes(), done.stdout + done.stderr
    assert machine.moved() == []


def test_the_matrix_has_all_machines() -> None:
    known = {path.stem for path in MACHINES.glob("*.machine")}
    assert {case.machine for case in CASES} == known
    assert len(known) >= 12


# ---- arbitration: what others write before and during a run ----

HELD = ("coproc walk { %s; }; out=${walk[0]}; in=${walk[1]}; "
        "until_line() { while read -r line <&$out; do echo \"$line\"; [[ $line == \"$1\"* ]] && return; done; }; "
        "until_line 'now: held'; %s; echo go >&$in; until_line 'now: full'; %s; echo go >&$in; cat <&$out; wait")
CEILING = "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq"


def held_script(machine: Machine, while_held: str, while_full: str, cpus: str = "1-2") -> str:
    return HELD % (machine.walk(cpus, more="pause"), while_held, while_full)


def test_a_ceiling_lowered_before_the_run_is_full_speed(machine: Machine) -> None:
    done = machine.run("skylake", f"echo 2000000 > {CEILING % 1}; " + machine.walk("1"))
    assert values(done.stdout.splitlines(), "pstate") == ["cpufreq"], done.stdout + done.stderr
    assert [write for write in machine.writes() if write[1] == MAX] == [
        (1, MAX, "2000000"), (1, MAX, "2000000"), (1, MAX, "1000000"), (1, MAX, "2000000")]


def test_a_ceiling_lowered_during_the_run_is_kept(machine: Machine) -> None:
    done = machine.run("skylake", held_script(machine, ":", f"echo 2000000 > {CEILING % 1}"))
    lines = done.stdout.splitlines()
    assert values(lines, "adopted") == ["1"] and values(lines, "yielded") == ["0"], done.stdout + done.stderr
    assert any("somebody else set scaling_max_freq" in line for line in values(lines, "log")), done.stdout
    assert machine.moved() == [(1, MAX, "2000000")]
    assert (1, MAX, "3000000") not in machine.writes()[machine.writes().index((1, MAX, "2000000")):]


@pytest.mark.parametrize("control,write", [
    (MAX, f"echo 2000000 > {CEILING % 1}"),
    (MSR, f"{sys.executable} -c 'import os; f = os.open(\"/dev/cpu/1/msr\", os.O_RDWR); "
          "os.pwrite(f, (0x18).to_bytes(8, \"little\"), 0x19a)'"),
], ids=["ceiling", "clock modulation"])
def test_a_value_written_over_ours_is_yielded_to(machine: Machine, control: str, write: str) -> None:
    done = machine.run("skylake", held_script(machine, f"sleep 0.01; {write}", ":"))
    lines = done.stdout.splitlines()
    assert values(lines, "yielded") == ["1"] and values(lines, "errors") == ["0"], done.stdout + done.stderr
    assert "yielded for the rest of the job" in values(lines, "why at the end")[0]
    theirs = "2000000" if control == MAX else "0x18"
    assert machine.moved() == [(1, control, theirs)], "CPU 2 is not back, or CPU 1 is not as they set it"


# ---- CPUs that leave ----

def test_a_cpu_that_goes_offline_is_given_up(machine: Machine) -> None:
    offline = "echo 0 > /sys/devices/system/cpu/cpu2/online"
    done = machine.run("skylake", held_script(machine, offline, ":"))
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and values(lines, "errors") != ["0"], done.stdout + done.stderr
    assert "gone offline" in values(lines, "why at the end")[0], done.stdout
    assert [write for write in machine.moved() if write[0] == 1] == [], "the CPU that stayed is not back"


# ---- faults: the job goes on, says what happened, and what can be put back is ----

@dataclass
class Fault:
    """A rule of the emulator, and what a walk says of it when it is there from the start."""

    rule: str
    says: str

    def __str__(self) -> str:
        return self.rule.replace(" ", "-").replace(":", "-")


FAULTS = [
    Fault("write msr:0x19a cpu=1 error=EIO", "T-states"),
    Fault("write msr:0x19a cpu=1 error=EACCES", "T-states"),
    Fault("write msr:0x19a cpu=1 error=ENOSPC", "T-states"),
    Fault("write msr:0x19a cpu=1 error=ENXIO", "T-states"),
    Fault("read msr:0x19a cpu=1 error=EIO", "T-states"),
    Fault("read msr:0x19a cpu=1 short", "T-states"),
    Fault("open msr cpu=1 error=EBUSY", "T-states"),
    Fault("open msr cpu=1 error=ENOENT", "T-states"),
    Fault("write scaling_max_freq cpu=1 error=EIO", "P-states"),
    Fault("write scaling_max_freq cpu=1 error=EACCES", "P-states"),
    Fault("write scaling_max_freq cpu=1 error=ENOSPC", "P-states"),
    Fault("write scaling_max_freq cpu=1 error=ENODEV", "P-states"),
    Fault("read scaling_max_freq cpu=1 error=EIO", "P-states"),
    Fault("open scaling_max_freq cpu=1 error=ENOENT", "P-states"),
    Fault("open scaling_min_freq cpu=1 error=EACCES", "P-states"),
    Fault("read related_cpus cpu=1 error=EIO", "P-states"),
]
SET_FAULT = "echo '%s' > $PWR_EMU_STATE/mnt/ctl/fault"
CLEAR = SET_FAULT % "clear"


def settle(machine: Machine) -> str:
    """What a job's end is followed by: the fault is mended, an epilog runs."""
    return f"; {CLEAR}; sleep 0.3; echo restore: $({machine.helpers}/poweraware-restore --run-dir {machine.folder}/run.root 2>&1)"


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_fault_from_the_start(machine: Machine, fault: Fault) -> None:
    """The lever stays off with the reason, or another back end is found; the other lever works."""
    done = machine.run("skylake", SET_FAULT % fault.rule + "; " + machine.walk("1-2") + settle(machine))
    lines = done.stdout.splitlines()
    assert values(lines, "errors") == ["0"], done.stdout + done.stderr
    why = values(lines, "why")[0]
    backend = values(lines, {"T-states": "tstate", "P-states": "pstate"}[fault.says])[0]
    assert f"{fault.says} off: " in why or backend == "perf_ctl-msr", done.stdout
    other = {"T-states": "pstate", "P-states": "tstate"}[fault.says]
    assert values(lines, other) != ["none"], done.stdout
    assert machine.moved() == []


@pytest.mark.parametrize("stage", ["held", "full"])
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_fault_during_the_run(machine: Machine, fault: Fault, stage: str) -> None:
    """Descriptors are open: faults of open and of files that were read do not matter any more."""
    rule = SET_FAULT % fault.rule
    script = held_script(machine, rule if stage == "held" else ":", rule if stage == "full" else ":")
    done = machine.run("skylake", script + settle(machine))
    lines = done.stdout.splitlines()
    assert values(lines, "errors") != [], "the walk did not reach its end: " + done.stdout + done.stderr
    touches = fault.rule.split()[0] != "open" and ("0x19a" in fault.rule or "scaling_max" in fault.rule)
    unseen = fault.rule.startswith("read msr") and values(lines, "errors") == ["0"]  # not looked at this time
    if touches and not unseen:
        assert values(lines, "errors") == ["1"], done.stdout
        assert f"{fault.says} off: given up: a write failed" in values(lines, "why at the end")[0], done.stdout
    elif not touches:
        assert values(lines, "errors") == ["0"] and values(lines, "why at the end") == [""], done.stdout
    assert machine.moved() == [], done.stdout


@pytest.mark.parametrize("control", [MAX, MIN, MSR], ids=["ceiling", "floor", "clock modulation"])
@pytest.mark.parametrize("call", ["read", "write"])
def test_any_one_call_fails_once(machine: Machine, call: str, control: str) -> None:
    """Whichever it is: the first, the look behind a write, the restore."""
    walk = machine.walk("1-2")
    once = f"{call} {control} cpu=1 error=EIO after=$n count=1"
    done = machine.run("skylake", f"for n in {{0..6}}; do {CLEAR}; {SET_FAULT.replace(chr(39), chr(34)) % once}; "
                                  f"{walk}; {CLEAR}; sleep 0.2; done" + settle(machine))
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(values(done.stdout.splitlines(), "errors")) == 7, done.stdout + done.stderr
    assert machine.moved() == [], done.stdout


@pytest.mark.parametrize("rule", ["read energy_uj error=EIO", "read energy_uj short", "open energy_uj error=EACCES",
                                  "open energy_uj error=ENOENT"])
def test_meter_that_fails_is_passed_over(machine: Machine, rule: str) -> None:
    """The next back end reads the same energy."""
    done = machine.run("skylake", SET_FAULT % rule + "; " + machine.walk("1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert values(done.stdout.splitlines(), "meter") in (["msr"], ["powercap"]), done.stdout
    assert values(done.stdout.splitlines(), "pstate") == ["cpufreq"]
