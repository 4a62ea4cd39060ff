# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Energy and activity of whole emulated machines, from their records."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Dict

import pytest

from conftest import TIMEOUT_S, Emulate, Result, need_tool

SPIN = "import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass\n"

# Spins or sleeps between two looks of the emulator, while it is seen; prints the least and the most
# that may be charged between them, and what the emulator said at both.  That is how long it was
# runnable.  While it looks it waits for the emulator, and may be charged for that as well, because
# it is runnable before and behind it (process.h): what it was charged too much before the first
# look, it pays less for afterwards.
SEEN = """
import re, sys, time
state, cpu, way = sys.argv[1:]
def runnable_s():
    run, delay, _ = open("/proc/self/schedstat").read().split()
    return (int(run) + int(delay)) / 1e9
def look(since_ns):
    begin_s = time.monotonic() - runnable_s()
    while True:
        early, text, late = runnable_s(), open(state).read(), runnable_s()
        seen = re.search(rf"^cpu {cpu} .* processes 1$", text, re.MULTILINE)
        if seen and int(re.search(r"^t_ns ([0-9]+)", text, re.MULTILINE)[1]) > since_ns:
            return early, text, late, time.monotonic() - late - begin_s
first_early, before, first_late, first_waited = look(0)
end = time.monotonic() + 1.5
while time.monotonic() < end:
    if way == "sleep":
        time.sleep(1.5)
last_early, after, last_late, last_waited = look(time.monotonic_ns())
print(last_early - first_late - first_waited, last_late - first_early + last_waited)
print(before)
print(after)
"""


def spin(seconds: float) -> str:
    return f'{sys.executable} -c "{SPIN.format(seconds=seconds)}"'


def watts(result: Result, column: str, package: int) -> float:
    rows = [row for row in result.ledger() if int(row["package"]) == package]
    first, last = rows[0], rows[-1]
    seconds = (int(last["t_ns"]) - int(first["t_ns"])) * 1e-9
    return (float(last[column]) - float(first[column])) / seconds


def active_s(text: str) -> Dict[int, float]:
    return {
        int(cpu): float(seconds)
        for cpu, seconds in re.findall(r"^cpu (\d+) .*active_s ([\d.]+)", text, re.MULTILINE)
    }


def test_fixed_activity(emulate: Emulate) -> None:
    """Joules are watts x time: the paper's node, all cores busy at 2.4 GHz."""
    result = emulate("icpp2010", "sleep 1", more="activity = fixed:1")
    assert watts(result, "core_j", 0) == pytest.approx(4 * 14.9, rel=0.01)
    assert watts(result, "package_j", 1) == pytest.approx(4 * 14.9 + 20, rel=0.01)
    assert watts(result, "dram_j", 1) == pytest.approx(14, rel=0.01)
    assert watts(result, "platform_j", 0) == pytest.approx(168 + 8 * 14.9, rel=0.01)


def test_powercap_agrees_with_ledger(emulate: Emulate) -> None:
    """What a reader of energy_uj gets between two instants is what the ledger says."""
    result = emulate(
        "icpp2010",
        f"{sys.executable} -c '\n"
        "import time\n"
        "for _ in range(2):\n"
        "    before = time.monotonic_ns()\n"
        '    text = open("/sys/class/powercap/intel-rapl:2/energy_uj").read()\n'
        "    print(before, time.monotonic_ns(), text.strip())\n"
        "    time.sleep(1)\n"
        "'",
        more="activity = fixed:0.5",
    )
    first, second = ([int(word) for word in line.split()] for line in result.stdout.splitlines())
    joules = (second[2] - first[2]) * 1e-6
    node_w = watts(result, "platform_j", 0)
    assert joules <= 1.01 * node_w * (second[1] - first[0]) * 1e-9
    assert joules >= 0.99 * node_w * (second[0] - first[1]) * 1e-9


@pytest.mark.parametrize("way", ["spin", "sleep"])
def test_process_is_charged_to_its_cpu(emulate: Emulate, tmp_path: Path, way: str) -> None:
    """As much as it was runnable, by its own account, and nobody else's CPU."""
    need_tool("taskset")
    program = tmp_path / "seen.py"
    program.write_text(SEEN)
    result = emulate(
        "icpp2010",
        f"taskset -c 3 {sys.executable} {program} {tmp_path}/state/mnt/ctl/state 3 {way}",
    )
    least_s, most_s = (float(word) for word in result.stdout.split("\n", 1)[0].split())
    before, after = (active_s(text) for text in result.stdout.split("machine icpp2010")[1:])
    assert least_s - 0.05 <= after.pop(3) - before[3] <= most_s + 0.05
    assert set(after.values()) == {0.0}


def test_more_processes_than_real_cpus(emulate: Emulate, tmp_path: Path) -> None:
    """Eight spinning processes on eight emulated CPUs are all active all the time, whether or not
    the host has eight."""
    need_tool("taskset")
    state = tmp_path / "state"
    spinner = spin(TIMEOUT_S)
    lines = [f"taskset -c {c} {spinner} >/dev/null & pids=\"$pids $!\"" for c in range(8)]
    script = "\n".join(
        lines
        + [
            f"until [ $(grep -c 'processes 1' {state}/mnt/ctl/state) = 8 ]; do sleep 0.05; done",
            f"sleep 1; cat {state}/mnt/ctl/state; sleep 1; cat {state}/mnt/ctl/state; kill $pids",
        ]
    )
    result = emulate("icpp2010", script)
    times = [int(t) for t in re.findall(r"^t_ns (\d+)", result.stdout, re.MULTILINE)]
    before, after = result.stdout.split("machine icpp2010")[1:]
    early, late = active_s(before), active_s(after)
    for cpu in range(8):
        share = (late[cpu] - early[cpu]) / ((times[1] - times[0]) * 1e-9)
        assert share == pytest.approx(1, abs=0.05), cpu


def test_throttling_saves_what_the_model_says(emulate: Emulate, tmp_path: Path) -> None:
    """A write of the T-state lever shows in the energy: half of the cores at T7."""
    need_tool("wrmsr")
    result = emulate(
        "icpp2010",
        "for c in 4 5 6 7; do wrmsr -p $c 0x19a 0x12; done; sleep 0.5",
        more="activity = fixed:1",
    )
    rows = [row for row in result.ledger() if row["package"] == "1"]
    last = max(write.t_ns for write in result.writes())
    after = [row for row in rows if int(row["t_ns"]) >= last]
    seconds = (int(after[-1]["t_ns"]) - int(after[0]["t_ns"])) * 1e-9
    power = (float(after[-1]["core_j"]) - float(after[0]["core_j"])) / seconds
    assert power == pytest.approx(4 * 14.9 / 8, rel=0.01)
