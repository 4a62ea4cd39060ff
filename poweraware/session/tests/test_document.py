# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Reading, writing and refusing documents."""
from __future__ import annotations

import copy
import dataclasses
import gzip
import json
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, get_type_hints

import jsonschema
import pytest

from poweraware.documents import DocumentError
from poweraware.session import document as doc
from poweraware.session.tests.synthetic import make_document

Json = Dict[str, Any]


@pytest.fixture(scope="module")
def small() -> Json:
    return make_document(benchmarks=("bcast",), repetitions=1, nodes=2, ppn=2)


def objects(schema: Json) -> Iterator[Tuple[str, Json]]:
    yield "document", schema
    yield from schema["$defs"].items()


def test_every_field_has_title_description_and_unit() -> None:
    jsonschema.Draft202012Validator.check_schema(doc.load_schema())
    for name, definition in objects(doc.load_schema()):
        for field, about in definition["properties"].items():
            assert {"title", "description", "unit"} <= about.keys(), f"{name}.{field}"


def test_schema_and_dataclasses_have_the_same_fields() -> None:
    seen = {}

    def visit(cls: Any) -> None:
        seen[cls.__name__] = {field.name for field in dataclasses.fields(cls)}
        for hint in get_type_hints(cls).values():
            for part in (hint, *getattr(hint, "__args__", ())):
                if dataclasses.is_dataclass(part):
                    visit(part)

    visit(doc.Document)
    described = {
        name.title().replace("_", ""): set(definition["properties"])
        for name, definition in objects(doc.load_schema())
    }
    assert described == seen


def test_round_trip(small: Json, tmp_path: Path) -> None:
    document = doc.from_json(small, "generator")
    for run in document.runs:
        doc.save_series(run, tmp_path / "d.json")
    doc.save(document, tmp_path / "d.json")
    saved = json.loads((tmp_path / "d.json").read_text())
    assert not any("states" in run or "samples" in run["energy"][0] for run in saved["runs"])
    assert doc.load(tmp_path / "d.json") == document
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.json", "runs"]
    assert {path.name for path in tmp_path.glob("runs/*/*")} == {"series.json.gz"}


@pytest.mark.parametrize("content, said", [(None, "cannot be read: No such file"), (b"", "is no series of a run"),
                                           (b"x" * 20, "Not a gzipped file"), (gzip.compress(b"{}"), "is no series of a run")])  # fmt: skip
def test_what_is_wrong_beside_a_document_is_named(small: Json, tmp_path: Path, content: Optional[bytes], said: str) -> None:
    document = doc.from_json(small, "generator")
    for run in document.runs:
        doc.save_series(run, tmp_path / "d.json")
    doc.save(document, tmp_path / "d.json")
    file = tmp_path / "runs" / document.runs[0].id / "series.json.gz"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DocumentError, match="series.json.gz") as caught:
        doc.load(tmp_path / "d.json")
    assert said in str(caught.value)


Break = Callable[[Json], Optional[Any]]


def _delete_host(data: Json) -> None:
    del data["host"]["cpus"]


BREAKAGES: List[Tuple[str, Break]] = [
    ("$.version: 5 was expected", lambda d: d.update(version=1)),
    ("$.host: 'cpus' is a required property", _delete_host),
    (
        "$.runs[1].rows[0].bytes: '8' is not of type 'integer'",
        lambda d: d["runs"][1]["rows"][0].update(bytes="8"),
    ),
    (
        "$.runs[0].rows[2].avg_us: -1 is less than the minimum of 0",
        lambda d: d["runs"][0]["rows"][2].update(avg_us=-1),
    ),
    (
        "$.runs[0].exit_status: True is not of type 'integer', 'null'",
        lambda d: d["runs"][0].update(exit_status=True),
    ),
    (
        "$.provenance.time.kind: 'guessed' is not one of ['measured', 'emulated'",
        lambda d: d["provenance"]["time"].update(kind="guessed"),
    ),
    ("$.created: 'today' does not match", lambda d: d.update(created="today")),
    ("$: Additional properties are not allowed ('colour' was unexpected)", lambda d: d.update(colour=1)),
    ("$.cluster.layout: []", lambda d: d["cluster"].update(layout=[])),
    ("$.settings.interval_ms: 0 is less than or equal to the minimum of 0",
     lambda d: d["settings"].update(interval_ms=0)),
    ("$.runs[0].mca.coll: 1 is not of type 'string'",
     lambda d: d["runs"][0]["mca"].update(coll=1)),
    ("$.runs[0].states[0].cpus[0].residency[0].duty_percent: 101 is greater than the maximum of 100",
     lambda d: d["runs"][0]["states"][0]["cpus"][0]["residency"][0].update(duty_percent=101)),
]  # fmt: skip

INCONSISTENCIES: List[Tuple[str, Break]] = [
    ("$.runs[0].energy[1].samples.uj[0]: is not as long as t_ns",
     lambda d: d["runs"][0]["energy"][1]["samples"]["uj"][0].pop()),
    ("$.runs[0].energy[0].samples.uj[2][1]: is smaller than the one before it",
     lambda d: d["runs"][0]["energy"][0]["samples"]["uj"][2].__setitem__(1, -5.0)),
    ("$.runs[0].energy[0].total_domains: names psys",
     lambda d: d["runs"][0]["energy"][0].update(total_domains=["psys"])),
    ("$.runs[0].energy[0].samples.uj: must have one list for each of",
     lambda d: d["runs"][0]["energy"][0]["samples"]["uj"].pop()),
    ("$.runs[0].states[1].cpus[3].changes.freq_khz: is not as long as t_ns",
     lambda d: d["runs"][0]["states"][1]["cpus"][3]["changes"]["freq_khz"].append(1)),
]  # fmt: skip


@pytest.mark.parametrize(
    "message, break_it", BREAKAGES + INCONSISTENCIES
)
def test_a_wrong_document_is_refused_by_path(
    small: Json, message: str, break_it: Break
) -> None:
    broken = copy.deepcopy(small)
    break_it(broken)
    with pytest.raises(DocumentError) as caught:
        doc.from_json(broken, "some.json")
    assert f"some.json: {message}" in str(caught.value)


def test_many_problems_are_counted(small: Json) -> None:
    broken = copy.deepcopy(small)
    for row in broken["runs"][0]["rows"]:
        del row["bytes"], row["avg_us"]
    with pytest.raises(DocumentError, match="and 7 more"):
        doc.from_json(broken, "some.json")


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="absent.json: cannot be read: No such file"):
        doc.load(tmp_path / "absent.json")
    (tmp_path / "cut.json").write_text('{"format": ')
    with pytest.raises(DocumentError, match=r"cut.json: line 1, column \d+: not JSON"):
        doc.load(tmp_path / "cut.json")
