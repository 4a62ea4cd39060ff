# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The models against figures worked out by hand, against the paper's, and against themselves."""
from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import List

import pytest

from bench.model import calibrate, corrections, equations, machines, paper, predict
from bench.model.machines import ICPP2010, MODERN, Machine
from poweraware.documents import DocumentError
from poweraware.session.document import from_json
from poweraware.session.tests import synthetic

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / "model"
MACHINE_FILE = HERE.parents[1] / "testbed/emulator/machines/icpp2010.machine"

# Figures that are easy to work with: p(f_max) = 10 + 10, p(f_min) = 10 + 10 / 4, c_7 = (10 + 10 / 32) / 12.5.
PLAIN = Machine(
    name="plain",
    nodes=4,
    cores=2,
    f_max_hz=2e9,
    f_min_hz=1e9,
    core_dyn_w=10.0,
    exponent=2.0,
    core_idle_w=1.0,
    static_w=20.0,
    duties=tuple(1 - j / 8 for j in range(8)),
    tstate_per_core=False,
    o_dvfs_s=1.0,
    o_throttle_s=0.5,
    t_w_s=1e-3,
    c_net=2.0,
    c_net_power=3.0,
    c_throttle=1.5,
    copy_bytes_s=1e6,
    wake_s=0.25,
)


def test_power_of_a_core() -> None:
    assert PLAIN.ranks == 8
    assert PLAIN.core_w(2e9) == 20.0
    assert PLAIN.core_w(1e9) == 12.5
    assert PLAIN.c(0) == 1.0
    assert PLAIN.c(7) == pytest.approx(10.3125 / 12.5)
    assert PLAIN.c(4) == pytest.approx(11.25 / 12.5)


def test_equations_by_hand() -> None:
    assert equations.t_alltoall(PLAIN, 1000) == pytest.approx(1e-3 * 6 * 2 * 1000)
    assert equations.t_bcast(PLAIN, 1000) == pytest.approx(1000 * 3 * 1e-3 * 1.25)
    assert equations.t_alltoall_power(PLAIN, 1000) == pytest.approx(0.75 * 1e-3 * 8 * 3 * 1000 + 2 + 2)
    assert equations.t_bcast_power(PLAIN, 1000) == pytest.approx(3.75 * 1.5 + 2 + 1)
    assert equations.e_default(PLAIN, 2) == 2 * 8 * 20
    assert equations.e_dvfs(PLAIN, 2) == 2 * 8 * 12.5
    assert equations.e_alltoall_power(PLAIN, 2) == pytest.approx(8 * 12.5 + 8 * 10.3125)
    assert equations.e_bcast_power(PLAIN, 2) == pytest.approx(2 * (4 * 11.25 + 4 * 10.3125))


def test_corrections_by_hand() -> None:
    # 2 log2 4 + 2 = 6 changes instead of 4
    assert corrections.t_alltoall_log(PLAIN, 1000) == pytest.approx(equations.t_alltoall_power(PLAIN, 1000) + 1)
    assert corrections.e_bcast_per_core(PLAIN, 1) == pytest.approx(4 * (12.5 + 10.3125))
    assert corrections.w_asleep(PLAIN, 2e9, 0.5) == 20 + 10 + 1
    assert corrections.e_bcast_asleep(PLAIN, 1000) == pytest.approx((3.75 + 0.25) * 4 * 31)


def test_break_even_is_where_both_cost_the_same() -> None:
    for machine in (PLAIN, ICPP2010, MODERN):
        low, high = machine.core_w(machine.f_min_hz), machine.core_w(machine.f_max_hz)
        call_s = corrections.break_even_dvfs_s(machine)
        assert call_s * high == pytest.approx((call_s + 2 * machine.o_dvfs_s) * low)
        wait_s = corrections.break_even_sleep_s(machine)
        spin = high - machine.static_w / machine.cores
        assert wait_s * spin == pytest.approx(wait_s * machine.core_idle_w + machine.wake_s * spin)
        size = corrections.break_even_alltoall_bytes(machine)
        if math.isfinite(size):
            default = equations.e_default(machine, equations.t_alltoall(machine, size))
            power = equations.e_alltoall_power(machine, equations.t_alltoall_power(machine, size))
            assert default == pytest.approx(power)
    # a network on which half of the cores need far longer
    slow = replace(ICPP2010, c_net_power=10 * ICPP2010.c_net)
    assert corrections.break_even_alltoall_bytes(slow) == math.inf


def test_the_paper_comes_out() -> None:
    rows = paper.reproduction()
    assert len(rows) == 6 + len(paper.APPLICATIONS) and len(paper.APPLICATIONS) == 10
    for row in rows:
        assert abs(row.error) < 0.05, row
    # what it claims in words: about 8 % of energy, 30 % of power
    saved = [1 - a.proposed_kj / a.default_kj for a in paper.APPLICATIONS]
    modelled = [1 - row.modelled / a.default_kj for row, a in zip(paper.energies(), paper.APPLICATIONS)]
    assert max(saved) == pytest.approx(0.085, abs=0.005) and max(modelled) == pytest.approx(0.081, abs=0.005)


def test_the_emulated_machine_is_the_same() -> None:
    """The derivation stands in the machine file: two copies must not drift apart."""
    values = dict(re.findall(r"^(\w+) = (\S+)$", MACHINE_FILE.read_text(encoding="utf-8"), re.MULTILINE))
    static = float(values["platform_static_w"])
    static += int(values["packages"]) * (float(values["package_static_w"]) + float(values["dram_static_w"]))
    assert ICPP2010.static_w == static
    assert ICPP2010.cores == int(values["packages"]) * int(values["cores"])
    assert ICPP2010.core_dyn_w == float(values["core_dyn_w"]) and ICPP2010.exponent == float(values["core_dyn_exponent"])
    assert ICPP2010.f_max_hz == 1e3 * int(values["core_dyn_khz"]) and ICPP2010.core_idle_w == float(values["core_idle_w"])


@pytest.mark.parametrize("machine", machines.ALL.values(), ids=lambda machine: machine.name)
@pytest.mark.parametrize("collective", predict.COLLECTIVES)
def test_predictions_hang_together(machine: Machine, collective: str) -> None:
    for nodes in (2, 3, 8, 1000, 100_000):
        for size in (1, 65536, 1 << 30):
            found = {p.scheme: p for p in predict.predict(machine.of(nodes), collective, size)}
            default = found["default"]
            for each in found.values():
                assert each.time_s > 0 and each.power_w <= default.power_w * (1 + 1e-9), each
            assert found["dvfs"].time_s == pytest.approx(default.time_s + 2 * machine.o_dvfs_s)
            if collective == "alltoall" and nodes > 10:
                assert found["throttle, log"].energy_j < found["throttle, paper"].energy_j
    with pytest.raises(ValueError, match="1 nodes"):
        predict.predict(machine.of(1), collective, 8)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(MODEL), *arguments], capture_output=True, text=True, check=False)


COMMANDS: List[List[str]] = [
    ["paper"],
    ["predict"],
    ["predict", "--machine", "modern", "--collective", "bcast", "--nodes", "2,100000", "--bytes", "1"],
    ["break-even", "--machine", "modern"],
    ["machine"],
    ["sensitivity", "--machine", "modern", "--nodes", "64", "--collective", "bcast"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command(command: List[str]) -> None:
    done = run(*command)
    assert done.returncode == 0 and done.stderr == "", done
    assert "modelled" in done.stdout or "assumptions" in done.stdout
    assert not any(word in done.stdout for word in ("nan", "inf")), done.stdout
    found = json.loads(run(*command, "--json").stdout)
    assert found and (command[0] == "machine" or all(each["provenance"] == "modelled" for each in found))


@pytest.mark.parametrize("wrong", [[], ["predict", "--nodes", "1"], ["predict", "--nodes", "8,x"], ["predict", "--bytes", "0"],
                                   ["predict", "--bytes", "\u0663"], ["predict", "--machine", "none"], ["break-even", "--nodes", "8,9"],
                                   ["nothing"], ["calibrate"], ["sensitivity", "--nodes", "8,9"]])
def test_wrong_options(wrong: List[str]) -> None:
    done = run(*wrong)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "usage: model" in done.stderr


# ---- calibration: the session of poweraware/session/tests/synthetic.py, whose powers are known exactly ----


def test_powers_of_a_session_come_out() -> None:
    found = calibrate.calibrate(from_json(synthetic.make_document(), "made up"), ICPP2010)
    machine = found.machine
    assert (machine.nodes, machine.cores) == (4, synthetic.CORES)
    assert machine.static_w == pytest.approx(synthetic.BASE_W + synthetic.DRAM_W, rel=0.02)
    assert machine.core_dyn_w == pytest.approx(15.0, rel=0.02)
    assert machine.exponent == pytest.approx(3.0, abs=0.05)
    assert (machine.f_max_hz, machine.f_min_hz) == (2.4e9, 1.6e9)
    assert machine.o_dvfs_s == ICPP2010.o_dvfs_s and "o_dvfs_s" not in found.basis
    assert "emulated" in found.basis["static_w"]


def test_times_of_a_session_come_out() -> None:
    """A session whose times are those of the equations."""
    data = synthetic.make_document(["alltoall", "bcast"])
    wanted = PLAIN.of(4)
    wanted = replace(wanted, cores=8, t_w_s=8e-9, o_dvfs_s=0.0, o_throttle_s=0.0)
    data["cluster"]["link"]["rate_mbit"] = 1000.0
    for run in data["runs"]:
        for row in run["rows"]:
            known = {each.scheme: each.time_s for each in predict.predict(wanted, run["benchmark"], row["bytes"])}
            scheme = {"off": "default", "dvfs": "dvfs"}.get(run["scheme"], "throttle, paper" if run["benchmark"] == "alltoall" else "throttle")
            row["avg_us"] = row["max_us"] = known[scheme] * 1e6
    document = from_json(data, "made up")
    machine = calibrate.calibrate(document, replace(ICPP2010, o_dvfs_s=0.0, o_throttle_s=0.0)).machine
    for name in ("t_w_s", "c_net", "c_net_power", "c_throttle"):
        assert getattr(machine, name) == pytest.approx(getattr(wanted, name)), name
    checks = calibrate.checks(document, machine)
    assert all(check.modelled_s == pytest.approx(check.time_s) for check in checks)
    powers = [check for check in checks if check.power_w is not None and check.scheme != "throttle"]
    assert powers and all(check.power_w == pytest.approx(check.modelled_w, rel=0.02) for check in powers)


def test_sessions_that_tell_nothing_are_refused() -> None:
    with pytest.raises(DocumentError, match="has neither times of alltoall or bcast nor powers"):
        calibrate.calibrate(from_json(synthetic.make_applications(), "made up"), ICPP2010)
    uneven = synthetic.make_document()
    uneven["cluster"]["layout"] = [8, 8, 8, 7]
    with pytest.raises(DocumentError, match="as many ranks each"):
        calibrate.calibrate(from_json(uneven, "made up"), ICPP2010)


def test_calibrate_command(tmp_path: Path) -> None:
    (tmp_path / "document.json").write_text(json.dumps(synthetic.make_document()))
    done = run("calibrate", str(tmp_path), "-o", str(tmp_path / "machine.json"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"^static_w +70\.\d+ +emulated power of", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^alltoall 1048576 B, throttle +", done.stdout, re.MULTILINE)
    done = run("predict", "--machine", str(tmp_path / "machine.json"), "--nodes", "100000")
    assert done.returncode == 0 and "on calibrated (modelled)" in done.stdout
    for text, said in (("{}", "missing"), ("[]", "not a JSON object"), ("x", "Expecting value")):
        (tmp_path / "wrong.json").write_text(text)
        done = run("predict", "--machine", str(tmp_path / "wrong.json"))
        assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr, done.stderr
    done = run("calibrate", str(tmp_path / "no.json"))
    assert done.returncode == 2 and "no.json: cannot be read" in done.stderr


# ---- sensitivity ----


def test_effects_are_those_of_the_equations() -> None:
    pytest.importorskip("matplotlib")
    from bench.model import sensitivity

    found = {effect.figure: effect for effect in sensitivity.effects(ICPP2010, "alltoall", "throttle, paper", 1 << 20)}
    middle = sensitivity.energy_over_default(ICPP2010, "alltoall", "throttle, paper", 1 << 20)
    assert all(effect.middle == middle for effect in found.values())
    # (1) is proportional to C_net, (3) to the other one, but for transitions
    assert found["c_net"].smaller == pytest.approx(2 * middle)
    assert found["c_net_power"].larger == pytest.approx(1.5 * middle, rel=2e-3)
    assert "wake_s" not in found and "c_throttle" not in found
    reaches = [effect.reach for effect in sensitivity.effects(ICPP2010, "alltoall", "throttle, paper", 1 << 20)]
    assert reaches == sorted(reaches, reverse=True)


def test_page_of_sensitivity(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    assert run("sensitivity", "--collective", "bcast", "-o", str(page)).returncode == 0
    html = page.read_text()
    assert html.count("<img ") == 3 + 2 and "No picture" not in html
    assert "Everything here is modelled" in html
