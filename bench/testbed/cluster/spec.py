# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a cluster is asked to be: size, link, machine, and the names that follow from them."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from pathlib import Path
from typing import Any

from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.paths import TOP

SUBNET = "10.77.0.0/16"
PREFIX_LENGTH = 16
MAX_NODES = 250  # the last byte of an address; the head has .1, n0 has .2
HEAD = "head"
MACHINES = TOP / "bench/testbed/emulator/machines"


@dataclasses.dataclass(frozen=True)
class Spec:
    """The shape of a cluster: two clusters of equal spec are interchangeable."""

    nodes: int
    rate_mbit: float | None = None  # of every link and direction; None: as fast as it goes
    latency_us: float | None = None  # one way, node to node; None: none added
    machine: str | None = None  # path of the emulated machine's description
    machine_digest: str | None = None  # of its contents, so that an edited file is another shape

    def node_names(self) -> list[str]:
        return [f"n{i}" for i in range(self.nodes)]

    def host_names(self) -> list[str]:
        """Everything with an address: the head, where mpirun runs, then the nodes."""
        return [HEAD, *self.node_names()]

    def link(self) -> str:
        """The link in words."""
        rate = f"{self.rate_mbit:g} Mbit/s" if self.rate_mbit else "unlimited rate"
        latency = f"{self.latency_us:g} us one way" if self.latency_us else "no added latency"
        return f"{rate}, {latency}"

    def describe(self) -> str:
        machine = Path(self.machine).name if self.machine else "this machine's own hardware"
        nodes = "1 node" if self.nodes == 1 else f"{self.nodes} nodes"
        return f"{nodes}; {self.link()}; {machine}"

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def make(
    nodes: int,
    rate_mbit: float | None = None,
    latency_us: float | None = None,
    machine: Path | None = None,
) -> Spec:
    """Checks the wishes and makes a Spec of them."""
    if not 1 <= nodes <= MAX_NODES:
        raise ClusterError(f"{nodes} nodes: from 1 to {MAX_NODES} are possible")
    if rate_mbit is not None and not 0.1 <= rate_mbit <= 1_000_000:
        raise ClusterError(f"--rate-mbit {rate_mbit:g}: from 0.1 to 1000000 are possible")
    if latency_us is not None and not 0 < latency_us <= 10_000_000:
        raise ClusterError(f"--latency-us {latency_us:g}: more than 0, at most 10000000 (10 s)")
    if machine is None:
        return Spec(nodes, rate_mbit, latency_us)
    named = MACHINES / f"{machine}.machine"
    if not machine.exists() and machine.name == str(machine) and named.exists():
        machine = named
    try:
        digest = hashlib.sha256(machine.read_bytes()).hexdigest()
    except OSError as error:
        raise ClusterError(f"--machine {machine}: {error.strerror}") from error
    return Spec(nodes, rate_mbit, latency_us, str(machine.resolve()), digest)


def address(index: int) -> str:
    """Address of the index-th of Spec.host_names()."""
    return f"10.77.0.{index + 1}"


def hosts_file(spec: Spec) -> str:
    lines = ["127.0.0.1 localhost"]
    lines += [f"{address(i)} {name}" for i, name in enumerate(spec.host_names())]
    return "\n".join(lines) + "\n"


def check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", name):
        raise ClusterError(
            f"cluster name '{name}': use 1 to 32 letters, digits, '-' and '_', not '-' or '_' first"
        )
    return name


def parse_layout(text: str) -> list[int]:
    """'3,2,1' -> [3, 2, 1]: ranks on n0, n1, n2; 0 leaves a node out."""
    try:
        layout = [int(part) for part in text.split(",")]
    except ValueError:
        layout = []
    if not layout or min(layout) < 0 or sum(layout) == 0:
        raise ClusterError(f"--layout {text}: give ranks per node, as in 3,2,1 (0 skips a node)")
    return layout
