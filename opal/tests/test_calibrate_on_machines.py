# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""poweraware-calibrate on emulated machines: every row and watt measured, levers only on its own
core, and everything put back however it ends."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from bench.testbed.emulator.tests.conftest import need_emulator

SRC = Path(os.environ["PWR_SRCDIR"])
BUILD = Path(os.environ["PWR_BUILDDIR"])
EMULATE = SRC / "bench" / "testbed" / "emulator" / "emulate"
SCHEMA = SRC / "opal" / "policy" / "calibration.schema.json"
PROGRAMS = ("poweraware-calibrate", "poweraware-guard")
RUNGS = {"spin", "pause", "yield", "futex", "futex_same_cpu", "futex_crowded", "epoll"}
RESTS = {"waitpkg", "mwaitx", "wfxt", "evtstrm"}  # what /proc/cpuinfo calls umwait, mwaitx, WFET, WFE
RUNGS |= {"monitor"} if RESTS & set(Path("/proc/cpuinfo").read_text().split()) else set()
NOBODY = 65534

# Runs the tool and ends it by a signal once it holds a lever; prints what wait() said.
KILLER = """
import subprocess, sys, time
trace, number, *command = sys.argv[1:]
def holds():
    last = {}
    whole, _, _ = open(trace).read().rpartition("\\n")  # the last line may be half written
    for line in whole.splitlines()[1:]:
        _, cpu, control, value, _ = line.split(",")
        first, _ = last.get((cpu, control), (value, value))
        last[cpu, control] = (first, value)
    return any(first != value for first, value in last.values())
tool = subprocess.Popen(command)
while tool.poll() is None and not holds():
    time.sleep(0.002)
tool.send_signal(int(number))
print(tool.wait())
for _ in range(6000):
    if not holds():
        break
    time.sleep(0.01)
"""


@dataclass
class Run:
    """What a command on an emulated machine left behind."""

    returncode: int
    stdout: str
    stderr: str
    folder: Path

    def levers(self) -> dict[tuple[int, str], list[str]]:
        """All values that each lever took, the one at start first."""
        values: dict[tuple[int, str], list[str]] = {}
        with (self.folder / "state" / "trace.csv").open(newline="") as stream:
            for row in csv.DictReader(stream):
                values.setdefault((int(row["cpu"]), row["control"]), []).append(row["value"])
        return values

    def moved(self) -> set[tuple[int, str]]:
        return {lever for lever, values in self.levers().items() if set(values) != {values[0]}}

    def not_restored(self) -> set[tuple[int, str]]:
        return {lever for lever, values in self.levers().items() if values[-1] != values[0]}


@pytest.fixture
def folder() -> Iterator[Path]:
    """With the programs in it, and open to every user, which pytest's own folders are not."""
    made = Path(mkdtemp(prefix="pwr-calibrate-"))
    made.chmod(0o755)
    for program in PROGRAMS:
        shutil.copy(BUILD / "opal" / program, made / program)
    yield made
    shutil.rmtree(made)


def run_on(machine: str, folder: Path, *command: str) -> Run:
    need_emulator()
    done = subprocess.run(
        [str(EMULATE), "--machine", machine, "--state", str(folder / "state"), "--", *command],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PWR_BUILDDIR": str(BUILD), "HOME": str(folder)})
    return Run(done.returncode, done.stdout, done.stderr, folder)


def tool(folder: Path, *options: str) -> list[str]:
    return [str(folder / "poweraware-calibrate"), "--quick", "--helper-dir", str(folder), *options]


def rows_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in document["rows"]}


def check_schema(document: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))


def watts_fit_the_machine(watts: dict[str, Any]) -> bool:
    """The machine's own power model: 20 W uncore, four cores of 14 W at 3.0 GHz, 1.6 W at 1.0 GHz, 1.75 W at an eighth
    of the duty, 0.5 W when idle.  Who sleeps wakes up now and then, and is active while it waits for a CPU: how long
    that is depends on who else is there."""
    def active(core_w: float) -> float:
        return 20 + core_w + 3 * 0.5
    return (abs(watts["pstate"] - active(1.6)) < 1 and abs(watts["tstate"] - active(1.75)) < 1
            and max(watts["futex"], watts["pstate"], watts["tstate"]) < watts["pause"] - 5
            and active(0.5) - 1 < watts["futex"] and abs(watts["spin"] - watts["pause"]) < 4)


def test_measures_everything(folder: Path) -> None:
    run = run_on("skylake", folder, *tool(folder, "--json"))
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    rows = rows_of(document)
    watts = {name: row["power_w"] for name, row in rows.items()}
    check_schema(document)
    assert document["meter"] == "powercap"
    assert document["cpu"]["model"] == 85
    assert set(rows) == RUNGS | {"pstate", "tstate", "uncore"}
    for row in rows.values():
        assert row["source"] == "measured"
        assert row["samples"] >= 5
        assert row["exit_ns"] > 0
    # Emulated hardware never slows anything down: that must not be mistaken for a fast lever.
    for name in ("pstate", "tstate", "uncore"):
        assert rows[name]["entry_settle_ns"] is None
        assert rows[name]["exit_settle_ns"] is None
    assert watts_fit_the_machine(watts), json.dumps(watts)
    assert watts["epoll"] is None


def test_moves_only_its_own_core_and_package(folder: Path) -> None:
    run = run_on("skylake", folder, *tool(folder, "--json", "--cpu", "2"))
    assert run.returncode == 0, run.stderr
    moves = {"pstate": (2, "scaling_max_freq"), "tstate": (2, "msr:0x19a"), "uncore": (0, "uncore_max_khz")}
    assert run.moved() == set(moves.values())
    rows = rows_of(json.loads(run.stdout))
    for name, control in moves.items():
        first, *later = run.levers()[control]
        lowered = [value for value in later if value != first]
        assert len(lowered) == rows[name]["samples"] + 1  # once more to measure power
        assert len(set(lowered)) == 1
    assert run.not_restored() == set()
    assert not (folder / ".config").exists()


def test_levers_of_packages_need_a_whole_one(folder: Path) -> None:
    run = run_on("skylake", folder, "taskset", "-c", "1-3", *tool(folder, "--output", str(folder / "table.json")))
    assert run.returncode == 0, run.stderr
    assert set(rows_of(json.loads((folder / "table.json").read_text()))) == RUNGS | {"pstate", "tstate"}
    assert "uncore          not measured" in run.stdout and "uncore frequencies off: " in run.stdout, run.stdout
    assert {cpu for cpu, _ in run.moved()} == {3} and run.not_restored() == set()


def test_takes_smt_siblings_along(folder: Path) -> None:
    run = run_on("laptop1", folder, *tool(folder, "--json", "--cpu", "0"))
    assert run.returncode == 0, run.stderr
    assert {cpu for cpu, control in run.moved() if control == "msr:0x19a"} == {0, 2}
    assert run.not_restored() == set()


def test_text_and_the_users_own_table(folder: Path) -> None:
    run = run_on("skylake", folder, "env", "-u", "XDG_CONFIG_HOME", *tool(folder))
    assert run.returncode == 0, run.stderr
    table = folder / ".config" / "poweraware" / "calibration.json"
    check_schema(json.loads(table.read_text()))
    assert stat.S_IMODE(table.stat().st_mode) == 0o644
    assert f"written to {table}" in run.stdout
    assert "not seen" in run.stdout
    assert run.stderr == ""


def test_without_any_right(folder: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv (util-linux) is not installed")
    run = run_on("icpp2010", folder, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                 *tool(folder))
    assert run.returncode == 1
    assert "Permission denied" in run.stderr  # root's home, said before anything is measured
    run = run_on("icpp2010", folder, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                 "sh", "-c", " ".join(tool(folder, "--json")) + "; " + " ".join(tool(folder, "--output", "/dev/shm/pwr-$$"))
                 + "; rm /dev/shm/pwr-$$")
    assert run.returncode == 0, run.stderr
    text = run.stdout[run.stdout.index("\n}") + 3:]
    rows = rows_of(json.loads(run.stdout[:len(run.stdout) - len(text)]))
    assert set(rows) == RUNGS
    assert all(row["power_w"] is None for row in rows.values())
    assert "pstate          not measured" in text
    assert "P-states off: " in text and "scaling_max_freq" in text
    assert "T-states off: " in text and "/dev/cpu/7/msr" in text
    assert "no power: /sys/class/powercap" in text  # who refused what, not that there is a model
    assert run.stderr == ""
    assert run.moved() == set()


def test_second_best_meter(folder: Path) -> None:
    """Users of this machine may read the energy registers, not powercap: that is nothing to explain."""
    if os.getuid() != 0:
        pytest.skip("needs root, to become another user")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv (util-linux) is not installed")
    output = folder / "out"
    output.mkdir()
    output.chmod(0o777)
    run = run_on("msr_safe", folder, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                 *tool(folder, "--output", str(output / "table.json")))
    assert run.returncode == 0, run.stderr
    document = json.loads((output / "table.json").read_text())
    assert document["meter"] == "msr_safe"
    assert rows_of(document)["pause"]["power_w"] > rows_of(document)["futex"]["power_w"] > 0
    assert "no power" not in run.stdout
    assert run.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_killed_while_it_holds_a_lever(folder: Path, number: signal.Signals) -> None:
    output = folder / "out"
    output.mkdir()
    run = run_on("skylake", folder, sys.executable, "-c", KILLER, str(folder / "state" / "trace.csv"),
                 str(int(number)), *tool(folder, "--output", str(output / "table.json")))
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == str(-int(number))
    assert run.moved() != set()
    assert run.not_restored() == set()
    assert list(output.iterdir()) == []
