# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Nothing is left behind when anything of a cluster is killed at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from bench.common.countdown import comes_true
from bench.testbed.cluster.spec import Spec
from bench.testbed.cluster.tests.support import GONE_S, Commands, built, needs, needs_mpirun

pytestmark = needs(Spec(2))


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("victim", ["init", "head", "n0", "n1"])
def test_killed_host_takes_the_cluster_along(cluster: Commands, victim: str) -> None:
    cluster.call("up", "2")
    document = cluster.status()
    pids = {host["name"]: host["pid"] for host in [document["head"], *document["nodes"]]}
    kill({**pids, "init": document["init_pid"]}[victim])
    cluster.assert_nothing_left()


@pytest.mark.parametrize("next_command", [["status"], ["down"], ["up", "2"]])
def test_killed_keeper(cluster: Commands, next_command: list[str]) -> None:
    """Its processes go at once, its state directory with the next command that looks."""
    cluster.call("up", "2")
    kill(cluster.status()["keeper"]["pid"])
    assert comes_true(lambda: not cluster.processes(), GONE_S)
    cluster.call(*next_command, status=None)
    if next_command[0] == "up":
        assert cluster.status()["up"]
        cluster.call("down")
    cluster.assert_nothing_left()


def test_removed_state_directory(cluster: Commands) -> None:
    cluster.call("up", "2")
    subprocess.run(["rm", "-rf", str(cluster.base)], check=True)
    cluster.assert_nothing_left()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_command_ended_at_any_time_during_up(cluster: Commands, number: signal.Signals) -> None:
    """The set-up of 8 nodes, ended sooner or later: either a whole cluster or none at all."""
    for step in range(8):
        up = cluster.start("up", "8", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.04 * step)
        up.send_signal(number)
        up.wait()
        hosts = cluster.call("exec", "--all", "--", "hostname", status=None)
        whole = hosts.returncode == 0 and len(hosts.stdout.splitlines()) == 8
        assert whole or comes_true(lambda: not cluster.processes(), GONE_S)
        cluster.call("down")
        cluster.assert_nothing_left()


@pytest.mark.parametrize("victim", ["command", "keeper"])
def test_killed_while_an_emulator_starts(cluster: Commands, tmp_path: Path, victim: str) -> None:
    """The same at a point that is certain to lie in the middle of the set-up."""
    (tmp_path / "machine").write_text("")
    attach = tmp_path / "attach"
    attach.write_text(f"#!/bin/sh\n: >{tmp_path}/begun\nexec sleep 1000\n")
    attach.chmod(0o755)
    words = ["--machine", str(tmp_path / "machine"), "--attach", str(attach)]
    up = cluster.start("up", "2", *words, stderr=subprocess.DEVNULL)
    if not comes_true((tmp_path / "begun").exists, GONE_S):
        up.kill()
        pytest.skip("emulated machines cannot be tried here")
    assert "being set up" in cluster.out("status", status=1)
    keeper = int((cluster.base / "default/keeper").read_text().split()[0])
    kill(up.pid if victim == "command" else keeper)
    up.wait()
    cluster.assert_nothing_left()


@needs_mpirun()
@pytest.mark.parametrize("victim", ["mpirun", "command", "daemon", "rank"])
def test_killed_during_a_run(cluster: Commands, victim: str) -> None:
    """The job ends on all nodes; the cluster stays, and runs the next job."""
    cluster.call("up", "2")
    before = set(cluster.processes())
    script = "echo started; exec sleep 1000"
    run = cluster.start("run", "--ppn", "2", "--", "sh", "-c", script, stdout=subprocess.PIPE)
    assert run.stdout is not None
    for _ in range(4):
        assert run.stdout.readline() == "started\n"
    if victim == "command":
        kill(run.pid)
    else:
        programs = {
            "mpirun": ("mpirun", "prterun"),  # Open MPI 4.1, and from 5.0 on
            "daemon": ("orted", "prted"),
            "rank": ("sleep",),
        }
        now = cluster.processes()
        kill(next(pid for pid, program in now.items() if program.startswith(programs[victim])))
    assert run.wait() != 0
    run.stdout.close()
    assert comes_true(lambda: set(cluster.processes()) <= before, GONE_S), cluster.processes()
    cluster.call("run", "--ppn", "2", "--", str(built("tests/ring")))
    cluster.call("down")
    cluster.assert_nothing_left()


@needs_mpirun()
def test_down_during_a_run(cluster: Commands) -> None:
    cluster.call("up", "2")
    words = ["--", "sh", "-c", "echo started; exec sleep 1000"]
    run = cluster.start("run", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None and run.stdout.readline() == "started\n"
    cluster.call("down")
    _out, said = run.communicate()
    assert run.returncode != 0 and "went down during the run" in said
    cluster.assert_nothing_left()
