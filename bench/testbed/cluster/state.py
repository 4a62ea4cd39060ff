# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The state directory: where a cluster's facts lie, who may change them, whether it still lives.

    <runtime dir>/poweraware-cluster-<uid>/   locked (flock) while a command changes something
        <cluster>/
            keeper            PID and start time of the process that everything hangs on
            cluster.json      written last: its presence says that the cluster is complete
            hosts, resolv.conf, log, tmp/, switch (the latency switch's statistics)
            nodes/<node>/pid  the node's init as seen from the head (node-agent reads it)
            nodes/<node>/emulator/

A cluster is alive when its keeper is: same PID, same start time, not a zombie. What a killed keeper
leaves here is swept by the next command that looks.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from bench.testbed.cluster import namespaces
from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.spec import Spec

END_TIMEOUT_S = 20.0  # for a keeper to end after SIGTERM; milliseconds in practice


@dataclasses.dataclass(frozen=True)
class Identity:
    """A process, beyond the reuse of its PID."""

    pid: int
    start_time: int  # clock ticks since boot

    @staticmethod
    def of(pid: int) -> Optional[Identity]:
        """None when there is no such process, or only its zombie."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return None
        fields = text.rpartition(")")[2].split()  # the name before may hold anything
        return None if fields[0] in "ZX" else Identity(pid, int(fields[19]))

    def alive(self) -> bool:
        return Identity.of(self.pid) == self

    def ends_within(self, timeout_s: float) -> bool:
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            return not self.alive() or namespaces.has_ended(descriptor, timeout_s)
        finally:
            os.close(descriptor)


@dataclasses.dataclass(frozen=True)
class Host:
    """The head or a node, as a running cluster has it."""

    name: str
    address: str
    pid: int  # of its init (of its holder: the head), seen from outside the cluster
    state: str  # its folder in the state directory
    packages: Optional[int] = None  # emulated; None: the machine's own hardware
    cores: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A complete cluster, as cluster.json tells it."""

    name: str
    spec: Spec
    directory: Path
    keeper: Identity
    init_pid: int
    hosts: list[Host]  # the head first

    @property
    def head(self) -> Host:
        return self.hosts[0]

    @property
    def nodes(self) -> list[Host]:
        return self.hosts[1:]

    def host(self, name: str) -> Host:
        for host in self.hosts:
            if host.name == name:
                return host
        known = ", ".join(host.name for host in self.hosts)
        raise ClusterError(f"cluster {self.name} has no node '{name}': it has {known}")

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "up": True,
            "state": str(self.directory),
            "spec": self.spec.to_json(),
            "link": self.spec.link(),
            "machine": self.spec.machine,
            "keeper": dataclasses.asdict(self.keeper),
            "init_pid": self.init_pid,
            "head": dataclasses.asdict(self.head),
            "nodes": [dataclasses.asdict(node) for node in self.nodes],
        }

    @staticmethod
    def from_json(document: dict[str, Any]) -> Cluster:
        return Cluster(
            name=document["name"],
            spec=Spec(**document["spec"]),
            directory=Path(document["state"]),
            keeper=Identity(**document["keeper"]),
            init_pid=document["init_pid"],
            hosts=[Host(**host) for host in [document["head"], *document["nodes"]]],
        )


class Store:
    """All clusters of one user."""

    def __init__(self, base: Path):
        self.base = base

    def directory(self, name: str) -> Path:
        return self.base / name

    def exists(self, name: str) -> bool:
        """Also while it is being set up or taken down."""
        return self.directory(name).exists()

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Makes the base directory and excludes every other command that changes something."""
        while True:
            descriptor = _open_private(self.base)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # It may have been removed, and made anew by others, while this waited.
            if _same_file(descriptor, self.base):
                break
            os.close(descriptor)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                self.base.rmdir()  # only if empty
            os.close(descriptor)

    def names(self) -> list[str]:
        try:
            return sorted(path.name for path in self.base.iterdir() if path.is_dir())
        except FileNotFoundError:
            return []

    def load(self, name: str) -> Optional[Cluster]:
        """The cluster if it is complete and alive."""
        try:
            document = json.loads((self.directory(name) / "cluster.json").read_text())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise ClusterError(f"{self.directory(name)}/cluster.json: {error}") from error
        cluster = Cluster.from_json(document)
        return cluster if cluster.keeper.alive() else None

    def save(self, cluster: Cluster) -> None:
        target = cluster.directory / "cluster.json"
        draft = target.with_suffix(".draft")
        draft.write_text(json.dumps(cluster.to_json(), indent=2) + "\n")
        draft.replace(target)

    def end(self, name: str) -> bool:
        """Ends a cluster, complete or not, and removes what is left of it; with the lock held.

        Returns whether there was anything.
        """
        directory = self.directory(name)
        if not directory.exists():
            return False
        keeper = read_keeper(directory)
        if keeper is not None and keeper.alive():
            _end_process(keeper)
        remove_tree(directory)
        return True

    def sweep(self) -> list[str]:
        """Removes what dead keepers left, with the lock held; returns the clusters' names."""
        swept = []
        for name in self.names():
            keeper = read_keeper(self.directory(name))
            if keeper is None or not keeper.alive():
                remove_tree(self.directory(name))
                swept.append(name)
        return swept

    def sweep_if_stale(self) -> None:
        """The same for commands that change nothing; they wait for the lock only if need be."""
        keepers = [read_keeper(self.directory(name)) for name in self.names()]
        if any(keeper is not None and not keeper.alive() for keeper in keepers):
            with self.locked():
                self.sweep()


def runtime_base(uid: int, root: Path = Path("/")) -> Path:
    """Where this user's clusters lie; the same in every shell, whatever its environment says."""
    candidates = [root / f"run/user/{uid}"] if uid else [root / "run"]
    for candidate in candidates:
        if candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK):
            return candidate / f"poweraware-cluster-{uid}"
    return root / f"tmp/poweraware-cluster-{uid}"


def write_keeper(directory: Path) -> None:
    """The calling process is the keeper from now on."""
    me = Identity.of(os.getpid())
    assert me is not None
    draft = directory / "keeper.draft"
    draft.write_text(f"{me.pid} {me.start_time}\n")
    draft.replace(directory / "keeper")


def read_keeper(directory: Path) -> Optional[Identity]:
    try:
        pid, start_time = (directory / "keeper").read_text().split()
    except FileNotFoundError:
        return None
    return Identity(int(pid), int(start_time))


def remove_tree(directory: Path) -> None:
    """Removes a state directory; what others remove at the same time is no error."""
    failures: list[str] = []
    for _ in range(3):  # a file made meanwhile by a process that was about to end
        failures.clear()
        shutil.rmtree(directory, onerror=lambda _call, path, info: failures.append(f"{info[1]}"))
        if not directory.exists():
            return
    raise ClusterError(f"cannot remove {directory}: {failures[0] if failures else 'not empty'}")


def _end_process(process: Identity) -> None:
    """SIGTERM, then SIGKILL, which loses nothing but the keeper's own tidying."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.alive():
            os.kill(process.pid, number)
        if process.ends_within(END_TIMEOUT_S):
            return
    raise ClusterError(f"process {process.pid} does not end, not even by SIGKILL")


def _open_private(path: Path) -> int:
    """Makes the directory if need be; refuses one that another user may have prepared."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:  # removed between the two calls by another command
        return _open_private(path)
    facts = os.fstat(descriptor)
    if facts.st_uid != os.geteuid() or stat.S_IMODE(facts.st_mode) & 0o077:
        os.close(descriptor)
        raise ClusterError(f"{path} is not yours alone: remove it, or make it yours with mode 0700")
    return descriptor


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
