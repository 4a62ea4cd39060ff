# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Whole sessions of the driver with stand-ins for cluster, benchmarks and sampler."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import List, Optional

import pytest

from bench.run.tests.world import TOP, World, install, wait_until
from poweraware.session import energy, summary
from poweraware.session.document import Preload


def test_a_good_session(world: World) -> None:
    done = world.run("--mca", "coll_tuned_priority", "1", PYTHONPATH=str(TOP))
    assert done.returncode == 0, done.stderr
    assert f"Page: {world.output}/report.html" in done.stdout and (world.output / "report.html").exists()
    document = world.document()
    assert document.complete and len(document.runs) == 3
    assert {run.scheme for run in document.runs} == {"off", "dvfs", "throttle"}
    for run in document.runs:
        assert run.failure is None and run.window == "rows"
        assert [row.bytes for row in run.rows] == [1024, 2048]
        assert run.mca["coll_poweraware_scheme"] == run.scheme
        assert run.mca["coll_poweraware_priority"] == "95"
        assert run.mca["coll_poweraware_tstate_scope"] == "package"
        assert run.mca["coll_tuned_priority"] == "1"
        assert [rank.node for rank in run.ranks] == [0, 0, 1]
        assert all(rank.cpu_s == 0.25 for rank in run.ranks)
        assert run.job is not None and run.job["settings"]["scheme"] == run.scheme
        begin_ns, end_ns = run.interval_ns()
        assert run.start_ns < begin_ns < end_ns < run.end_ns
        # Two nodes of 100 W; core-0 is a part of package-0.
        assert energy.run_energy_j(run, 2) == pytest.approx(2 * 100.0 * (end_ns - begin_ns) / 1e9)
    assert len({tuple(run.command[run.command.index("--") :]) for run in document.runs}) == 1
    binding = document.cluster.binding
    assert (binding.bind_to, binding.map_by) == ("core", "core")
    assert all("--bind core --map-by core" in " ".join(run.command) for run in document.runs)
    assert document.provenance.energy.kind == document.provenance.states.kind == "emulated"
    assert "alltoall   throttle" in done.stdout
    assert (world.output / "summary.txt").read_text() in done.stdout
    assert "time left not known yet] run 1/3: alltoall-" in done.stderr
    assert "s left] run 3/3: alltoall-" in done.stderr
    world.assert_nothing_is_left()


def loaded_library() -> Path:
    """One that the loader takes."""
    paths = [line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()]
    return Path(next(path for path in paths if "/libc.so" in path or "/libc-" in path))


def test_a_peer_is_a_scheme(world: World) -> None:
    """Stock Open MPI with somebody's library in the program, on the same nodes and the same page."""
    library = loaded_library()
    done = world.run("--schemes", "off,auto", "--preload", f"peer={library}", "--preload-env", "peer", "PEER_LEVEL=a b",
                     LD_PRELOAD="libm.so.6", PYTHONPATH=str(TOP))  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = world.document()
    assert document.schemes() == ["off", "auto", "peer"] and document.settings.preloads == {"peer": Preload(str(library), {"PEER_LEVEL": "a b"})}
    preloaded = {scheme: (world.output / f"runs/alltoall-{scheme}-1/preloaded").read_text() for scheme in document.schemes()}
    own, peers = "libm.so.6 -", f"{library}:libm.so.6 a b"
    assert preloaded == {"off": own, "auto": own, "peer": peers}, "those of the nodes stay"
    assert {run.scheme: run.mca["coll_poweraware_scheme"] for run in document.runs} == {"off": "off", "auto": "auto", "peer": "off"}
    assert f"peer: off, with {library} preloaded and PEER_LEVEL=a b." in (world.output / "report.html").read_text()


def test_a_run_without_its_library_does_not_count(world: World) -> None:
    """The loader says that it is no library, and goes on."""
    library = world.folder / "libpeer.so"
    library.write_text("")
    done = world.run("--schemes", "off", "--preload", f"peer={library}")
    assert done.returncode == 1
    assert {run.scheme: run.failure for run in world.document().runs} == {
        "off": None, "peer": "libpeer.so was not preloaded: file too short",
    }  # fmt: skip


def test_states_are_those_of_the_run(world: World) -> None:
    done = world.run("--schemes", "throttle,off")
    assert done.returncode == 0
    assert "run: no page: no matplotlib" in done.stderr and not (world.output / "report.html").exists()
    for run in world.document().runs:
        assert [states.node for states in run.states] == [0, 1]
        still, throttled = run.states[0].cpus
        assert still.transitions == 0 and still.changes.duty_percent == [100.0]
        if run.scheme == "off":
            assert throttled.changes.duty_percent == [100.0]
            continue
        assert throttled.transitions == 4
        assert throttled.changes.duty_percent == [100.0, 12.5, 100.0, 12.5, 100.0]
        assert set(throttled.changes.freq_khz) == {2.4e6}
        row = run.rows[0]
        assert row.t_begin_ns is not None and row.t_end_ns is not None
        assert row.t_begin_ns - 1e6 < throttled.changes.t_ns[1] < row.t_end_ns
        total = sum(item.seconds for item in throttled.residency)
        assert total == pytest.approx((run.end_ns - run.start_ns) / 1e9)


def test_schemes_are_interleaved_and_the_seed_decides(world: World) -> None:
    assert world.run("--repetitions", "3", "--seed", "1").returncode == 0
    order = [run.scheme for run in world.document().runs]
    for at in range(0, 9, 3):
        assert sorted(order[at : at + 3]) == ["dvfs", "off", "throttle"]
    assert order[:3] != order[3:6] or order[3:6] != order[6:]


@pytest.mark.parametrize(
    "kind, said",
    [
        ("fail", "exit status 13: MPI_ABORT was invoked"),
        ("wrong", "wrong data for message sizes 2048"),
        ("cut", "the results end at 1024 bytes"),
        ("wrong-job", "job.json: $.totals.joules: is "),
    ],
)
def test_a_bad_run_is_visible_and_the_others_count(world: World, kind: str, said: str) -> None:
    done = world.run(FAKE_OSU=f"{kind}:dvfs")
    assert done.returncode == 1
    document = world.document()
    assert document.complete
    failures = {run.scheme: run.failure for run in document.runs}
    assert failures["off"] is None and failures["throttle"] is None
    assert (failures["dvfs"] or "").startswith(said)
    assert f"Run alltoall-dvfs-1 failed and is left out: {said}" in " ".join(done.stdout.split())
    assert document.good_runs("alltoall", "dvfs") == []
    world.assert_nothing_is_left()


def test_a_hanging_run_is_ended(world: World) -> None:
    done = world.run("--timeout", "2", "--schemes", "dvfs", FAKE_OSU="hang")
    assert done.returncode == 1
    failures = {run.scheme: run.failure for run in world.document().runs}
    assert failures == {"dvfs": "took over 2 s and was ended"}
    world.assert_nothing_is_left()


def test_a_lost_cluster_is_brought_up_again(world: World) -> None:
    done = world.run(FAKE_OSU="node-dies:dvfs")  # seed 3: dvfs is not the last
    assert done.returncode == 1
    failures = {run.scheme: run.failure for run in world.document().runs}
    assert failures == {"off": None, "throttle": None, "dvfs": "exit status 137: the benchmark printed no results (see runs/alltoall-dvfs-1/*.txt)"}
    assert sum(call.startswith("up") for call in world.calls()) == 2
    assert all(run.states for run in world.document().runs if run.failure is None)
    world.assert_nothing_is_left()


def test_controls_that_a_run_leaves_moved_do_not_meet_the_next(world: World) -> None:
    """A tool that is killed, or puts nothing back, would slow down what runs after it."""
    done = world.run("--repetitions", "2", FAKE_OSU="leaves-throttled:dvfs")
    assert done.returncode == 0
    assert "-1 has left controls moved (msr:0x19a of CPU 1 is 0x12, not 0x0): new nodes" in done.stderr
    for run in world.document().runs:
        duty = run.states[0].cpus[1].changes.duty_percent
        assert duty[0] == 100.0, f"{run.id} begins on nodes as they were"
    last_is_dvfs = world.document().runs[-1].scheme == "dvfs"
    assert sum(call.startswith("up") for call in world.calls()) == (2 if last_is_dvfs else 3)
    world.assert_nothing_is_left()


def test_without_a_sampler_there_are_times_and_a_reason(world: World) -> None:
    (world.build / "opal/poweraware-sample").unlink()
    assert world.run().returncode == 0
    document = world.document()
    assert document.provenance.energy.kind == "absent"
    assert document.runs[0].energy[0].why_absent == "poweraware-sample is not built"
    assert document.runs[0].rows


def test_a_failing_sampler_says_why(world: World) -> None:
    assert world.run(FAKE_SAMPLER="fail").returncode == 0
    why = world.document().runs[0].energy[1].why_absent
    assert why is not None and "no energy meter: powercap: no such directory" in why


@pytest.mark.parametrize("version", ["5", "7"])
def test_sums_of_osu_are_of_floats(world: World, version: str) -> None:
    """Where its programs have types; where not, and the sums are wrong, that is what is said."""
    program = world.folder / "osu/osu_allreduce"
    install("osu.py", program)
    if version == "7":
        program.write_text(program.read_text() + "# mpi_float\n")
    done = world.run("--osu-dir", str(program.parent), "--benchmarks", "allreduce", "--schemes", "off", FAKE_OSU="wrong-sums")
    (run,) = world.document().runs
    assert run.command[-2:] == (["-T", "mpi_float"] if version == "7" else ["-x", "2"])
    wrong = "exit status 1: wrong data for message sizes 1024 (see runs/allreduce-off-1/*.txt)"
    assert (done.returncode, run.failure) == ((0, None) if version == "7" else (1, wrong))


def test_real_hardware_is_sampled_once_for_all_nodes(world: World) -> None:
    assert world.run("--machine", "none", "--schemes", "off").returncode == 0
    document = world.document()
    run = document.runs[0]
    assert [meter.covers for meter in run.energy] == [[0, 1]]
    assert document.provenance.energy.kind == "measured" and not run.states
    begin_ns, end_ns = run.interval_ns()
    assert energy.run_energy_j(run, 2) == pytest.approx(100.0 * (end_ns - begin_ns) / 1e9)


def test_osu_programs_from_a_folder_use_the_time_in_mpi(world: World) -> None:
    install("osu.py", world.folder / "osu/mpi/collective/osu_alltoall")
    assert world.run("--osu-dir", str(world.folder / "osu")).returncode == 0
    for run in world.document().runs:
        begin_ns, end_ns = run.interval_ns()
        assert run.window == "job" and run.start_ns < begin_ns < end_ns < run.end_ns
        assert [row.bytes for row in run.rows] == [1024, 2048]
        assert all(row.validated and row.t_begin_ns is None for row in run.rows)
        assert run.job is not None and run.ranks == []
        assert summary.run_cpu_s(run) == run.job["totals"]["cpu_s"]
        assert energy.run_energy_j(run, 2) == pytest.approx(200.0 * (end_ns - begin_ns) / 1e9, rel=0.02)
        assert "--json" not in run.command


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_takes_everything_down_and_keeps_what_there_is(
    world: World, number: signal.Signals
) -> None:
    install("osu.py", world.build / "bench/osu/osu_bcast", "FAKE_OSU=hang")
    process = world.start("--schemes", "off", "--benchmarks", "alltoall,bcast")
    wait_until((world.output / "runs/bcast-off-1/output.txt").exists, "hanging run")
    process.send_signal(number)
    assert process.wait() == 128 + number
    document = world.document()
    assert not document.complete and [run.id for run in document.runs] == ["alltoall-off-1"]
    assert "not complete" in (world.output / "summary.txt").read_text()
    world.assert_nothing_is_left()


def test_even_a_killed_driver_leaves_no_cluster(world: World) -> None:
    process = world.start(FAKE_OSU="hang")
    wait_until(lambda: any((world.output / "runs").glob("*/output.txt")), "first run")
    process.kill()
    process.wait()
    wait_until(lambda: not (world.state / "up").exists(), "cluster down")
    world.assert_nothing_is_left()


def test_keep_cluster(world: World) -> None:
    assert world.run("--keep-cluster", "--cluster-name", "mine").returncode == 0
    assert (world.state / "up").exists()
    assert all(call.split()[1:3] == ["--name", "mine"] for call in world.calls())
    assert not any(call.startswith("down") for call in world.calls())


def test_a_cluster_that_does_not_come_up(world: World) -> None:
    done = world.run(FAKE_CLUSTER="no-up")
    assert done.returncode == 1
    assert "cluster up failed (exit status 1): cluster: user namespaces are switched off" in (
        done.stderr
    )


def test_everything_missing_is_named_at_once(world: World) -> None:
    (world.build / "bench/osu/osu_alltoall").unlink()
    (world.build / "coll_poweraware/component/mca_coll_poweraware.so").unlink()
    done = world.run()
    assert done.returncode == 1
    assert "osu_alltoall in " in done.stderr and "mca_coll_poweraware.so in " in done.stderr
    assert not (world.state / "calls").exists()


def test_earlier_results_are_replaced_only_on_demand(world: World) -> None:
    assert world.run("--schemes", "off").returncode == 0
    (world.output / "notes.txt").touch()
    (world.output / "knowledge.json").touch()
    refused = world.run("--schemes", "dvfs")
    assert refused.returncode == 1 and "from an earlier session" in refused.stderr
    assert [run.scheme for run in world.document().runs] == ["off"]
    assert world.run("--schemes", "dvfs", "--force").returncode == 0
    assert [run.scheme for run in world.document().runs] == ["dvfs"]
    assert [path.name for path in (world.output / "runs").iterdir()] == ["alltoall-dvfs-1"]
    assert (world.output / "notes.txt").exists()
    assert not (world.output / "knowledge.json").exists()  # what an earlier session has learnt is not to matter


NPB = """
 NAS Parallel Benchmarks 3.4 -- FT Benchmark
 Class           =                        S
 Time in seconds =                     0.25
 Verification    =               SUCCESSFUL
"""


def go_on(world: World, *extra: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    return world.run("--resume", *extra, **changes)


def made(world: World) -> int:
    """Runs of benchmarks so far."""
    return sum(line.startswith("run ") for line in world.calls())


def test_a_session_is_resumed_where_runs_are_missing(world: World) -> None:
    assert world.run(FAKE_OSU="fail:dvfs").returncode == 1
    first = {run.id: run.start_ns for run in world.document().runs if run.failure is None}
    assert made(world) == 3 and len(first) == 2
    done = go_on(world, "--repetitions", "2", "--seed", "4")
    assert done.returncode == 0, done.stderr
    document = world.document()
    assert made(world) == 3 + 4 and document.settings.seed == 3
    assert sorted(run.id for run in document.runs) == [f"alltoall-{s}-{r}" for s in ("dvfs", "off", "throttle") for r in (1, 2)]
    assert {run.id: run.start_ns for run in document.runs if run.id in first} == first
    assert all(run.failure is None and run.energy[0].samples.t_ns for run in document.runs)


def test_a_session_that_lacks_nothing_is_left_as_it_is(world: World) -> None:
    assert go_on(world).returncode == 0  # there is nothing to resume
    ups = [line for line in world.calls() if line.startswith("up ")]
    done = go_on(world)
    assert done.returncode == 0 and "Headline" in done.stdout
    assert made(world) == 3 and [line for line in world.calls() if line.startswith("up ")] == ups


@pytest.mark.parametrize(
    "extra, said",
    [
        (["--sizes", "1024:4096"], "is of another choice of messages"),
        (["--layout", "1,1"], "is of another cluster"),
        (["--interval-ms", "7"], "is of another sampling interval (5"),
    ],
)
def test_other_conditions_are_not_resumed(world: World, extra: List[str], said: str) -> None:
    assert world.run().returncode == 0
    before = (world.output / "document.json").read_bytes()
    done = go_on(world, *extra)
    assert done.returncode == 1 and said in done.stderr
    assert (world.output / "document.json").read_bytes() == before


def shift(world: World, values: Optional[List[str]], *extra: str, **changes: str) -> "subprocess.CompletedProcess[str]":
    """A session of bench/run shift; values: of the parameter of the component for windows, None: it has none."""
    install("osu.py", world.build / "bench/shift/shift_put", "FAKE=shift")
    known = world.folder / "known.txt"
    lines = [] if values is None else ["mca:osc:poweraware:param:osc_poweraware_scheme:value:auto"]
    lines += [f"mca:osc:poweraware:param:osc_poweraware_scheme:enumerator:value:{k}:{name}" for k, name in enumerate(values or [])]
    known.write_text("".join(f"{line}\n" for line in lines))
    ompi_info = world.folder / "bin/ompi_info"
    ompi_info.parent.mkdir()
    ompi_info.write_text(f'#!/bin/sh\necho "$OMPI_MCA_mca_base_component_path" >"{world.folder}/path"\ncat "{known}"\n')
    ompi_info.chmod(0o755)
    words = [*world.usual("shift"), "--operations", "put", "--sizes", "4096:16384", "--iterations", "4", *extra]
    return world.run_command(words, {"PATH": f"{ompi_info.parent}:{os.environ['PATH']}", **changes})


SHIFT_SCHEMES = ["poll", "dvfs", "interrupt", "interrupt_dvfs", "auto"]


def test_shift_under_all_schemes(world: World) -> None:
    windows = world.build / "osc_poweraware/component"
    windows.mkdir(parents=True)
    (windows / "mca_osc_poweraware.so").touch()
    done = shift(world, SHIFT_SCHEMES, PYTHONPATH=str(TOP))
    assert done.returncode == 0, done.stderr
    document = world.document()
    assert document.settings.family == "shift" and document.schemes() == SHIFT_SCHEMES and document.complete
    for run in document.runs:
        assert run.failure is None and run.mca["osc"] == "poweraware" and run.mca["osc_poweraware_scheme"] == run.scheme
        assert "coll_poweraware_scheme" not in run.mca
        assert run.command[-12:-6] == ["-m", "4096:16384", "-i", "4", "-x", "1"]
        assert run.command[-6:] == ["--least-ms", "22", "--validation-calls", "1", "--json", "result.json"]  # four samples of 5 ms and a half
        assert [row.moved_bytes for row in run.rows] == [4 * size for size in (4096, 8192, 16384)]
    assert (world.folder / "path").read_text().split(":") == [str(world.build / "coll_poweraware/component"), str(windows), "SYS_DEFAULT\n"]
    assert [each.kind for each in document.references] == ["published", "modelled", "modelled"]
    assert "Break-even, as table 16 of PASCoL" in done.stdout
    assert "Energy per MB over polling" in (world.output / "report.html").read_text()


def test_shift_without_the_component_for_windows(world: World) -> None:
    done = shift(world, None, "--schemes", "poll,interrupt")
    assert done.returncode == 0, done.stderr
    settings = {run.scheme: (run.mca["osc"], run.mca["coll_poweraware_idle"]) for run in world.document().runs}
    assert settings == {"poll": ("^ucx", "off"), "interrupt": ("^ucx", "all")}


@pytest.mark.parametrize(
    "values, said",
    [
        (None, "scheme dvfs, interrupt_dvfs, auto: there is no parameter osc_poweraware_scheme (of mca_osc_poweraware.so, below"),
        (["poll", "interrupt", "auto"], "scheme dvfs, interrupt_dvfs: the parameter osc_poweraware_scheme has no such value; there are poll,"),
    ],
)
def test_schemes_that_the_component_does_not_know_are_refused(world: World, values: Optional[List[str]], said: str) -> None:
    done = shift(world, values)
    assert done.returncode == 1 and done.stderr.startswith(f"run: {said}"), done.stderr
    assert not (world.state / "calls").exists() and not world.output.exists()


def test_npb_of_the_user(world: World) -> None:
    (world.folder / "report").write_text(NPB)
    install("kernel.py", world.folder / "npb/bin/ft.S.x")
    install("kernel.py", world.folder / "npb/bin/ft.S.2")  # for this number of ranks
    command = [*world.usual("npb"), "--layout", "1,1", "--npb-dir", str(world.folder / "npb"), "--benchmarks", "ft", "--classes", "S"]
    done = world.run_command(command, {"FAKE_OUTPUT": str(world.folder / "report")})
    assert done.returncode == 0, done.stderr
    document = world.document()
    assert document.settings.family == "npb" and document.settings.messages is None
    (program,) = document.settings.programs
    assert (program.benchmark, program.origin, program.label) == ("ft.S", "given", "NPB FT, class S")
    assert {run.scheme for run in document.runs} == {"off", "dvfs", "throttle", "auto"}
    for run in document.runs:
        assert run.window == "job" and run.result is not None
        assert run.result.seconds == 0.25 and run.result.verified
        assert run.command[-1].endswith("/ft.S.2")
        assert (world.output / "runs" / run.id / "arguments").read_text() == ""
    assert "Energy of applications, as tables I and II of the paper" in done.stdout


def test_our_kernels_are_labelled_and_the_whole_job_counts(world: World) -> None:
    (world.folder / "report").write_text("Time in seconds  = 0.05\nVerification = SUCCESSFUL\n")
    install("kernel.py", world.build / "bench/npb/ft_like")
    command = [*world.usual("npb"), "--layout", "1,1", "--benchmarks", "ft", "--schemes", "off"]
    done = world.run_command(command, {"FAKE_OUTPUT": str(world.folder / "report")})
    assert done.returncode == 0, done.stderr
    (run,) = world.document().runs
    written = json.loads((world.output / "runs" / run.id / "job.json").read_text())
    begin_ns, end_ns = run.interval_ns()
    assert run.window == "job" and run.start_ns < begin_ns < end_ns < run.end_ns
    assert (begin_ns, end_ns) == (written["begin_ns"], written["begin_ns"] + int(written["totals"]["seconds"] * 1e9))
    assert energy.run_energy_j(run, 2) == pytest.approx(200.0 * (end_ns - begin_ns) / 1e9)
    assert (world.output / "runs" / run.id / "arguments").read_text() == "W"
    assert "FT-like kernel of poweraware (not NPB), class W  ours" in done.stdout


@pytest.mark.parametrize(
    "text, said",
    [
        (NPB.replace("SUCCESSFUL", "UNSUCCESSFUL"), "its results are wrong (verification)"),
        ("nothing\n", "it did not say whether its results are right"),
    ],
)
def test_npb_with_wrong_results(world: World, text: str, said: str) -> None:
    (world.folder / "report").write_text(text)
    install("kernel.py", world.build / "bench/npb/is_like")
    command = [*world.usual("npb"), "--benchmarks", "is", "--schemes", "off"]
    done = world.run_command(command, {"FAKE_OUTPUT": str(world.folder / "report")})
    assert done.returncode == 1
    assert [run.failure for run in world.document().runs] == [said]


def test_cpmd(world: World) -> None:
    (world.folder / "report").write_text("ELAPSED TIME :    0 HOURS  1 MINUTES  2.50 SECONDS\nPROGRAM CPMD ENDED AT: now\n")
    install("kernel.py", world.folder / "cpmd.x")
    (world.folder / "wat32-1.inp").touch()
    (world.folder / "pp").mkdir()
    given = ["--cpmd-binary", "cpmd.x", "--cpmd-input", "wat32-1.inp", "--cpmd-pp", "pp"]
    given = [word if word.startswith("--") else str(world.folder / word) for word in given]
    done = world.run_command([*world.usual("cpmd"), *given, "--schemes", "off"], {"FAKE_OUTPUT": str(world.folder / "report")})
    assert done.returncode == 0, done.stderr
    (run,) = world.document().runs
    assert run.benchmark == "cpmd.wat32-1" and run.result is not None
    assert run.result.seconds == 62.5 and run.result.verified is None
    assert re.search(r"cpmd\.wat32-1 .* not checked$", done.stdout, re.MULTILINE)
    arguments = (world.output / "runs" / run.id / "arguments").read_text().splitlines()
    assert arguments == [str(world.folder / "wat32-1.inp"), str(world.folder / "pp")]


def test_total_energies_of_cpmd_agree(world: World) -> None:
    """A run whose energy is another one than the first scheme's has failed, whatever it says itself."""
    (world.folder / "report").write_text("TOTAL ENERGY =   @ENERGY@ A.U.\nPROGRAM CPMD ENDED AT: now\n")
    install("kernel.py", world.folder / "cpmd.x")
    (world.folder / "water.inp").touch()
    given = ["--cpmd-binary", str(world.folder / "cpmd.x"), "--cpmd-input", str(world.folder / "water.inp")]
    energies = {"off": "-17.14569391", "dvfs": "-17.14569390", "auto": "-17.14569391", "throttle": "-17.14571391"}
    changes = {"FAKE_OUTPUT": str(world.folder / "report"), **{f"FAKE_ENERGY_{scheme}": text for scheme, text in energies.items()}}
    done = world.run_command([*world.usual("cpmd"), *given], changes)
    assert done.returncode == 1
    told = {line.split()[0]: line for line in done.stdout.partition("\nRuns\n")[2].splitlines() if line.startswith("cpmd.water-")}
    assert {scheme: "as in other runs" in told[f"cpmd.water-{scheme}-1"] for scheme in energies} == {
        "off": True, "dvfs": True, "auto": True, "throttle": False,
    }  # fmt: skip
    failures = {run.scheme: run.failure for run in world.document().runs}
    assert failures.pop("throttle") == "total energy -17.14571391, not -17.14569391 as in cpmd.water-off-1"
    assert failures == {"off": None, "dvfs": None, "auto": None}


def test_in_the_stead_of_cpmd(world: World) -> None:
    """pw.x finds its input where it runs, hpcc leaves its results there."""
    (world.folder / "report").write_text("Success=1\n")
    install("kernel.py", world.folder / "hpcc", "FAKE_FILE=hpccoutf.txt")
    install("kernel.py", world.folder / "pw.x")
    given = ["--hpcc-binary", str(world.folder / "hpcc"), "--pw-binary", str(world.folder / "pw.x")]
    done = world.run_command([*world.usual("cpmd"), *given, "--schemes", "off"], {"FAKE_OUTPUT": str(world.folder / "report")})
    assert done.returncode == 1
    failures = {run.benchmark: run.failure for run in world.document().runs}
    assert failures == {"pw.si8": "the calculation did not converge", "hpcc": None}
    folder = world.output / "runs" / "pw.si8-off-1"
    assert (folder / "arguments").read_text().split() == ["-in", "si8.in"]
    assert (folder / "si8.in").exists() and (folder / "Si.upf").exists()


def test_programs_that_are_missing_are_named(world: World) -> None:
    done = world.run_command([*world.usual("npb"), "--layout", "1,1"], {})
    assert done.returncode == 1
    assert "ft_like in " in done.stderr and "(needs fftw3); is_like in " in done.stderr
    assert "made by make" in done.stderr
    done = world.run_command([*world.usual("cpmd"), "--pw-binary", "/nowhere/pw.x", "--benchmarks", "pw.si8"], {})
    assert done.returncode == 1
    assert "/nowhere/pw.x (Debian, Ubuntu: package quantum-espresso)" in done.stderr
    assert "made by make" not in done.stderr


def test_the_command_runs_from_anywhere(tmp_path: Path) -> None:
    command = [str(TOP / "bench/run/run"), "osu", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "--benchmarks" in done.stdout
