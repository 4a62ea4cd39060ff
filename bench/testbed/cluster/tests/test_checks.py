# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What is said to be missing, on machines made of files."""

import dataclasses
import os
from pathlib import Path
from typing import Optional

import pytest

from bench.testbed.cluster import checks
from bench.testbed.cluster.paths import search_administration
from bench.testbed.cluster.spec import Spec


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> checks.Machine:
    """A machine that has everything, and an ordinary user on it."""
    for file in ("dev/net/tun", "dev/fuse", "etc/hosts"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("")
    set_to(tmp_path, "user/max_user_namespaces", 96000)
    return checks.Machine(
        root=tmp_path,
        find_tool=lambda name: f"/usr/bin/{name}",
        privileged=lambda: False,
        try_namespaces=lambda _privileged: None,
    )


def set_to(root: Path, name: str, value: int) -> None:
    path = root / "proc/sys" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{value}\n")


def test_nothing_is_missing(machine: checks.Machine) -> None:
    assert checks.missing(Spec(2, rate_mbit=100), machine) == []
    assert checks.missing(Spec(2, machine="m"), machine) == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("user/max_user_namespaces", 0, "sysctl -w user.max_user_namespaces="),
        ("kernel/unprivileged_userns_clone", 0, "sysctl -w kernel.unprivileged_userns_clone=1"),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            1,
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_forbidden_user_namespaces(
    machine: checks.Machine, name: str, value: int, said: str
) -> None:
    set_to(machine.root, name, value)
    (line,) = checks.missing(Spec(2), machine)
    assert said in line
    root = dataclasses.replace(machine, privileged=lambda: True)
    assert checks.missing(Spec(2), root) == []


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ("mount /proc: Operation not permitted", "systempaths=unconfined"),
        ("unshare: Operation not permitted", "--cap-add SYS_ADMIN"),
        ("mount /: Invalid argument", "mount --bind the folder onto itself before chroot"),
    ],
)
def test_refused_namespaces(machine: checks.Machine, refusal: str, said: str) -> None:
    def refuse(_privileged: bool) -> Optional[str]:
        return refusal

    (line,) = checks.missing(Spec(2), dataclasses.replace(machine, try_namespaces=refuse))
    assert said in line


@pytest.mark.parametrize(
    ("tool", "spec"),
    [("ip", Spec(2)), ("nsenter", Spec(2)), ("tc", Spec(2, rate_mbit=100))],
)
def test_missing_tools(machine: checks.Machine, tool: str, spec: Spec) -> None:
    def find(name: str) -> Optional[str]:
        return None if name == tool else name

    (line,) = checks.missing(spec, dataclasses.replace(machine, find_tool=find))
    assert f"'{tool}' is not installed" in line


def test_tc_is_not_needed_without_a_rate(machine: checks.Machine) -> None:
    def find(name: str) -> Optional[str]:
        return None if name == "tc" else name

    assert checks.missing(Spec(2), dataclasses.replace(machine, find_tool=find)) == []


def test_no_fuse(machine: checks.Machine) -> None:
    (machine.root / "dev/fuse").unlink()
    (line,) = checks.missing(Spec(2, machine="m"), machine)
    assert "/dev/fuse is not there" in line and "modprobe fuse" in line


def test_no_hosts_file(machine: checks.Machine) -> None:
    (machine.root / "etc/hosts").unlink()
    (line,) = checks.missing(Spec(2), machine)
    assert "/etc/hosts is not there" in line and "touch" in line


def test_switch_not_built(
    machine: checks.Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PWR_BUILDDIR", str(tmp_path))
    (line,) = checks.missing(Spec(2, latency_us=5), machine)
    assert "latency-switch is not in" in line and "build first" in line


def test_no_tun(machine: checks.Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    switch = tmp_path / "bench/testbed/cluster/switch/latency-switch"
    switch.parent.mkdir(parents=True)
    switch.write_text("")
    monkeypatch.setenv("PWR_BUILDDIR", str(tmp_path))
    (machine.root / "dev/net/tun").unlink()
    (line,) = checks.missing(Spec(2, latency_us=5), machine)
    assert "/dev/net/tun is not there" in line and "modprobe tun" in line


def test_tools_of_administration_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/usr/sbin")
    search_administration()
    assert os.environ["PATH"] == "/usr/bin:/usr/sbin:/sbin"


def test_this_machine_answers() -> None:
    for purpose in checks.PURPOSES:
        assert isinstance(checks.missing_for(purpose), list)
