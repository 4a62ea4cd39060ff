# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The state directory: liveness, locking, what is removed when."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from bench.testbed.cluster.errors import ClusterError
from bench.testbed.cluster.spec import Spec
from bench.testbed.cluster.state import Cluster, Host, Identity, Store, read_keeper, runtime_base


def ended_process() -> Identity:
    process = subprocess.Popen(["sleep", "60"])
    identity = Identity.of(process.pid)
    process.kill()
    process.wait()
    assert identity is not None
    return identity


def a_cluster(store: Store, keeper: Identity, name: str = "some") -> Cluster:
    directory = store.directory(name)
    directory.mkdir(parents=True)
    (directory / "keeper").write_text(f"{keeper.pid} {keeper.start_time}\n")
    hosts = [Host("head", "10.77.0.1", 11, "/s/head"), Host("n0", "10.77.0.2", 12, "/s/n0")]
    return Cluster(name, Spec(1), directory, keeper, 10, hosts)


@pytest.fixture(name="me")
def _me() -> Identity:
    identity = Identity.of(os.getpid())
    assert identity is not None
    return identity


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Store:
    base = tmp_path / "base"
    base.mkdir(mode=0o700)
    return Store(base)


def test_this_process_lives(me: Identity) -> None:
    assert me.alive()


def test_an_ended_process_does_not() -> None:
    assert not ended_process().alive()


def test_a_reused_pid_is_another_process(me: Identity) -> None:
    assert not Identity(me.pid, me.start_time - 1).alive()


def test_a_zombie_is_dead() -> None:
    process = subprocess.Popen(["sleep", "60"])
    identity = Identity.of(process.pid)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert identity is not None and not identity.alive()
    process.wait()


def test_a_process_with_an_odd_name(tmp_path: Path) -> None:
    program = tmp_path / "a) R 1 (b"
    program.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(program), "60"])
    try:
        identity = Identity.of(process.pid)
        assert identity is not None and identity.start_time > 1
    finally:
        process.kill()
        process.wait()


def test_saved_and_loaded(store: Store, me: Identity) -> None:
    cluster = a_cluster(store, me)
    assert store.load("some") is None  # incomplete
    store.save(cluster)
    assert store.load("some") == cluster


def test_a_cluster_without_its_keeper_is_none(store: Store) -> None:
    store.save(a_cluster(store, ended_process()))
    assert store.load("some") is None


def test_damaged_document_is_named(store: Store, me: Identity) -> None:
    cluster = a_cluster(store, me)
    (cluster.directory / "cluster.json").write_text("{")
    with pytest.raises(ClusterError, match="cluster.json"):
        store.load("some")


def test_unknown_host_is_an_error_that_names_the_known(store: Store, me: Identity) -> None:
    with pytest.raises(ClusterError, match="no node 'n7': it has head, n0"):
        a_cluster(store, me).host("n7")


def test_sweep_removes_what_the_dead_left_and_nothing_else(store: Store, me: Identity) -> None:
    dead = a_cluster(store, ended_process(), "dead")
    live = a_cluster(store, me, "live")
    with store.locked():
        assert store.sweep() == ["dead"]
    assert not dead.directory.exists()
    assert live.directory.exists()


def test_end_sends_the_keeper_away(store: Store) -> None:
    process = subprocess.Popen(["sleep", "60"])
    identity = Identity.of(process.pid)
    assert identity is not None
    cluster = a_cluster(store, identity)
    with store.locked():
        assert store.end("some")
        assert not store.end("some")
    assert process.wait() == -15
    assert not cluster.directory.exists()


def test_the_last_cluster_takes_the_base_along(tmp_path: Path) -> None:
    store = Store(tmp_path / "base")
    with store.locked():
        assert store.base.is_dir()
    assert not store.base.exists()


def test_lock_excludes(store: Store) -> None:
    with store.locked():
        descriptor = os.open(store.base, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)


def test_a_base_open_to_others_is_refused(store: Store) -> None:
    store.base.chmod(0o755)
    with pytest.raises(ClusterError, match="not yours alone"):
        with store.locked():
            pass


def test_no_keeper_file(tmp_path: Path) -> None:
    assert read_keeper(tmp_path) is None


def test_runtime_base(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    assert runtime_base(1000, tmp_path) == tmp_path / "tmp/poweraware-cluster-1000"
    (tmp_path / "run/user/1000").mkdir(parents=True)
    assert runtime_base(1000, tmp_path) == tmp_path / "run/user/1000/poweraware-cluster-1000"
    assert runtime_base(0, tmp_path) == tmp_path / "run/poweraware-cluster-0"
