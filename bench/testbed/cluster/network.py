# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The network of a cluster: a bridge with shaped links, or a user-space switch that adds latency.

The bridge lies in init's network namespace, one veth pair per host reaching into the host's. Rates
are set by tbf at both ends of each pair. A latency needs the latency-switch: netem would do it in
the kernel, but is missing from many. The switch then has a TAP device in each host's namespace,
does the rates too, and there is no bridge.

All of this is called by init while it sets the cluster up.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Optional

from bench.testbed.cluster import namespaces, spec as specs
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.paths import built
from bench.testbed.cluster.spec import Spec

INTERFACE = "eth0"
SWITCH_STATISTICS = "switch"  # file in the state directory

_BRIDGE = "br0"
_TBF_QUEUE = "200ms"  # how long a frame may wait for its turn before the queue counts as full
_TBF_SMALLEST_BURST = 128 * 1024  # two frames of 64 KB, which the kernel's offload makes
_TBF_BURST_S = 0.001  # at high rates: what may pass between two of tbf's timer ticks


def connect(spec: Spec, pids: dict[str, int], directory: Path) -> set[int]:
    """Joins the hosts; returns the PIDs of processes without which there is no network."""
    essential = set()
    if spec.latency_us is None:
        _make_bridge(pids)
    else:
        essential.add(_start_switch(spec, pids, directory))
    for index, name in enumerate(spec.host_names()):
        _tool(pids[name], ["ip", "-batch", "-"], address_batch(specs.address(index)))
    if spec.rate_mbit is not None and spec.latency_us is None:
        _shape(spec.rate_mbit, pids)
    return essential


def disable_ipv6() -> None:
    """In the caller's network namespace: no router solicitations, no second address to choose."""
    for scope in ("all", "default"):
        with contextlib.suppress(FileNotFoundError):  # a kernel without IPv6
            Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6").write_text("1")


def bridge_batch(pids: dict[str, int]) -> str:
    """Input of ip -batch, for init's namespace."""
    lines = [f"link add {_BRIDGE} type bridge", f"link set {_BRIDGE} up"]
    for name, pid in pids.items():
        lines.append(f"link add {_port(name)} type veth peer name {INTERFACE} netns {pid}")
        lines.append(f"link set {_port(name)} master {_BRIDGE} up")
    return "\n".join(lines) + "\n"


def address_batch(address: str) -> str:
    """Input of ip -batch, for a host's namespace."""
    return (
        "link set lo up\n"
        f"addr add {address}/{specs.PREFIX_LENGTH} dev {INTERFACE}\n"
        f"link set {INTERFACE} up\n"
    )


def shaping_batch(rate_mbit: float, interfaces: list[str]) -> str:
    """Input of tc -batch: the rate of what leaves through each interface."""
    bytes_per_s = rate_mbit * 1e6 / 8
    burst = max(_TBF_SMALLEST_BURST, round(bytes_per_s * _TBF_BURST_S))
    return "".join(
        f"qdisc add dev {interface} root tbf rate {round(rate_mbit * 1e6)}bit"
        f" burst {burst} latency {_TBF_QUEUE}\n"
        for interface in interfaces
    )


def switch_command(spec: Spec, program: Path, pids: dict[str, int], directory: Path) -> list[str]:
    figures = [f"{spec.latency_us:g}", f"{spec.rate_mbit or 0:g}"]
    command = [str(program), *figures, INTERFACE, str(directory / SWITCH_STATISTICS)]
    return command + [str(pid) for pid in pids.values()]


def dropped_frames(directory: Path) -> Optional[int]:
    """What the latency switch had to drop because a queue was full; None without a switch."""
    try:
        lines = (directory / SWITCH_STATISTICS).read_text().splitlines()
    except FileNotFoundError:
        return None
    return sum(int(line.split()[1]) for line in lines[1:])


def find_switch() -> Path:
    return built("bench/testbed/cluster/switch/latency-switch")


def _port(host: str) -> str:
    return f"port-{host}"


def _make_bridge(pids: dict[str, int]) -> None:
    _tool(None, ["ip", "-batch", "-"], bridge_batch(pids))


def _shape(rate_mbit: float, pids: dict[str, int]) -> None:
    ports = [_port(name) for name in pids]
    _tool(None, ["tc", "-batch", "-"], shaping_batch(rate_mbit, ports))
    for pid in pids.values():
        _tool(pid, ["tc", "-batch", "-"], shaping_batch(rate_mbit, [INTERFACE]))


def _start_switch(spec: Spec, pids: dict[str, int], directory: Path) -> int:
    command = switch_command(spec, find_switch(), pids, directory)
    reader, writer = os.pipe()
    # Not a Popen: init, which calls this, waits for all its children alike.
    onto_stdout = [(os.POSIX_SPAWN_DUP2, writer, 1)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=onto_stdout)
    os.close(writer)
    with os.fdopen(reader) as answer:
        if answer.readline() != "ready\n":
            log = (directory / "log").read_text().strip().splitlines()
            raise ClusterError(log[-1] if log else "latency-switch ended at once")
    return pid


def _tool(pid: Optional[int], command: list[str], text: str) -> None:
    """Runs ip or tc in the network namespace of pid, or of the caller."""
    try:
        if pid is None:
            namespaces.run(command, text)
        else:
            namespaces.run_in_network_of(pid, command, text)
    except subprocess.CalledProcessError as error:
        raise ClusterError(f"{' '.join(command)}: {error.output.strip()}") from error
