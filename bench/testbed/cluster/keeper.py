# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The process tree of a cluster, in which every process dies with the one above it.

    keeper           in the caller's PID namespace; removes the state directory at the end
     `- init         PID 1 of the cluster's PID namespace; has the bridge; PDEATHSIG from the keeper
         |- head     network, UTS, IPC and mount namespace; mpirun runs here, so that it sees
         |           every node's processes and node-agent can enter their namespaces
         |- n0       the same and a PID namespace, of which it is PID 1
         |- n1 ...
         `- latency-switch, if a latency is asked for

Start-up, over one socket pair between the command and everything below:
  1. every host reports "up NAME"; the kernel adds the sender's PID as the command sees it;
  2. init connects the hosts and reports "ready"; whoever fails reports "error WHY";
  3. the command completes its part (emulators, cluster.json) and sends "keep".
Until the keeper has read "keep" it ends the cluster as soon as the command's end of the pair
closes: a command killed half-way leaves nothing. After it the keeper ends the cluster when it gets
SIGTERM, when its state directory goes away or when init ends; init ends when any of its children
does, because a cluster that lost a node is not the one that was asked for. Killed itself, the keeper
takes init along, init's PID namespace takes everything else, and the namespaces go with their
processes.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from bench.common.countdown import LOOK_S, Countdown
from bench.testbed.cluster import namespaces, network, state, syscalls
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.spec import HEAD, Spec, hosts_file

INIT = "init"

_KEEP = b"keep"
_MESSAGE_BYTES = 4096
_DIRECTORY_CHECK_S = 2.0
_UCRED = struct.Struct("iII")  # struct ucred: pid, uid, gid


class Newborn:
    """A cluster being set up, as the command that asked for it sees it."""

    def __init__(self, keeper_pid: int, channel: socket.socket):
        self._keeper_pid = keeper_pid
        self._channel = channel

    def wait_ready(
        self, spec: Spec, timeout_s: float, progress: Callable[[int], None]
    ) -> dict[str, int]:
        """Waits for all hosts; returns their PIDs and that of init.

        progress is called with the number of hosts that are up, at least once a second.
        """
        pids: dict[str, int] = {}
        expected = len(spec.host_names()) + 1
        countdown = Countdown(timeout_s)
        ready = False
        while not ready or len(pids) < expected:
            progress(max(0, len(pids) - 2))
            if countdown.left() == 0:
                raise ClusterError(f"set-up not finished after {timeout_s:g} s")
            if not select.select([self._channel], [], [], LOOK_S)[0]:
                continue
            word, rest, pid = self._receive()
            if word == "up":
                pids[rest] = pid
            elif word == "ready":
                ready = True
            else:
                raise ClusterError(rest)
        return pids

    def keep(self) -> None:
        """The cluster stays when this command ends."""
        try:
            self._channel.send(_KEEP)
        except OSError as error:
            raise ClusterError("the cluster's processes ended during set-up") from error
        self._channel.close()

    def abandon(self) -> None:
        """Ends what has been set up so far and waits until it is gone."""
        self._channel.close()
        os.waitpid(self._keeper_pid, 0)

    @property
    def keeper_pid(self) -> int:
        return self._keeper_pid

    def _receive(self) -> tuple[str, str, int]:
        space = socket.CMSG_SPACE(_UCRED.size)
        message, control, _flags, _address = self._channel.recvmsg(_MESSAGE_BYTES, space)
        if not message:
            raise ClusterError("the cluster's processes ended during set-up")
        word, _, rest = message.decode(errors="replace").partition(" ")
        sender = 0
        for level, kind, data in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                sender = _UCRED.unpack(data[: _UCRED.size])[0]
        return word, rest, sender


def start(spec: Spec, directory: Path) -> Newborn:
    """Forks the keeper of a new cluster, with an empty state directory made for it."""
    (directory / "hosts").write_text(hosts_file(spec))
    (directory / "resolv.conf").write_text("")
    (directory / "tmp").mkdir()
    for name in spec.host_names():
        (directory / "nodes" / name).mkdir(parents=True)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = namespaces.forked(lambda: _Keeper(spec, directory, theirs).live())
    theirs.close()
    return Newborn(pid, ours)


class _EndAsked(Exception):
    """SIGTERM came."""


class _Keeper:
    def __init__(self, spec: Spec, directory: Path, channel: socket.socket):
        self._spec = spec
        self._directory = directory
        self._channel = channel
        self._init_pid = 0

    def live(self) -> None:
        os.setsid()
        _leave_terminal(self._directory / "log", keep=self._channel.fileno())
        syscalls.set_process_name("pwr-keeper")
        folder = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY)
        signal.signal(signal.SIGTERM, _raise_end_asked)
        try:
            state.write_keeper(self._directory)
            self._make_init()
            self._hold(folder)
        except _EndAsked:
            pass
        except OSError as error:
            _report_error(self._channel, "namespaces", error)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self._end_init()
            if _is_directory(folder, self._directory):
                state.remove_tree(self._directory)
                with contextlib.suppress(OSError):
                    self._directory.parent.rmdir()  # only if it was the last cluster

    def _make_init(self) -> None:
        if not namespaces.privileged():
            namespaces.new_user_namespace()
        me = os.pidfd_open(os.getpid())
        syscalls.unshare(syscalls.CLONE_NEWPID)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        init = _Init(self._spec, self._directory, self._channel)
        self._init_pid = namespaces.forked(lambda: init.live(me))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.close(me)

    def _hold(self, folder: int) -> None:
        """Returns when the cluster has to end."""
        init = os.pidfd_open(self._init_pid)
        waited_for = [init, self._channel.fileno()]
        while _is_directory(folder, self._directory):
            readable = select.select(waited_for, [], [], _DIRECTORY_CHECK_S)[0]
            if init in readable:
                return
            if readable:
                if self._channel.recv(_MESSAGE_BYTES) != _KEEP:
                    return
                waited_for.remove(self._channel.fileno())
                self._channel.close()

    def _end_init(self) -> None:
        """The kernel ends everything in init's PID namespace before init can be waited for."""
        if self._init_pid:
            os.kill(self._init_pid, signal.SIGKILL)
            os.waitpid(self._init_pid, 0)


class _Init:
    """PID 1 of the cluster's PID namespace."""

    def __init__(self, spec: Spec, directory: Path, channel: socket.socket):
        self._spec = spec
        self._directory = directory
        self._channel = channel

    def live(self, keeper: int) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        namespaces.tie_to_parent(keeper, signal.SIGKILL)
        syscalls.set_process_name("pwr-init")
        try:
            children = self._make_hosts()
        except Exception as error:  # pylint: disable=broad-except
            _report_error(self._channel, "set-up", error)
            return
        self._channel.send(b"ready")
        self._channel.close()
        _reap_until_one_of(children)

    def _make_hosts(self) -> set[int]:
        """Makes head, nodes and what joins them; returns the PIDs of those that must not end."""
        syscalls.unshare(namespaces.HOST_FLAGS)
        syscalls.mount_private()
        syscalls.mount_proc()
        network.disable_ipv6()
        self._channel.send(f"up {INIT}".encode())
        pids: dict[str, int] = {}
        for name in self._spec.host_names():
            host = _HostInit(name, self._directory, self._channel)
            own_pids = 0 if name == HEAD else syscalls.CLONE_NEWPID
            pids[name] = namespaces.fork_into(namespaces.HOST_FLAGS | own_pids, host.live)
            (self._directory / "nodes" / name / "pid").write_text(f"{pids[name]}\n")
        switch = network.connect(self._spec, pids, self._directory)
        return {*pids.values(), *switch}


class _HostInit:
    """The first process of the head or of a node."""

    def __init__(self, name: str, directory: Path, channel: socket.socket):
        self._name = name
        self._directory = directory
        self._channel = channel

    def live(self) -> None:
        try:
            self._furnish()
        except OSError as error:
            _report_error(self._channel, self._name, error)
            return
        self._channel.send(f"up {self._name}".encode())
        self._channel.close()
        _reap_until_one_of(set())

    def _furnish(self) -> None:
        syscalls.set_process_name(f"pwr-{self._name}")
        syscalls.sethostname(self._name)
        if self._name != HEAD:
            syscalls.mount_proc()
        network.disable_ipv6()
        syscalls.mount_tmpfs(Path("/dev/shm"))
        syscalls.mount_tmpfs(self._directory / "tmp")
        # Without an address of a name server no look-up can hang: the hosts file has all names.
        for file in ("hosts", "resolv.conf"):
            if Path("/etc", file).exists():
                syscalls.mount_bind(self._directory / file, Path("/etc", file))


def _reap_until_one_of(essential: set[int]) -> None:
    """What PID 1 is for; returns when an essential child has ended, never with none given."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while True:
        with contextlib.suppress(ChildProcessError):
            while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
                if pid in essential:
                    return
        signal.sigwait([signal.SIGCHLD])


def _leave_terminal(log: Path, keep: int) -> None:
    """Standard input from nowhere, output to the log, every other descriptor but one closed."""
    null = os.open(os.devnull, os.O_RDONLY)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, keep)
    os.closerange(keep + 1, 1 << 16)
    os.chdir("/")


def _report_error(channel: socket.socket, where: str, error: Exception) -> None:
    text = f"{where}: {error}"
    os.write(2, f"{text}\n".encode())
    with contextlib.suppress(OSError):  # nobody listens any more
        channel.send(f"error {text}".encode()[:_MESSAGE_BYTES])


def _raise_end_asked(_number: int, _frame: object) -> None:
    raise _EndAsked


def _is_directory(descriptor: int, path: Path) -> bool:
    """Whether the open directory still has this name: another one may have taken its place."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
