# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Making namespaces and starting programs inside those of another process."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn, Optional, Union

from bench.testbed.cluster import syscalls
from bench.testbed.cluster.errors import ClusterError

# What every host of a cluster has of its own; nodes have a PID namespace besides.
HOST_FLAGS = (
    syscalls.CLONE_NEWNS | syscalls.CLONE_NEWNET | syscalls.CLONE_NEWUTS | syscalls.CLONE_NEWIPC
)

# A program enters these after its fork; user and PID namespaces come first and are entered by its
# parent (see spawn).
_OWN_KINDS = {
    "ipc": syscalls.CLONE_NEWIPC,
    "uts": syscalls.CLONE_NEWUTS,
    "net": syscalls.CLONE_NEWNET,
    "mnt": syscalls.CLONE_NEWNS,
}

_CAP_NET_ADMIN = 12
_CAP_SYS_CHROOT = 18
_CAP_SYS_ADMIN = 21

Stream = Union[None, int, IO[Any]]


def privileged(proc: Path = Path("/proc")) -> bool:
    """Whether namespaces can be made without a user namespace around them."""
    for line in (proc / "self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            effective = int(line.split()[1], 16)
            needed = (_CAP_NET_ADMIN, _CAP_SYS_CHROOT, _CAP_SYS_ADMIN)
            return all(effective >> capability & 1 for capability in needed)
    return False


def new_user_namespace() -> None:
    """Moves the caller to a user namespace of its own, in which it is root."""
    uid, gid = os.geteuid(), os.getegid()
    syscalls.unshare(syscalls.CLONE_NEWUSER)
    # The kernel lets an ordinary user map a group only once setgroups() is given up.
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def fork_into(flags: int, body: Callable[[], None]) -> int:
    """Forks a process into new namespaces, which exist on return, and has it run body and end.

    Returns its PID as the caller sees it. With CLONE_NEWPID it is that namespace's PID 1. It is a
    child of the caller's own init: the process between, which made the namespaces, has ended.
    """
    reader, writer = os.pipe()

    def live() -> None:
        os.close(writer)
        body()

    def make() -> None:
        os.close(reader)
        syscalls.unshare(flags)
        os.write(writer, str(forked(live)).encode())

    middle = forked(make)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    os.waitpid(middle, 0)
    if not text:
        raise OSError("new namespaces refused: the log in the state directory says why")
    return int(text)


def _live(body: Callable[[], None]) -> NoReturn:
    """Runs body and ends the process, whatever happens there; errors go to the log."""
    status = 1
    try:
        body()
        status = 0
    except Exception as error:  # pylint: disable=broad-except
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(status)


def forked(body: Callable[[], None]) -> int:
    """Forks a process that runs body and ends; returns its PID."""
    pid = os.fork()
    if pid == 0:
        _live(body)
    return pid


def spawn(
    pid: int,
    command: Sequence[str],
    *,
    environment: Optional[Mapping[str, str]] = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> subprocess.Popen[str]:
    """Starts a program in all namespaces of process pid; it dies with its parent, the caller.

    The caller itself moves to pid's user namespace, for good, and has its later children born in
    pid's PID namespace: the kernel offers nothing narrower.
    """
    stack = contextlib.ExitStack()
    try:
        return subprocess.Popen(
            command,
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=True,
            preexec_fn=_entering(pid, stack),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ClusterError(f"cannot start {command[0]}: {error}") from error
    finally:
        stack.close()


def _entering(pid: int, stack: contextlib.ExitStack) -> Callable[[], None]:
    """Prepares for entering pid's namespaces; returns what a forked child has yet to do."""
    _join(pid, "user", syscalls.CLONE_NEWUSER)
    _join(pid, "pid", syscalls.CLONE_NEWPID)
    descriptors = {}
    for name, kind in _OWN_KINDS.items():
        descriptors[kind] = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
        stack.callback(os.close, descriptors[kind])
    parent = os.pidfd_open(os.getpid())
    stack.callback(os.close, parent)
    root = os.open(f"/proc/{pid}/root", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, root)
    folder = os.getcwd()

    def enter() -> None:
        for kind, descriptor in descriptors.items():
            syscalls.setns(descriptor, kind)
        # Entering a mount namespace leads to its outermost root, out of any chroot.
        os.fchdir(root)
        os.chroot(".")
        _change_folder(folder)
        tie_to_parent(parent, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    return enter


def run(
    command: Sequence[str], text: str = "", enter: Optional[Callable[[], None]] = None
) -> None:
    """Runs a program to its end with text as its input; CalledProcessError has its output."""
    subprocess.run(
        command,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        preexec_fn=enter,
    )


def run_in_network_of(pid: int, command: Sequence[str], text: str = "") -> None:
    """The same in the network namespace of pid."""
    descriptor = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        run(command, text, lambda: syscalls.setns(descriptor, syscalls.CLONE_NEWNET))
    finally:
        os.close(descriptor)


def tie_to_parent(parent: int, signal_number: int) -> None:
    """Makes the calling process die with its parent, of which it holds a pidfd from before."""
    syscalls.die_with_parent(signal_number)
    if has_ended(parent):
        os._exit(1)


def has_ended(pidfd: int, timeout_s: float = 0) -> bool:
    """Whether the process of the pidfd ends within the time-out."""
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(timeout_s * 1000))


def _join(pid: int, name: str, kind: int) -> None:
    """Joins a namespace unless the caller is in it already, which the kernel refuses for "user"."""
    path = f"/proc/{pid}/ns/{name}"
    if os.stat(path).st_ino == os.stat(f"/proc/self/ns/{name}").st_ino:
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        syscalls.setns(descriptor, kind)
    finally:
        os.close(descriptor)


def _change_folder(folder: str) -> None:
    """Back to the folder that entering a mount namespace left, where it is visible there."""
    try:
        os.chdir(folder)
    except OSError:
        os.chdir("/")
