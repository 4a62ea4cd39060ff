# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command line: what each command does, in terms of the other modules."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence
from typing import Optional

from bench.testbed.cluster import checks, emulation, job, launch, namespaces, spec as specs
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.lifecycle import bring_up
from bench.testbed.cluster.network import dropped_frames
from bench.testbed.cluster.options import parse
from bench.testbed.cluster.paths import search_administration
from bench.testbed.cluster.state import Cluster, Store, runtime_base

FAILURE = 1

# A cluster that goes down takes mpirun along first and its keeper last.
_KEEPER_END_S = 1.0


def main(arguments: Optional[Sequence[str]] = None) -> int:
    options = parse(sys.argv[1:] if arguments is None else arguments)
    search_administration()
    store = Store(options.base or runtime_base(os.geteuid()))
    commands = {
        "up": _up,
        "run": _run,
        "exec": _exec,
        "status": _status,
        "down": _down,
        "check": _check,
    }
    try:
        return commands[options.command](options, store)
    except ClusterError as error:
        print(f"cluster: {error}", file=sys.stderr)
        return FAILURE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # `cluster status | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _up(options: argparse.Namespace, store: Store) -> int:
    spec = specs.make(options.nodes, options.rate_mbit, options.latency_us, options.machine)
    with store.locked():
        store.sweep()
        there = store.load(options.name)
        if there is not None and there.spec == spec:
            print(f"cluster {options.name} is already up: {spec.describe()}")
            return 0
        if there is not None:
            raise ClusterError(
                f"cluster {options.name} is up with another shape ({there.spec.describe()}):"
                f" take it down first, or choose another --name"
            )
        lacking = checks.missing(spec)
        if lacking:
            raise ClusterError("\ncluster: ".join(lacking))
        cluster = bring_up(store, options.name, spec, options.attach)
    print(f"cluster {options.name} is up: {spec.describe()}")
    if cluster.nodes[0].cores is not None:
        node = cluster.nodes[0]
        print(f"each node: {node.packages} packages, {node.cores} cores (emulated)")
    return 0


def _down(options: argparse.Namespace, store: Store) -> int:
    with store.locked():
        names = store.names() if options.all else [options.name]
        ended = [name for name in names if store.end(name)]
    for name in ended:
        print(f"cluster {name} is down")
    if not ended:
        print("no cluster is up" if options.all else f"cluster {options.name} is not up")
    return 0


def _status(options: argparse.Namespace, store: Store) -> int:
    store.sweep_if_stale()
    names = store.names() if options.all else [options.name]
    clusters = [cluster for cluster in map(store.load, names) if cluster is not None]
    if options.json:
        documents = [_document(cluster) for cluster in clusters]
        nothing = {"name": options.name, "up": False}
        print(json.dumps(documents if options.all else (documents or [nothing])[0], indent=2))
    elif clusters:
        print("\n\n".join(_table(cluster) for cluster in clusters))
    elif options.all:
        print("no cluster is up")
    else:
        word = "being set up, or taken down" if store.exists(options.name) else "not up"
        print(f"cluster {options.name} is {word}")
    return 0 if clusters else FAILURE


def _document(cluster: Cluster) -> dict[str, object]:
    return {**cluster.to_json(), "dropped_frames": dropped_frames(cluster.directory)}


def _table(cluster: Cluster) -> str:
    lines = [f"cluster {cluster.name}: {cluster.spec.describe()}"]
    dropped = dropped_frames(cluster.directory)
    if dropped:
        lines.append(f"the latency switch dropped {dropped} frames (its queues were full)")
    lines.append(f"{'host':<6} {'address':<12} {'pid':>8}  cores")
    for host in cluster.hosts:
        cores = "this machine's"
        if host.cores is not None:
            cores = f"{host.cores} in {host.packages} packages (emulated)"
        lines.append(f"{host.name:<6} {host.address:<12} {host.pid:>8}  {cores}")
    return "\n".join(lines)


def _run(options: argparse.Namespace, store: Store) -> int:
    cluster = _live(store, options.name)
    mpirun = launch.find_mpirun(options.mpirun)
    layout = launch.ranks_per_node(cluster, options.nodes, options.ppn, options.layout)
    asked = launch.Job(
        program=options.program,
        layout=layout,
        bind=options.bind or launch.default_binding(cluster),
        map_by=options.map_by,
        mca=[(key, value) for key, value in options.mca],
        variables=options.env,
    )
    launch.check_cores(cluster.nodes, asked)
    job_id = uuid.uuid4().hex
    job.hold_signals()
    process = namespaces.spawn(
        cluster.head.pid,
        launch.command(mpirun, asked),
        environment=launch.environment(mpirun, cluster, job_id, os.environ),
    )
    status = job.supervise(process, job_id, options.timeout)
    if status == job.TIMEOUT_STATUS and process.returncode != status:
        print(f"cluster: ended after the {options.timeout:g} s of --timeout", file=sys.stderr)
    if process.returncode == -signal.SIGKILL and cluster.keeper.ends_within(_KEEPER_END_S):
        print(f"cluster: {options.name} went down during the run", file=sys.stderr)
    return status


def _exec(options: argparse.Namespace, store: Store) -> int:
    cluster = _live(store, options.name)
    if options.all:
        return _exec_all(cluster, options.program)
    host = cluster.host(options.node)
    environment = launch.host_environment(cluster, os.environ)
    job.hold_signals()
    command = emulation.wrapped(host, options.program)
    process = namespaces.spawn(host.pid, command, environment=environment)
    return job.supervise(process, None, None)


def _exec_all(cluster: Cluster, program: list[str]) -> int:
    """On every node at once; output node by node, each line after the node's name."""
    environment = launch.host_environment(cluster, os.environ)
    started = [
        namespaces.spawn(
            node.pid,
            emulation.wrapped(node, program),
            environment=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for node in cluster.nodes
    ]
    status = 0
    for node, process in zip(cluster.nodes, started):
        for line in process.communicate()[0].splitlines():
            print(f"{node.name}: {line}")
        status = status or process.returncode
    return 128 - status if status < 0 else status


def _check(_options: argparse.Namespace, _store: Store) -> int:
    """Says for each use whether this machine and this user can, and what is missing."""
    status = 0
    for purpose in checks.PURPOSES:
        lacking = checks.missing_for(purpose)
        print(f"{purpose:<16} {'ok' if not lacking else lacking[0]}")
        for line in lacking[1:]:
            print(f"{'':<16} {line}")
        status = FAILURE if lacking else status
    return status


def _live(store: Store, name: str) -> Cluster:
    cluster = store.load(name)
    if cluster is None:
        raise ClusterError(f"cluster {name} is not up: cluster up N --name {name}")
    return cluster
