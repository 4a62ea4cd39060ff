# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The same as an ordinary user, in a user namespace; started by root, the tests give root up."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from pathlib import Path

import pytest

from bench.testbed.cluster.tests.support import PROGRAM, Commands, built, needs_mpirun

UID = 54321  # need not be in the user database
GIVE_UP_ROOT = [
    "setpriv",
    f"--reuid={UID}",
    f"--regid={UID}",
    "--clear-groups",
    "--inh-caps=-all",
    "--bounding-set=-all",
]


class UsersCommands(Commands):
    """The cluster program as an ordinary user."""

    def line(self, command: str, *words: str) -> list[str]:
        return as_user(super().line(command, *words))


def as_user(command: list[str]) -> list[str]:
    return command if os.geteuid() else [*GIVE_UP_ROOT, *command]


def user_can_start(program: Path) -> bool:
    return subprocess.run(as_user(["test", "-x", str(program)]), check=False).returncode == 0


@pytest.fixture(name="users")
def _users(cluster: Commands) -> UsersCommands:
    users = UsersCommands(cluster.base)
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("no setpriv to give root up with (util-linux)")
        os.chown(cluster.base.parent, UID, UID)
    if not user_can_start(PROGRAM):
        pytest.skip(f"other users cannot read {PROGRAM}")
    checked = users.call("check", status=None).stdout.splitlines()
    if checked[0].split()[1:] != ["ok"]:
        pytest.skip(f"no clusters for ordinary users here: {checked[0]}")
    return users


def test_up_exec_status_down(users: UsersCommands) -> None:
    users.call("up", "3", "--rate-mbit", "500")
    assert users.out("exec", "--all", "--", "hostname") == "n0: n0\nn1: n1\nn2: n2\n"
    assert "tbf" in users.out("exec", "n0", "--", "tc", "qdisc", "show", "dev", "eth0")
    assert users.status()["up"]
    users.call("down")
    users.assert_nothing_left()


@needs_mpirun()
def test_run_and_time_out(users: UsersCommands) -> None:
    users.call("up", "2")
    ring = built("tests/ring")
    if not user_can_start(ring):
        pytest.skip(f"other users cannot read {ring}")
    assert users.out("run", "--layout", "2,1", "--", str(ring)) == "ranks 3; n0:2 n1:1\n"
    users.call("run", "--timeout", "2", "--", "sleep", "1000", status=124)
    users.call("down")
    users.assert_nothing_left()


def test_killed_node(users: UsersCommands) -> None:
    users.call("up", "2")
    os.kill(users.status()["nodes"][0]["pid"], 9)
    users.assert_nothing_left()


def test_killed_keeper(users: UsersCommands) -> None:
    users.call("up", "2")
    os.kill(users.status()["keeper"]["pid"], 9)
    users.call("status", status=1)
    users.assert_nothing_left()


def test_what_the_user_may_not_open_is_named(users: UsersCommands) -> None:
    if os.access("/dev/fuse", os.W_OK) and os.geteuid():
        pytest.skip("this user may open /dev/fuse")
    if os.stat("/dev/fuse").st_mode & 0o006:
        pytest.skip("every user may open /dev/fuse here")
    said = users.call("up", "2", "--machine", "/etc/hosts", status=1).stderr
    assert "chmod 0666 /dev/fuse" in said
    users.assert_nothing_left()
