# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""`run waits` with stand-ins for cluster, programs and sampler."""
from __future__ import annotations

import json
from typing import Any, Dict, List

import pytest

from bench.run.tests.world import TOP, World, install
from bench.run.waits import MPI, OPENSHMEM
from poweraware.session import energy


def command(world: World, *extra: str) -> List[str]:
    install("waits.py", world.build / "bench/waits/wait_load", "FAKE=mpi")
    install("waits.py", world.build / "bench/waits/shmem_load", "FAKE=shmem")
    return [*world.usual("waits"), "--schemes", "off,auto", "--late-ms", "20", "--iterations", "3", *extra]


def seen(world: World, run: str) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads((world.output / "runs" / run / "seen.json").read_text())
    return found


def test_mpi_and_openshmem_side_by_side(world: World) -> None:
    component = world.build / "oshmem/scoll_poweraware/component"
    component.mkdir(parents=True)
    (component / "mca_scoll_poweraware.so").touch()
    done = world.run_command(command(world, "--benchmarks", ",".join([*MPI, *OPENSHMEM])), {"PYTHONPATH": str(TOP)})
    assert done.returncode == 0, done.stderr
    document = world.document()
    assert document.complete and document.settings.family == "waits" and document.benchmarks() == [*MPI, *OPENSHMEM]
    for run in document.runs:
        (row,) = run.rows
        assert run.failure is None and run.window == "rows" and run.interval_ns() == (row.t_begin_ns, row.t_end_ns)
        assert row.avg_us == 20_010 and row.iterations == 3 and row.cpu_s == 0.125
        assert row.validated is (True if run.benchmark in OPENSHMEM else None)
        found = seen(world, run.id)
        assert found["OMPI_MCA_coll_poweraware_scheme"] == run.scheme
        assert found["OMPI_MCA_scoll"] == ("^poweraware" if run.scheme == "off" else "poweraware")
        assert str(component) in found["OMPI_MCA_mca_base_component_path"].split(":")
        if run.benchmark in OPENSHMEM:
            assert found["what"] == OPENSHMEM[run.benchmark] and found["UCX_TLS"] == "self,sm,tcp"
        else:
            assert found["what"] == "skew" and found["collective"] == run.benchmark and found["UCX_TLS"] is None
    assert "Power-aware waits" in (world.output / "report.html").read_text()
    world.assert_nothing_is_left()


def test_energy_is_that_of_the_calls(world: World) -> None:
    """The fake nodes draw 100 W each."""
    assert world.run_command(command(world, "--benchmarks", "shmem-sum", "--schemes", "off"), {}).returncode == 0
    (run,) = world.document().runs
    begin_ns, end_ns = run.interval_ns()
    assert energy.run_energy_j(run, 2) == pytest.approx(200.0 * (end_ns - begin_ns) / 1e9)


@pytest.mark.parametrize("fault, said", [("wrong", "2 wrong results"), ("silent", "the benchmark printed no results")])
def test_a_bad_run_is_named(world: World, fault: str, said: str) -> None:
    done = world.run_command(command(world, "--benchmarks", "shmem-sum", "--schemes", "off"), {"FAKE_WAITS": fault})
    assert done.returncode == 1
    (run,) = world.document().runs
    assert run.failure is not None and said in run.failure
    world.assert_nothing_is_left()


@pytest.mark.parametrize("extra, said", [(["--benchmarks", "shmem-fold"], "shmem-fold"), (["--layout", "1"], "one rank waits for nobody"),
                                         (["--late-ms", "0"], "--late-ms")])  # fmt: skip
def test_wrong_options(world: World, extra: List[str], said: str) -> None:
    done = world.run_command(command(world, *extra), {})
    assert done.returncode == 2 and said in done.stderr
    assert not (world.state / "calls").exists()


def test_without_the_programs_nothing_is_started(world: World) -> None:
    done = world.run_command([*world.usual("waits")], {})
    assert done.returncode == 1 and "wait_load in" in done.stderr and "shmem_load in" in done.stderr
    assert not (world.state / "calls").exists()
