# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Levers come back, and results are right, where a function that we call fails at its n-th use: of a rank, of a guardian.
And where descriptors are few, ours are not those that Open MPI misses later.

Every fifth of these functions has its turn, which ones PWR_SEED says (4); PWR_ALL=1 (`make check-failing-calls`): all.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from differential_jobs import CHECK, SOUND_STOCK  # noqa: E402
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402
from soak_jobs import NOT_BUILT, PROGRAMS, Job, Limit  # noqa: E402
from test_kills import Hardware, restore_by_command, wait_until_back  # noqa: E402

SHIM = BUILD / "coll_poweraware" / "tests" / ".libs" / "failing_calls.so"
# What levers, journals and guardians are made of.
FUNCTIONS = {
    "openat": errno.EMFILE, "open": errno.EMFILE, "pread": errno.EIO, "pwrite": errno.EIO, "read": errno.EIO, "write": errno.EIO,
    "fstat": errno.EACCES, "flock": errno.ENOLCK, "fcntl": errno.EINVAL, "posix_fallocate": errno.ENOSPC, "ftruncate": errno.EIO,
    "rename": errno.EACCES, "unlinkat": errno.EACCES, "mkdir": errno.EACCES, "socketpair": errno.EMFILE, "posix_spawn": errno.EAGAIN,
    "send": errno.EPIPE, "recv": errno.EIO, "poll": errno.EINTR, "waitpid": errno.EINTR, "syscall": errno.ENOSYS,
    "malloc": errno.ENOMEM, "calloc": errno.ENOMEM, "realloc": errno.ENOMEM, "strdup": errno.ENOMEM, "mmap": errno.ENOMEM,
    "opendir": errno.EMFILE, "readdir": errno.EIO, "readlinkat": errno.EACCES, "sched_getaffinity": errno.EPERM,
    "pthread_create": errno.EAGAIN, "hwloc_topology_load": errno.ENOMEM,
}
TURN = int(os.environ.get("PWR_SEED", "4")) % 5
CHOSEN = [name for i, name in enumerate(FUNCTIONS) if "PWR_ALL" in os.environ or i % 5 == TURN]


@pytest.fixture(scope="module")
def node() -> Iterator[Nodes]:
    name = f"coll-failing-{os.getpid()}"
    yield bring_up(name, 1, "skylake.machine")
    cluster("down", "--name", name)


def fails_at(nodes: Nodes, function: str, n: int, told: Path) -> subprocess.CompletedProcess[str]:
    told.write_text("")
    told.chmod(0o666)
    preload = f"LD_PRELOAD={BUILD}/bench/testbed/emulator/libpwr_vcpu.so:{SHIM}"
    rank = ["--env", "PWR_FAIL_RANK=1"] if n % 2 else []
    return nodes.run([CHECK, "--beyond-stock", "--stay", "--calls", "20", "--seed", str(n)], "--ppn", "2", "--bind", "core",
                     "--env", preload, "--env", f"PWR_FAIL={function}:{n}:{FUNCTIONS[function]}",
                     "--env", f"PWR_FAIL_TOLD={told}", *rank,
                     mca={**SOUND_STOCK, "coll_poweraware_min_bytes": "0", "coll_poweraware_verbose": "0"})


@pytest.mark.parametrize("function", CHOSEN)
def test_levers_come_back(node: Nodes, tmp_path: Path, function: str, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o777)
    told = tmp_path / "told"
    traces = [each / "emulator" / "trace.csv" for each in (node.state / "nodes").iterdir()]
    hardware = [Hardware(trace) for trace in traces if trace.exists()]
    assert hardware
    n = reached = moved = restored = 0
    while reached == n:
        n = n + 1 + n // 2
        for each in hardware:
            each.follow()
            each.lowered_by.clear()
        done = fails_at(node, function, n, told)
        assert done.returncode == 0 and " 0 wrong results" in done.stdout, f"{function}, number {n}: {done.stdout[-2000:]}"
        left, commanded, said = wait_until_back(node, hardware, True)
        assert left == [], f"{function}, number {n}: {said}"
        restored += commanded
        moved += any(each.lowered_by for each in hardware)
        reached = n if told.read_text() else 0
    restore_by_command(node)
    with capsys.disabled():
        print(f"{function}: up to number {n}, {moved} jobs moved levers, after {restored} poweraware-restore put some back")


@pytest.fixture(scope="module")
def three() -> Iterator[Nodes]:
    name = f"coll-few-{os.getpid()}"
    yield bring_up(name, 3, "skylake.machine")
    cluster("down", "--name", name)


def lives_where_stock_does(nodes: Nodes, job: Job, folder: Path) -> None:
    (folder / "files").mkdir()
    for each in (folder, folder / "files"):
        each.chmod(0o777)
    done = nodes.run(job.command(), *job.options(), mca=job.mca(folder), timeout=600)
    if done.returncode != 0 or PROGRAMS[job.program].right not in done.stdout:
        stock = nodes.run(job.command(ours=False), *job.options(), mca=job.mca(folder, ours=False), timeout=600)
        assert stock.returncode != 0, done.stdout[-2000:]


@pytest.mark.parametrize("descriptors", [22, 24, 26, 27, 28, 29, 30, 32, 36, 40, 56, 72])
def test_few_descriptors(three: Nodes, tmp_path: Path, descriptors: int) -> None:
    """With levers and a report; connections between nodes are opened when they are first used."""
    lives_where_stock_does(three, Job("waits", 0, 1, "1,1,1", Limit("nofile", descriptors), ["report_dir"],
                                      {"scheme": "dvfs", "min_bytes": "0"}, "nothing", "", "n0", 0.0), tmp_path)


@pytest.mark.skipif("OpenSHMEM" in NOT_BUILT, reason="random_shmem is not built")
@pytest.mark.parametrize("descriptors", [44, 48, 56, 64, 80])
def test_few_descriptors_of_openshmem(three: Nodes, tmp_path: Path, descriptors: int) -> None:
    """UCX takes up to 40, as connections of both sides happen to meet, and ends the program where there are fewer: with 40 it ended 2 of
    12 programs without us, with 42 none."""
    lives_where_stock_does(three, Job("OpenSHMEM", 50, 1, "1,3", Limit("nofile", descriptors), ["ranks_dir", "report_dir"],
                                      {"scheme": "auto"}, "nothing", "", "n0", 0.0), tmp_path)
