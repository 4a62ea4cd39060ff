# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The driver's parsers and calculations, each by hand-made input."""
from __future__ import annotations

import io
from pathlib import Path
from typing import List, Optional

import pytest

from bench.common import processes
from bench.common.progress import Progress
from bench.run import facts, machine, main, options, osu, sampler, states

# Written by hand after OSU 7.0 with -f -c; real outputs are in bench/osu/tests/samples.
OSU_7_FULL = """
# OSU MPI All-to-All Personalized Exchange Latency Test v7.0
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation
1                       1.99              1.78              2.31        1000              Pass
2                       2.04              1.80              2.40        1000              Pass
1048576              1573.22           1500.10           1700.99         100              Fail
"""

OSU_7_DATATYPE = """[host:01] some warning of a library 5 6

# OSU MPI Broadcast Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
4                      11.50             10.00             12.00         200
8                      11.6
"""

OSU_5_SHORT = """# OSU MPI Reduce Latency Test v5.6.3
# Size       Avg Latency(us)
4                       0.77
"""


def test_osu_text_with_everything() -> None:
    rows = osu.parse_text(OSU_7_FULL)
    assert [row.bytes for row in rows] == [1, 2, 1048576]
    assert rows[0].avg_us == 1.99 and rows[0].min_us == 1.78 and rows[0].max_us == 2.31
    assert rows[2].iterations == 100
    assert [row.validated for row in rows] == [True, True, False]


def test_osu_text_with_other_lines_and_a_cut_end() -> None:
    rows = osu.parse_text(OSU_7_DATATYPE)
    assert [(row.bytes, row.avg_us, row.validated) for row in rows] == [(4, 11.5, None)]


def test_osu_text_without_full_output() -> None:
    (row,) = osu.parse_text(OSU_5_SHORT)
    assert (row.bytes, row.avg_us, row.min_us, row.iterations) == (4, 0.77, None, None)


@pytest.mark.parametrize("text", ["", '{"rows": [{"bytes": 1}], "ranks": []}', '{"rows": []'])
def test_incomplete_json_is_no_result(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.json").write_text(text)
    assert osu.read_json(tmp_path / "r.json") is None
    assert osu.read_json(tmp_path / "absent.json") is None


SAMPLES = sorted((Path(__file__).resolve().parents[2] / "osu" / "tests" / "samples").glob("*.txt"))


@pytest.mark.parametrize("sample", SAMPLES, ids=[path.stem for path in SAMPLES])
def test_output_of_the_real_osu_benchmarks(sample: Path) -> None:
    text = sample.read_text()
    rows = osu.parse_text(text)
    numbers = [line.split() for line in text.splitlines() if line.lstrip()[:1].isdigit()]
    if "barrier" in sample.stem:  # no sizes
        numbers = [["0", *cells] for cells in numbers]
    assert [row.bytes for row in rows] == [int(cells[0]) for cells in numbers]
    assert [row.avg_us for row in rows] == [float(cells[1]) for cells in numbers]
    assert all(row.validated is not None for row in rows) == ("validation" in sample.stem)
    assert all(row.iterations is not None for row in rows) == ("full" in sample.stem)


@pytest.mark.parametrize(
    "value, percent",
    [(0x0, 100.0), (0x10, 100.0), (0x12, 12.5), (0x18, 50.0), (0x1E, 87.5), (0x11, 6.25), (2, 100)],
)
def test_duty_cycles(value: int, percent: float) -> None:
    assert states.duty_percent(value) == percent


@pytest.mark.parametrize(
    "control, value, khz",
    [
        ("scaling_max_freq", "1600000", 1.6e6),
        ("scaling_setspeed", "<unsupported>", None),
        ("msr:0x199", "0x1000", 1.6e6),
        ("msr:0x774", "0x80001810", 2.4e6),
        ("msr:0x774", "0x0", None),
        ("scaling_governor", "powersave", None),
    ],
)
def test_frequencies(control: str, value: str, khz: float) -> None:
    assert states.frequency_khz(control, value) == khz


def trace(path: Path, lines: List[str]) -> None:
    with path.open("a") as file:
        file.write("".join(line + "\n" for line in lines))


def test_trace_is_read_piece_by_piece(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    reader = states.TraceReader(path)
    assert reader.advance(0) == []  # not there yet
    trace(path, ["t_ns,cpu,control,value,pid", "5,0,scaling_max_freq,2400000,0"])
    trace(path, ["5,0,msr:0x199,0x1000,0", "5,0,msr:0x19a,0x0,0"])
    reader.advance(100)
    assert reader.states() == {0: (2.4e6, 100.0)}  # the ceiling, not the register's initial value
    with path.open("a") as file:
        file.write("10,0,msr:0x19a,0x12,42\n20,0,msr:0x19a,0x12,42\n30,0,msr:0x1")
    assert reader.advance(100) == [(110, 0, (2.4e6, 12.5))]  # the same value again is no change
    with path.open("a") as file:
        file.write("9a,0x0,42\n40,0,msr:0x199,0x1000,42\n")
    assert reader.advance(100) == [(130, 0, (2.4e6, 100.0)), (140, 0, (1.6e6, 100.0))]


def test_residency_by_hand() -> None:
    second = 1_000_000_000
    events = [(2 * second, 0, (1.6e6, 12.5)), (5 * second, 0, (1.6e6, 100.0))]
    node = states.node_states(3, {0: (2.4e6, 100.0)}, events, second, 10 * second, {0: 1})
    (cpu,) = node.cpus
    assert node.complete and cpu.package == 1 and cpu.transitions == 2
    found = {(item.freq_khz, item.duty_percent): item.seconds for item in cpu.residency}
    assert found == {(2.4e6, 100.0): 1.0, (1.6e6, 12.5): 3.0, (1.6e6, 100.0): 5.0}
    assert cpu.changes.t_ns == [second, 2 * second, 5 * second]


def test_too_many_changes_are_cut_but_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "MAX_CHANGES", 10)
    events = [(k, k % 2, (2.4e6, 12.5 if k // 2 % 2 else 100.0)) for k in range(1, 101)]
    initial = {0: (2.4e6, 50.0), 1: (2.4e6, 50.0)}
    node = states.node_states(0, initial, events, 0, 1000, {})
    assert not node.complete
    assert sum(cpu.transitions for cpu in node.cpus) == 100
    kept = [t for cpu in node.cpus for t in cpu.changes.t_ns]
    assert min(kept) == node.window_begin_ns and len(kept) <= 12
    for cpu in node.cpus:
        assert sum(item.seconds for item in cpu.residency) == pytest.approx(1e-6)


def test_sampler_output() -> None:
    head = '{"source":"powercap","host":"n0","domains":["package-0","core-0","dram-0"]}\n'
    lines = '{"t_ns":10,"energy_uj":[0,0,0]}\n{"t_ns":20,"energy_uj":[5,2,1]}\n'
    meter = sampler.parse(head + lines + '{"t_ns":30,"ener', [2])
    assert meter.samples.t_ns == [10, 20] and meter.samples.uj == [[0, 5], [0, 2], [0, 1]]
    assert meter.total_domains == ["package-0", "dram-0"]
    back = '{"t_ns":15,"energy_uj":[6,2,1]}\n'
    assert sampler.parse(head + lines + back, [0]).samples.t_ns == [10, 20]
    with pytest.raises(ValueError, match="fewer than two samples"):
        sampler.parse(head, [0])


def test_a_domain_that_fails_is_left_out_or_costs_the_total() -> None:
    head = '{"source":"powercap","domains":["package-0","core-0"]}\n'
    begin = '{"t_ns":10,"energy_uj":[0,0],"uncertainty_uj":[9,9]}\n'
    end = '{"t_ns":20,"energy_uj":[5,null],"uncertainty_uj":[9,null]}\n'
    meter = sampler.parse(head + begin + end, [0])
    assert meter.domains == ["package-0"] and meter.samples.uj == [[0, 5]]
    with pytest.raises(ValueError, match="package-0 could not be read all the time"):
        sampler.parse(head + begin + end.replace("[5,null]", "[null,5]"), [0])


def test_the_gpus_of_the_host_are_not_the_emulated_nodes() -> None:
    head = (
        '{"source":"powercap","sources":["powercap","nvml"],"domains":["package-0","gpu-0"]}\n'
        '{"t_ns":10,"energy_uj":[0,0]}\n{"t_ns":20,"energy_uj":[5,7]}\n'
    )
    assert sampler.parse(head, [0]).total_domains == ["package-0", "gpu-0"]
    emulated = sampler.parse(head, [0], emulated=True)
    assert emulated.domains == emulated.total_domains == ["package-0"]
    assert emulated.samples.uj == [[0, 5]]


def test_the_whole_node_meter_stands_alone() -> None:
    assert sampler.total_domains(["package-0", "dram-0", "platform"]) == ["platform"]


def test_lscpu() -> None:
    assert facts.packages("# CPU,Socket\n0,0\n1,1\n") == {0: 0, 1: 1}
    assert facts.packages(None) == {}


@pytest.mark.parametrize(
    "text, scope",
    [
        ("tstate_scope = package\n", "package"),
        ("  tstate_scope=thread # comment\n", "core"),
        ("#tstate_scope = package\n", None),
    ],
)
def test_machine_parameters(tmp_path: Path, text: str, scope: Optional[str]) -> None:
    (tmp_path / "m.machine").write_text("name = m\n" + text)
    expected = {} if scope is None else {"coll_poweraware_tstate_scope": scope}
    assert machine.parameters(tmp_path / "m.machine") == expected


@pytest.mark.parametrize(
    "text, floor",
    [
        ("cores = 4\n", None),
        ("packages = 2\ncores = 4\npackage_static_w = 20\ndram_static_w = 14\nplatform_static_w = 100\n", 176.0),
        ("cores = 2\ncore_idle_w = 0.5 # W\nplatform_static_w = 50\nuncore_w = 8\n", 59.0),
        ("cores = 2\nplatform_static_w = 50\nuncore_w = 8\nuncore_min_khz = 1\nuncore_max_khz = 2\ncore_dyn_exponent = 2\n", 54.0),
    ],
)
def test_machine_floor(tmp_path: Path, text: str, floor: Optional[float]) -> None:
    (tmp_path / "m.machine").write_text(text)
    assert machine.floor_w(tmp_path / "m.machine") == floor


def test_progress_estimates_by_kind() -> None:
    out = io.StringIO()
    progress = Progress([("a", "off"), ("a", "dvfs"), ("a", "off")], out)
    progress.begin("run 1")
    progress.end("one done")
    lines = out.getvalue().splitlines()
    assert "time left not known yet] run 1" in lines[0]
    assert "about 0 s left] one done" in lines[1]


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--sizes", "8"], "'8' is not MIN:MAX or BENCHMARK=MIN:MAX"),
        (["--sizes", "8:4"], "MIN is above MAX"),
        (["--sizes", "scatterv=1:8"], "'scatterv' is not of the benchmarks"),
        (["--sizes", "bcast=1:8"], "no sizes for 'alltoall'"),
        (["--preload", "auto=/bin/true"], "--preload auto=/bin/true: NAME=FILE is wanted"),
        (["--preload", "peer=/no/such.so"], "there is no file /no/such.so"),
        (["--preload-env", "peer", "A=1"], "no --preload has the name peer"),
        (["--preload", "peer=/bin/true", "--preload-env", "peer", "A"], "peer A: VARIABLE=VALUE is wanted"),
        (["--schemes", "off,fast"], "scheme 'fast' is not of"),
        (["--benchmarks", "bcast,bcast"], "is not a list of different names"),
        (["--machine", "/no/such.machine"], "no such file; 'none' uses the real hardware"),
        (["--layout", "0,0"], "has no ranks"),
        (["--iterations", "0"], "is not a whole number from 1 on"),
    ],
)
def test_wrong_options(
    arguments: List[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        options.parse("osu", ["--machine", "none", *arguments])
    assert caught.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_page_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    page.symlink_to("/dev/full")
    assert not main._write(page, "x" * 100000)
    assert f"{page}: cannot be written: No space left" in capsys.readouterr().err
    assert not page.is_symlink()
    assert main._write(page, "x")


def test_unknown_benchmark_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["nas"]) == 2
    assert "nas is not a benchmark" in capsys.readouterr().err
    assert main.main(["--help"]) == 0


# Open MPI 4.1.4, of a program that prints its reason and exits.
NOTICES = """--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
a non-zero exit code. Per user-direction, the job has been aborted.
--------------------------------------------------------------------------
--------------------------------------------------------------------------
mpirun.openmpi detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[48046,1],5]
  Exit code:    1
--------------------------------------------------------------------------
"""


ABORTED = f"""countdown: no perf events
{"-" * 74}
MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD
with errorcode 1.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
You may or may not see output from other processes, depending on
exactly when Open MPI kills them.
{"-" * 74}
[head:00123] 1 more process has sent help message help-mpi-api.txt / mpi-abort
[head:00123] Set MCA parameter "orte_base_help_aggregate" to 0 to see all help / error messages
"""


def test_last_words_are_the_programs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("ft: 9 processes\n\n do not fit\n" + NOTICES)
    assert processes.last_words(log) == "ft: 9 processes / do not fit"
    log.write_text(NOTICES)  # better than nothing
    assert "Exit code:    1" in processes.last_words(log)
    log.write_text("-" * 74 + "\nAll nodes which are allocated for this job are already filled.\n" + "-" * 74 + "\n" + NOTICES)
    assert processes.last_words(log) == "All nodes which are allocated for this job are already filled."
    log.write_text(ABORTED)
    assert processes.last_words(log) == (
        "countdown: no perf events / MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD / with errorcode 1."
    )
    log.write_text("x" * 1000)
    assert processes.last_words(log) == "..." + "x" * 300
