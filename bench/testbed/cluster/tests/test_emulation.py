# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Nodes with emulated power hardware, with a stand-in for the emulator's own attach script."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.testbed.cluster import emulation
from bench.testbed.cluster.spec import Spec
from bench.testbed.cluster.state import Host
from bench.testbed.cluster.tests.support import Commands, needs, needs_mpirun

needs_clusters = needs(Spec(2, machine="any"))

# Covers the node's CPU folder by one with 2 packages of 2 cores, as the emulator does.
ATTACH = """\
#!/bin/sh -e
[ "$1" = --machine ] && [ "$3" = --state ]
cp "$2" "$4/machine"
for cpu in 0 1 2 3; do
    mkdir -p "$4/cpu/cpu$cpu/topology"
    echo $((cpu / 2)) >"$4/cpu/cpu$cpu/topology/physical_package_id"
    echo $((cpu % 2)) >"$4/cpu/cpu$cpu/topology/core_id"
done
mount --bind "$4/cpu" /sys/devices/system/cpu
echo "export PWR_TEST_VALUE='emulated on $(hostname)'" >"$4/env"
sleep 1000 &
"""


@pytest.fixture(name="emulated")
def _emulated(cluster: Commands, tmp_path: Path) -> Commands:
    (tmp_path / "some.machine").write_text("packages 2\n")
    (tmp_path / "attach").write_text(ATTACH)
    (tmp_path / "attach").chmod(0o755)
    words = ["--machine", str(tmp_path / "some.machine"), "--attach", str(tmp_path / "attach")]
    said = cluster.out("up", "2", *words)
    assert "each node: 2 packages, 4 cores (emulated)" in said
    return cluster


@needs_clusters
def test_status_tells_the_topology(emulated: Commands) -> None:
    document = emulated.status()
    assert Path(document["machine"]).name == "some.machine"
    for node in document["nodes"]:
        assert (node["packages"], node["cores"]) == (2, 4)
        assert (Path(node["state"]) / "emulator/machine").read_text() == "packages 2\n"
    assert "4 in 2 packages (emulated)" in emulated.out("status")


@needs_clusters
def test_programs_get_the_emulators_variables(emulated: Commands) -> None:
    words = ["--", "sh", "-c", 'echo "$PWR_TEST_VALUE"']
    assert emulated.out("exec", "n1", *words) == "emulated on n1\n"
    assert emulated.out("exec", "--all", *words).splitlines()[0] == "n0: emulated on n0"


@needs_clusters
@needs_mpirun()
def test_ranks_get_the_emulators_variables(emulated: Commands) -> None:
    words = ["--bind", "none", "--", "sh", "-c", 'echo "$PWR_TEST_VALUE"']
    assert sorted(emulated.out("run", *words).splitlines()) == ["emulated on n0", "emulated on n1"]


@needs_clusters
@needs_mpirun()
def test_more_ranks_than_emulated_cores(emulated: Commands) -> None:
    done = emulated.call("run", "--ppn", "5", "--", "true", status=1)
    assert "5 ranks on n0, which has 4 emulated cores" in done.stderr


@needs_clusters
def test_nothing_is_left(emulated: Commands) -> None:
    emulated.call("down")
    emulated.assert_nothing_left()


@needs_clusters
def test_failed_attach_is_reported_and_undone(cluster: Commands, tmp_path: Path) -> None:
    (tmp_path / "machine").write_text("")
    (tmp_path / "attach").write_text("#!/bin/sh\necho 'line 3: no such lever'; exit 1\n")
    (tmp_path / "attach").chmod(0o755)
    words = ["--machine", str(tmp_path / "machine"), "--attach", str(tmp_path / "attach")]
    said = cluster.call("up", "2", *words, status=1).stderr
    assert "no emulated machine on n0: line 3: no such lever" in said
    cluster.assert_nothing_left()


def test_topology(tmp_path: Path) -> None:
    for cpu, (package, core) in enumerate([(0, 0), (0, 0), (0, 1), (1, 0)]):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n")
        (folder / "core_id").write_text(f"{core}\n")
    (tmp_path / "sys/devices/system/cpu/cpufreq").mkdir()
    assert emulation.topology(tmp_path) == (2, 3)


def test_programs_without_an_emulator_start_as_they_are(tmp_path: Path) -> None:
    host = Host("n0", "10.77.0.2", 5, str(tmp_path))
    assert emulation.wrapped(host, ["prog", "a b"]) == ["prog", "a b"]
