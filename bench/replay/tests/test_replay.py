# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Simulated schedules: what they cost agrees with what the network can carry, with the paper, and with the equations."""
from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ElementTree
from typing import Any, Dict, List

import pytest

from bench.model import machines
from bench.replay import main
from bench.replay.platform import hosts, platform

Row = Dict[str, Any]
M = machines.ICPP2010


def test_platform_has_the_machines_figures() -> None:
    (cluster,) = ElementTree.fromstring(platform(M, 8).split("\n", 2)[2]).iter("cluster")
    assert cluster.get("radical") == "0-7" and cluster.get("bw") == "3200000000Bps"
    assert cluster.get("loopback_bw") == "750000000Bps"
    assert hosts(M.of(2), 4) == "n0:4\nn1:4\n"


def test_polling_is_priced_as_work() -> None:
    full, low, leading, throttled, asleep = (main.energy_j(M, 2.0, [float(k == j) for j in range(5)]) for k in range(5))
    assert full == pytest.approx(2 * (168 / 8 + 14.9)) and asleep == pytest.approx(2 * (168 / 8 + 1.0))
    assert full > low > leading > throttled
    assert leading == pytest.approx(2 * (168 / 8 + 14.9 * (1.6 / 2.4) ** 1.83 / 2))
    assert throttled == pytest.approx(2 * (168 / 8 + 14.9 * (1.6 / 2.4) ** 1.83 / 8))


@pytest.mark.parametrize("wrong, said", [
    (["--nodes", "6"], "--nodes 6: not a power of two"),
    (["--ranks", "3"], "--ranks 3: not an even divisor of 8"),
    (["--bytes", "0"], "--bytes 0: messages must have"),
    (["--schemes", "asleep"], "default first"),
    (["--machine", "nosuch"], "'nosuch' is not of icpp2010, modern, nor a machine's file: No such file"),
    (["--nodes", "32", "--oversubscription", "3"], "--oversubscription 3: not a power of two up to 16"),
    (["--nodes", "16", "--oversubscription", "1"], "16 nodes are fewer than two switches have"),
])  # fmt: skip
def test_wrong_options_are_named(wrong: List[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(wrong) == 2
    assert said in capsys.readouterr().err


def test_without_simgrid_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main.main([]) == 2
    assert "apt-get install libsimgrid-dev" in capsys.readouterr().err


def simulate(capsys: pytest.CaptureFixture[str], *arguments: str) -> Dict[str, Row]:
    if shutil.which("smpicc") is None:
        pytest.skip("SimGrid (libsimgrid-dev) is not installed")
    assert main.main([*arguments, "--json"]) == 0
    rows: List[Row] = json.loads(capsys.readouterr().out)
    assert all(row["provenance"] == "modelled" for row in rows)
    return {row["scheme"]: row for row in rows}


def test_alltoall_is_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    """2.3, 1.8 and 1.6 kW, and a time about 10 % above the default's (ICPP 2010, section VII)."""
    rows = simulate(capsys, "--bytes", "262144")
    assert rows["default"]["power_w"] == pytest.approx(2300, rel=0.02)
    assert rows["dvfs"]["power_w"] == pytest.approx(1800, rel=0.02)
    for scheme in ("throttle, paper", "throttle, log"):
        assert rows[scheme]["power_w"] == pytest.approx(1600, rel=0.02)
        assert 1.0 < rows[scheme]["time_ratio"] < 1.15
    between_nodes = 56 * 8 * 262144 / 3.2e9  # what a node's link has to carry
    assert between_nodes < rows["default"]["time_s"] < 1.5 * between_nodes
    assert rows["asleep"]["time_ratio"] == pytest.approx(1.0, abs=0.01)
    assert rows["asleep"]["power_ratio"] < rows["throttle, log"]["power_ratio"]


def test_the_log_schedule_changes_states_less(capsys: pytest.CaptureFixture[str]) -> None:
    for nodes, paper, log in ((4, 10, 8), (16, 34, 12)):
        rows = simulate(capsys, "--nodes", str(nodes), "--bytes", "65536", "--schemes", "default;throttle, paper;throttle, log")
        assert (rows["throttle, paper"]["changes"], rows["throttle, log"]["changes"]) == (paper, log)
        assert rows["throttle, log"]["time_s"] <= 1.01 * rows["throttle, paper"]["time_s"]


def test_an_oversubscribed_tree_takes_so_much_longer(capsys: pytest.CaptureFixture[str]) -> None:
    """Of 32 nodes half of the messages go to the other switch, through an R-th of the links: R / 2 of the time, and 1 at least."""
    setup = ["--machine", "modern", "--nodes", "32", "--ranks", "2", "--bytes", "4096", "--schemes", "default;throttle, log"]
    free = simulate(capsys, *setup)
    for ratio, least, most in ((1, 1.0, 1.8), (4, 2.0, 3.0)):
        tree = simulate(capsys, *setup, "--oversubscription", str(ratio))
        assert tree["default"]["oversubscription"] == ratio
        assert least <= tree["default"]["time_s"] / free["default"]["time_s"] <= most
        assert tree["throttle, log"]["power_ratio"] == pytest.approx(free["throttle, log"]["power_ratio"], abs=0.05)


def test_bundles_stand_for_their_cores(capsys: pytest.CaptureFixture[str]) -> None:
    """Fewer ranks with larger messages take about as long and draw the same power."""
    fine = simulate(capsys, "--bytes", "262144", "--ranks", "8", "--schemes", "default;throttle, log")
    coarse = simulate(capsys, "--bytes", "262144", "--ranks", "2", "--schemes", "default;throttle, log")
    for scheme in ("default", "throttle, log"):
        assert coarse[scheme]["time_s"] == pytest.approx(fine[scheme]["time_s"], rel=0.15)
        assert coarse[scheme]["power_w"] == pytest.approx(fine[scheme]["power_w"], rel=0.03)


@pytest.mark.parametrize("collective", ["bcast", "reduce"])
def test_leaders(collective: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = simulate(capsys, "--collective", collective, "--bytes", "1048576")
    copies, between_nodes = 8 * 1048576 / 6e9, 2 * 7 / 8 * 1048576 / 3.2e9
    assert copies + between_nodes < rows["default"]["time_s"] < copies + 1.5 * between_nodes
    assert (rows["throttle"]["model_power_ratio"] is None) == (collective == "reduce"), "the paper has no equation of Reduce"
    assert rows["throttle"]["power_ratio"] < rows["dvfs"]["power_ratio"] < 0.8
    assert rows["throttle"]["time_ratio"] < 1.15 and rows["asleep"]["time_ratio"] == pytest.approx(1.0, abs=0.01)
