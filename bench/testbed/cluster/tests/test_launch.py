# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""mpirun's command line and environment."""

from pathlib import Path
from typing import Optional

import pytest

from bench.testbed.cluster import launch
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.launch import Job, Mpirun
from bench.testbed.cluster.spec import Spec
from bench.testbed.cluster.state import Cluster, Host, Identity

ORTE = Mpirun("mpirun", (4, 1))
PRRTE = Mpirun("mpirun", (5, 0))


def cluster(nodes: int, cores: Optional[int] = None) -> Cluster:
    spec = Spec(nodes, machine="some.machine" if cores else None)
    hosts = [
        Host(name, "10.77.0.9", 100, f"/state/nodes/{name}", 1 if cores else None, cores)
        for name in spec.host_names()
    ]
    return Cluster("some", spec, Path("/state"), Identity(1, 1), 2, hosts)


@pytest.mark.parametrize(
    ("text", "series", "prrte"),
    [
        ("mpirun (Open MPI) 4.1.4\n", (4, 1), False),
        ("mpirun.openmpi (OpenRTE) 4.1.4\n", (4, 1), False),
        ("mpirun (Open MPI) 5.0.7\n", (5, 0), True),
        ("mpirun (Open MPI) 6.0.0rc2\n", (6, 0), True),
    ],
)
def test_version(text: str, series: tuple[int, int], prrte: bool) -> None:
    mpirun = launch.parse_version("mpirun", text)
    assert mpirun.series == series
    assert mpirun.uses_prrte is prrte


def test_another_mpi_is_refused() -> None:
    with pytest.raises(ClusterError, match="not Open MPI's"):
        launch.parse_version("mpirun", "HYDRA build details:\n    Version: 4.0.2\n")


def test_a_missing_mpirun_is_named() -> None:
    with pytest.raises(ClusterError, match="no no-such-mpirun found"):
        launch.find_mpirun("no-such-mpirun")


def test_command_line() -> None:
    job = Job(["prog", "-x"], [3, 0, 1], mca=[("coll", "poweraware")], variables=["A=1", "B"])
    assert launch.command(ORTE, job) == (
        "mpirun --leave-session-attached --host n0:3,n2:1 -np 4 --map-by slot --bind-to none"
        " --mca coll poweraware -x A=1 -x B prog -x"
    ).split()


@pytest.mark.parametrize(
    ("bind", "map_by", "expected"),
    [
        ("none", None, "--map-by slot --bind-to none"),
        ("core", None, "--map-by core --bind-to core"),
        ("core", "core", "--map-by core --bind-to core"),
        ("core", "node", "--map-by node --bind-to core"),
        ("none", "node", "--map-by node --bind-to none"),
    ],
)
def test_mapping_and_binding(bind: str, map_by: Optional[str], expected: str) -> None:
    line = launch.command(ORTE, Job(["p"], [1], bind=bind, map_by=map_by))
    assert expected in " ".join(line)


def test_binding_follows_the_machine() -> None:
    assert launch.default_binding(cluster(2)) == "none"
    assert launch.default_binding(cluster(2, cores=8)) == "core"


def test_environment_of_the_two_launchers() -> None:
    orte = launch.environment(ORTE, cluster(2), "id", {})
    assert orte["OMPI_MCA_plm_rsh_agent"].endswith("/node-agent")
    assert orte["OMPI_MCA_btl"] == "self,vader,tcp"
    prrte = launch.environment(PRRTE, cluster(2), "id", {})
    assert prrte["PRTE_MCA_plm_ssh_agent"].endswith("/node-agent")
    assert prrte["OMPI_MCA_btl"] == "self,sm,tcp"
    assert not any(name.startswith("OMPI_MCA_plm") for name in prrte)


def test_the_users_variables_win_over_defaults() -> None:
    users = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_mpi_yield_when_idle": "0", "HOME": "/h"}
    environment = launch.environment(ORTE, cluster(2), "id", users)
    assert {name: environment[name] for name in users} == users


def test_what_holds_the_cluster_together_is_ours() -> None:
    users = {"TMPDIR": "/elsewhere", "PWR_CLUSTER_STATE": "/other", launch.JOB_VARIABLE: "old"}
    environment = launch.environment(ORTE, cluster(2), "id", users)
    assert environment["TMPDIR"] == "/state/tmp"
    assert environment["PWR_CLUSTER_STATE"] == "/state"
    assert environment[launch.JOB_VARIABLE] == "id"


def test_ranks_per_node() -> None:
    three = cluster(3)
    assert launch.ranks_per_node(three, None, None, None) == [1, 1, 1]
    assert launch.ranks_per_node(three, 2, 4, None) == [4, 4]
    assert launch.ranks_per_node(three, None, None, [3, 2, 1]) == [3, 2, 1]


def test_more_nodes_than_there_are() -> None:
    with pytest.raises(ClusterError, match="4 nodes wanted, cluster some has 3"):
        launch.ranks_per_node(cluster(3), 4, None, None)
    with pytest.raises(ClusterError, match="4 nodes wanted"):
        launch.ranks_per_node(cluster(3), None, None, [1, 1, 1, 1])


def test_layout_excludes_the_others() -> None:
    with pytest.raises(ClusterError, match="--layout says it all"):
        launch.ranks_per_node(cluster(3), None, 2, [1, 1])


def test_more_ranks_than_emulated_cores() -> None:
    nodes = cluster(2, cores=4).nodes
    launch.check_cores(nodes, Job(["p"], [4, 4], bind="core"))
    launch.check_cores(nodes, Job(["p"], [5, 4], bind="none"))
    with pytest.raises(ClusterError, match="5 ranks on n1, which has 4 emulated cores"):
        launch.check_cores(nodes, Job(["p"], [4, 5], bind="core"))
