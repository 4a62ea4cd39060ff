# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Bringing a cluster up, from an empty state directory to the word that lets it stay."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from bench.testbed.cluster import emulation, keeper, spec as specs
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.spec import Spec
from bench.testbed.cluster.state import Cluster, Host, Identity, Store

SET_UP_TIMEOUT_S = 120.0  # 250 nodes take a few seconds
_PROGRESS_INTERVAL_S = 5.0


class Progress:
    """A line on stderr for every 5 s that something takes."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._next = self._begin + _PROGRESS_INTERVAL_S

    def tell(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            print(f"cluster: {text} after {now - self._begin:.0f} s", file=sys.stderr, flush=True)
            self._next = now + _PROGRESS_INTERVAL_S


def bring_up(store: Store, name: str, spec: Spec, attach: Path) -> Cluster:
    """Makes a cluster; with the store locked and no live cluster of that name."""
    store.end(name)  # what a set-up that was killed a moment ago has not yet tidied
    directory = store.directory(name)
    directory.mkdir(mode=0o700)
    progress = Progress()
    with _abandoned_on_error(keeper.start(spec, directory), store, name) as newborn:
        pids = newborn.wait_ready(
            spec,
            SET_UP_TIMEOUT_S,
            lambda up: progress.tell(f"{up} of {spec.nodes} nodes up"),
        )
        cluster = _describe(name, spec, directory, newborn.keeper_pid, pids)
        if spec.machine is not None:
            cluster = emulation.attach_all(cluster, attach, progress.tell)
        store.save(cluster)
        newborn.keep()
    return cluster


@contextlib.contextmanager
def _abandoned_on_error(
    newborn: keeper.Newborn, store: Store, name: str
) -> Iterator[keeper.Newborn]:
    try:
        yield newborn
    except BaseException:
        newborn.abandon()
        store.end(name)
        raise


def _describe(
    name: str, spec: Spec, directory: Path, keeper_pid: int, pids: dict[str, int]
) -> Cluster:
    identity: Optional[Identity] = Identity.of(keeper_pid)
    if identity is None:
        raise ClusterError("the cluster's processes ended during set-up")
    hosts = [
        Host(host, specs.address(index), pids[host], str(directory / "nodes" / host))
        for index, host in enumerate(spec.host_names())
    ]
    return Cluster(name, spec, directory, identity, pids[keeper.INIT], hosts)
