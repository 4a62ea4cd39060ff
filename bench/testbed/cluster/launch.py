# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""mpirun's command line and environment for a job over the nodes; nothing is started here.

Open MPI starts its daemons with node-agent instead of ssh. Whatever this module sets is a default:
a variable the user's environment has already stays, and --mca on the command line wins over both.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.spec import SUBNET
from bench.testbed.cluster.state import Cluster, Host

AGENT = Path(__file__).resolve().parent / "node-agent"

JOB_VARIABLE = "PWR_CLUSTER_JOB"  # marks every process of one job, see job.py

# Of a TCP connection between daemons: a dead link ends the job in 40 s instead of never.  No sooner,
# because on a crowded machine the latency switch may not run for seconds.
_KEEPALIVE = {
    "oob_tcp_keepalive_time": "20",
    "oob_tcp_keepalive_intvl": "5",
    "oob_tcp_keepalive_probes": "4",
}

# Variables of the two launchers: ORTE is part of Open MPI 4.1, PRRTE of 5.0 and later. Without tree
# spawn mpirun starts every daemon itself: only the head can enter the nodes' namespaces.
_LAUNCHER_ORTE = {
    "OMPI_MCA_plm": "rsh",
    "OMPI_MCA_plm_rsh_agent": str(AGENT),
    "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
    "OMPI_MCA_oob_tcp_if_include": SUBNET,
    **{f"OMPI_MCA_{key}": value for key, value in _KEEPALIVE.items()},
}
_LAUNCHER_PRRTE = {
    "PRTE_MCA_plm": "ssh",
    "PRTE_MCA_plm_ssh_agent": str(AGENT),
    "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
    "PRTE_MCA_prte_if_include": SUBNET,
    **{f"PRTE_MCA_{key}": value for key, value in _KEEPALIVE.items()},
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

_COMMON = {
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl_tcp_if_include": SUBNET,
    # Nodes share this machine's cores: without it 8 nodes of 8 ranks on 2 cores take 26 s, not 2.6.
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


@dataclasses.dataclass(frozen=True)
class Mpirun:
    """An installed Open MPI launcher."""

    program: str
    series: tuple[int, int]

    @property
    def uses_prrte(self) -> bool:
        return self.series >= (5, 0)


@dataclasses.dataclass(frozen=True)
class Job:
    """What `cluster run` is asked to start."""

    program: list[str]
    layout: list[int]  # ranks per node, from n0 on
    bind: str = "none"  # or "core"
    map_by: Optional[str] = None  # "slot" or "node"; None: what fits bind
    mca: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    variables: list[str] = dataclasses.field(default_factory=list)  # NAME=VALUE or NAME


def find_mpirun(chosen: Optional[str]) -> Mpirun:
    """The mpirun to use: the chosen one, else the one on PATH that is Open MPI's."""
    candidates = [chosen] if chosen else ["mpirun.openmpi", "mpirun"]
    program = next((path for path in map(_which, candidates) if path is not None), None)
    if program is None:
        raise ClusterError(
            f"no {candidates[-1]} found: install Open MPI (Debian, Ubuntu: openmpi-bin)"
            " or name it with --mpirun"
        )
    answer = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    return parse_version(program, answer.stdout)


def _which(program: str) -> Optional[str]:
    return shutil.which(program)


def parse_version(program: str, text: str) -> Mpirun:
    found = re.search(r"\((?:Open MPI|OpenRTE)\) (\d+)\.(\d+)", text)
    if found is None:
        raise ClusterError(f"{program} is not Open MPI's: name Open MPI's with --mpirun")
    return Mpirun(program, (int(found[1]), int(found[2])))


def ranks_per_node(
    cluster: Cluster, nodes: Optional[int], ppn: Optional[int], layout: Optional[list[int]]
) -> list[int]:
    """The layout that --nodes, --ppn and --layout ask for, checked against the cluster's size."""
    available = len(cluster.nodes)
    if layout is None:
        layout = [ppn or 1] * (nodes or available)
    elif nodes is not None or ppn is not None:
        raise ClusterError("--layout says it all: give it without --nodes and --ppn")
    if len(layout) > available:
        raise ClusterError(
            f"{len(layout)} nodes wanted, cluster {cluster.name} has {available}:"
            " use fewer, or take it down and up again with more"
        )
    return layout


def default_binding(cluster: Cluster) -> str:
    """Emulated cores are there to be bound to; real ones are shared by all nodes."""
    return "core" if cluster.spec.machine else "none"


def check_cores(nodes: list[Host], job: Job) -> None:
    """Refuses more ranks than emulated cores, which mpirun would do in less clear words."""
    for node, ranks in zip(nodes, job.layout):
        if job.bind == "core" and node.cores is not None and ranks > node.cores:
            raise ClusterError(
                f"{ranks} ranks on {node.name}, which has {node.cores} emulated cores:"
                " use fewer ranks or --bind none"
            )


def command(mpirun: Mpirun, job: Job) -> list[str]:
    """What starts the job, all of it in mpirun's session.

    A daemon that leaves the session makes a scheduling group of its own (autogroup). Where ranks of
    several groups yield, Linux 6.18 leaves others out for seconds: 3 nodes of 8 ranks on 2 cores took
    7 to 30 s for what takes 3.5 s within one session.
    """
    hosts = ",".join(f"n{i}:{ranks}" for i, ranks in enumerate(job.layout) if ranks)
    map_by = job.map_by or ("core" if job.bind == "core" else "slot")
    line = [mpirun.program, "--leave-session-attached", "--host", hosts, "-np", str(sum(job.layout))]
    line += ["--map-by", map_by, "--bind-to", job.bind]
    for key, value in job.mca:
        line += ["--mca", key, value]
    for variable in job.variables:
        line += ["-x", variable]
    return line + job.program


def environment(
    mpirun: Mpirun, cluster: Cluster, job_id: str, users: Mapping[str, str]
) -> dict[str, str]:
    """The user's variables, our defaults for those not set, and what must be ours."""
    launcher = _LAUNCHER_PRRTE if mpirun.uses_prrte else _LAUNCHER_ORTE
    shared_memory = "sm" if mpirun.uses_prrte else "vader"
    defaults = {**_COMMON, **launcher, "OMPI_MCA_btl": f"self,{shared_memory},tcp"}
    return {**defaults, **host_environment(cluster, users), JOB_VARIABLE: job_id}


def host_environment(cluster: Cluster, users: Mapping[str, str]) -> dict[str, str]:
    """For any program on a host: its own temporary folder, and where node-agent finds the nodes."""
    return {
        **users,
        "TMPDIR": str(cluster.directory / "tmp"),
        "PWR_CLUSTER_STATE": str(cluster.directory),
    }
