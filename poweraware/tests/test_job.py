# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of jobs: what is refused, what is left of killed ones, other formats."""
from __future__ import annotations

import copy
import csv
import io
import json
import re
from pathlib import Path
from typing import Any, Callable, Dict, List

import jsonschema
import pytest

from poweraware import export, folders, job, run, tables, words
from poweraware.documents import DocumentError, read_json
from poweraware.tests.synthetic import make_job, make_region, part_of

Json = Dict[str, Any]


def test_every_field_has_words_and_a_unit() -> None:
    def look(schema: Json, path: str) -> None:
        for name, field in schema.get("properties", {}).items():
            assert "$ref" in field or {"title", "description", "unit", "type"} <= set(field), f"{path}.{name}"
            look(field, f"{path}.{name}")

    for document in (make_job(energy=False), make_job(nodes=1)):
        job.from_json(document, "made up")
    schema = job.load_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    look(schema, "$")
    for name, definition in schema["$defs"].items():
        look(definition, name)


WRONG: Dict[str, Callable[[Json], Any]] = {
    "$.version: 1 is not one of [5, 6]": lambda d: d.update(version=1),
    "$.calls[1].sleep_s: -1 is less than": lambda d: d["calls"][1].update(sleep_s=-1),
    "$.nodes[0].energy.domains: Additional properties are not allowed ('cpu'": lambda d: d["nodes"][0]["energy"]["domains"].update(cpu={}),
    "$.settings.scheme: 'fast' is not one of": lambda d: d["settings"].update(scheme="fast"),
    "$.reported: is not the sum over nodes": lambda d: d.update(reported=7),
    "$.totals.cpu_s: is 1.0, its parts come to 56.0": lambda d: d["totals"].update(cpu_s=1.0),
    "$.totals.joules: is 2000.0, its parts come to 2001.0": lambda d: d["outside"].update(joules=d["outside"]["joules"] + 1),
    "$.calls: have no joules although there is energy": lambda d: d["calls"][0].update(joules=None),
    "$.regions: come to 90.0 s, all processes to 80.0": lambda d: d.update(regions=[make_region("solve", 90.0)]),
    "$.complete: is true of a job that is not": lambda d: d.update(processes=9),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_documents_are_refused(what: str) -> None:
    document = make_job()
    WRONG[what](document)
    with pytest.raises(DocumentError, match=re.escape(what)):
        job.from_json(document, "d.json")


def save(document: Json, path: Path) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def test_a_folder_stands_for_its_job(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="neither a job.json nor"):
        folders.load(tmp_path)
    whole = make_job()
    for number in (0, 1):
        save(part_of(whole, number), tmp_path / f"job.n{number}.partial.json")
    merged = folders.load(tmp_path)
    assert not merged.complete and merged.reported == 8 and merged.finished == 0
    assert merged.why_incomplete == "the job was ended before it had finished; 8 of 8 processes are known"
    assert merged.totals.seconds == pytest.approx(whole["totals"]["seconds"] + 0.5)
    assert [each.calls for each in merged.calls] == [1000, 5000, 100]
    assert merged.all_calls().seconds == pytest.approx(3.5)
    save({**whole, "begin_ns": whole["begin_ns"] - 1}, tmp_path / "job.json")
    assert not folders.load(tmp_path).complete, "the earlier of two jobs is shown"
    save({**whole, "begin_ns": whole["begin_ns"] + 1_000_000_000}, tmp_path / "job.json")
    assert folders.load(tmp_path).complete
    other = part_of(whole, 1)
    other["job"]["id"] = "13"
    other["begin_ns"] += 2_000_000_000
    save(other, tmp_path / "job.n1.partial.json")
    assert folders.load(tmp_path).reported == 4, "parts of two jobs are taken together"
    last = {**whole, "begin_ns": whole["begin_ns"] + 3_000_000_000}
    save(last, tmp_path / "job-14-n1-99.json")
    save({**whole, "begin_ns": last["begin_ns"] + 1}, tmp_path / "job-14.json")
    assert folders.load(tmp_path).begin_ns == last["begin_ns"], "one that was spawned stands for its parent"
    assert [path.name for path in run.documents(tmp_path)] == ["job-14-n1-99.json", "job-14.json", "job.json"]


def test_a_folder_of_many_jobs_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_job()
    for number in range(50):
        save({**whole, "begin_ns": whole["begin_ns"] + (7 * number) % 50}, tmp_path / f"job-{number}-n1-99.json")
    loaded: List[str] = []
    monkeypatch.setattr(folders, "read_json", lambda path: loaded.append(path.name) or read_json(path))
    assert folders.load(tmp_path).begin_ns == whole["begin_ns"] + 49 and loaded == ["job-7-n1-99.json"]


def of_parts(folder: Path, first: Json, second: Json) -> job.Job:
    for number, part in enumerate((first, second)):
        save(part, folder / f"job.n{number}.partial.json")
    return folders.load(folder)


def test_parts_have_the_window_of_the_job(tmp_path: Path) -> None:
    """Node 1 begins a twentieth of its own time late, and ends so much later."""
    whole = make_job()
    merged = of_parts(tmp_path, part_of(whole, 0), part_of(whole, 1))
    assert [(node.begin_s, node.end_s) for node in merged.nodes] == [(0.0, 10.5), (0.0, 10.5)]
    assert merged.totals.joules == pytest.approx(2 * 1050.0)
    assert merged.totals.mean_watts == pytest.approx(200.0)
    for node in merged.nodes:
        power = node.power
        assert power is not None and power.begin_s == 0.0 and power.watts == pytest.approx([100.0] * 21)
        assert (node.energy.joules, node.energy.uncertainty_j) == pytest.approx((1050.0, 50.5))
        assert node.energy.domains["package"].joules == pytest.approx(1050.0)
    calls = (merged.all_calls().joules or 0.0) + (merged.outside.joules or 0.0)
    assert calls == pytest.approx(merged.totals.joules), "sums over classes equal totals"
    late = part_of(whole, 1)
    late["begin_ns"] += 3600_000_000_000
    merged = of_parts(tmp_path, part_of(whole, 0), late)
    assert merged.totals.joules == pytest.approx(2000.0), "a clock that is an hour late makes energy"
    assert [node.begin_s for node in merged.nodes] == pytest.approx([0.0, 3600.5])


def test_parts_without_energy_have_it_too(tmp_path: Path) -> None:
    whole = make_job()
    for number in (0, 1):
        part = part_of(whole, number)
        part["nodes"][0].update(energy=make_job(energy=False)["nodes"][0]["energy"], power=None)
        for place in (part["totals"], part["outside"], part["other_calls"], *part["calls"]):
            place["joules"] = None
        save(part, tmp_path / f"job.n{number}.partial.json")
    merged = folders.load(tmp_path)
    assert merged.totals.joules is None and merged.outside.joules is None
    assert [node.end_s for node in merged.nodes] == [10.5, 10.5]


def test_parts_of_one_machine_count_it_once(tmp_path: Path) -> None:
    whole = make_job()
    for node in whole["nodes"]:
        node["machine"] = "boot"
        node["energy"]["domains"]["gpu"] = {"counters": 1, "joules": 100.0, "uncertainty_j": 0.1}
    for number in (0, 1):
        save(part_of(whole, number), tmp_path / f"job.n{number}.partial.json")
    assert folders.load(tmp_path).totals.joules == pytest.approx(2100.0), "emulated machines are no containers"
    for number in (0, 1):
        part = part_of(whole, number)
        part["nodes"][0]["energy"]["provenance"] = part["provenance"]["energy"]["kind"] = "measured"
        save(part, tmp_path / f"job.n{number}.partial.json")
    merged = folders.load(tmp_path)
    assert merged.totals.joules == pytest.approx(2 * (105 + 945 / 2))
    assert merged.totals.uncertainty_j == pytest.approx(2 * (5.1 + (0.4 + 45) / 2))
    assert [node.energy.shared_by for node in merged.nodes] == [2, 2]
    assert merged.nodes[0].energy.domains["gpu"].joules == pytest.approx(105.0)
    assert merged.nodes[0].energy.domains["package"].joules == pytest.approx(525.0)
    calls = (merged.all_calls().joules or 0.0) + (merged.outside.joules or 0.0)
    assert calls == pytest.approx(merged.totals.joules), "sums over classes equal totals"
    assert merged.nodes[0].power is not None and merged.nodes[0].power.watts[0] == pytest.approx(55.0)
    assert "share a machine" in merged.provenance.energy.note
    assert "1/2 of its machine's energy" in tables.as_text(merged)


def test_warnings_say_what_is_missing() -> None:
    document = make_job()
    assert words.warnings(job.from_json(document, "d")) == []
    document = part_of(document, 0)
    found = words.warnings(job.from_json(document, "d"))
    assert found == ["The job's document is not complete: the job was ended before it had finished."]
    document = make_job()
    document["nodes"][1]["cpus"] = 2
    assert "More processes than CPUs on n1" in words.warnings(job.from_json(document, "d"))[0]


def test_text_has_all_tables() -> None:
    text = tables.as_text(job.from_json(make_job(), "d"))
    for wanted in ("MPI_COMM_WORLD (8)  alltoall    grouped    64 KiB", "4 processes", "emulated", "± 1 J"):
        assert wanted in text, text
    text = tables.as_text(job.from_json(make_job(energy=False), "d"))
    assert "no <powercap>" in text


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=";"))


def test_regions_are_in_tables_and_exports() -> None:
    document = make_job()
    document["regions"] = [make_region("solve", 40.0), make_region("solve/halo", 20.0), make_region(None, 1.0)]
    found = job.from_json(document, "d")
    table = tables.regions(found)
    assert [row[0] for row in table.rows] == ["solve", "solve/halo", "(others)", "outside of regions"]
    assert table.rows[1] == ["solve/halo", "8", "20", "25.0", "50.0", "25.0", "12.5", "200"]
    assert table.rows[-1][2:4] == ["19", "23.8"] and "Regions of the program" in tables.as_text(found)
    assert "Regions" not in tables.as_text(job.from_json(make_job(), "d")), "most programs mark none"
    rows = rows_of(export.regions_csv([export.Exported(found)]))
    assert [row["region"] for row in rows] == ["solve", "solve/halo", ""] and float(rows[0]["time"]) == 40.0
    assert 'region="solve/halo"} 20' in export.prometheus([export.Exported(found)])


def test_regions_of_parts_are_merged(tmp_path: Path) -> None:
    whole = make_job()
    for number in (0, 1):
        part = part_of(whole, number)
        part["regions"] = [make_region("solve", 10.0), make_region(f"of node {number}", 1.0)]
        part["calls"][0].update(processes=4, least_s=1.0 - 0.5 * number, least_process=number)
        save(part, tmp_path / f"job.n{number}.partial.json")
    merged = folders.load(tmp_path)
    assert [(each.name, each.process_s, each.calls.calls) for each in merged.regions] == [("solve", 20.0, 160), ("of node 0", 1.0, 80), ("of node 1", 1.0, 80)]
    assert (merged.calls[0].processes, merged.calls[0].least_s, merged.calls[0].least_process) == (8, 0.5, 1)


def test_csv_has_countdowns_names() -> None:
    found = export.Exported(job.from_json(make_job(), "d"))
    (summary,) = rows_of(export.summary_csv([found]))
    assert {"exe_time", "num_mpi_ranks", "num_nodes", "num_sockets", "num_cpus", "energy_pkg", "energy_dram", "energy_gpu",
            "energy_sys", "power_pkg", "power_sys", "app_time", "mpi_time", "tot_time"} <= set(summary)  # fmt: skip
    assert (summary["exe_time"], summary["num_mpi_ranks"], summary["energy_sys"], summary["power_sys"]) == ("10", "8", "2000", "200")
    assert float(summary["app_time"]) + float(summary["mpi_time"]) == pytest.approx(float(summary["tot_time"]))
    calls = rows_of(export.calls_csv([found]))
    assert [(row["type"], row["number"], row["time"]) for row in calls][0] == ("MPI_ALLTOALL", "1000", "2.000000000")
    series = rows_of(export.series_csv([found]))
    assert len(series) == 40 and sum(float(row["energy-sys"]) for row in series) == pytest.approx(2000)
    document = make_job()
    document["job"]["program"] = "a;b\nc"
    assert rows_of(export.summary_csv([export.Exported(job.from_json(document, "d"))]))[0]["program"] == "a,b c"


def test_prometheus_text_is_what_its_parser_takes() -> None:
    document = make_job()
    document["job"]["program"] = 'quote " and \\ and\nline'
    text = export.prometheus([export.Exported(job.from_json(each, "d")) for each in (document, make_job(energy=False))])
    pattern = re.compile(r'[a-z_]+\{([a-z_]+="(\\.|[^"\\\n])*",?)+\} -?[0-9.e+-]+$')
    families = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in families
            families.add(name)
        elif not line.startswith("#"):
            assert pattern.match(line), line
            assert line.split("{")[0] in families
    assert 'poweraware_job_joules{user="me"' in text and text.endswith("\n")
    assert text.count("poweraware_job_joules{") == 1


def test_documents_are_not_changed_by_reading() -> None:
    document = make_job()
    before = copy.deepcopy(document)
    export.prometheus([export.Exported(job.from_json(document, "d"))])
    assert document == before
