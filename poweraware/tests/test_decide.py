# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Which rows follow from which measurements, and the table that is made of them."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest

from poweraware import decide, main, measurements
from poweraware.before import TableBefore
from poweraware.decide import Row, Rules

BLOCKS = 8
Json = Dict[str, Any]


def variant(name: str, us: float, cpu_us: float) -> Json:
    """Takes us in every block, and cpu_us of CPU time."""
    return {"name": name, "wrong": False, "us": [us] * BLOCKS, "cpu_us": [cpu_us] * BLOCKS}


def call(collective: str, nodes: int, ranks: int, size: int, *variants: Json) -> Json:
    return {"collective": collective, "nodes": nodes, "ranks_per_node": ranks, "bytes": size,
            "variants": [variant("stock", 100, 200), *variants]}  # fmt: skip


def point(collective: str, nodes: int, ranks: int, size: int, leader: float, box: float) -> Json:
    """Stock takes 100 us; leader and box so many."""
    return call(collective, nodes, ranks, size, variant("leader", leader, 200), variant("box", box, 200))


def document(*points: Json) -> Json:
    return {"format": measurements.FORMAT, "command": "test", "points": list(points)}


def decided(*documents: Json) -> str:
    """Rows as "collective nodes ranks bytes algorithm; ..."; the end of a range without a limit is left out."""
    def words(limits: decide.Range) -> str:
        return f"{limits[0]}..{'' if limits[1] is None else limits[1]}"

    return "; ".join(f"{row.collective} {words(row.nodes)} {words(row.ranks_per_node)} {words(row.bytes)} {row.algorithm}"
                     for row in decide.rows(measurements.points(documents), Rules()))  # fmt: skip


def test_the_margin_keeps_stock() -> None:
    assert decided(document(point("bcast", 1, 2, 8, 97.5, 100))) == ""  # not enough
    assert decided(document(point("bcast", 1, 2, 8, 96.5, 100))) == "bcast 1..1 2.. 0.. leader"


def test_the_fastest_comes_first() -> None:
    assert decided(document(point("bcast", 1, 2, 8, 60, 50), point("bcast", 1, 2, 32, 50, 60))) == (
        "bcast 1..1 2.. 0..15 box; bcast 1..1 2.. 0..15 leader; bcast 1..1 2.. 16.. leader; bcast 1..1 2.. 16.. box")


@pytest.mark.parametrize("us, first", [(51.4, "leader"), (51.6, "box")])
def test_of_equally_fast_ones_the_one_with_less_cpu_time_comes_first(us: float, first: str) -> None:
    rows = decided(document(call("bcast", 1, 2, 8, variant("node", 80, 10), variant("box", 50, 130), variant("leader", us, 100))))
    second = "box" if first == "leader" else "leader"
    assert rows == "; ".join(f"bcast 1..1 2.. 0.. {name}" for name in (first, second, "node"))


def test_sizes_go_to_the_middle() -> None:
    any_order = (point("bcast", 1, 2, 64, 150, 50), point("bcast", 1, 2, 8, 150, 50), point("bcast", 1, 2, 4096, 150, 150),
                 point("bcast", 1, 2, 1 << 20, 50, 150))  # fmt: skip
    assert decided(document(*any_order)) == "bcast 1..1 2.. 0..511 box; bcast 1..1 2.. 65536.. leader"


def test_layouts_go_to_the_middle_and_one_node_is_apart() -> None:
    assert decided(document(point("bcast", 1, 2, 8, 50, 150), point("bcast", 1, 8, 8, 150, 50),
                            point("bcast", 2, 2, 8, 50, 150), point("bcast", 8, 2, 8, 150, 150))) == (
        "bcast 1..1 2..3 0.. leader; bcast 1..1 4.. 0.. box; bcast 2..3 2.. 0.. leader")  # fmt: skip


def test_nothing_is_said_below_what_was_measured() -> None:
    assert decided(document(point("bcast", 4, 4, 8, 50, 150))) == "bcast 4.. 4.. 0.. leader"


@pytest.mark.parametrize("us, cpu_us, pays", [(102, 100, True), (104, 100, False), (102, 190, False), (99, 155, True)])
def test_saving_counts_within_the_margin(us: float, cpu_us: float, pays: bool) -> None:
    rows = decided(document(call("bcast", 1, 2, 8, variant("leader", us, cpu_us))))
    assert rows == ("bcast 1..1 2.. 0.. leader" if pays else "")


@pytest.mark.parametrize("slower, rows", [(2, "bcast 1..1 2.. 0.. leader"), (3, "")])
def test_noise_keeps_stock(slower: int, rows: str) -> None:
    """Faster on average, but slower in three blocks of eight."""
    noisy = point("bcast", 1, 2, 8, 60, 150)
    noisy["variants"][1]["us"][:slower] = [140] * slower
    assert decided(document(noisy)) == rows


@pytest.mark.parametrize("us, rows", [(104, "bcast 1..1 2.. 0.. leader"), (107, "")])
def test_one_bad_day_keeps_stock(us: float, rows: str) -> None:
    """Ranks that share a cache one day, and not the next."""
    assert decided(*(document(point("bcast", 1, 2, 8, day, 150)) for day in (40, 40, 40, us))) == rows


def test_documents_are_pooled() -> None:
    box_takes_half_and_twice = (document(point("bcast", 1, 2, 8, 80, 50)), document(point("bcast", 1, 2, 8, 90, 200)))
    assert decided(*box_takes_half_and_twice) == "bcast 1..1 2.. 0.. leader"


def test_other_components_and_wrong_data_are_no_candidates() -> None:
    wrong, declined = {**variant("leader", 10, 10), "wrong": True}, {**variant("box", 10, 10), "us": [], "cpu_us": []}
    assert decided(document(call("bcast", 1, 2, 8, variant("sm", 10, 10), variant("auto", 10, 10), wrong, declined))) == ""
    assert decided(document(call("bcast", 1, 2, 8, variant("basic", 10, 10)))) == "bcast 1..1 2..2 0.. basic"


def test_rows_of_other_components_end_half_way_to_twice_the_layout() -> None:
    """They may be linear in the ranks."""
    found = decided(document(call("bcast", 2, 2, 8, variant("basic", 10, 10)), call("bcast", 8, 4, 8, variant("basic", 10, 10), variant("leader", 20, 20))))
    assert found == "bcast 2..3 2..2 0.. basic; bcast 4..11 4..5 0.. basic; bcast 4.. 4.. 0.. leader"


def test_the_table_has_a_line_per_row() -> None:
    rows = [Row("bcast", (1, 1), (2, None), (0, 63), "box", 0.5, 0.75), Row("barrier", (2, None), (1, 4), (0, None), "box", 0.9, 0.9)]
    assert decide.table(rows, 'say "x"') == (
        '{\n  "format_version": 1,\n  "source": "say \\"x\\"",\n  "rows": [\n'
        '    {"collective": "bcast", "nodes": [1, 1], "ranks_per_node": [2, null], "bytes": [0, 63], "algorithm": "box", '
        '"time": 0.612, "comment": "time 0.50 to 0.75 of stock\'s"},\n'
        '    {"collective": "barrier", "nodes": [2, null], "ranks_per_node": [1, 4], "bytes": [0, null], "algorithm": "box", '
        '"time": 0.9, "comment": "time 0.90 to 0.90 of stock\'s"}\n  ]\n}\n')  # fmt: skip
    assert decide.table([], "") == '{\n  "format_version": 1,\n  "source": "",\n  "rows": []\n}\n'


# ---- with the table before ----


def row(collective: str, nodes: decide.Range, ranks: decide.Range, size: decide.Range, algorithm: str) -> Json:
    return {"collective": collective, "nodes": nodes, "ranks_per_node": ranks, "bytes": size, "algorithm": algorithm}


def old_table(*rows: Json) -> Json:
    return {"format_version": 1, "source": "then", "rows": list(rows)}


@pytest.mark.parametrize("leader, box, algorithms", [
    (103, 150, "leader"), (103.5, 150, ""),  # what it has costs no more than 3 %
    (103, 96, "box leader"), (103, 98, "leader"),  # what beats it gains as much as without it
])  # fmt: skip
def test_what_the_table_before_has_stays(leader: float, box: float, algorithms: str) -> None:
    before = TableBefore([row("bcast", (1, 1), (2, None), (8, 8), "leader")])
    points = measurements.points([document(point("bcast", 1, 2, 8, leader, box))])
    assert " ".join(each.algorithm for each in decide.rows(points, Rules(), before)) == algorithms


@pytest.mark.parametrize("rows", [
    [row("bcast", (1, 1), (2, None), (9, None), "leader")], [row("bcast", (2, 4), (2, None), (0, None), "leader")],
    [row("bcast", (1, 1), (3, 4), (0, None), "leader")], [row("scan", (1, 1), (2, 2), (0, None), "leader")],
    [row("bcast", (1, 1), (2, 2), (0, None), "sm")],  # not measured
    [row("bcast", (1, 1), (2, 2), (0, None), "stock"), row("bcast", (1, 1), (2, 2), (0, None), "leader")],
])  # fmt: skip
def test_what_the_table_before_leaves_to_stock_must_gain_more(rows: List[Json]) -> None:
    for leader, box, algorithms in ((96, 200, []), (94, 96, ["leader"])):
        points = measurements.points([document(point("bcast", 1, 2, 8, leader, box))])
        assert [each.algorithm for each in decide.rows(points, Rules(), TableBefore(rows))] == algorithms


# ---- the command ----


def save(path: Path, content: Json) -> str:
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = save(tmp_path / "one.json", document(point("bcast", 1, 2, 8, 50, 100)))
    other = save(tmp_path / "other.json", {**document(point("scan", 2, 4, 64, 96, 150)), "date": "today", "host": "here", "library": "MPI"})
    table = tmp_path / "table.json"
    assert main.main(["decide", one, other, "-o", str(table)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert ["bcast", "1", "2..", "0..", "leader", "0.50", "to", "0.50"] in [line.split() for line in said]
    assert f"Table: {table}" in said[-1]
    written = json.loads(table.read_text())
    assert written["source"] == "test (unknown, unknown, unknown); test (today, here, MPI)"
    assert [row["collective"] for row in written["rows"]] == ["bcast", "scan"]
    assert main.main(["decide", one, other, "-o", str(table), "--margin", "5", "--source", "mine"]) == 0
    written = json.loads(table.read_text())
    assert written["source"] == "mine" and [row["collective"] for row in written["rows"]] == ["bcast"]
    assert main.main(["decide", other, "-o", str(table), "--margin", "5"]) == 0
    assert "Stock functions everywhere" in capsys.readouterr().out and json.loads(table.read_text())["rows"] == []


def test_command_with_the_table_before(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows for layouts that were not measured stay, and come first; so may be a table that was made so."""
    measured = save(tmp_path / "m.json", document(point("bcast", 1, 2, 8, 50, 100)))
    larger = [row("bcast", [1, 1], [4, None], [0, 63], "box"), row("scan", [1, 1], [2, 2], [0, 63], "box")]
    before = save(tmp_path / "before.json", old_table(row("bcast", [1, 1], [2, 3], [0, None], "box"), *larger))
    table = tmp_path / "table.json"
    for _ in range(2):
        assert main.main(["decide", measured, "-o", str(table), "--before", before]) == 0
        assert "2 rows for layouts that were not measured" in capsys.readouterr().out
        found = json.loads(table.read_text())["rows"]
        assert found[:2] == larger and [each["algorithm"] for each in found[2:]] == ["leader", "box"]
        before = str(table)


@pytest.mark.parametrize("text, said", [("{", "not JSON"), ("{}", "format_version"), (json.dumps(old_table({"collective": "bcast"})), "$.rows[0]")])
def test_tables_before_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    measured = save(tmp_path / "m.json", document(point("bcast", 1, 2, 8, 50, 100)))
    (tmp_path / "before.json").write_text(text)
    assert main.main(["decide", measured, "-o", str(tmp_path / "t.json"), "--before", str(tmp_path / "before.json")]) == 2
    error = capsys.readouterr().err
    assert "before.json: " in error and said in error and not (tmp_path / "t.json").exists()


WRONG: List["tuple[str, str]"] = [
    ("{", "not JSON"),
    ("{}", "not measurements"),
    ('{"format": "poweraware-measurements"}', "m.json: $: "),
    (json.dumps(document(point("bcast", 1, 2, 8, 50, 50), {"collective": "bcast"})), "m.json: $.points[1]: "),
    (json.dumps(document({**call("bcast", 1, 2, 8), "variants": []})), "$.points[0]: stock was not measured"),
    (json.dumps(document({**call("bcast", 1, 2, 8), "nodes": 0})), "m.json: $.points[0].nodes: "),
]


@pytest.mark.parametrize("text, said", WRONG)
def test_files_that_are_no_measurements(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    assert main.main(["decide", str(path), "-o", str(tmp_path / "t.json")]) == 2
    error = capsys.readouterr().err
    assert "m.json: " in error and said in error and not (tmp_path / "t.json").exists()


def test_options_that_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = save(tmp_path / "m.json", document())
    for option, number, most in (("--margin", "60", 50), ("--saving", "-1", 100)):
        assert main.main(["decide", path, "-o", str(tmp_path / "t.json"), option, number]) == 2
        assert f"{option} {number} is not a number from 0 to {most}" in capsys.readouterr().err
    assert main.main(["decide", path, "-o", str(tmp_path / "no" / "t.json")]) == 2
    assert "no/t.json" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing/table.json", "folder"])
def test_table_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    measured = tmp_path / "m.json"
    measured.write_text(json.dumps(document(point("bcast", 1, 2, 8, 50, 60))), encoding="utf-8")
    (tmp_path / "folder").mkdir()
    assert main.main(["decide", str(measured), "-o", str(tmp_path / name)]) == 2
    assert f"{tmp_path / name}: " in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "m.json"]
