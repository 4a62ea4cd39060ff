# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Reductions of buffers in the memory of a GPU, over emulated nodes with a GPU each: gpu/tests/fake_cuda stands for
CUDA's driver.  (On one node: run_device_memory.)"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from differential_jobs import CHECK, SOUND_STOCK  # noqa: E402
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402

CALLS = os.environ.get("PWR_CLUSTER_CALLS", "600")
SEED = os.environ.get("PWR_SEED", "1")
TIMEOUT_S = 1800 + int(CALLS) // 2

REDUCTIONS = ("allreduce", "reduce")
BY_NAME = {f"coll_poweraware_{collective}_algorithm": "gpu" for collective in REDUCTIONS}
DRIVER = BUILD / "gpu" / "tests" / "cuda"
PLAIN = ("--simpler", "256")  # most layouts have gaps: no call for a GPU then

LAYOUTS = [
    ("--layout", "1,1"), ("--layout", "3,2"), ("--layout", "2,1,3"), ("--layout", "2,2,2", "--map-by", "node"),
    ("--layout", "1,3,2,1,2"),
]


@pytest.fixture(scope="module")
def five() -> Iterator[Nodes]:
    name = f"coll-device-{os.getpid()}"
    yield bring_up(name, 5)
    cluster("down", "--name", name)


class Device:
    """Jobs on nodes with such a GPU."""

    def __init__(self, nodes: Nodes, folder: Path) -> None:
        self.nodes = nodes
        self.folder = folder
        machine = folder / "machine"
        (machine / "dev").mkdir(parents=True)
        (machine / "dev" / "nvidiactl").touch()
        (machine / "dev" / "shm").symlink_to("/dev/shm")
        (machine / "sys").symlink_to("/sys")
        (folder / "ranks").mkdir()
        for each in (folder, machine, folder / "ranks"):
            each.chmod(0o777)

    def run(self, layout: tuple[str, ...], mca: dict[str, str], *options: str,
            env: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        words = [CHECK, "--device=all", "--only", ",".join(REDUCTIONS), "--calls", CALLS, "--seed", SEED,
                 "--limit", "600", *options]
        variables = [word for each in (f"LD_LIBRARY_PATH={DRIVER}", *env) for word in ("--env", each)]
        return self.nodes.run(words, *layout, *variables, timeout=TIMEOUT_S, mca={
            "coll_poweraware_root": str(self.folder / "machine"), "coll_poweraware_verbose": "2",
            "coll_poweraware_min_bytes": "1000000000000",  # no levers, which would count as handled
            "coll_poweraware_ranks_dir": str(self.folder / "ranks"), **SOUND_STOCK, **mca})

    def check(self, layout: tuple[str, ...], mca: dict[str, str], *options: str, env: tuple[str, ...] = ()) -> str:
        """All results are right.  Returns what the tester said."""
        done = self.run(layout, mca, *options, env=env)
        assert done.returncode == 0 and " 0 wrong results" in done.stdout, done.stdout
        return done.stdout

    def made(self) -> dict[str, int]:
        """How many calls of each collective the GPU has made."""
        counted = json.loads((self.folder / "ranks" / "rank-0.json").read_text())["collectives"]
        return {collective: counted[collective]["handled"] for collective in REDUCTIONS}


@pytest.fixture
def device(five: Nodes, tmp_path: Path) -> Device:
    return Device(five, tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: " ".join(layout[1:]))
def test_by_name(device: Device, layout: tuple[str, ...]) -> None:
    device.check(layout, BY_NAME, *PLAIN)
    assert all(device.made().values()), device.made()


def test_many_chunks(device: Device) -> None:
    device.check(("--layout", "2,1,3"), BY_NAME, *PLAIN, "--most-bytes", "2000000", "--calls", "60")
    assert all(device.made().values()), device.made()


def test_chosen(device: Device) -> None:
    """Ranks agree with what they tell each other about experiments."""
    said = device.check(("--layout", "2,1"), {"coll_poweraware_scheme": "auto"}, *PLAIN, "--only", "allreduce",
                        "--most-bytes", "256", "--calls", "2000")
    assert "asks for buffers on the GPU" in said, said


@pytest.mark.parametrize("layout", ["3,2", "2,1,3"])
def test_some_buffers_elsewhere(device: Device, layout: str) -> None:
    device.check(("--layout", layout), BY_NAME, *PLAIN, "--device")


@pytest.mark.parametrize(("function", "rank"), [("cuIpcGetMemHandle", "0"), ("cuIpcOpenMemHandle_v2", "3"),
                                                ("cuLaunchKernel", "0"), ("cuLaunchKernel", "3"),
                                                ("cuMemHostRegister_v2", "3"), ("cuModuleLoadData", "0")])
def test_one_node_cannot(device: Device, function: str, rank: str) -> None:
    """A leader cannot do it: so nobody does, and all results are right."""
    said = device.check(("--layout", "3,2"), BY_NAME, *PLAIN, "--calls", "300",
                        env=(f"FAKE_CUDA_FAILS={function}", f"FAKE_CUDA_FAILS_ON={rank}"))
    assert "go through the host: " in said, said


@pytest.mark.parametrize("launches", [1, 3])
def test_a_node_fails_later(device: Device, launches: int) -> None:
    """The first kernel is for the node's sum, the second one for the result: where that one fails others have theirs."""
    done = device.run(("--layout", "2,2"), BY_NAME, *PLAIN, "--most-bytes", "2000000", "--calls", "60",
                      env=(f"FAKE_CUDA_LAUNCHES={launches}", "FAKE_CUDA_FAILS_ON=2"))
    assert done.returncode != 124 and "hangs" not in done.stdout, done.stdout
    if done.returncode == 0:
        assert launches > 1 and " 0 wrong results" in done.stdout, done.stdout
    else:
        assert "a collective on the GPU failed: cuLaunchKernel" in done.stdout, done.stdout


def test_two_gpus_on_a_node(device: Device) -> None:
    """The leader's GPU reaches the memory of the other one."""
    said = device.check(("--layout", "2,2"), BY_NAME, *PLAIN, env=("FAKE_CUDA_DEVICES=2",))
    assert "go through the host" not in said, said


def test_threads(device: Device) -> None:
    device.check(("--layout", "2,2"), BY_NAME, *PLAIN, "--threads", "3")
