# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Traces of ranks and their chart."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Tuple

import pytest

from poweraware import main, trace
from poweraware.documents import DocumentError

MS = 1_000_000
OFFSET_NS = 1_790_000_000_000_000_000
Event = Tuple[int, str, int, int]  # when (ms), event, detail, bytes or ns


def write(folder: Path, rank: int, events: List[Event], **changes: Any) -> None:
    report: Dict[str, Any] = {"host": f"n{rank // 2}", "package": rank % 2, "realtime_offset_ns": OFFSET_NS,
                              "operations": ["barrier", "alltoall"]}  # fmt: skip
    (folder / f"rank-{rank}.json").write_text(json.dumps({**report, **changes}))
    lines = [f"{at * MS},{event},{detail},-1,{number}\n" for at, event, detail, number in events]
    (folder / f"rank-{rank}.events.csv").write_text("t_ns,event,detail,peer,bytes\n" + "".join(lines))


ONE_CALL: List[Event] = [
    (0, "call", 1, 100), (1, "speed", 0, 0), (1, "phase", 1, 0), (1, "local", 0, 0), (3, "local_end", 0, 50),
    (4, "phase", 2, 0), (4, "tstate", 7, 0), (8, "spin", 0, 1 * MS), (8, "sleep", 0, 2 * MS), (8, "tstate", 0, 0),
    (9, "net", 1, 0), (10, "spin", 0, MS // 2), (11, "sleep", 0, MS // 4), (12, "net_end", 1, 50), (12, "speed", 1, 0),
    (13, "return", 1, 0),
]  # fmt: skip


def later(events: List[Event], ms: int) -> List[Event]:
    return [(at + ms, event, detail, number) for at, event, detail, number in events]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for rank in range(4):
        write(tmp_path, rank, [(0, "call", 0, 0), (1, "return", 0, 0), *later(ONE_CALL, 10 + rank), *later(ONE_CALL, 30)])
    return tmp_path


def spans(intervals: List[trace.Interval], what: str) -> List[Tuple[float, float]]:
    base = OFFSET_NS * 1e-9
    return [(round(1e3 * (each.begin_s - base), 2), round(1e3 * (each.end_s - base), 2)) for each in intervals if each.what == what]


def test_events_become_intervals(tmp_path: Path) -> None:
    write(tmp_path, 0, ONE_CALL)
    (rank,) = trace.load(tmp_path)
    assert spans(rank.calls, "alltoall") == [(0, 13)]
    assert spans(rank.states, "local") == [(1, 3)] and spans(rank.states, "net") == [(9, 12)]
    assert spans(rank.states, "spin") == [(5, 6), (9.5, 10)]
    assert spans(rank.states, "sleep") == [(6, 8), (10.75, 11)]
    assert spans(rank.tstates, "T7") == [(4, 8)] and spans(rank.low, "lowest frequency") == [(1, 12)]
    assert [number for _, number in rank.phases] == [1, 2] and not rank.lost


def test_a_trace_that_was_cut_off(tmp_path: Path) -> None:
    write(tmp_path, 0, ONE_CALL[:8])
    with (tmp_path / "rank-0.events.csv").open("a") as file:
        file.write("# 5 events lost: the buffer holds 7\n")
    (rank,) = trace.load(tmp_path)
    assert rank.lost and rank.calls == [] and spans(rank.tstates, "T7") == [(4, 8)]


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="there is no rank-N.events.csv"):
        trace.load(tmp_path)
    write(tmp_path, 0, [(0, "call", 7, 0)])
    with pytest.raises(DocumentError, match="rank-0.events.csv: is no trace"):
        trace.load(tmp_path)
    (tmp_path / "rank-0.json").write_text("{}")
    with pytest.raises(DocumentError, match="rank-0.json: is no report"):
        trace.load(tmp_path)
    (tmp_path / "rank-0.json").unlink()
    with pytest.raises(DocumentError, match="is beside its trace"):
        trace.load(tmp_path)


def test_chart(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    output = tmp_path / "page.html"
    assert main.main(["timeline", str(folder), "-o", str(output)]) == 0
    html = output.read_text()
    assert "of 2 of alltoall" in html and "data:image/svg+xml" in html and "http" not in html.replace("http-equiv", "")
    assert main.main(["timeline", str(folder), "-o", str(output), "--collective", "barrier", "--call", "1"]) == 0
    assert "all 1 of 1 of barrier" in output.read_text()
    for wrong, said in ((["--collective", "bcast"], "no bcast in the trace, but alltoall, barrier"), (["--call", "3"], "has 2 calls of alltoall")):
        assert main.main(["timeline", str(folder), "-o", str(output), *wrong]) == 2
        assert said in capsys.readouterr().err


def test_window_holds_the_call_of_all_ranks(folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from poweraware import timeline

    begin, end, what = timeline.choose(trace.load(folder), None, 1)
    base = OFFSET_NS * 1e-9
    assert what == "call 1 of 2 of alltoall"
    assert 1e3 * (begin - base) == pytest.approx(10 - 0.8, abs=0.01) and 1e3 * (end - base) == pytest.approx(26 + 0.8, abs=0.01)
