# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What this machine lacks for a cluster: one line each, with the remedy.

Files are looked up below a root that tests can choose.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Optional

from bench.testbed.cluster import emulation, namespaces, network, syscalls
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.launch import find_mpirun
from bench.testbed.cluster.spec import Spec

_TOOLS = {
    "ip": "install iproute2 (Fedora, RHEL: iproute)",
    "tc": "install iproute2 (Fedora, RHEL: iproute-tc), or leave --rate-mbit out",
    "nsenter": "install util-linux",
}


@dataclasses.dataclass(frozen=True)
class Machine:
    """What the checks ask; tests replace parts of it."""

    root: Path = Path("/")
    find_tool: Callable[[str], Optional[str]] = shutil.which
    privileged: Callable[[], bool] = namespaces.privileged
    try_namespaces: Callable[[bool], Optional[str]] = lambda privileged: _refusal(privileged)

    def setting(self, name: str) -> Optional[int]:
        """A number below /proc/sys; None where the kernel does not have it."""
        try:
            return int((self.root / "proc/sys" / name).read_text())
        except (OSError, ValueError):
            return None


def missing(spec: Spec, machine: Machine = Machine()) -> list[str]:
    """What stands in the way of this cluster; empty when nothing does."""
    tools = ["ip", "nsenter"]
    if spec.rate_mbit is not None and spec.latency_us is None:
        tools.append("tc")
    found = [line for tool in tools for line in _tool(machine, tool)]
    found += _namespaces(machine)
    if not (machine.root / "etc/hosts").exists():
        found.append("/etc/hosts is not there, so nodes cannot have names: touch it as root")
    if spec.latency_us is not None:
        found += _device(machine, "dev/net/tun", "a latency")
        found += _raised_by(network.find_switch)
    if spec.machine is not None:
        found += _device(machine, "dev/fuse", "an emulated machine")
    return found


def missing_for(purpose: str, machine: Machine = Machine()) -> list[str]:
    """The same for one of the purposes `cluster check` lists."""
    if purpose == "run":
        return _raised_by(lambda: find_mpirun(None))
    spec = {
        "up": Spec(2),
        "up --rate-mbit": Spec(2, rate_mbit=1000),
        "up --latency-us": Spec(2, latency_us=50),
        "up --machine": Spec(2, machine="any"),
    }[purpose]
    found = missing(spec, machine)
    if purpose == "up --machine" and not emulation.ATTACH.is_file():
        found.append(f"{emulation.ATTACH} is not there: this copy of the sources is incomplete")
    return found


PURPOSES = ["up", "up --rate-mbit", "up --latency-us", "up --machine", "run"]


def _tool(machine: Machine, name: str) -> list[str]:
    if machine.find_tool(name) is not None:
        return []
    return [f"'{name}' is not installed: {_TOOLS[name]}"]


def _device(machine: Machine, path: str, purpose: str) -> list[str]:
    device = machine.root / path
    if not device.exists():
        module = Path(path).name
        return [f"/{path} is not there, {purpose} needs it: modprobe {module} as root"]
    if not os.access(device, os.R_OK | os.W_OK):
        return [f"/{path} is not yours to use, {purpose} needs it: chmod 0666 /{path} as root"]
    return []


def _namespaces(machine: Machine) -> list[str]:
    """First what the kernel's settings forbid, which has a known remedy, then what a try shows."""
    if not hasattr(os, "pidfd_open"):
        return ["this Python has no pidfd_open: use Python 3.9 or later"]
    privileged = machine.privileged()
    if not privileged:
        forbidden = _forbidden_user_namespaces(machine)
        if forbidden:
            return forbidden
    refusal = machine.try_namespaces(privileged)
    if refusal is None:
        return []
    if refusal == f"mount /: {os.strerror(errno.EINVAL)}":
        return [
            "/ is a chroot that is no mount point, so mounts cannot be kept from others:"
            " mount --bind the folder onto itself before chroot"
        ]
    if refusal.startswith("mount /proc"):
        return [
            f"{refusal}: parts of /proc are covered, as in a container: start it with"
            " --security-opt systempaths=unconfined (docker, podman)"
        ]
    return [
        f"{refusal}: no namespaces to be had: in a container start it with --privileged, or with"
        " --cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined"
    ]


def _forbidden_user_namespaces(machine: Machine) -> list[str]:
    if machine.setting("user/max_user_namespaces") == 0:
        return [
            "user namespaces are switched off: sysctl -w user.max_user_namespaces=10000 as root,"
            " or run cluster as root"
        ]
    if machine.setting("kernel/unprivileged_userns_clone") == 0:
        return [
            "user namespaces are for root only: sysctl -w kernel.unprivileged_userns_clone=1"
            " as root, or run cluster as root"
        ]
    if machine.setting("kernel/apparmor_restrict_unprivileged_userns") == 1:
        return [
            "AppArmor gives no rights in user namespaces (Ubuntu 23.10 and later): sysctl -w"
            " kernel.apparmor_restrict_unprivileged_userns=0 as root, or run cluster as root"
        ]
    return []


def _refusal(privileged: bool) -> Optional[str]:
    """Makes a cluster's kinds of namespaces in a child; the kernel's refusal, if it refuses."""
    reader, writer = os.pipe()

    def report(body: Callable[[], object]) -> None:
        try:
            body()
        except OSError as error:
            os.write(writer, (error.strerror or str(error)).encode())

    def make() -> None:
        if not privileged:
            namespaces.new_user_namespace()
        syscalls.unshare(namespaces.HOST_FLAGS | syscalls.CLONE_NEWPID)
        os.waitpid(namespaces.forked(lambda: report(furnish)), 0)

    def furnish() -> None:
        syscalls.mount_private()
        syscalls.mount_proc()

    child = namespaces.forked(lambda: report(make))
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text or None


def _raised_by(action: Callable[[], object]) -> list[str]:
    try:
        action()
    except ClusterError as error:
        return [str(error)]
    return []
