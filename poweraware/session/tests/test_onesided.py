# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""One-sided operations: figures over polling and break-evens, against an invented machine's."""
from __future__ import annotations

import re

import pytest

from poweraware.session import onesided, summary, tables, words
from poweraware.session.document import Document, from_json
from poweraware.session.tests import synthetic
from poweraware.session.tests.synthetic import make_shift


@pytest.fixture(scope="module")
def document() -> Document:
    return from_json(make_shift(), "generator")


def watts(khz: int) -> float:
    """Of a node whose cores all work."""
    return synthetic.BASE_W + synthetic.DRAM_W + synthetic.CORES * synthetic.core_watts(khz, 100)


def test_polling_is_the_baseline(document: Document) -> None:
    assert document.baseline() == "poll" and document.schemes() == ["poll", "interrupt", "interrupt_dvfs"]
    cell = summary.cell(document, "put", "interrupt")
    assert cell.time_s.ratio is not None and cell.time_s.ratio.middle == pytest.approx(1.02, rel=1e-3)
    assert "than poll" in words.result(document) and "off" not in words.result(document)
    assert words.schemes(document)[0].startswith("poll: ranks poll")
    assert tables.ratios(document).heads[2] == "latency / poll"


def test_figures_over_polling(document: Document) -> None:
    latency = onesided.ratios_by_size(document, "put", "interrupt_dvfs", "latency")
    assert list(latency) == list(synthetic.SIZES)
    assert all(each.middle == pytest.approx(1.06) for each in latency.values())
    power = onesided.ratios_by_size(document, "put", "interrupt_dvfs", "power")
    energy = onesided.ratios_by_size(document, "put", "interrupt_dvfs", "energy")
    wanted = watts(synthetic.SLOW_KHZ) / watts(synthetic.FAST_KHZ)
    assert 1048576 in power and 1024 not in power  # too short for the meters
    assert power[1048576].middle == pytest.approx(wanted, rel=1e-3)
    assert energy[1048576].middle == pytest.approx(1.06 * wanted, rel=1e-3)


def test_joules_are_per_megabyte_that_was_moved() -> None:
    document = from_json(make_shift(1), "generator")
    (run,) = document.good_runs("put", "poll")
    row = run.rows[-1]
    assert row.t_end_ns is not None and row.t_begin_ns is not None and row.moved_bytes == row.bytes * 20 * 4
    joules = 2 * watts(synthetic.FAST_KHZ) * (row.t_end_ns - row.t_begin_ns) / 1e9
    assert summary.row_energy_j_per_mb(document, run, row) == pytest.approx(joules / (row.moved_bytes / 1e6), rel=1e-3)
    row.moved_bytes = None
    assert summary.row_energy_j_per_mb(document, run, row) is None


def test_break_even_is_the_size_from_which_all_save(document: Document) -> None:
    found = onesided.break_even(document, "put", "interrupt_dvfs")
    assert found is not None and found.bytes == 65536
    energy = found.figures["energy"]
    assert energy is not None and energy.middle == pytest.approx(1.06 * watts(synthetic.SLOW_KHZ) / watts(synthetic.FAST_KHZ), rel=1e-3)
    assert onesided.break_even(document, "put", "interrupt") is None  # at the same power for longer


def test_a_size_that_does_not_save_ends_the_search() -> None:
    document = from_json(make_shift(), "generator")
    for run in document.good_runs("put", "interrupt_dvfs"):
        row = next(row for row in run.rows if row.bytes == 262144)
        assert row.moved_bytes is not None
        row.moved_bytes //= 5
    found = onesided.break_even(document, "put", "interrupt_dvfs")
    assert found is not None and found.bytes == 1048576


def test_a_size_that_is_resolved_in_some_repetitions_only_is_left_out() -> None:
    document = from_json(make_shift(), "generator")
    row = next(row for row in document.good_runs("put", "interrupt_dvfs")[1].rows if row.bytes == 262144)
    assert row.t_begin_ns is not None
    row.t_end_ns = row.t_begin_ns + 1
    assert 262144 not in onesided.ratios_by_size(document, "put", "interrupt_dvfs", "energy")
    assert 262144 in onesided.ratios_by_size(document, "put", "interrupt_dvfs", "latency")


def test_without_certainty_there_is_no_break_even() -> None:
    document = from_json(make_shift(), "generator")
    for run in document.good_runs("put", "interrupt_dvfs"):
        for row in run.rows:
            assert row.moved_bytes is not None
            row.moved_bytes = int(row.moved_bytes * (1.0, 0.5, 1.0)[run.repetition - 1])
    found = onesided.ratios_by_size(document, "put", "interrupt_dvfs", "energy")
    assert found[1048576].middle < 1 and not found[1048576].differs
    assert onesided.break_even(document, "put", "interrupt_dvfs") is None
    few = from_json(make_shift(2), "generator")
    assert onesided.break_even(few, "put", "interrupt_dvfs") is not None
    assert "for certain" in onesided.table16(document).note and "for certain" not in onesided.table16(few).note


def test_what_one_size_does_not_show_all_together_may(document: Document) -> None:
    noisy = from_json(make_shift(), "generator")
    for run in noisy.good_runs("put", "interrupt_dvfs"):
        for row in run.rows:
            assert row.moved_bytes is not None
            turn = (run.repetition + row.bytes.bit_length() // 2) % 3  # each size is bad in another repetition
            row.moved_bytes = int(row.moved_bytes * (1.0, 0.5, 1.0)[turn])
    assert not onesided.ratios_by_size(noisy, "put", "interrupt_dvfs", "energy")[65536].differs
    found = onesided.break_even(noisy, "put", "interrupt_dvfs")
    assert found is not None and found.bytes == 65536


def test_table_has_the_paper_the_models_and_the_session(document: Document) -> None:
    rows = [row for row in onesided.table16(document).rows if row[0] == "put"]
    assert [row[1] for row in rows] == ["A paper (published)", "this session (emulated)", "this session (emulated)"]
    assert rows[0][2:] == ["interrupt_dvfs", "16 KiB", "1.050", "-", "0.940"]
    assert rows[1][2:] == ["interrupt", "none", "-", "-", "-"]
    assert rows[2][3] == "64 KiB" and rows[2][4].startswith("1.060 [")
    assert any("By equations." in line for line in words.provenance(document))


def test_other_families_have_no_such_table() -> None:
    assert onesided.table16(from_json(synthetic.make_document(repetitions=1), "generator")).rows == []


def test_page_has_the_figures_of_the_paper(document: Document) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from poweraware.session import page

    html = page.render([document], ["a session"])
    assert "<h1>Power-aware one-sided communication: a session</h1>" in html
    heads = re.findall("<h2>(.*?)</h2>", html)
    assert heads[4:7] == [f"{name} over polling, as figures 4 to 15 of PASCoL" for name in ("Latency", "Power", "Energy per MB")]
    assert html.count("Stars: A paper, published. Thin lines: a model, modelled.") == 2
    assert html.count("Thin lines: a model, modelled.") == 2, "nobody else says anything of power"
    assert "Break-even, as table 16 of PASCoL" in heads
