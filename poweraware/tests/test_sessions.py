# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command on documents of bench/run."""
from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Dict, List

import pytest

from poweraware import main, sessions
from poweraware.session.tests.synthetic import make_document
from poweraware.tests.synthetic import make_job, make_region


def save_session(folder: Path, of_auto: float = 1.0, of_all: float = 1.0, jobs: bool = True) -> Path:
    """A session of one benchmark, five times under two schemes; of_auto: what auto takes more of everything."""
    data = make_document(["alltoall"], ["off", "auto"], 5, 2, 4)
    for number, run in enumerate(data["runs"]):
        factor = of_all * (of_auto if run["scheme"] == "auto" else 1.0)
        _take(run, factor * (1 + 0.01 * (number % 3)))
        run["job"] = make_job(factor=factor, seed=number) if jobs else None
        if jobs:
            run["job"]["settings"]["scheme"] = run["scheme"]
            run["job"]["begin_ns"] += number * 1_000_000_000
            run["job"]["regions"] = [make_region("solve", 4.0 * factor), make_region("rest", 1.0)]
    folder.mkdir()
    (folder / "document.json").write_text(json.dumps(data))
    return folder


def _take(run: Dict[str, Any], factor: float) -> None:
    """Makes the run last for 10 s, and use 50 J of each domain, or more."""
    run.update(window="mpirun", ranks=[], end_ns=run["start_ns"] + int(10e9 * factor))
    for meter in run["energy"]:
        ends = [run["start_ns"], run["end_ns"]]
        meter["samples"].update(t_ns=ends, uj=[[0.0, 50e6 * factor] for _ in meter["domains"]])


def run_main(arguments: List[str], capsys: pytest.CaptureFixture[str]) -> "tuple[int, str, str]":
    status = main.main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


def test_schemes_of_a_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run_main(["compare", str(save_session(tmp_path / "a", of_auto=1.2))], capsys)
    assert status == 1
    assert "alltoall auto (scheme auto, 5 runs) against alltoall off (scheme off, 5 runs)" in out
    assert "Difference: time, energy, CPU time." in out
    assert "Regions: alltoall auto against alltoall off" in out and "Difference: time of solve, energy of solve, CPU time of solve." in out
    status, out, _ = run_main(["compare", str(save_session(tmp_path / "b"))], capsys)
    assert status == 0 and "No difference." in out


def test_sessions_with_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same benchmark under the same scheme, both of them."""
    before, after = save_session(tmp_path / "before"), save_session(tmp_path / "after", of_all=0.8)
    status, out, _ = run_main(["compare", str(before), str(after / "document.json")], capsys)
    assert status == 1
    for scheme in ("off", "auto"):
        assert f"after alltoall {scheme} (scheme {scheme}, 5 runs) against before alltoall {scheme}" in out
        assert f"Regions: after alltoall {scheme} against before alltoall {scheme}" in out


def test_one_kind_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = save_session(tmp_path / "a")
    (tmp_path / "job.json").write_text(json.dumps(make_job()))
    for command in (["compare"], ["report", "-o", str(tmp_path / "page.html")]):
        status, _, err = run_main([*command, str(session), str(tmp_path / "job.json")], capsys)
        assert status == 2 and "take one kind" in err


def test_show_export_validate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = str(save_session(tmp_path / "a"))
    status, out, _ = run_main(["show", session], capsys)
    assert status == 0 and "Ratios to off" in out and "Regions of the programs" in out
    status, out, _ = run_main(["export", "-f", "csv", session], capsys)
    assert status == 0 and len(out.splitlines()) == 1 + 10
    for format_, key in (("csv", ("scheme", "repetition")), ("csv-calls", ("scheme", "repetition", "type")),
                         ("csv-regions", ("scheme", "repetition", "region")), ("csv-series", ("scheme", "repetition", "host", "time-sample"))):  # fmt: skip
        rows = list(csv.DictReader(run_main(["export", "-f", format_, session], capsys)[1].splitlines(), delimiter=";"))
        told = {tuple(row[name] for name in ("benchmark", *key)) for row in rows}
        assert len(told) == len(rows) and {row["benchmark"] for row in rows} == {"alltoall"}, format_
    regions = list(csv.DictReader(run_main(["export", "-f", "csv-regions", session], capsys)[1].splitlines(), delimiter=";"))
    assert len(regions) == 20 and {row["provenance"] for row in regions} == {"modelled"}
    assert [row["time"] for row in regions if row["repetition"] == "1"] == ["4.000000000", "1.000000000"] * 2
    gauges = [line.rsplit(" ", 1)[0] for line in run_main(["export", "-f", "prometheus", session], capsys)[1].splitlines()
              if not line.startswith("#")]  # fmt: skip
    assert len(set(gauges)) == len(gauges) and 'scheme="off",benchmark="alltoall",repetition="1"' in gauges[0]
    assert run_main(["validate", session], capsys)[0] == 0
    data = json.loads((tmp_path / "a" / "document.json").read_text())
    data["runs"][3]["job"]["totals"]["joules"] *= 2
    (tmp_path / "a" / "document.json").write_text(json.dumps(data))
    status, _, err = run_main(["validate", session], capsys)
    assert status == 2 and f"{session}: {data['runs'][3]['id']}: $.totals.joules" in err


def test_a_peers_runs_are_not_those_of_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its jobs run with scheme off."""
    session = save_session(tmp_path / "a")
    data = json.loads((session / "document.json").read_text())
    data["settings"].update(schemes=["off", "peer"], preloads={"peer": {"file": "/opt/libpeer.so", "variables": {}}})
    for run in data["runs"]:
        run["job"]["settings"]["scheme"] = "off"
        run["scheme"] = "off" if run["scheme"] == "off" else "peer"
    (session / "document.json").write_text(json.dumps(data))
    for format_ in ("csv", "csv-regions"):
        rows = list(csv.DictReader(run_main(["export", "-f", format_, str(session)], capsys)[1].splitlines(), delimiter=";"))
        assert {row["scheme"] for row in rows} == {"off", "peer"}


def test_a_session_without_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = save_session(tmp_path / "a", jobs=False)
    sessions.check(session)
    status, _, err = run_main(["compare", str(session)], capsys)
    assert status == 2 and "there is no good run with a job's document in it" in err


def test_page_of_sessions(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    paths = [str(save_session(tmp_path / name)) for name in ("first", "second")]
    page = tmp_path / "page.html"
    assert main.main(["report", *paths, "-o", str(page)]) == 0
    html = page.read_text()
    assert html.startswith("<!DOCTYPE html>")
    assert "Power-aware collectives: first" in html and "Power-aware collectives: second" in html
