# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Input of ip and tc, and the switch's command line; no network is made here."""

from pathlib import Path

from bench.testbed.cluster import network
from bench.testbed.cluster.spec import Spec


def test_bridge_has_a_port_per_host() -> None:
    assert network.bridge_batch({"head": 3, "n0": 5}).splitlines() == [
        "link add br0 type bridge",
        "link set br0 up",
        "link add port-head type veth peer name eth0 netns 3",
        "link set port-head master br0 up",
        "link add port-n0 type veth peer name eth0 netns 5",
        "link set port-n0 master br0 up",
    ]


def test_interface_names_fit_the_kernel() -> None:
    longest = max(Spec(250).host_names(), key=len)
    line = network.bridge_batch({longest: 1}).splitlines()[2]
    assert len(line.split()[2]) <= 15


def test_address() -> None:
    assert "addr add 10.77.0.2/16 dev eth0" in network.address_batch("10.77.0.2")


def test_rate_is_given_in_bits() -> None:
    assert network.shaping_batch(100, ["eth0"]) == (
        "qdisc add dev eth0 root tbf rate 100000000bit burst 131072 latency 200ms\n"
    )


def test_burst_grows_with_high_rates() -> None:
    assert "burst 1250000 " in network.shaping_batch(10_000, ["eth0"])


def test_one_line_per_interface() -> None:
    assert len(network.shaping_batch(1, ["a", "b", "c"]).splitlines()) == 3


def test_switch_command(tmp_path: Path) -> None:
    spec = Spec(1, rate_mbit=1000, latency_us=12.5)
    pids = {"head": 3, "n0": 5}
    command = network.switch_command(spec, Path("/x/latency-switch"), pids, tmp_path)
    assert command == f"/x/latency-switch 12.5 1000 eth0 {tmp_path}/switch 3 5".split()


def test_switch_without_a_rate(tmp_path: Path) -> None:
    command = network.switch_command(Spec(1, latency_us=1), Path("s"), {"n0": 5}, tmp_path)
    assert command[1:3] == ["1", "0"]


def test_dropped_frames(tmp_path: Path) -> None:
    assert network.dropped_frames(tmp_path) is None
    (tmp_path / "switch").write_text("")
    assert network.dropped_frames(tmp_path) == 0
    (tmp_path / "switch").write_text("pid dropped\n   3   2\n   5   40\n")
    assert network.dropped_frames(tmp_path) == 42
