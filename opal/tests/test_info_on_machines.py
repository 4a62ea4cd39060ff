# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""poweraware-info and poweraware-inspect on emulated machines: as root and as an ordinary user, what they say and that they
leave no trace."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Optional

import pytest

from bench.testbed.emulator.tests.conftest import need_emulator

SRC = Path(os.environ["PWR_SRCDIR"])
BUILD = Path(os.environ["PWR_BUILDDIR"])
EMULATE = SRC / "bench" / "testbed" / "emulator" / "emulate"
SCHEMA = SRC / "poweraware" / "info" / "poweraware-info.schema.json"
PROGRAMS = ("poweraware-inspect", "poweraware-guard", "poweraware-start", "poweraware-likwid")
NOBODY = 65534
AS_NOBODY = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "

# What is used for P-states, T-states and energy, by root and by an ordinary user bound to CPU 0.
MACHINES: dict[str, tuple[tuple[Optional[str], ...], tuple[Optional[str], ...]]] = {
    "amd_acpi": (("cpufreq", None, "powercap"), (None, None, "model")),
    "amd_epyc": (("cpufreq", None, "powercap"), (None, None, "model")),
    "amd_passive": (("cpufreq", None, "powercap"), (None, None, "model")),
    "daemon_only": (("cpufreq", "msr", "msr"), (None, None, "model")),
    "four_packages": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "hwp_msr": (("hwp-msr", "msr", "powercap"), (None, None, "model")),
    "icpp2010": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "intel_passive": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "intel_pstate": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "laptop1": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "msr_safe": (("cpufreq", "msr_safe", "powercap"), (None, "msr_safe", "msr_safe")),
    "msr_safe_readonly": (("cpufreq", "msr", "powercap"), (None, None, "msr_safe")),
    "no_cpufreq": (("perf_ctl-msr", "msr", "powercap"), (None, None, "model")),
    "no_rapl": (("cpufreq", "msr", "model"), (None, None, "model")),
    "one_core": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "read_only": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "setspeed": (("cpufreq-setspeed", "msr", "powercap"), ("cpufreq-setspeed", None, "model")),
    "skylake": (("cpufreq", "msr", "powercap"), (None, None, "model")),
    "smt_lowest": (("cpufreq", "msr", "powercap"), (None, None, "model")),
}

# Runs the tool and sends it a signal while it holds a lever; prints what wait() said.
KILLER = """
import os, signal, subprocess, sys, time
trace, number, *command = sys.argv[1:]
def holds():
    first, last = {}, {}
    whole, _, _ = open(trace).read().rpartition("\\n")  # the last line may be half written
    for line in whole.splitlines()[1:]:
        _, cpu, control, value, _ = line.split(",")
        first.setdefault((cpu, control), value)
        last[cpu, control] = value
    return first != last
tool = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
while tool.poll() is None and not holds():
    time.sleep(0.002)
if int(number) == signal.SIGKILL:
    os.killpg(tool.pid, signal.SIGKILL)  # the front end, and what moves levers for it
else:
    tool.send_signal(int(number))
print(tool.wait())
for _ in range(6000):
    if not holds():
        break
    time.sleep(0.01)
"""


@dataclass
class Run:
    """What a script on an emulated machine left behind."""

    returncode: int
    stdout: str
    stderr: str
    folder: Path

    def trace(self) -> list[dict[str, str]]:
        with (self.folder / "state" / "trace.csv").open(newline="") as stream:
            return list(csv.DictReader(stream))

    def values(self) -> dict[tuple[int, str], list[str]]:
        """All values that each lever took, the one at start first."""
        values: dict[tuple[int, str], list[str]] = {}
        for row in self.trace():
            values.setdefault((int(row["cpu"]), row["control"]), []).append(row["value"])
        return values

    def moved(self) -> set[tuple[int, str]]:
        return {lever for lever, values in self.values().items() if set(values) != {values[0]}}

    def not_restored(self) -> set[tuple[int, str]]:
        return {lever for lever, values in self.values().items() if values[-1] != values[0]}

    def written_cpus(self) -> set[int]:
        return {int(row["cpu"]) for row in self.trace() if row["pid"] != "0"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """With the programs in it, and open to every user, which pytest's own folders are not."""
    made = Path(mkdtemp(prefix="pwr-info-"))
    made.chmod(0o755)
    for program in PROGRAMS:
        if (BUILD / "opal" / program).exists():  # one of them only where likwid is
            shutil.copy(BUILD / "opal" / program, made / program)
    shutil.copytree(SRC / "poweraware", made / "poweraware", ignore=shutil.ignore_patterns("tests"))
    for user in ("root", "user"):
        (made / f"run-{user}").mkdir(mode=0o700)
    if os.getuid() == 0:
        os.chown(made / "run-user", NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


def need_other_users() -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv (util-linux) is not installed")


def run_on(machine: str, folder: Path, script: str) -> Run:
    need_emulator()
    done = subprocess.run(
        [str(EMULATE), "--machine", machine, "--state", str(folder / "state"), "--",
         "sh", "-c", script],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PWR_BUILDDIR": str(BUILD)})
    return Run(done.returncode, done.stdout, done.stderr, folder)


def tool(folder: Path, options: str, user: str = "root") -> str:
    """With claims of its own, so that other tests on this machine are nobody's neighbours."""
    prefix = "" if user == "root" else AS_NOBODY
    return (f"{prefix}{sys.executable} {folder}/poweraware/poweraware-info --helper-dir {folder} "
            f"--run-dir {folder}/run-{user} {options}")


def parse(text: str) -> dict[str, Any]:
    jsonschema = pytest.importorskip("jsonschema")
    document = json.loads(text)
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    return dict(document)


def part(document: dict[str, Any], name: str) -> dict[str, Any]:
    """A lever, or the energy meter."""
    parts = {lever["name"]: lever for lever in document["levers"]}
    return dict({**parts, "energy": document["energy"]}[name])


def used(document: dict[str, Any]) -> tuple[Optional[str], ...]:
    return tuple(part(document, name)["used"] for name in ("pstate", "tstate", "energy"))


def backend(document: dict[str, Any], lever: str, name: str) -> dict[str, Any]:
    found = {each["name"]: each for each in part(document, lever)["backends"]}
    return dict(found[name])


def commands_of(document: dict[str, Any], lever: str, name: str) -> list[str]:
    return [command for remedy in backend(document, lever, name)["remedies"]
            for command in remedy["commands"]]


@pytest.mark.parametrize("machine", sorted(MACHINES))
def test_what_is_used(folder: Path, machine: str) -> None:
    need_other_users()
    run = run_on(machine, folder, f"{tool(folder, '-j -c 0')} >{folder}/root.json && "
                                  f"{tool(folder, '-j -c 0', 'user')}")
    assert run.returncode == 0, run.stderr
    assert [line for line in run.stderr.splitlines() if "still at work" not in line] == []
    documents = (parse((folder / "root.json").read_text()), parse(run.stdout))
    assert (used(documents[0]), used(documents[1])) == MACHINES[machine]
    assert run.not_restored() == set()
    assert run.written_cpus() <= {0}
    for user in ("root", "user"):  # no journal is left
        assert [path.name for path in (folder / f"run-{user}").iterdir()] == ["cpus"]
    for document in documents:
        assert document["binding"]["levers_allowed"]
        assert document["would_save_by"] is None
        for found in [*document["levers"], document["energy"]]:
            assert (found["cost"] is None) == (found["best"] is None)
            assert found["missing"] == (found["used"] in (None, "model"))
            for each in found["backends"]:
                assert (each["reason"] is not None) == (each["state"] == "refused")
                assert each["state"] != "looks usable"


def test_ranges_and_costs(folder: Path) -> None:
    run = run_on("skylake", folder, tool(folder, "-j -c 2"))
    document = parse(run.stdout)
    cpufreq = backend(document, "pstate", "cpufreq")
    assert (cpufreq["lowest"], cpufreq["full"]) == (1000000, 3000000)
    duty = backend(document, "tstate", "msr")
    assert (duty["lowest"], duty["full"]) == (2, 16)
    assert run.moved() == {(2, "scaling_max_freq"), (2, "msr:0x19a")}
    for lever, control in (("pstate", "scaling_max_freq"), ("tstate", "msr:0x19a")):
        cost = part(document, lever)["cost"]
        assert cost["cpus"] == 1
        for direction in ("lower_us", "restore_us"):
            assert 0 < cost[direction]["low"] <= cost[direction]["median"] <= cost[direction]["high"]
        first, *later = run.values()[2, control]
        lowest = [value for value in later if value in ("1000000", "0x12")]
        assert len(lowest) == cost["rounds"] + 1
        assert later[-1] == first
    domains = {each["name"]: each for each in document["energy"]["domains"]}
    assert domains["package-1"]["source"] == "powercap"
    assert domains["package-1"]["provenance"] == "emulated"


def test_uncore(folder: Path) -> None:
    run = run_on("skylake", folder, tool(folder, "-j -c 4-7"))
    uncore = part(parse(run.stdout), "uncore")
    assert (uncore["scope"], uncore["used"]) == ("package", "intel_uncore_frequency")
    found = backend(parse(run.stdout), "uncore", "intel_uncore_frequency")
    assert (found["lowest"], found["full"]) == (1200000, 2400000)
    assert backend(parse(run.stdout), "uncore", "msr")["state"] == "works"
    assert uncore["cost"]["cpus"] == 4 and uncore["cost"]["rounds"] > 0
    assert (4, "uncore_max_khz") in run.moved() and run.not_restored() == set()


def test_uncore_of_a_shared_package(folder: Path) -> None:
    document = parse(run_on("skylake", folder, tool(folder, "-j -c 4-6")).stdout)
    found = backend(document, "uncore", "intel_uncore_frequency")
    assert found["state"] == "refused" and "CPU 7 has the same control" in found["reason"]
    assert commands_of(document, "uncore", "intel_uncore_frequency") == [
        "mpirun --map-by core --bind-to core ...", "poweraware-info --cpus ..."]
    assert part(document, "uncore")["missing"] and part(document, "pstate")["used"] == "cpufreq"


def test_cpufreq_by_libcpupower(folder: Path) -> None:
    found = parse(run_on("icpp2010", folder, tool(folder, "-j")).stdout)["machine"]["cpufreq"]
    if "libcpupower" in found.get("why_not", ""):
        pytest.skip("built without libcpupower")
    assert found["driver"] == "acpi-cpufreq"
    assert found["governor"] == "performance"
    assert "userspace" in found["governors"].split()
    assert (found["min_khz"], found["max_khz"]) == (1600000, 2400000)
    assert found["listed_frequencies"] == 7
    assert found["transition_latency_ns"] == 10000


UNCORE = ", uncore frequencies (intel_uncore_frequency)"


@pytest.mark.parametrize("options, uncore", [("-j", UNCORE), ("-j --no-probe --cpus 1", "")])
def test_only_looks(folder: Path, options: str, uncore: str) -> None:
    run = run_on("skylake", folder, tool(folder, options))
    document = parse(run.stdout)
    assert run.written_cpus() == set()
    assert list((folder / "run-root").iterdir()) == []
    assert document["saves_by"] == "waits"
    assert document["would_save_by"] == "P-states (cpufreq), T-states (msr)" + uncore
    assert backend(document, "tstate", "msr")["state"] == "looks usable"
    assert document["binding"]["exclusive"] is None


def test_smt_rules_of_the_facade_are_told(folder: Path) -> None:
    """A core that runs at its threads' highest duty: one thread of it cannot be throttled."""
    document = parse(run_on("smt_highest", folder, tool(folder, "-j -c 0")).stdout)
    assert part(document, "tstate")["used"] is None
    assert document["would_save_by"] == "T-states (msr)"
    assert "T-states off: a core of this processor" in document["binding"]["why_off"]


def test_text_says_what_to_do(folder: Path) -> None:
    need_other_users()
    script = f"{tool(folder, '-c 1 -j', 'user')} >{folder}/json; {tool(folder, '-c 1', 'user')}"
    text = run_on("msr_safe", folder, script).stdout
    lines = text.splitlines()
    assert lines[0] == "this process would save by: waits, T-states (msr_safe)"
    assert "P-states: none" in lines
    assert "T-states: msr_safe (used)" in lines
    flat = re.sub(r"\s+", " ", text)
    assert "/sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq: no permission" in flat
    assert "from 2.3 to 1.8 kW (22 % less)" in flat
    assert "ICPP 2010" in flat and "not this machine's" in flat
    assert "from 1.8 to 1.6 kW" not in flat  # T-states are there
    assert ">/etc/udev/rules.d/70-poweraware-cpufreq.rules" in text
    document = parse((folder / "json").read_text())
    commands = {command for lever in document["levers"] if lever["missing"] for each in lever["backends"]
                for command in commands_of(document, lever["name"], each["name"])}
    assert commands <= {line.strip() for line in lines}  # never broken
    too_long = [line for line in lines if len(line) > 80 and line.strip() not in commands]
    assert all(" " not in line.strip() for line in too_long), too_long  # one word: a path


def test_text_of_a_process_that_is_not_bound(folder: Path) -> None:
    lines = run_on("skylake", folder, tool(folder, "")).stdout.splitlines()
    assert lines[0] == "this process would save by: waits"
    told = re.sub(r"\s+", " ", " ".join(lines[1:6]))
    assert told.startswith("and also by: P-states (cpufreq), T-states (msr)" + UNCORE)
    assert "mpirun --bind-to core" in told


def test_wide_terminals(folder: Path) -> None:
    run = run_on("skylake", folder,
                 f"export COLUMNS; COLUMNS=80 {tool(folder, '-n')} >{folder}/narrow; "
                 f"COLUMNS=200 {tool(folder, '-n')}")
    narrow = (folder / "narrow").read_text()
    assert len(run.stdout.splitlines()) < len(narrow.splitlines())
    words = [re.sub(r"[\d.]+", "N", text).split() for text in (run.stdout, narrow)]
    assert words[0] == words[1]


def test_all_remedies(folder: Path) -> None:
    script = f"{tool(folder, '-c 0-3')} >{folder}/plain; {tool(folder, '-c 0-3 --all')}"
    text = run_on("skylake", folder, script).stdout
    assert "modprobe msr-safe" in text
    assert "modprobe msr-safe" not in (folder / "plain").read_text()


def test_the_allow_list_command_does_what_it_says(folder: Path) -> None:
    need_other_users()
    document = parse(run_on("msr_safe_readonly", folder, tool(folder, "-j -c 0", "user")).stdout)
    refusal = backend(document, "tstate", "msr_safe")
    assert "MSR 0x19a: writing back: no permission" in refusal["reason"]
    (command,) = commands_of(document, "tstate", "msr_safe")
    allowed = folder / "msr_allowlist"
    allowed.write_text("# MSR      Write mask\n0x0000019A 0x0000000000000000\n"
                       "0x00000606 0x0000000000000000\n")
    here = command.replace("/dev/cpu/", f"{folder}/").replace("/run/", f"{folder}/")
    assert here != command
    subprocess.run(["sh", "-c", here], check=True)
    lines = allowed.read_text().splitlines()
    assert sorted(lines) == ["# MSR      Write mask", "0x0000019A 0x000000000000001F",
                             "0x00000606 0x0000000000000000"]


def test_amd_users_are_not_sent_after_registers(folder: Path) -> None:
    document = parse(run_on("amd_epyc", folder, tool(folder, "-j -c 0")).stdout)
    assert document["machine"]["processor"]["vendor"] == "AuthenticAMD"
    for each in part(document, "tstate")["backends"]:
        assert commands_of(document, "tstate", each["name"]) == []
        assert "nothing grants it" in each["remedies"][0]["text"]


def test_says_what_takes_so_long(folder: Path) -> None:
    run = run_on("skylake", folder,
                 'echo "write msr:0x19a delay_us=5500000 count=1" >$PWR_EMU_STATE/mnt/ctl/fault; '
                 + tool(folder, "-c 1"))
    assert run.returncode == 0
    assert "still at work: asking for the levers" in run.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_while_it_holds_a_lever(folder: Path, number: signal.Signals) -> None:
    command = tool(folder, "-c 1")
    run = run_on("skylake", folder,
                 'echo "write msr:0x19a delay_us=20000" >$PWR_EMU_STATE/mnt/ctl/fault; '
                 f"exec {sys.executable} -c '{KILLER}' {folder}/state/trace.csv {int(number)} {command}")
    assert run.stdout.strip() == str(-number), run.stderr
    assert run.moved() != set()
    assert run.not_restored() == set()


HERE = (sys.executable, str(SRC / "poweraware" / "poweraware-info"), "--helper-dir", str(BUILD / "opal"))


def run_here(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*HERE, *arguments], capture_output=True, text=True, check=False)


def test_this_machine() -> None:
    """Whatever it has: it is described, and nothing of it is touched."""
    done = run_here("--json", "--no-probe")
    assert done.returncode == 0, done.stderr
    document = parse(done.stdout)
    assert document["saves_by"] == "waits"
    for lever in document["levers"]:
        assert lever["used"] is None
        assert len(lever["backends"]) >= 2
    text = run_here("--no-probe").stdout
    assert text.startswith("this process would save by: waits\n")


@pytest.mark.parametrize("arguments, status, message", [
    (["--cpus", "99999"], 2, "--cpus 99999: names no CPU"),
    (["--cpus", "x"], 2, "--cpus x: names no CPU"),
    (["--root", "/none"], 2, "--root /none: No such file"),
    (["--bogus"], 2, "unrecognized arguments: --bogus"),
    (["extra"], 2, "unrecognized arguments: extra"),
    (["--cpus", ""], 2, "--cpus: is empty"),
    (["--helper-dir", "/none"], 1, "/none/poweraware-inspect: No such file"),
])
def test_impossible_options(arguments: list[str], status: int, message: str) -> None:
    done = run_here(*arguments)
    assert done.returncode == status
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("form", ["--json", "--all"])
def test_full_disk(form: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*HERE, "--no-probe", form],
                              stdout=full, stderr=subprocess.PIPE, text=True,
                              check=False)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_help() -> None:
    done = run_here("--help")
    assert done.returncode == 0
    for option in ("--cpus", "--no-probe", "--json", "--all"):
        assert option in done.stdout
