# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The JSON document has the form of osu.schema.json and says the same as the text."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from osu_run import TOP, ended_with_error, parse, run

SCHEMA = TOP / "bench" / "osu" / "osu.schema.json"
RANKS = 3
# The text has two decimals, the document nine digits: they agree to half a cent and a bit.
HALF_CENT = 0.0051


def measure(benchmark: str, path: Path, *options: str) -> tuple[dict[str, Any], str]:
    """Runs a short measurement; returns the document and the text."""
    short = ["-m", "4:256", "-i", "20", "-x", "2", "-f", "--json", str(path)]
    done = run(benchmark, RANKS, *short, *options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(path.read_text())
    return document, done.stdout


@pytest.fixture(scope="module", params=["osu_alltoall", "osu_bcast", "osu_reduce", "osu_reduce_scatter"])
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    before = time.time_ns()
    document, text = measure(request.param, tmp_path_factory.mktemp("json") / "osu.json", "-c")
    return request.param, document, text, before, time.time_ns()


def schema_errors(document: Any) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(document)]


def test_document_follows_the_schema(result: Any) -> None:
    assert schema_errors(result[1]) == []


@pytest.mark.parametrize("member", ["np", "rows", "ranks", "library"])
def test_schema_refuses_a_document_without(result: Any, member: str) -> None:
    document = dict(result[1])
    del document[member]
    assert schema_errors(document) == [f"'{member}' is a required property"]


def test_schema_refuses_a_wrong_row(result: Any) -> None:
    document = {**result[1], "rows": [{**result[1]["rows"][0], "avg_us": "fast"}]}
    assert schema_errors(document) == ["'fast' is not of type 'number'"]


def test_head(result: Any) -> None:
    benchmark, document, _, _, _ = result
    assert document["benchmark"] == benchmark
    assert document["np"] == RANKS
    assert document["library"].startswith("Open MPI")
    assert document["root"] == (0 if benchmark in ("osu_bcast", "osu_reduce") else None)


def test_rows_agree_with_the_text(result: Any) -> None:
    _, document, text, _, _ = result
    table = parse(text).rows
    assert [row["bytes"] for row in document["rows"]] == [4, 8, 16, 32, 64, 128, 256]
    for row, line in zip(document["rows"], table):
        assert row["bytes"] == int(line["Size"])
        assert row["iterations"] == int(line["Iterations"]) == 20
        assert row["operations"] == 20 + 2
        assert row["avg_us"] == pytest.approx(float(line["Avg Latency(us)"]), abs=HALF_CENT)
        assert row["min_us"] == pytest.approx(float(line["Min Latency(us)"]), abs=HALF_CENT)
        assert row["max_us"] == pytest.approx(float(line["Max Latency(us)"]), abs=HALF_CENT)
        assert row["validated"] is True and line["Validation"] == "Pass"


def test_times_are_in_order_and_enclose_the_calls(result: Any) -> None:
    _, document, _, before, after = result
    last = before
    for row in document["rows"]:
        assert last <= row["t_begin_ns"] < row["t_end_ns"] <= after
        last = row["t_end_ns"]
        assert row["min_us"] <= row["avg_us"] <= row["max_us"]
        # The slowest rank's own calls lie between begin and end (1 us for the clocks' grain).
        assert row["max_us"] * row["iterations"] <= (row["t_end_ns"] - row["t_begin_ns"]) / 1e3 + 1


def test_ranks(result: Any) -> None:
    ranks = result[1]["ranks"]
    rows = result[1]["rows"]
    assert [rank["rank"] for rank in ranks] == list(range(RANKS))
    assert len({rank["pid"] for rank in ranks}) == RANKS
    assert {rank["host"] for rank in ranks} == {os.uname().nodename}
    # CPU seconds are counted once by row and once by rank.
    assert sum(row["cpu_s"] for row in rows) == pytest.approx(sum(rank["cpu_s"] for rank in ranks))
    enclosing = sum(row["t_end_ns"] - row["t_begin_ns"] for row in rows) / 1e9
    assert all(0 < rank["wall_s"] <= enclosing + 1e-5 for rank in ranks)


def test_not_checked_is_null(tmp_path: Path) -> None:
    document, _ = measure("osu_bcast", tmp_path / "osu.json", "--root", "rotate")
    assert document["root"] == "rotate"
    assert {row["validated"] for row in document["rows"]} == {None}
    assert schema_errors(document) == []


def test_without_messages_there_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "osu.json"
    done = run("osu_barrier", RANKS, "-i", "20", "-c", "--json", str(path))
    assert done.returncode == 0, done.stderr
    document = json.loads(path.read_text())
    assert [(row["bytes"], row["validated"]) for row in document["rows"]] == [(0, True)]
    assert schema_errors(document) == []


def test_wrong_data_is_false_and_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "osu.json"
    # One timed call for each of five sizes, then ten checked ones per size: call 18 is of the second size.
    monkeypatch.setenv("PWR_FAULT", "flip 1 18 0")
    quick = ["-m", "4:64", "-i", "1", "-x", "0", "-c", "--json", str(path)]
    done = run("faulty/osu_bcast", RANKS, *quick)
    assert ended_with_error(done), done.stderr
    document = json.loads(path.read_text())
    assert [row["validated"] for row in document["rows"]] == [True, False]
    assert schema_errors(document) == []


def test_an_overrun_in_timed_calls_is_of_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes are checked when all have been timed: by then the zones of this one have been written anew."""
    monkeypatch.setenv("PWR_FAULT", "flip 1 1 8")
    done = run("faulty/osu_bcast", RANKS, "-m", "4:64", "-i", "1", "-x", "0", "-c")
    assert ended_with_error(done), done.stderr
    assert "in messages of 8 bytes, timed calls: receive buffer of 8 bytes: written outside of it, at byte 8" in done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines() if line.endswith("Fail")] == ["8"]


LATE_NS = 200_000_000


def with_one_late(call: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rows of two sizes, each with a call to warm up and a timed one; then checked calls, from call 4 on."""
    monkeypatch.setenv("PWR_FAULT", f"late 1 {call} {LATE_NS // 1_000_000}")
    done = run("faulty/osu_bcast", RANKS, "-m", "4:8", "-i", "1", "-x", "1", "-c", "--json", str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())["rows"]


def test_calls_to_warm_up_are_in_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = with_one_late(0, tmp_path / "osu.json", monkeypatch)[0]
    assert first["t_end_ns"] - first["t_begin_ns"] >= LATE_NS


def test_no_checks_between_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    last = with_one_late(4, tmp_path / "osu.json", monkeypatch)[-1]
    assert last["t_end_ns"] + LATE_NS <= time.time_ns()
