# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Whole clusters: what they are made of, MPI across them, links, and being made again."""

from __future__ import annotations

import signal
import subprocess

import pytest

from bench.testbed.cluster import namespaces
from bench.testbed.cluster.spec import Spec
from bench.testbed.cluster.tests.support import Commands, built, needs, needs_mpirun

pytestmark = needs(Spec(2))
with_latency = needs(Spec(2, latency_us=100))
with_rate = needs(Spec(2, rate_mbit=100))
with_mpi = needs_mpirun()


def received_bytes(cluster: Commands, node: str) -> int:
    """What came in through the node's link so far."""
    lines = cluster.out("exec", node, "--", "cat", "/proc/net/dev").splitlines()
    (line,) = [line for line in lines if "eth0:" in line]
    return int(line.split(":")[1].split()[0])


def test_each_node_has_its_own(cluster: Commands) -> None:
    cluster.call("up", "3")
    document = cluster.status()
    assert [node["name"] for node in document["nodes"]] == ["n0", "n1", "n2"]
    assert [node["address"] for node in document["nodes"]] == [f"10.77.0.{i}" for i in (2, 3, 4)]
    kinds = ("net", "uts", "pid", "ipc", "mnt")
    script = "; ".join(f"readlink /proc/self/ns/{kind}" for kind in kinds)
    lines = cluster.out("exec", "--all", "--", "sh", "-c", script).splitlines()
    assert len({line.split(": ")[1] for line in lines}) == 3 * len(kinds)
    assert cluster.out("exec", "n1", "--", "hostname") == "n1\n"
    assert cluster.out("exec", "head", "--", "hostname") == "head\n"


def test_shared_memory_and_temporary_files_stay_on_a_node(cluster: Commands) -> None:
    cluster.call("up", "2")
    write = 'echo here >/dev/shm/pwr-note; echo here >"$TMPDIR/note"'
    read = 'cat /dev/shm/pwr-note "$TMPDIR/note"'
    cluster.call("exec", "n0", "--", "sh", "-c", write)
    assert cluster.out("exec", "n0", "--", "sh", "-c", read) == "here\nhere\n"
    assert cluster.call("exec", "n1", "--", "sh", "-c", read, status=1).stdout == ""


def test_names_resolve_to_addresses(cluster: Commands) -> None:
    cluster.call("up", "2")
    assert "10.77.0.3" in cluster.out("exec", "n0", "--", "getent", "hosts", "n1")


def test_exec_passes_input_output_and_status(cluster: Commands) -> None:
    cluster.call("up", "1")
    done = cluster.call("exec", "n0", "--", "sh", "-c", "cat; exit 3", text="hello", status=3)
    assert done.stdout == "hello"
    assert "no node 'n5'" in cluster.call("exec", "n5", "--", "true", status=1).stderr
    assert "cannot start /no/such" in cluster.call("exec", "n0", "--", "/no/such", status=1).stderr


def test_exec_may_leave_a_program_running(cluster: Commands) -> None:
    cluster.call("up", "1")
    script = "sleep 1000 >/dev/null 2>&1 & exit 4"
    cluster.call("exec", "n0", "--", "sh", "-c", script, status=4)
    assert "sleep" in cluster.processes().values()
    cluster.call("down")
    cluster.assert_nothing_left()


@with_mpi
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_ring_over_all_nodes(cluster: Commands, nodes: int) -> None:
    cluster.call("up", str(nodes))
    said = cluster.out("run", "--ppn", "2", "--", str(built("tests/ring")))
    expected = " ".join(f"n{i}:2" for i in range(nodes))
    assert said == f"ranks {2 * nodes}; {expected}\n"


@with_mpi
def test_nodes_talk_over_the_link_and_ranks_of_a_node_do_not(cluster: Commands) -> None:
    """The ring carries a megabyte over every link between ranks."""
    ring = str(built("tests/ring"))
    cluster.call("up", "2")
    before = received_bytes(cluster, "n1")
    cluster.call("run", "--nodes", "2", "--ppn", "1", "--", ring)
    between = received_bytes(cluster, "n1")
    assert between - before > 1 << 20
    cluster.call("run", "--layout", "0,3", "--", ring)
    assert received_bytes(cluster, "n1") - between < 1 << 19


@with_mpi
@pytest.mark.parametrize("layout", ["3,2,1", "1,4,2"])
def test_uneven_layouts(cluster: Commands, layout: str) -> None:
    cluster.call("up", "3")
    said = cluster.out("run", "--layout", layout, "--", str(built("tests/ring")))
    ranks = [int(part) for part in layout.split(",")]
    expected = " ".join(f"n{i}:{count}" for i, count in enumerate(ranks))
    assert said == f"ranks {sum(ranks)}; {expected}\n"


@with_mpi
@pytest.mark.parametrize(
    ("map_by", "order"), [("slot", ["n0", "n0", "n1", "n1"]), ("node", ["n0", "n1", "n0", "n1"])]
)
def test_numbering_of_ranks(cluster: Commands, map_by: str, order: list[str]) -> None:
    cluster.call("up", "2")
    script = 'echo "${OMPI_COMM_WORLD_RANK} $(hostname)"'
    said = cluster.out("run", "--ppn", "2", "--map-by", map_by, "--", "sh", "-c", script)
    assert [line.split()[1] for line in sorted(said.splitlines())] == order


@with_mpi
def test_run_passes_input_variables_and_status(cluster: Commands) -> None:
    cluster.call("up", "2")
    assert cluster.out("run", "--nodes", "1", "--", "cat", text="to rank 0\n") == "to rank 0\n"
    words = ["--env", "PWR_TEST_VALUE=of rank", "--", "sh", "-c", 'echo "$PWR_TEST_VALUE"']
    assert cluster.out("run", *words) == "of rank\nof rank\n"
    cluster.call("run", "--", "sh", "-c", "exit 9", status=9)


@with_mpi
def test_parameters_reach_open_mpi(cluster: Commands) -> None:
    """Without tcp the nodes cannot talk: so --mca won over the default, which has it."""
    cluster.call("up", "2")
    words = ["--timeout", "60", "--mca", "btl", "self", "--", str(built("tests/ring"))]
    assert cluster.call("run", *words, status=None).returncode not in (0, 124)


@with_mpi
def test_ranks_stay_in_the_session_of_mpirun(cluster: Commands) -> None:
    """Nodes that are sessions of their own stall now and then: see launch.py."""
    cluster.call("up", "2")
    print_session = "cut -d' ' -f6 /proc/self/stat"
    said = cluster.out("run", "--ppn", "2", "--", "sh", "-c", print_session)
    outside_of_the_nodes_pid_namespace = "0"
    assert said.split() == 4 * [outside_of_the_nodes_pid_namespace]


@with_mpi
def test_time_out_ends_the_whole_job(cluster: Commands) -> None:
    cluster.call("up", "2")
    before = set(cluster.processes())
    done = cluster.call("run", "--ppn", "2", "--timeout", "2", "--", "sleep", "1000", status=124)
    assert "--timeout" in done.stderr
    assert set(cluster.processes()) <= before


@with_mpi
def test_interrupted_run_ends_the_whole_job(cluster: Commands) -> None:
    cluster.call("up", "2")
    before = set(cluster.processes())
    script = "echo started; sleep 1000"
    run = cluster.start("run", "--", "sh", "-c", script, stdout=subprocess.PIPE)
    assert run.stdout is not None and run.stdout.readline() == "started\n"
    run.send_signal(signal.SIGINT)
    assert run.wait() != 0
    run.stdout.close()
    assert set(cluster.processes()) <= before


@with_rate
def test_rate_is_set_at_both_ends_of_every_link(cluster: Commands) -> None:
    cluster.call("up", "2", "--rate-mbit", "100")
    lines = cluster.out("exec", "--all", "--", "tc", "qdisc", "show", "dev", "eth0").splitlines()
    assert len(lines) == 2 and all("tbf" in line and "100Mbit" in line for line in lines)
    bridge = ["nsenter", "-t", str(cluster.status()["init_pid"]), "-n"]
    if namespaces.privileged():
        shown = subprocess.run(
            [*bridge, "tc", "qdisc", "show"], capture_output=True, text=True, check=True
        ).stdout
        ports = [line for line in shown.splitlines() if "tbf" in line]
        assert len(ports) == 3 and all("100Mbit" in line for line in ports)


@with_mpi
@with_latency
@pytest.mark.parametrize("more", [[], ["--rate-mbit", "1000"]])
def test_latency_switch_joins_all_nodes(cluster: Commands, more: list[str]) -> None:
    built("switch/latency-switch")
    cluster.call("up", "4", "--latency-us", "200", *more)
    said = cluster.out("run", "--ppn", "2", "--", str(built("tests/ring")))
    assert said == "ranks 8; n0:2 n1:2 n2:2 n3:2\n"
    assert cluster.status()["dropped_frames"] == 0


@with_mpi
def test_twice_in_a_row(cluster: Commands) -> None:
    for _ in range(2):
        cluster.call("up", "2")
        cluster.call("run", "--ppn", "2", "--", str(built("tests/ring")))
        cluster.call("down")
        cluster.assert_nothing_left()


def test_up_again(cluster: Commands) -> None:
    cluster.call("up", "2")
    keeper = cluster.status()["keeper"]
    assert "already up" in cluster.out("up", "2")
    assert cluster.status()["keeper"] == keeper
    assert "up with another shape" in cluster.call("up", "3", status=1).stderr
    assert cluster.status()["keeper"] == keeper


def test_two_clusters_at_once(cluster: Commands) -> None:
    cluster.call("up", "1", "--name", "one")
    cluster.call("up", "2", "--name", "two")
    table = cluster.out("status", "--all")
    assert "cluster one: 1 node;" in table and "cluster two: 2 nodes" in table
    cluster.call("down", "--name", "one")
    cluster.call("status", "--name", "one", status=1)
    assert cluster.out("exec", "n1", "--name", "two", "--", "hostname") == "n1\n"
    cluster.call("up", "1", "--name", "one")
    cluster.call("down", "--all")
    cluster.assert_nothing_left()


def test_without_a_cluster(cluster: Commands) -> None:
    assert "not up" in cluster.out("down")
    assert "not up" in cluster.out("status", status=1)
    assert cluster.status() == {"name": "default", "up": False}
    assert "cluster up N" in cluster.call("run", "--", "true", status=1).stderr
    cluster.assert_nothing_left()
