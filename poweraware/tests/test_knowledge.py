# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What scheme auto has learnt: shown, forgotten, and which files are refused."""
from __future__ import annotations

import copy
import fcntl
import json
import os
from pathlib import Path
from typing import Any, Dict, List

import pytest

from poweraware import knowledge, main

Json = Dict[str, Any]

ENTRY: Json = {"operation": "allreduce", "transport": "ob1", "nodes": 2, "ranks_per_node": 64, "size_class": 3, "algorithm": "box",
               "depth": "ladder", "pairs": 12, "trials": 4, "slowdown": 0.004321, "gain": 0.71, "calls": 123456, "day": 20500}  # fmt: skip
MACHINE: Json = {"cpu": {"vendor": "GenuineIntel", "name": "Xeon 8480+", "family": 6, "model": 143}, "cpus": 112, "mpi": "Open MPI 4.1.4"}
CORPUS = Path(__file__).resolve().parents[2] / "opal" / "fuzz" / "corpus" / "knowledge"


def machine(*entries: Json, **changes: Any) -> Json:
    return {**copy.deepcopy(MACHINE), "entries": list(entries), **changes}


def entry(**changes: Any) -> Json:
    return {**ENTRY, **changes}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, with two types of machines."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    found = tmp_path / ".cache" / "poweraware" / "knowledge.json"
    found.parent.mkdir(parents=True)
    put(found, machine(entry(), entry(size_class=1, day=20000, algorithm="stock", depth="poll")), machine(entry(nodes=1), cpus=8))
    return found


def put(path: Path, *machines: Json) -> None:
    path.write_text(json.dumps({"format_version": 1, "machines": list(machines)}))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main.main(["knowledge", *arguments]) == 0
    return capsys.readouterr().out


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main.main(["knowledge", *arguments]) == 2
    return capsys.readouterr().err


def test_show(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "show")
    assert said(capsys, "show", str(path)) == text
    assert "Xeon 8480+, 112 CPUs, Open MPI 4.1.4\n====" in text and "Xeon 8480+, 8 CPUs" in text
    rows = [line.split() for line in text.splitlines() if "allreduce" in line]
    assert rows[0] == ["2", "64", "ob1", "allreduce", "0-4", "stock", "0.71", "4", "poll", "0.4321", "12", "123456", "2024-10-04"]
    assert rows[1][4:6] == ["17-64", "box"] and len(rows) == 3
    assert json.loads(said(capsys, "show", "--json")) == json.loads(path.read_text())


def test_sizes() -> None:
    assert [knowledge.sizes(index) for index in (0, 1, 2, 14, 15)] == ["differ", "0-4", "5-16", "67108865-268435456", "268435457-"]


def test_nothing_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert said(capsys, "show") == "Nothing is known.\n"
    assert said(capsys, "show", "--json").split() == ["{", '"format_version":', "1,", '"machines":', "[]", "}"]
    assert "no such file" in said(capsys, "forget", "--all")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", "")
    assert "neither XDG_CACHE_HOME nor HOME" in complaint(capsys, "show")


def test_forget_a_machine(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "forget", "--machine", "xeon 8480+, 8 cpu") == "removed 1 of 1 entries: Xeon 8480+, 8 CPUs, Open MPI 4.1.4\n"
    assert [each["cpus"] for each in knowledge.load(path)["machines"]] == [112]
    assert "nothing of that kind" in said(capsys, "forget", "--machine", "xeon 8480+, 8 cpu")
    assert path.stat().st_mode & 0o777 == 0o600


def test_forget_what_is_old(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge, "today", lambda: 20510)
    assert "nothing of that kind" in said(capsys, "forget", "--older-than", "510")
    assert said(capsys, "forget", "--older-than", "10") == "removed 1 of 2 entries: Xeon 8480+, 112 CPUs, Open MPI 4.1.4\n"
    assert "removed 1 of 1" in said(capsys, "forget", "--older-than", "9", "--machine", ", 8 CPUs")
    assert [len(each["entries"]) for each in knowledge.load(path)["machines"]] == [1]


@pytest.mark.parametrize("text", ["{", '{"format_version": 2}', '{"format_version": 1, "machines": []}'])
def test_forget_all_takes_the_file(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text(text)
    assert said(capsys, "forget", "--all", str(path)) == f"removed {path}\n"
    assert not path.exists()


def test_forget_waits_for_jobs_but_not_for_ever(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()
    monkeypatch.setattr(knowledge, "_LOCK_ATTEMPTS", 3)
    with open(f"{path}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert ".lock: somebody holds it" in complaint(capsys, "forget", "--older-than", "0")
    assert path.read_bytes() == before
    assert "removed" in said(capsys, "forget", "--older-than", "0")


def test_forget_leaves_other_things_alone(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(path)
    os.mkfifo(tmp_path / "fifo")
    for other in (link, tmp_path / "fifo", tmp_path):
        assert "not a regular file" in complaint(capsys, "forget", "--all", str(other))
    assert path.exists() and link.is_symlink()


def test_forget_has_to_be_told_what(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = path.read_bytes()
    for wrong in ([], ["--older-than", "-1"], ["--all", "--older-than", "3"], ["--machine", ""]):
        assert "knowledge forget: " in complaint(capsys, "forget", *wrong)
    assert path.read_bytes() == before


WRONG: List["tuple[Json, str]"] = [
    (entry(nodes=0), "$.machines[0].entries[1].nodes"),
    (entry(energy=1), "'energy' was unexpected"),
    (entry(algorithm="a b"), "does not match"),
    (entry(gain=0), "$.machines[0].entries[1].gain"),
    (entry(), "$.machines[0].entries[1]: is there twice"),
]


@pytest.mark.parametrize("wrong, word", WRONG)
def test_damaged_files_are_named(path: Path, wrong: Json, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(path, machine(entry(), wrong))
    for command in (["show"], ["forget", "--older-than", "3"]):
        error = complaint(capsys, *command)
        assert str(path) in error and word in error


def test_no_name_controls_the_terminal(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(path, machine(entry(), mpi="\x1b[2J"))
    assert "\x1b" not in said(capsys, "show") + said(capsys, "forget", "--machine", "[2J")


def test_what_jobs_read_is_read_here() -> None:
    """Files of the fuzz target; two machines or entries alike are beyond a schema."""
    for name in ("one", "unordered", "extremes", "digits"):
        assert knowledge.load(CORPUS / name)["machines"], name
