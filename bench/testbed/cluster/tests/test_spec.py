# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a cluster may be asked to be."""

from pathlib import Path

import pytest

from bench.testbed.cluster import spec as specs
from bench.testbed.cluster.errors import ClusterError


def test_hosts_are_the_head_and_the_nodes() -> None:
    spec = specs.make(3)
    assert spec.host_names() == ["head", "n0", "n1", "n2"]
    assert specs.address(0) == "10.77.0.1"
    assert specs.hosts_file(spec).splitlines() == [
        "127.0.0.1 localhost",
        "10.77.0.1 head",
        "10.77.0.2 n0",
        "10.77.0.3 n1",
        "10.77.0.4 n2",
    ]


@pytest.mark.parametrize("nodes", [0, -1, specs.MAX_NODES + 1])
def test_number_of_nodes_is_bounded(nodes: int) -> None:
    with pytest.raises(ClusterError, match=f"{nodes} nodes: from 1"):
        specs.make(nodes)


@pytest.mark.parametrize("rate", [0.0, -5.0, float("nan"), float("inf")])
def test_impossible_rates(rate: float) -> None:
    with pytest.raises(ClusterError, match="--rate-mbit"):
        specs.make(2, rate_mbit=rate)


@pytest.mark.parametrize("latency", [0.0, -1.0, float("nan"), 1e9])
def test_impossible_latencies(latency: float) -> None:
    with pytest.raises(ClusterError, match="--latency-us"):
        specs.make(2, latency_us=latency)


def test_missing_machine_file() -> None:
    with pytest.raises(ClusterError, match="--machine /no/such: No such file"):
        specs.make(2, machine=Path("/no/such"))


def test_a_machine_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specs, "MACHINES", tmp_path)
    (tmp_path / "known.machine").write_text("")
    assert specs.make(2, machine=Path("known")).machine == str(tmp_path / "known.machine")
    with pytest.raises(ClusterError, match="--machine unknown: No such file"):
        specs.make(2, machine=Path("unknown"))


def test_an_edited_machine_is_another_shape(tmp_path: Path) -> None:
    machine = tmp_path / "some.machine"
    machine.write_text("packages 2\n")
    before = specs.make(2, machine=machine)
    assert specs.make(2, machine=machine) == before
    machine.write_text("packages 4\n")
    assert specs.make(2, machine=machine) != before


@pytest.mark.parametrize(
    ("text", "layout"), [("3,2,1", [3, 2, 1]), ("4", [4]), ("0,2", [0, 2])]
)
def test_layouts(text: str, layout: list[int]) -> None:
    assert specs.parse_layout(text) == layout


@pytest.mark.parametrize("text", ["", "3,,1", "a", "0", "0,0", "-1,2", "1.5"])
def test_impossible_layouts(text: str) -> None:
    with pytest.raises(ClusterError, match="ranks per node"):
        specs.parse_layout(text)


@pytest.mark.parametrize("name", ["", "../x", "a b", "-x", ".", "x" * 33, "a/b"])
def test_names_that_are_no_folder_names(name: str) -> None:
    with pytest.raises(ClusterError, match="cluster name"):
        specs.check_name(name)


def test_a_good_name() -> None:
    assert specs.check_name("fast-2_b") == "fast-2_b"
