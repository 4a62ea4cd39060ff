# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Energies and powers against the exact integrals of the synthetic machine."""
from __future__ import annotations

from typing import List

import pytest

from poweraware.session import energy, summary
from poweraware.session.document import Document, NodeEnergy, Run, Samples, choose_windows, from_json
from poweraware.session.tests import synthetic


@pytest.fixture(scope="module")
def document() -> Document:
    return from_json(synthetic.make_document(repetitions=2), "generator")


def exact_j(run: Run, begin_ns: int, end_ns: int) -> float:
    """The integral of the synthetic power, without any sampling."""
    rows = synthetic.make_rows(
        run.benchmark, run.scheme, run.repetition, run.start_ns + int(synthetic.STARTUP_S * 1e9)
    )
    states = synthetic.stretches(run.scheme, rows, run.start_ns, run.end_ns)
    joules = synthetic.DRAM_W * (end_ns - begin_ns) / 1e9
    for package in range(synthetic.PACKAGES):
        joules += synthetic.energy_j(states, package, end_ns)
        joules -= synthetic.energy_j(states, package, begin_ns)
    return 4 * joules


def test_constant_power_is_exact(document: Document) -> None:
    for run in document.good_runs("alltoall", "off"):
        begin_ns, end_ns = run.interval_ns()
        assert energy.run_energy_j(run, 4) == pytest.approx(exact_j(run, begin_ns, end_ns), 1e-9)
        assert summary.run_power_w(run, 4) == pytest.approx(760.0)


@pytest.mark.parametrize("scheme", ["dvfs", "throttle"])
def test_changing_power_is_right_within_one_sample_at_each_end(
    document: Document, scheme: str
) -> None:
    for run in document.good_runs("alltoall", scheme):
        begin_ns, end_ns = run.interval_ns()
        worst_j = 2 * 760.0 * synthetic.INTERVAL_MS / 1e3
        expected = exact_j(run, begin_ns, end_ns)
        assert energy.run_energy_j(run, 4) == pytest.approx(expected, abs=worst_j)
        # Over the whole of the samples interpolation plays no part.
        whole = energy.total_energy_j(run, 4, run.start_ns, run.end_ns)
        assert whole == pytest.approx(exact_j(run, run.start_ns, run.end_ns), 1e-9)


def test_all_runs_of_a_benchmark_have_the_same_window() -> None:
    runs = from_json(synthetic.make_applications(), "generator").runs
    lost, bad = (next(run for run in runs if run.benchmark == name) for name in ("ft.S", "is.S"))
    lost.job = bad.job = None
    bad.failure = "exit status 1"
    choose_windows(runs)
    assert {run.window for run in runs if run.benchmark == "ft.S"} == {"mpirun"}
    assert {run.window for run in runs if run.benchmark == "is.S" and run is not bad} == {"job"}
    rows = from_json(synthetic.make_document(), "generator").runs
    choose_windows(rows)
    assert {run.window for run in rows} == {"rows"}


def test_ratios_compare_the_same_repetition(document: Document) -> None:
    cell = summary.cell(document, "alltoall", "throttle")
    assert cell.time_s.ratio is not None and cell.latency_ratio is not None
    assert cell.time_s.ratio.middle == pytest.approx(1.12, rel=1e-6)
    assert cell.time_s.ratio.low is None and cell.time_s.ratio.text() == "1.120 (2 runs)"
    assert cell.latency_ratio.middle == pytest.approx(1.12)
    assert cell.time_s.value is not None and cell.time_s.value.deviation > 0.005


def test_bins_add_up_to_the_energy(document: Document) -> None:
    run = document.good_runs("alltoall", "throttle")[0]
    begin_ns, end_ns = run.interval_ns()
    edges, watts = energy.power_over_time(run.energy, begin_ns, end_ns, 37)
    joules = sum(w * (b - a) for w, a, b in zip(watts, edges, edges[1:]))
    assert len(watts) == 37 and edges[0] == 0.0
    assert joules == pytest.approx(energy.run_energy_j(run, 4), rel=1e-6)


def test_sizes_too_short_for_the_sampling_have_no_energy(document: Document) -> None:
    run = document.good_runs("alltoall", "off")[0]
    found = [energy.row_energy_j(run, row, 4, synthetic.INTERVAL_MS) for row in run.rows]
    assert found[0] is None  # 1 KiB: 19 ms
    assert found[-1] is not None  # 1 MiB: 0.5 s
    last = run.rows[-1]
    assert last.t_begin_ns is not None and last.t_end_ns is not None
    assert found[-1] == pytest.approx(exact_j(run, last.t_begin_ns, last.t_end_ns), 1e-9)


def two_samples(uj: List[float]) -> NodeEnergy:
    samples = Samples([1_000, 3_000], [uj])
    return NodeEnergy(0, [0], "powercap", ["package-0"], ["package-0"], samples)


def test_interpolation_by_hand() -> None:
    meter = two_samples([10e6, 30e6])
    assert energy.node_energy_j(meter, 1_500, 2_500) == pytest.approx(10.0)
    assert energy.node_energy_j(meter, 1_000, 3_000) == pytest.approx(20.0)
    assert energy.node_energy_j(meter, 999, 3_000) is None
    assert energy.node_energy_j(meter, 1_000, 3_001) is None


def test_domains_that_contain_others_do_not_count_twice() -> None:
    samples = Samples([0, 10], [[0.0, 5e6], [0.0, 3e6]])
    meter = NodeEnergy(0, [0], "powercap", ["package-0", "core-0"], ["package-0"], samples)
    assert energy.node_energy_j(meter, 0, 10) == pytest.approx(5.0)


def test_a_missing_node_makes_the_total_unknown(document: Document) -> None:
    run = document.good_runs("alltoall", "off")[0]
    run.energy.pop()
    assert energy.run_energy_j(run, 4) is None
    assert energy.why_no_energy(run, 4) == "no energy samples of node 3"


def test_one_meter_may_cover_all_nodes(document: Document) -> None:
    run = document.good_runs("bcast", "off")[0]
    del run.energy[1:]
    run.energy[0].covers = [0, 1, 2, 3]
    assert summary.run_power_w(run, 4) == pytest.approx(190.0)


def test_energy_per_call_is_over_all_calls_of_the_window() -> None:
    """Calls to warm up draw energy between a row's begin and end, too."""
    document = from_json(synthetic.make_document(["alltoall"], ["off"], 1), "generator")
    before = summary.energy_by_size(document, "alltoall", "off")
    assert before
    for run in document.runs:
        for row in run.rows:
            assert row.iterations is not None
            row.operations = 2 * row.iterations
    after = summary.energy_by_size(document, "alltoall", "off")
    assert {size: 2 * found.mean for size, found in after.items()} == pytest.approx({size: found.mean for size, found in before.items()})
