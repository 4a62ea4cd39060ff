# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What scheme auto decided, in a table and a sentence."""
from __future__ import annotations

import math
from typing import Any, Dict, List

import pytest

from poweraware import decisions, job, tables
from poweraware.documents import DocumentError
from poweraware.tests.synthetic import make_choice, make_decided, make_estimate, make_job

Json = Dict[str, Any]


def made(classes: List[Json], energy: Any = None, left_out: int = 0, **settings: Any) -> job.Job:
    """2 s of alltoall up to 64 KiB, 1 s of allreduce up to 16 B, 0.5 s of bcast of unknown bytes; 8 processes."""
    document = make_job()
    document["settings"].update(settings)
    document["decisions"] = {"energy_provenance": energy, "left_out": left_out, "classes": classes}
    return job.from_json(document, "made up")


def measured(name: str, up_to: Any, **members: Any) -> Json:
    known = {"calls": 1000, "pairs": 20, "slowdown": make_estimate(0.001, 0.004), "cpu": make_estimate(-0.5, 0.1), **members}
    return make_decided(name, up_to, **known)


def cells(found: job.Job) -> List[Dict[str, str]]:
    table = decisions.table(found)
    return [dict(zip(table.heads, row)) for row in table.rows]


@pytest.mark.parametrize("choice, algorithm, why, gain", [
    (None, "grouped", "table, nothing else tried", "-"),
    (make_choice("table", 0, gain=1.0), "grouped", "table, nothing else tried", "-"),
    (make_choice("table", 7, gain=0.9), "grouped", "table, kept after 7 trials", "10.0"),
    (make_choice("table", 7, 2, gain=0.9), "grouped", "table, again after 7 trials, 2 changes", "10.0"),
    (make_choice("box", 1, 1, gain=0.75), "box", "took over after 1 trial", "25.0"),
    (make_choice("stock", 9, 3, gain=1.02), "stock", "took over after 9 trials, 3 changes", "-"),
])  # fmt: skip
def test_which_choice_was_taken_and_why(choice: Any, algorithm: str, why: str, gain: str) -> None:
    (row,) = cells(made([make_decided("alltoall", 65536, 1000, choice=choice)]))
    assert (row["algorithm"], row["why"], row.get("gain (%)", "-")) == (algorithm, why, gain)


def test_what_saving_costs_is_told_with_its_interval() -> None:
    classes = [measured("alltoall", 65536, depth="linger", lost_s=0.016, energy=make_estimate(-0.2, 0.05)),
               measured("bcast", None, depth="poll"), make_decided("allreduce", 16, 5000, slowdown=make_estimate(0.3, None), pairs=1)]  # fmt: skip
    first, second, third = cells(made(classes, energy="measured"))
    assert (first["collective"], first["time (%)"], first["saves by"]) == ("allreduce", "not known yet", "sleep")
    assert (second["up to"], second["saves by"], second["trials cost (ms)"]) == ("64 KiB", "sleep, later", "2")
    assert (second["time (%)"], second["CPU time (%)"]) == ("+0.1 [-0.3, +0.5]", "-50.0 [-60.0, -40.0]")
    assert second["energy (%)"] == "-20.0 [-25.0, -15.0]" and (first["energy (%)"], first["CPU time (%)"]) == ("-", "not known yet")
    assert (third["up to"], third["saves by"], third["algorithm"]) == ("-", "nothing", "box")


def test_without_a_meter_there_is_no_column_of_energy() -> None:
    assert "energy (%)" not in decisions.table(made([measured("bcast", None)])).heads


def test_levers_that_nobody_has_save_nothing() -> None:
    found = made([measured("bcast", None, depth="levers")])
    assert cells(found)[0]["saves by"] == "levers, sleep"
    for lever in (lever for node in found.nodes for lever in node.levers):
        lever.backend = None
    assert cells(found)[0]["saves by"] == "sleep"


def test_of_two_layouts_the_tables_algorithm_is_not_guessed() -> None:
    row = cells(made([make_decided("alltoall", 65536, 1000), make_decided("alltoall", 65536, 10, nodes=1)]))[0]
    assert row["algorithm"] == "as the table says"


def test_the_sentence_weighs_classes_by_their_time() -> None:
    """2 s at half the CPU time, 1 s at all of it; the intervals of both go into that of the mean."""
    found = made([measured("alltoall", 65536), measured("allreduce", 16, cpu=make_estimate(0.0, 0.0)), make_decided("bcast", None, 5)])
    said = decisions.sentence(found)
    reach = (math.log(0.6) - math.log(0.4)) / 2
    middle, low, high = (100 * (1 - 2 ** (-2 / 3) * math.exp(2 / 3 * shift)) for shift in (0.0, reach, -reach))
    assert said.startswith("Saving against not saving, as rank 0 has measured it in calls with 86 % of the time in collectives: ")
    assert f": {middle:.1f} % [{low:.1f}, {high:.1f}] less CPU time, no sure difference in time [-0.2 %, +0.4 %]." in said
    assert "energy" not in said and "trials" not in said


def test_the_sentence_tells_what_was_lost_and_where_energy_comes_from() -> None:
    classes = [measured("alltoall", 65536, slowdown=make_estimate(0.02, 0.01), energy=make_estimate(-0.2, 0.05), lost_s=8.0,
                        choice=make_choice("box", 9, 1)),
               measured("bcast", None, depth="poll", choice=make_choice("table", 9)), measured("allreduce", 16)]  # fmt: skip
    said = decisions.sentence(made(classes, energy="emulated"))
    assert "20.0 % [14.8, 24.9] less energy (emulated) (in calls with 57 %)" in said and "1.4 % [0.7, 2.0] more time" in said
    assert "nothing is saved in calls with 14 % of the time in collectives, where that cost too much time" in said
    assert said.endswith("; trials of other algorithms cost 1 s per process and found a faster one for 1 of 3 kinds of calls.")
    assert "Energy: emulated." in decisions.table(made(classes, energy="emulated")).note


@pytest.mark.parametrize("classes", [
    [],
    [make_decided("alltoall", 65536, 30)],
    [measured("alltoall", 65536, slowdown={"middle": 0.1, "low": -1, "high": 1e300})],
    [measured("alltoall", 65536, slowdown={"middle": -1, "low": -0.5, "high": 0.1})],
    [measured("scan", 4)],  # of which there are no calls
    [measured("alltoall", 65536, calls=0)],
])  # fmt: skip
def test_what_was_not_measured_is_not_told(classes: List[Json]) -> None:
    found = made(classes)
    assert decisions.sentence(found) == "What saving brought and cost is not known yet: too few calls to measure."
    assert len(cells(found)) == len(classes) and ("What auto decided" in tables.as_text(found)) == bool(classes)


def test_other_documents_have_no_sentence() -> None:
    assert decisions.sentence(made([], scheme="off")) == ""
    assert "was not measured: coll_poweraware_max_slowdown is 0" in decisions.sentence(made([], max_slowdown_percent=0.0))
    killed = made([])
    killed.decisions = None
    assert decisions.sentence(killed) == "" and "What auto decided" not in tables.as_text(killed)


def test_documents_of_the_version_before_are_read() -> None:
    document = make_job()
    del document["decisions"]
    with pytest.raises(DocumentError, match="'decisions' is a required property"):
        job.from_json(document, "d")
    document["version"] = 5
    assert job.from_json(document, "d").decisions is None


@pytest.mark.parametrize("members", [{"depth": "deep"}, {"calls": -1}, {"choice": {}}, {"energy": None}, {"more": 1}])
def test_wrong_decisions_are_refused(members: Json) -> None:
    with pytest.raises(DocumentError, match=r"\$\.decisions\.classes\[0\]"):
        made([{**make_decided("bcast", 4, 1), **members}])


def test_what_is_left_out_is_said() -> None:
    assert "3 more rows had no room." in decisions.table(made([measured("bcast", None)], left_out=3)).note
