# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""poweraware top: looks that follow each other, a job that runs, and what is wrong."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

from poweraware import folders, main, top
from poweraware.tests.synthetic import make_job, part_of
from poweraware.tests.test_command import BUILD, PROGRAM, ROOT_MAY, mpi


def process(rank: int, call: Optional[str] = None, **more: Any) -> top.Process:
    fields = {"finished": False, "region": None, "calls": 0, "in_calls_s": 0.0, "cpu_s": 0.0, "node_j": 0.0, "energy": "measured", **more}
    return top.Process("12", rank, 1000 + rank, call=top.Call(call, "allreduce", "MPI_COMM_WORLD", 3) if call else None, **fields)


def save(path: Path, document: Dict[str, Any]) -> None:
    path.write_text(json.dumps(document), encoding="utf-8")


def rows_of(text: str) -> List[List[str]]:
    lines = text.splitlines()
    head = next(number for number, line in enumerate(lines) if line.startswith("rank"))
    return [line.split() for line in lines[head + 1 :]]


def test_who_waits_is_told_from_one_look_to_the_next() -> None:
    watch = top.Watch()
    first = watch.text(top.Look(10.0, [process(0, "a"), process(1, region="solve"), process(2)]))
    assert "power not known yet" in first and "for 0.0" not in first
    second = watch.text(top.Look(12.0, [process(0, "a", node_j=30.0), process(1, cpu_s=1.0, region="solve", node_j=30.0),
                                        process(2, "b", calls=4, in_calls_s=0.5, node_j=30.0)]))  # fmt: skip
    assert "the node draws 15 W (measured)" in second
    assert "1 rank in allreduce on MPI_COMM_WORLD, for 2.0 s and more; in no collective: rank 1" in second
    assert rows_of(second) == [
        ["0", "1000", "0", "100", "0", "allreduce", "on", "MPI_COMM_WORLD", "2.0"],
        ["1", "1001", "50", "0", "0", "solve"],
        ["2", "1002", "0", "25", "2", "allreduce", "on", "MPI_COMM_WORLD", "0.0"],
    ]
    # the recorder has read nothing new; rank 0 is in another call; the end of a long one counts for the time between looks
    third = watch.text(top.Look(13.0, [process(0, "c", in_calls_s=2.9, node_j=30.0), process(1, finished=True, node_j=30.0)]))
    assert "15 W" in third and "in no collective" not in third
    assert rows_of(third) == [
        ["0", "1000", "0", "100", "0", "allreduce", "on", "MPI_COMM_WORLD", "0.0"],
        ["1", "1001", "0", "0", "0", "MPI_Finalize"],
    ]


def test_many_ranks_are_named_in_short() -> None:
    watch = top.Watch()
    for at_s in (1.0, 2.0):
        text = watch.text(top.Look(at_s, [process(rank, "a" if rank == 0 else None) for rank in range(20)]))
    assert "in no collective: ranks 1, 2, 3, 4, 5, 6, 7, 8 and 11 more\n" in text


def test_a_job_of_several_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (0, 1):
        save(tmp_path / f"job.n{number}.partial.json", part_of(make_job(), number))
    assert main.main(["top", "-n", "1", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "8 of 8 processes on 2 nodes" in text and "energy: emulated" in text
    assert [line.split()[:5] for line in text.splitlines() if line.startswith("n")][1:] == [
        ["n0", "4", "10.0", "100", "1000"], ["n1", "4", "10.0", "100", "1000"]]  # fmt: skip


def test_a_job_that_has_not_written_yet_and_one_that_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                          monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    assert main.main(["top", "-n", "1", str(tmp_path)]) == 0
    assert "no job has written there yet" in capsys.readouterr().out
    path = tmp_path / "job.n0.partial.json"
    save(path, part_of(make_job(), 0))
    monkeypatch.setattr(folders, "_stamps", lambda folder: path.unlink() or {path.name: (0, 0)})
    assert main.main(["top", "-n", "1", str(tmp_path)]) == 0
    assert "is just ending" in capsys.readouterr().out


def test_a_document_is_read_once_while_it_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other jobs are not even parsed: there may be 100,000, looked for every second."""
    old, now = make_job(), make_job()
    for each in (old, now):
        each["provenance"]["energy"]["note"] = 2000 * "x"
        each["job"] = each.pop("job")  # near the end, as recorders write it
    now["begin_ns"] += 3600_000_000_000
    now["job"]["id"] = "now"
    for number in range(20):
        save(tmp_path / f"job-{number}-n1-99.json", old)
        save(tmp_path / f"job.killed-{number}.partial.json", part_of(old, 0))
    parts = ["job.now-0.partial.json", "job.now-1.partial.json"]
    for number, name in enumerate(parts):
        save(tmp_path / name, part_of(now, number))
    opened: List[str] = []
    open_ = Path.open
    monkeypatch.setattr(Path, "open", lambda path, *rest, **more: opened.append(path.name) or open_(path, *rest, **more))
    folder = folders.Folder(tmp_path)

    def reads_of_a_look() -> List[str]:
        opened.clear()
        assert "8 of 8 processes on 2 nodes" in top.of_folder(folder)
        return sorted(name for name in opened if name.startswith("job"))

    assert reads_of_a_look() == sorted([each.name for each in tmp_path.iterdir()] + parts)
    assert reads_of_a_look() == []
    save(tmp_path / parts[1], {**part_of(now, 1), "why_incomplete": "it has written again"})
    assert reads_of_a_look() == [parts[1]] * 2
    save(tmp_path / "job.json", {**now, "begin_ns": now["begin_ns"] + 1_000_000_000})
    opened.clear()
    assert "has ended" in top.of_folder(folder) and "has ended" in top.of_folder(folder)
    assert [name for name in opened if name.startswith("job")] == ["job.json"] * 2


def test_what_is_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in ((["-d", "0"], "--delay 0"), (["-n", "0"], "--iterations 0"), (["-n", "1", str(tmp_path / "none")], "no such folder"),
                             (["-n", "1", "--build", str(tmp_path)], "poweraware-pages: No such file")):  # fmt: skip
        assert main.main(["top", *arguments]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.skipif(not (BUILD / "opal" / "poweraware-pages").exists(), reason="poweraware-pages is not built")
def test_only_folders_of_ones_own_are_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o755)
    for folder in (tmp_path / "none", tmp_path):
        assert main.main(["top", "-n", "1", "--build", str(BUILD), "--run-dir", str(folder)]) == 2
        assert str(folder) in capfd.readouterr().err
    tmp_path.chmod(0o700)
    (tmp_path / "calls.12.0").write_bytes(bytes(300_000))
    (tmp_path / "calls.12.1").symlink_to("/etc/passwd")
    assert main.main(["top", "-n", "1", "--build", str(BUILD), "--run-dir", str(tmp_path)]) == 0
    assert "0 processes" in capfd.readouterr().out


def test_a_running_job(tmp_path: Path) -> None:
    if not (BUILD / "coll_poweraware" / "tests" / "check_job").exists():
        pytest.skip("coll_poweraware's check programs are not built")
    run_dir = tmp_path / "pages"
    environment = {**os.environ, **ROOT_MAY, "OMPI_MCA_coll_poweraware_run_dir": str(run_dir)}
    # pylint: disable=consider-using-with
    job = subprocess.Popen([sys.executable, str(PROGRAM), "run", "--build", str(BUILD), "-o", "out", "--", *mpi(2, "wait")], cwd=tmp_path,
                           env=environment, start_new_session=True, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        text = ""
        while job.poll() is None and "1 rank in allreduce" not in text:
            done = subprocess.run([sys.executable, str(PROGRAM), "top", "-n", "2", "-d", "0.2", "--build", str(BUILD), "--run-dir", str(run_dir)],
                                  env=environment, capture_output=True, text=True, check=False)  # fmt: skip
            text = done.stdout
            time.sleep(0.1)
        assert "check_job, 2 ranks here" in text and "on MPI_COMM_WORLD" in text and "in no collective: rank 0" in text, text
    finally:
        os.killpg(job.pid, signal.SIGINT)
        job.wait()
