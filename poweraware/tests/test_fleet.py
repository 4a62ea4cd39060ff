# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Many jobs: what is below a folder, its index, tables and page."""
from __future__ import annotations

import copy
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

from poweraware import columns, fleet, gather, index, main, table
from poweraware.documents import DocumentError
from poweraware.index import Changes, Index
from poweraware.tests import make_fleet
from poweraware.tests.synthetic import make_job, part_of

HUNDREDS = 300
PROGRAM = Path(main.__file__).resolve().parent / "poweraware"


def save(document: Dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")


def numbered(number: int, **about: Any) -> Dict[str, Any]:
    found = make_job()
    found["begin_ns"] += number
    found["job"].update(id=str(number), **about)
    return found


def problems(found: Index) -> Dict[str, str]:
    rows = found.select("SELECT path, problem FROM documents WHERE problem IS NOT NULL")
    return {os.path.basename(os.fsdecode(path)): why for path, why in rows}


def test_hundreds_of_jobs_add_up(tmp_path: Path) -> None:
    make_fleet.make(tmp_path / "jobs", HUNDREDS)
    documents = [json.loads(path.read_text()) for path in (tmp_path / "jobs").glob("*/*.json")]
    with Index(tmp_path / "i.sqlite") as found:
        assert found.update(tmp_path / "jobs") == Changes(HUNDREDS, HUNDREDS, 0)
        assert not problems(found)
        users = {row["name"]: row for row in fleet.sums(found, "user", 99)}
        for name, row in users.items():
            own = [each for each in documents if each["job"]["user"] == name]
            assert row["jobs"] == len(own) == HUNDREDS / 5 and row["kind"] == "emulated"
            assert row["joules"] == pytest.approx(sum(each["totals"]["joules"] for each in own))
            assert row["spin_s"] == pytest.approx(sum(calls["spin_s"] for each in own for calls in [*each["calls"], each["other_calls"]]))
        (everything,) = fleet.sums(found, "'all'", 9)
        ((nodes_s,),) = found.select("SELECT sum(process_seconds) FROM nodes")
        assert nodes_s == pytest.approx(everything["process_s"])
        assert 0 < everything["waiting_j"] < everything["joules"] and everything["saved_j"] > 0
        assert sum(row["jobs"] for row in fleet.over_time(found)) == HUNDREDS


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    for number in range(4):
        save(numbered(number, user="me"), jobs / f"{number}" / "job.json")
    for changed, expected in ((None, Changes(4, 4, 0)), (None, Changes(4, 0, 0)), (1, Changes(4, 1, 0)), (2, Changes(3, 0, 1))):
        if changed == 1:
            save(numbered(1, user="another"), jobs / "1" / "job.json")
        elif changed == 2:
            (jobs / "2" / "job.json").unlink()
        with Index(tmp_path / "i.sqlite") as found:
            assert found.update(jobs) == expected
            assert len(list(found.select("SELECT 1 FROM jobs"))) == expected.seen
            assert len(list(found.select("SELECT 1 FROM nodes"))) == 2 * expected.seen, "nodes of jobs that are gone"
    with Index(tmp_path / "i.sqlite") as found:
        assert {row["name"]: row["jobs"] for row in fleet.sums(found, "user", 9)} == {"me": 2, "another": 1}


def test_copies_count_once_and_kinds_of_energy_stay_apart(tmp_path: Path) -> None:
    save(numbered(1), tmp_path / "jobs" / "a" / "job.json")
    save(numbered(1), tmp_path / "jobs" / "b" / "job.json")
    measured = numbered(2)
    measured["provenance"]["energy"]["kind"] = "measured"
    save(measured, tmp_path / "jobs" / "c" / "job.json")
    save({**make_job(energy=False), "begin_ns": 7}, tmp_path / "jobs" / "d" / "job.json")
    with Index(tmp_path / "i.sqlite") as found:
        found.update(tmp_path / "jobs")
        rows = {row["kind"]: (row["jobs"], row["joules"]) for row in fleet.sums(found, "'all'", 9)}
        assert rows == {"emulated": (1, 2000.0), "measured": (1, 2000.0), "absent": (1, None)}
        assert "1 copies, which count once" in fleet.summary(found)


def test_killed_jobs_are_one_each_and_a_wrong_part_costs_only_itself(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    for number in range(2):
        whole = numbered(number * 10**9)
        for node in (0, 1):
            save(part_of(whole, node), jobs / f"job-{number}.n{node}-1.partial.json")
    (jobs / "job-9.n0-1.partial.json").write_text("{")
    with Index(tmp_path / "i.sqlite") as found:
        found.update(jobs)
        assert [row["complete"] for row in found.select("SELECT complete FROM counted")] == [0, 0]
        assert [row["processes"] for row in found.select("SELECT processes FROM counted")] == [8, 8]
        assert "job-9.n0-1.partial.json" in problems(found)["job.*.partial.json"]
        for path in jobs.glob("job-0*"):
            path.unlink()
        found.update(jobs)
        assert len(list(found.select("SELECT 1 FROM counted"))) == 1


def hostile(folder: Path) -> Dict[str, str]:
    """Documents that somebody else could leave there, and what is said of them."""
    folder.mkdir()
    good = numbered(0, user="good")
    texts: Dict[str, Tuple[str, str]] = {
        "torn": (json.dumps(good)[:500], "not JSON"),
        "empty": ("", "not JSON"),
        "foreign": ('{"format": "other"}', "is a required property"),
        "version": (json.dumps({**good, "version": 99}), "99 is not one of"),
        "deep": ("[" * 200_000, "not JSON"),
        "digits": ('{"begin_ns": ' + "9" * 10_000 + "}", "not JSON"),
        "nan": (json.dumps({**good, "totals": {**good["totals"], "cpu_s": float("nan")}}), "NaN is no number"),
        "infinite": (json.dumps(good).replace('"begin_ns": 17', '"begin_ns": 17' + "0" * 300), "too large"),
        "inf": (json.dumps(good).replace('"setup_s": 0.8', '"setup_s": 1e999'), "too large"),
    }
    for name, (text, _) in texts.items():
        (folder / f"job-{name}-h-1.json").write_text(text)
    os.mkfifo(folder / "job-fifo-h-1.json")
    (folder / "job-link-h-1.json").symlink_to("/etc/passwd")
    (folder / "job-binary-h-1.json").write_bytes(b"\xff\xfe\x00" * 99)
    with (folder / "job-huge-h-1.json").open("wb") as file:
        file.truncate(gather.MOST_BYTES + 1)
    (folder / "loop").symlink_to(".")
    (folder / "job-folder-h-1.json").mkdir()
    (folder / os.fsdecode(b"job-\xff\x1b[2J-h-1.json")).write_text("{")
    save(good, folder / "job.json")
    return {**{f"job-{name}-h-1.json": said for name, (_, said) in texts.items()}, "job-fifo-h-1.json": "no regular file",
            "job-link-h-1.json": "Too many levels of symbolic links", "job-binary-h-1.json": "not UTF-8", "job-huge-h-1.json": "more than",
            os.fsdecode(b"job-\xff\x1b[2J-h-1.json"): "not JSON"}  # fmt: skip


def test_hostile_documents_are_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = hostile(tmp_path / "jobs")
    evil = numbered(1, user="\x1b[31m<script>\ud800" + "x" * 10_000, program='<img src="https://a.example">')
    save(evil, tmp_path / "jobs" / "evil" / "job.json")
    assert main.main(["fleet", str(tmp_path / "jobs"), "--index", str(tmp_path / "i.sqlite"), "--rows", "99"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text and "\ud800" not in text
    assert f"2 jobs of 2 users and 2 programs on 2 nodes, 2026-11-22 to 2026-11-22; {len(expected)} left out." in text
    with Index(tmp_path / "i.sqlite") as found:
        said = problems(found)
        assert said.keys() == expected.keys()
        for name, why in expected.items():
            assert why in said[name], (name, said[name])


def test_the_page_is_well_formed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    make_fleet.make(tmp_path / "jobs", 20)
    save(numbered(1, user='<b>&"', program="\x1b\x00<script>alert(1)</script>"), tmp_path / "jobs" / "job.json")
    page = tmp_path / "page.html"
    arguments = ["fleet", str(tmp_path / "jobs"), "--index", str(tmp_path / "i.sqlite"), "-o", str(page)]
    assert main.main(arguments) == 0
    html = page.read_text(encoding="utf-8")
    tree = ElementTree.fromstring(html.split("\n", 1)[1])
    images = list(tree.iter("img"))
    assert len(images) == 4 and all(len(image.get("alt", "")) > 40 for image in images)
    assert len(list(tree.iter("script"))) == 1 and not re.search("https?://|src=\"(?!data:)", html)
    assert {"All jobs", "By user", "By application", "By node", "Jobs to look at first"} <= {head.text for head in tree.iter("h2")}
    assert main.main([*arguments[:-1], str(tmp_path / "no" / "page.html")]) == 2


def test_no_jobs_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "jobs").mkdir()
    assert main.main(["fleet", str(tmp_path / "jobs"), "--index", str(tmp_path / "i.sqlite")]) == 0
    assert "There are no jobs." in capsys.readouterr().out
    assert main.main(["fleet", str(tmp_path / "none"), "--index", str(tmp_path / "i.sqlite")]) == 2
    assert "none: No such file" in capsys.readouterr().err


# ---- the index ----


def test_an_index_that_another_process_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_WAIT_S", 0.05)
    with Index(tmp_path / "i.sqlite"):
        with pytest.raises(DocumentError, match="i.sqlite: is in use by another process"):
            Index(tmp_path / "i.sqlite")
    Index(tmp_path / "i.sqlite").__exit__()


def test_what_is_no_index_is_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no database, but long enough for a header " * 99)
    with pytest.raises(DocumentError, match="is no index, or a damaged one"):
        Index(text)
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE jobs(mine)")
    connection.commit()
    connection.close()
    before = other.read_bytes()
    with pytest.raises(DocumentError, match="a database of another program"):
        Index(other)
    assert other.read_bytes() == before


def test_an_index_of_another_version_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(numbered(1), tmp_path / "jobs" / "job.json")
    with Index(tmp_path / "i.sqlite") as found:
        found.update(tmp_path / "jobs")
    monkeypatch.setattr(index, "_VERSION", index._VERSION + 1)
    with Index(tmp_path / "i.sqlite") as found:
        assert found.update(tmp_path / "jobs") == Changes(1, 1, 0)
    with Index(tmp_path / "i.sqlite") as found:
        assert found.update(tmp_path / "jobs") == Changes(1, 0, 0)


def test_a_full_disk_costs_nothing_that_was_there(tmp_path: Path) -> None:
    """A file-size limit stands for it: SQLite cannot write beyond, and says so."""
    save(numbered(1, user="first"), tmp_path / "jobs" / "job.json")
    file = tmp_path / "i.sqlite"
    with Index(file) as found:
        found.update(tmp_path / "jobs")
    for number in range(2, 60):
        save(numbered(number, program="p" * 190), tmp_path / "jobs" / str(number) / "job.json")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, file.stat().st_size))

    done = subprocess.run([sys.executable, str(PROGRAM), "fleet", str(tmp_path / "jobs"), "--index", str(file)], capture_output=True,
                          text=True, check=False, preexec_fn=limit)  # fmt: skip
    assert done.returncode == 2 and "what it had stays as it was" in done.stderr, done.stderr
    with Index(file) as found:
        assert [row["user"] for row in found.select("SELECT user FROM jobs")] == ["first"]
        assert found.update(tmp_path / "jobs") == Changes(59, 58, 0)


def test_an_index_is_private_and_has_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    save(numbered(1), tmp_path / "jobs" / "job.json")
    assert main.main(["fleet", str(tmp_path / "jobs")]) == 0
    (file,) = (tmp_path / "cache" / "poweraware").iterdir()
    assert file.stat().st_mode & 0o077 == 0 and index.usual_path(tmp_path / "jobs") == file != index.usual_path(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "")
    assert main.main(["fleet", str(tmp_path / "jobs")]) == 2


def test_a_line_where_it_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, lines = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = index._Progress(lines.append)
    for seconds in (1, 4.9, 5, 6, 10, 19, 21, 39):
        now[0] = seconds
        progress.tell(str(seconds))
    assert lines == ["5", "10", "21"]


def test_columns_have_names_of_their_own() -> None:
    for found in (columns.JOB, columns.NODE, columns.CALL, columns.REGION):
        names = [column.name for column in found]
        assert len(set(names)) == len(names) and all(column.text.endswith(".") for column in found)


def test_measured_effects_are_means_by_what_they_are_worth(tmp_path: Path) -> None:
    sample = json.loads((Path(__file__).parent / "sample.json").read_text())
    for number in range(2):
        each = copy.deepcopy(sample)
        each["begin_ns"] += number
        for decided in each["decisions"]["classes"]:
            decided["slowdown"] = {"middle": 0.1 * number, "low": 0.1 * number - 0.01, "high": 0.1 * number + 0.01}
        save(each, tmp_path / "jobs" / str(number) / "job.json")
    with Index(tmp_path / "i.sqlite") as found:
        found.update(tmp_path / "jobs")
        (effects,) = [each for each in fleet.all_tables(found, 20) if each.title.startswith("What saving changed")]
        rows: List[List[str]] = effects.rows
        assert rows[0][:2] == ["all", "2"] and 4 < float(rows[0][4].split()[0]) < 6
        assert "What saving changed" in table.as_table(effects)
