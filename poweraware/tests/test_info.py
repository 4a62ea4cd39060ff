# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""poweraware-info: remedies and text. What it says of machines is in opal/tests/test_info_on_machines.py."""
from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

from poweraware.info import remedies, report, text

BUILD = Path(os.environ.get("PWR_BUILDDIR", "build"))
PACKAGE = Path(report.__file__).resolve().parents[1]
NO_PERMISSION, NOT_SUPPORTED = "no permission", "not supported by this machine"
CLOSED = "/dev/cpu/0/msr_safe: no permission"
MASKED = "msr_safe: CPU 0, MSR 0x19a: writing back: no permission"


@pytest.fixture(name="gathered")
def _gathered() -> Dict[str, Any]:
    """Of this machine, only looked at."""
    done = subprocess.run([BUILD / "opal" / "poweraware-inspect", "", "", "", str(BUILD / "opal"), "look only"],
                          capture_output=True, check=True)  # fmt: skip
    return dict(json.loads(done.stdout))


def _commands(part: str, backend: str, reason: str) -> List[str]:
    return [each for remedy in remedies.find("GenuineIntel", part, backend, NO_PERMISSION, reason) for each in remedy["commands"]]


@pytest.mark.parametrize("part, backend, reason, command", [
    ("tstate", "msr_safe", MASKED, "'0x0000019A 0x000000000000001F'"),
    ("tstate", "msr_safe", CLOSED, "msr-user"),
    ("pstate", "hwp-msr_safe", "MSR 0x774: no permission", "'0x00000774 0x000000000000FFFF'"),
    ("pstate", "perf_ctl-msr_safe", "MSR 0xce: no permission", "'0x000000CE 0x0000000000000000'"),
    ("pstate", "hwp-msr_safe", CLOSED, "msr-user"),
    ("pstate", "cpufreq", "", "g+w %S%p/cpufreq/scaling_max_freq"),
    ("pstate", "likwid", "", "chmod 4755 /usr/sbin/likwid-setFreq"),
    ("tstate", "likwid-accessD", "no rights", "setcap cap_sys_rawio"),
    ("energy", "powercap", "", "g+r %S%p/energy_uj"),
    ("energy", "perf_event", "perf_event_paranoid is 2", "kernel.perf_event_paranoid = 0"),
])  # fmt: skip
def test_commands_are_for_the_reason_given(part: str, backend: str, reason: str, command: str) -> None:
    assert any(command in each for each in _commands(part, backend, reason))


def test_commands_for_other_reasons_are_not_told() -> None:
    assert not any("msr-user" in each for each in _commands("tstate", "msr_safe", MASKED))
    assert not any("0x0000019A" in each for each in _commands("tstate", "msr_safe", CLOSED))
    assert _commands("tstate", "likwid-accessD", "MSR 0x19a: no permission") == []
    assert _commands("pstate", "acpufreq", "") == []


def test_every_back_end_says_what_opens_it(gathered: Dict[str, Any]) -> None:
    """A back end that comes later must come with its row."""
    reason = "/dev/cpu/0/msr_safe: no permission, no rights, perf_event_paranoid"
    for name, part in [*((lever["name"], lever) for lever in gathered["levers"]), ("energy", gathered["energy"])]:
        assert len(part["backends"]) >= 2
        for each in part["backends"]:
            open_to_all = each["name"] in ("model", "nvml")
            assert open_to_all or remedies.find("", name, each["name"], NO_PERMISSION, reason), each["name"]


def test_what_is_not_refused_needs_no_remedy() -> None:
    assert remedies.find("AuthenticAMD", "tstate", "msr", None, "") == []
    assert remedies.find("GenuineIntel", "pstate", "cpufreq", None, "") == []


def test_amd_is_not_told_to_load_intels_registers() -> None:
    reason = "/dev/cpu/0/msr: not supported by this machine"
    (found,) = remedies.find("AuthenticAMD", "tstate", "msr", NOT_SUPPORTED, reason)
    assert "nothing grants it" in found["text"] and found["commands"] == []
    (found,) = remedies.find("AuthenticAMD", "energy", "msr", NOT_SUPPORTED, reason)
    assert found["commands"] == ["modprobe msr"]


@pytest.mark.parametrize("line, lines", [
    ("one two three", ["- one two", "  three"]),
    ("a much-longer-than-the-line b", ["- a", "  much-longer-than-the-line", "  b"]),
    ("two  blanks", ["- two", "  blanks"]),
    ("", ["- "]),
])  # fmt: skip
def test_wrapping(line: str, lines: List[str]) -> None:
    page = text.Page(9)
    page.wrapped("- ", line)
    assert "\n".join(page.lines).split("\n") == lines


@pytest.mark.parametrize("monitor, said", [("umwait", "pause, umwait, futex\n"), (None, "pause, futex (the processor")])
def test_waits(gathered: Dict[str, Any], monitor: str, said: str) -> None:
    gathered["machine"]["wait_monitor"] = monitor
    assert f"  waits          {said}" in text.render(report.complete(gathered), 100, False)


@pytest.mark.parametrize("gpus, rows", [(0, 0), (1, 1), (4, 1)])
def test_gpus(gathered: Dict[str, Any], gpus: int, rows: int) -> None:
    gathered["machine"]["gpus"] = gpus
    assert text.render(report.complete(gathered), 100, False).count(f"  GPUs           {gpus} GPU") == rows


def test_one_lever_there_and_one_that_would_be(gathered: Dict[str, Any]) -> None:
    gathered["binding"].update(bound=True, levers_allowed=False, why_off="of a neighbour")
    gathered["levers"] = gathered["levers"][:2]
    for lever, state in zip(gathered["levers"], ("used", "works")):
        lever["backends"][1].update(state=state, reason=None, refusal=None, lowest=800000, full=2 * 800000)
        lever["cost"] = {"why_not": "a test"}
    found = report.complete(gathered)
    assert (found["saves_by"], found["would_save_by"]) == ("waits, P-states (cpufreq)", "T-states (msr)")
    lines = text.render(found, 100, False).splitlines()
    assert lines[:3] == [
        "this process would save by: waits, P-states (cpufreq)",
        "and also by:                T-states (msr)",
        "                            if it were not for this: of a neighbour",
    ]
    assert "  range          0.8 to 1.6 GHz" in lines and "  cost           not measured: a test" in lines


def test_it_needs_nothing_but_python() -> None:
    """Compute nodes have no matplotlib and no jsonschema."""
    done = subprocess.run([sys.executable, "-S", str(PACKAGE / "poweraware-info"), "--helper-dir", str(BUILD / "opal"), "--no-probe"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.match("this process would save by: waits\n", done.stdout)
