# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""bench/waits with fakes whose figures are known, and a short real run."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as tree
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List

import pytest

from bench.common.awake import awake, stolen_s
from bench.waits import experiments, figures, jobs, text, ways
from bench.waits.experiments import Point

HERE = Path(__file__).resolve().parent
WAITS = HERE.parent / "waits"
WITHOUT_PAGE = HERE.parents[1] / "common" / "without_matplotlib"
BUILD = Path(os.environ.get("PWR_BUILDDIR", HERE.parents[2] / "build"))

POINT = Point("skew", 1, 2, "allreduce", 8, 10_000)


def one_cpu() -> None:
    """So that no ranks fit, whatever the machine."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@dataclass
class World:
    """A build folder of fakes."""

    folder: Path

    @property
    def output(self) -> Path:
        return self.folder / "out"

    def start(self, *arguments: str, **variables: str) -> "subprocess.Popen[str]":
        line = [sys.executable, str(WAITS), "--build", str(self.folder / "build"), "--output", str(self.output)]
        line += ["--cluster-program", str(self.folder / "cluster"), "--mpirun", str(self.folder / "mpirun")]
        ours = {"FAKE_CALLS": str(self.folder / "calls"), "PYTHONPATH": str(WITHOUT_PAGE)}
        environment = {**os.environ, **ours, **variables}
        return subprocess.Popen([*line, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, preexec_fn=one_cpu)  # fmt: skip

    def run(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments, **variables)
        out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def calls(self) -> List[str]:
        path = self.folder / "calls"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def document(self) -> Dict[str, Any]:
        found: Dict[str, Any] = json.loads((self.output / "document.json").read_text())
        return found


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    load = tmp_path / "build/bench/waits/wait_load"
    components = [tmp_path / f"build/{folder}/component/mca_{name}.so"
                  for folder, name in (("coll_poweraware", "coll_poweraware"), ("oshmem/scoll_poweraware", "scoll_poweraware"))]  # fmt: skip
    for path in (load, *components):
        path.parent.mkdir(parents=True)
    for path in components:
        path.touch()
    shutil.copy(HERE / "fake_wait_load", load)
    shutil.copy(HERE / "fake_wait_load", load.with_name("shmem_load"))
    shutil.copy(HERE / "fake_mpirun", tmp_path / "mpirun")
    shutil.copy(HERE / "fake_mpirun", tmp_path / "cluster")
    return made


def run_of(way: str, repetition: int, time_us: float, after_us: float, cpu_us: float) -> jobs.Run:
    measured = {"time_us": {"p50": time_us}, "after_us": {"p50": after_us}, "cpu_us": cpu_us, "waiting_us": 1000.0,
                "late_was_last": 1.0, "yields": 0}  # fmt: skip
    return {"point": vars(POINT), "way": way, "repetition": repetition, "measured": measured}


def test_ratios_are_paired_by_repetition() -> None:
    runs = [run_of("spin", k, t, a, c) for k, t, a, c in ((1, 100, 4, 1000), (2, 200, 5, 500), (3, 400, 9, 800))]
    runs += [run_of("ours", k, t, a, c) for k, t, a, c in ((1, 110, 5, 20), (2, 208, 8, 20), (3, 404, 11, 24))]
    spin, ours = figures.rows(runs, 1)
    assert ours.way == "ours" and ours.base == "spin" and ours.repetitions == 3
    assert ours.time_us.value == 208 and ours.after_us and ours.after_us.value == 8
    assert ours.time_ratio and ours.time_ratio.value == pytest.approx(1.04)  # of 1.10, 1.04, 1.01
    assert ours.time_ratio.low == pytest.approx(1.01) and ours.time_ratio.high == pytest.approx(1.10)
    assert ours.after_more_us and ours.after_more_us.value == 2  # of 1, 3, 2
    assert ours.cpu_ratio and ours.cpu_ratio.value == pytest.approx(0.03)  # of 0.02, 0.04, 0.03
    assert ours.cpu_share and ours.cpu_share.value == pytest.approx(0.02)
    assert [verdict.met for verdict in ours.verdicts] == [True, True]
    assert spin.time_ratio and spin.time_ratio.value == 1 and not spin.verdicts
    assert text.tables([spin, ours])[0].rows == [
        ["allreduce 8 B on 1x2, 10 ms late", "spin", "spin", "200", "-", "5", "-", "800", "-", "-"],
        ["allreduce 8 B on 1x2, 10 ms late", "ours", "spin", "208", "1.040 [1.010, 1.100]", "8", "2.000 [1.000, 3.000]",
         "20", "0.030 [0.020, 0.040]", "yes"]]  # fmt: skip


def test_only_repetitions_that_both_have_count() -> None:
    runs = [run_of("spin", 1, 100, 1, 1), run_of("ours", 1, 200, 1, 1), run_of("ours", 2, 900, 1, 1)]
    ours = figures.rows(runs, 1)[1]
    assert ours.time_ratio and ours.time_ratio.value == 2
    alone = figures.rows(runs[1:], 1)[0]
    assert alone.time_ratio is None and alone.verdicts == []


def test_intervals_enclose_the_ratio_and_narrow() -> None:
    def ratio(repetitions: int) -> figures.Estimate:
        noise = [1 + 0.1 * ((k * 7) % 10 - 4.5) / 4.5 for k in range(repetitions)]
        runs = [run_of("spin", k, 100, 1, 1) for k in range(repetitions)]
        found = figures.rows(runs + [run_of("ours", k, 80 * n, 1, 1) for k, n in enumerate(noise)], 1)[1].time_ratio
        assert found is not None and found.low <= found.value <= found.high
        return found

    few, many = ratio(10), ratio(100)
    assert many.high - many.low < few.high - few.low


@pytest.mark.parametrize(
    "late_us,way,collective,bounds",
    [
        (100, "ours", "allreduce", {"after_more_us": 5.0}),
        (1000, "ours", "allreduce", {"time_ratio": 1.05}),
        (10_000, "ours", "allreduce", {"time_ratio": 1.05, "cpu_ratio": 0.03}),
        (10_000, "ours", "messages", {"time_ratio": 1.05}),
        (10_000, "ours-all", "messages", {"time_ratio": 1.05, "cpu_ratio": 0.03}),
        (10_000, "yield", "allreduce", {}),
    ],
)
def test_goals(late_us: int, way: str, collective: str, bounds: Dict[str, float]) -> None:
    found = experiments.goals(Point("skew", 1, 2, collective, 8, late_us), way)
    assert {goal.what: goal.bound for goal in found} == bounds


def test_ways_take_turns_in_an_order_by_chance() -> None:
    points = [POINT, Point("tight", 1, 2, "allreduce", 8)]
    planned = jobs.plan(points, ways.ALL, 4, 1)
    blocks = [planned[k : k + len(ways.ALL)] for k in range(0, len(planned), len(ways.ALL))]
    assert len(blocks) == 8
    for number, block in enumerate(blocks):
        assert {job.way for job in block} == set(ways.ALL)
        assert {(job.point, job.repetition) for job in block} == {(points[number % 2], number // 2)}
    assert len({tuple(job.way for job in block) for block in blocks}) > 4
    assert planned == jobs.plan(points, ways.ALL, 4, 1) != jobs.plan(points, ways.ALL, 4, 2)


def test_parameters_of_ways() -> None:
    def of(way: str, nodes: int = 1, fits: bool = True) -> ways.Parameters:
        return ways.parameters(way, nodes, fits, [("coll_poweraware_spin_us", "7")])

    for fits in (True, False):
        assert of("spin", 4, fits) == {"coll": "^poweraware", "mpi_yield_when_idle": "0"}
        assert of("yield", 4, fits) == {"coll": "^poweraware", "mpi_yield_when_idle": "1"}
    assert of("stock") == of("stock", 1, False) == of("stock", 4, False) == {"coll": "^poweraware"}
    assert of("stock", 4) == of("spin")  # bench/testbed/cluster would let it yield
    assert of("nanosleep")["threads_pthreads_nanosleep_time"] == "50000"
    assert of("ours", 4) == {"coll": "poweraware", "coll_poweraware_priority": "77", "mpi_yield_when_idle": "0",
                             "coll_poweraware_spin_us": "7"}  # fmt: skip
    assert "mpi_yield_when_idle" not in of("ours", 4, False)
    assert of("ours-all", 1, False)["coll_poweraware_idle"] == "all"
    assert ways.parameters("stock", 1, True, [], True) == {
        "coll": "^poweraware", "scoll": "^poweraware", "opal_common_ucx_opal_mem_hooks": "0"}  # fmt: skip
    assert ways.parameters("ours", 4, True, [], True) == {"scoll": "poweraware", "mpi_yield_when_idle": "0"}
    assert "nanosleep" not in ways.available((4, 1)) and "nanosleep" in ways.available((5, 0))


def test_a_crowd_needs_more_ranks_than_cpus() -> None:
    assert len(experiments.points(["crowded"], [], False, 7)[0]) == 9
    points, skipped = experiments.points(["crowded", "tight"], [], False, 8)
    assert [point.experiment for point in points] == ["tight"]
    assert skipped == ["crowded: skipped, 8 ranks would not crowd 8 CPUs"]


def test_a_way_that_is_not_done_is_noted() -> None:
    run = run_of("spin", 1, 1, 1, 1)
    run["measured"]["yields"] = 1
    assert figures.notes([run, run]) == ["spin: ranks yielded all the same on 1x2"]


def test_document_page_and_summary_have_all_experiments(world: World) -> None:
    done = world.run("--repetitions", "1", "--ways", "spin,stock,ours,ours-all", PYTHONPATH="")
    assert done.returncode == 0, done.stderr
    document = world.document()
    rows = {(Point(**r["point"]).key, r["way"], r["base"]): r for r in document["rows"]}
    points = 20 + 1 + 9 + 3 + 2
    assert len(rows) == points * 4 + 2 * 2  # ours are compared with both spin and stock in imbalance
    late = rows["skew-bcast-65536-4x2-10000us", "ours", "spin"]
    assert late["time_ratio"]["value"] == pytest.approx(10012 / 10010)
    assert late["cpu_ratio"]["value"] == pytest.approx(0.01) == late["cpu_share"]["value"]
    assert [verdict["met"] for verdict in late["verdicts"]] == [True, True]
    assert [v["met"] for v in rows["skew-allreduce-8-1x2-100us", "ours", "spin"]["verdicts"]] == [True]
    assert [v["met"] for v in rows["skew-allreduce-8-1x2-100us", "ours-all", "spin"]["verdicts"]] == [False]
    crowd = rows["crowded-alltoall-1024-1x8", "ours", "stock"]
    assert crowd["time_ratio"]["value"] == pytest.approx(0.4) and crowd["verdicts"][0]["met"]
    assert rows["imbalance-alltoall-65536-4x2", "ours", "stock"]["cpu_ratio"]["value"] == pytest.approx(0.4)

    summary = (world.output / "summary.txt").read_text()
    assert summary in done.stdout
    assert "The nodes of 4x2 are emulated" in summary and "1x8: 8 ranks shared 1 CPU" in summary
    lines = [" ".join(line.split()) for line in summary.splitlines()]
    assert "allreduce 8 B on 1x2, 100 us late ours spin 112 1.018 12 2.000 1 0.010 yes" in lines
    assert any(line.startswith("allreduce 8 B on 1x8 ours-all stock 120 1.200 ") and line.endswith("no (time)")
               for line in lines)  # fmt: skip

    page = (world.output / "page.html").read_text()
    tree.fromstring(page.partition("\n")[2])
    for name in experiments.names(False):
        assert f"<h2>{name}: " in page
    assert "OpenSHMEM" not in page
    assert page.count("<img src=") == 9 and "Nodes of 4x2: emulated" in page and "http" not in page


def test_openshmem_side_by_side(world: World) -> None:
    done = world.run("--openshmem", "--repetitions", "1", PYTHONPATH="")
    assert done.returncode == 0, done.stderr
    kinds = {name: [p.collective for p in experiments.ALL[name].points(False)] for name in experiments.names(True)}
    assert set(kinds["shmem-tcp"]) == set(kinds["shmem-nodes"]) == {*kinds["shmem"], "put-quiet", "put-large", "get", "get-nbi-quiet",
                                                                                   "fetch-add", "compare-swap"}  # fmt: skip
    rows = world.document()["rows"]
    assert len(rows) == 2 * sum(map(len, kinds.values()))
    assert {(row["point"]["experiment"], row["way"], row["base"]) for row in rows} == {
        (name, way, "stock") for name in kinds for way in ways.OPENSHMEM}  # fmt: skip
    for row in rows:
        assert row["cpu_share"]["value"] == pytest.approx(0.01 if row["way"] == "ours" else 1)
        assert [verdict["met"] for verdict in row["verdicts"]] == ([True, True] if row["way"] == "ours" else [])
    ours = [line for line in world.calls() if "--mca scoll poweraware" in line]
    stock = [line for line in world.calls() if "--mca scoll ^poweraware --mca opal_common_ucx_opal_mem_hooks 0" in line]
    assert len(ours) == len(stock) == len(rows) // 2
    for transport, name in (("self,sm", "shmem"), ("self,tcp", "shmem-tcp"), ("self,sm,tcp", "shmem-nodes")):
        assert sum(f"env UCX_TLS={transport} " in line for line in ours) == len(kinds[name])

    lines = [" ".join(line.split()) for line in (world.output / "summary.txt").read_text().splitlines()]
    assert any(line.startswith("call shmem: stock shmem: ours shmem-tcp: stock ") for line in lines)
    assert "barrier-all 100 1.0 100 1.0 100 1.0" in lines and "get - - 100 1.0 100 1.0" in lines
    page = (world.output / "page.html").read_text()
    tree.fromstring(page.partition("\n")[2])
    assert page.count("<img src=") == 3 and "skew" not in page and "http" not in page


def test_wrong_results_of_openshmem_are_failures(world: World) -> None:
    done = world.run("--openshmem", "--quick", "--experiments", "shmem", FAKE_WRONG="3")
    assert done.returncode == 1 and "3 wrong results" in done.stderr


def test_openshmem_needs_its_component(world: World) -> None:
    (world.folder / "build/oshmem/scoll_poweraware/component/mca_scoll_poweraware.so").unlink()
    done = world.run("--openshmem", "--quick")
    assert done.returncode == 1 and "mca_scoll_poweraware.so: build first" in done.stderr and not world.calls()


def test_each_way_has_its_own_parameters(world: World) -> None:
    done = world.run("--quick", "--experiments", "skew,tight", "--ways", "spin,stock,ours,ours-all", "--seed", "7",
                     "--mca", "coll_poweraware_spin_us", "9", OMPI_MCA_mpi_yield_when_idle="1",
                     OMPI_MCA_coll_poweraware_scheme="off")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "OMPI_MCA" not in "".join(world.calls())
    kinds = [line.split()[:2] for line in world.calls()]
    assert kinds == [["mpirun", "-np"]] * 8 + [["cluster", "up"]] + [["cluster", "run"]] * 4 + [["mpirun", "-np"]] * 4 + [
        ["cluster", "down"]]  # fmt: skip
    spin = [line for line in world.calls() if "--mca coll ^poweraware --mca mpi_yield_when_idle 0" in line]
    ours = [line for line in world.calls() if "--mca coll poweraware --mca coll_poweraware_priority 77" in line]
    assert len(spin) == 4 and len(ours) == 8
    assert all("--oversubscribe --bind-to none" in line for line in world.calls() if line.startswith("mpirun"))
    assert all("spin_us 9" in line for line in ours) and "spin_us" not in "".join(spin)


def test_resume_measures_what_is_missing_or_different(world: World) -> None:
    few = ["--experiments", "tight", "--repetitions", "2", "--ways", "spin,ours"]
    assert world.run(*few).returncode == 0 and len(world.calls()) == 4
    (world.output / "runs/tight-allreduce-8-1x2-spin-2.json").unlink()
    done = world.run(*few, "--resume")
    assert done.returncode == 0 and len(world.calls()) == 5 and "job 1/1: " in done.stderr
    assert [row["repetitions"] for row in world.document()["rows"]] == [2, 2]
    assert world.run(*few, "--resume", "--mca", "coll_poweraware_spin_us", "9").returncode == 0
    assert len(world.calls()) == 7  # both of ours
    assert world.run(*few).returncode == 0 and len(world.calls()) == 11
    assert world.run(*few, "--resume", "--awake").returncode == 0
    assert len(world.calls()) == 15  # all: other conditions


def test_a_way_that_fails_is_named_and_the_others_go_on(world: World) -> None:
    done = world.run("--experiments", "tight", "--repetitions", "2", "--ways", "spin,yield,ours", FAKE_FAILS="ours",
                     PYTHONPATH="")  # fmt: skip
    assert done.returncode == 1
    named = "ours: tight, allreduce 8 B on 1x2, repetition 2: exit status 3: "
    assert named in done.stderr and f"FAILED, left out: {named}" in done.stdout and "the reason why" in done.stdout
    assert [row["way"] for row in world.document()["rows"]] == ["spin", "yield"]
    assert "Failed, left out" in (world.output / "page.html").read_text()


def test_three_failures_in_a_row_end_it(world: World) -> None:
    done = world.run("--experiments", "tight", FAKE_FAILS="spin,yield,stock,ours,ours-all")
    assert done.returncode == 1 and "3 jobs in a row failed" in done.stderr and len(world.calls()) == 3


def test_a_cluster_that_does_not_come_up_is_named(world: World) -> None:
    done = world.run("--quick", "--experiments", "skew", "--layouts", "4x2", FAKE_NO_CLUSTER="1")
    assert done.returncode == 1 and "exit status 1" in done.stderr and " up 4 " in done.stderr
    assert all(line.split()[1] == "up" for line in world.calls())


def test_a_job_that_takes_too_long_is_ended(world: World) -> None:
    done = world.run("--experiments", "tight", "--ways", "ours", "--repetitions", "1", "--timeout", "1", FAKE_HANGS="1")
    assert done.returncode == 1 and "took over 1 s" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_takes_the_cluster_down(world: World, number: int) -> None:
    process = world.start("--quick", "--experiments", "skew", "--layouts", "4x2", FAKE_HANGS="1")
    while not any(line.startswith("cluster run") for line in world.calls()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 130 and f"--resume --output {world.output} goes on" in err
    assert world.calls()[-1].startswith("cluster down ")


@pytest.mark.parametrize(
    "arguments,word",
    [
        (["--ways", "sleep"], "'sleep' is none of spin"),
        (["--experiments", "tight,"], "'' is none of skew"),
        (["--layouts", "1x1"], "is not NODESxRANKS"),
        (["--seconds", "0"], "a whole number from 1 on"),
        (["--repetitions", "x"], "a whole number from 1 on"),
        (["--experiments", "shmem"], "shmem is only with --openshmem"),
        (["--openshmem", "--experiments", "tight"], "tight is of MPI: leave out --openshmem"),
        (["--ways", "nanosleep"], "nanosleep: only from Open MPI 5.0 on"),
    ],
)
def test_wrong_options(world: World, arguments: List[str], word: str) -> None:
    done = world.run(*arguments)
    assert done.returncode == 2 and word in done.stderr and not world.calls()


def test_what_is_not_there_is_named(world: World) -> None:
    (world.folder / "build/bench/waits/wait_load").unlink()
    done = world.run("--quick")
    assert done.returncode == 1 and "wait_load" in done.stderr and "build first" in done.stderr
    (world.folder / "mpirun").unlink()
    done = world.run("--quick")
    assert done.returncode == 1 and "name it with --mpirun" in done.stderr


def test_layouts_that_no_experiment_has(world: World) -> None:
    done = world.run("--layouts", "3x3")
    assert done.returncode == 1 and "skew: skipped, it has only layouts 1x2, 4x2" in done.stderr
    assert "nothing to measure" in done.stderr


# ---- the real programs ----

LOAD = BUILD / "bench/waits/wait_load"
MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
needs_build = pytest.mark.skipif(MPIRUN is None or not LOAD.exists(), reason="no mpirun, or wait_load is not built")


def mpirun(ranks: int, *arguments: str, program: Path = LOAD) -> "subprocess.CompletedProcess[str]":
    allow = {f"{owner}_ALLOW_RUN_AS_ROOT{end}": "1" for owner in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    environment = {**os.environ, **allow}
    # mpirun of 4.1 waits so long for the other ranks of one that failed
    environment["OMPI_MCA_odls_base_sigkill_timeout"] = "0"
    environment["OMPI_MCA_opal_common_ucx_opal_mem_hooks"] = "0"  # with them stock 4.1 crashes in shmem_finalize
    line = [str(MPIRUN), "-np", str(ranks), "--oversubscribe", str(program), *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


@needs_build
def test_a_short_real_run(tmp_path: Path) -> None:
    line = [sys.executable, str(WAITS), "--build", str(BUILD), "--output", str(tmp_path), "--quick", "--layouts", "1x2"]
    line += ["--experiments", "skew,tight", "--ways", "spin,ours-all"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "document.json").read_text())
    assert document["library"].startswith("Open MPI")
    assert not document["notes"] or len(os.sched_getaffinity(0)) < 2
    for row in document["rows"]:
        assert row["time_us"]["value"] > row["point"]["late_us"] and row["cpu_us"]["value"] > 0
    assert {row["way"] for row in document["rows"]} == {"spin", "ours-all"}


@needs_build
@pytest.mark.parametrize("load", ["skew", "tight", "apart", "imbalance"])
def test_loads_with_as_little_as_there_can_be(load: str) -> None:
    done = mpirun(3, load, "--iterations", "1", "--warmup", "0", "--late-us", "0", "--compute-us", "0", "--bytes", "0",
                  "--collective", "messages", "--seconds", "1")  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ranks"] == 3 and found["iterations"] == 1
    assert all(found["time_us"][name] >= 0 for name in ("mean", "p25", "p50", "p75", "p95"))


@needs_build
def test_seconds_limit_iterations() -> None:
    done = mpirun(2, "skew", "--iterations", "1000", "--warmup", "1", "--late-us", "500000", "--seconds", "1")
    assert done.returncode == 0 and json.loads(done.stdout)["iterations"] == 5, done.stderr


@needs_build
@pytest.mark.parametrize(
    "ranks,arguments,word",
    [
        (1, ["skew"], "start at least two"),
        (2, [], "no such load"),
        (2, ["skew", "more"], "unexpected argument"),
        (2, ["skew", "--late-us", "-1"], "option --late-us"),
        (2, ["skew", "--iterations", "0"], "option --iterations"),
        (2, ["skew", "--bytes", "7"], "no whole ints"),
        (2, ["tight", "--collective", "scan"], "no such load or collective"),
    ],
)
def test_loads_that_are_refused(ranks: int, arguments: List[str], word: str) -> None:
    done = mpirun(ranks, *arguments)
    assert done.returncode != 0 and done.stderr.count(word) == 1 and not done.stdout


SHMEM_LOAD = BUILD / "bench/waits/shmem_load"
needs_openshmem = pytest.mark.skipif(MPIRUN is None or not SHMEM_LOAD.exists(), reason="no mpirun, or Open MPI without OpenSHMEM")


@needs_openshmem
def test_a_short_real_run_of_openshmem(tmp_path: Path) -> None:
    line = [sys.executable, str(WAITS), "--build", str(BUILD), "--output", str(tmp_path), "--quick", "--openshmem"]
    done = subprocess.run([*line, "--experiments", "shmem,shmem-tcp"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "document.json").read_text())
    assert document["library"].startswith("Open MPI")
    assert {(row["point"]["experiment"], row["way"]) for row in document["rows"]} == {
        (name, way) for name in ("shmem", "shmem-tcp") for way in ways.OPENSHMEM}  # fmt: skip
    for row in document["rows"]:
        assert row["time_us"]["value"] > row["point"]["late_us"] and row["cpu_us"]["value"] > 0


@needs_openshmem
def test_what_is_measured_are_kinds_of_the_program() -> None:
    """Every kind once, with nobody late."""
    kinds = {point.collective for name in experiments.names(True) for point in experiments.ALL[name].points(False)}
    for kind in sorted(kinds):
        done = mpirun(3, "--iterations", "2", "--warmup", "0", "--late-us", "0", kind, program=SHMEM_LOAD)
        assert done.returncode == 0, (kind, done.stderr)
        found = json.loads(done.stdout)
        assert found["ranks"] == 3 and found["iterations"] == 2 and found["wrong"] == 0
        assert 0 < found["t_begin_ns"] < found["t_end_ns"]


@needs_openshmem
@pytest.mark.parametrize("pes,arguments,word", [(1, ["sum"], "start at least two"), (2, ["fold"], "no such kind"), (2, [], "no such kind")])
def test_openshmem_loads_that_are_refused(pes: int, arguments: List[str], word: str) -> None:
    done = mpirun(pes, *arguments, program=SHMEM_LOAD)
    assert done.returncode != 0 and done.stderr.count(word) == 1 and not done.stdout


def idle_children() -> int:
    """Children of this process that run at the lowest priority."""
    listed = subprocess.run(["ps", "-o", "cls=", "--ppid", str(os.getpid())], stdout=subprocess.PIPE, text=True, check=False)
    return listed.stdout.split().count("IDL")


def test_cpus_are_kept_awake_by_processes_that_end() -> None:
    with awake():
        while idle_children() < len(os.sched_getaffinity(0)):  # else the test's time limit ends it
            time.sleep(0.05)
    assert idle_children() == 0
    with pytest.raises(KeyError), awake():
        raise KeyError
    assert idle_children() == 0


def test_what_is_awake_and_stolen_is_told(world: World) -> None:
    assert world.run("--quick", "--awake").returncode == 0
    assert world.document()["awake"] is True
    head = {"library": "x", "host": "h", "cpus": 2, "date": "d", "repetitions": 1, "layouts": [], "skipped": [], "notes": []}
    told = " ".join(text.setting({**head, "awake": True, "stolen": 0.173}))
    assert "lowest priority kept each CPU from halting" in told and "took 17.3% of its CPUs' time" in told
    assert len(text.setting({**head, "awake": False, "stolen": 0.0})) == 2


def test_stolen_time_of_files(tmp_path: Path) -> None:
    assert stolen_s(tmp_path) == 0.0
    tmp_path.joinpath("proc").mkdir()
    stat = tmp_path / "proc/stat"
    stat.write_text("cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1 2 3 4 5 6 7 250 0 0\n")
    assert stolen_s(tmp_path) == 250 / os.sysconf("SC_CLK_TCK")
    stat.write_text("cpu  1 2 3 4\n")
    assert stolen_s(tmp_path) == 0.0
