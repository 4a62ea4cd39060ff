# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The cache: when a root file system is made, that a half-made one is never used, and the locks."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Optional

import pytest

from series import archive, spaces
from series.cache import Distribution
from series.errors import Unavailable


class Maker:
    """Makes a folder with one file, or fails half way."""

    def __init__(self) -> None:
        self.made = 0
        self.failure: Optional[Exception] = None

    def __call__(self, _suite: str, _packages: Sequence[str], target: Path, log: IO[str]) -> None:
        target.mkdir()  # fails where something half made is left
        log.write("I: begun\nE: first reason\nE: second\n")
        if self.failure:
            raise self.failure
        self.made += 1
        (target / "number").write_text(str(self.made))


@pytest.fixture(name="maker")
def _maker(monkeypatch: pytest.MonkeyPatch) -> Maker:
    monkeypatch.setattr(spaces, "remove", lambda path: shutil.rmtree(path, ignore_errors=True))
    return Maker()


def distribution(folder: Path, maker: Maker, said: Optional[list[str]] = None) -> Distribution:
    return Distribution(folder / "cache", "trixie", (said if said is not None else []).append, maker)


def used(folder: Path, maker: Maker, days: float = 7) -> str:
    with distribution(folder, maker).used(days) as root:
        return (root / "number").read_text()


def test_it_is_made_once(tmp_path: Path, maker: Maker) -> None:
    assert [used(tmp_path, maker), used(tmp_path, maker)] == ["1", "1"]


def test_it_is_made_anew_when_old_or_of_other_packages(
    tmp_path: Path, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    used(tmp_path, maker)
    monkeypatch.setattr(time, "time", lambda: now + 6 * 86400)
    assert used(tmp_path, maker) == "1"
    monkeypatch.setattr(time, "time", lambda: now + 8 * 86400)
    assert used(tmp_path, maker) == "2"
    monkeypatch.setattr(archive, "PACKAGES", ("gcc",))
    assert used(tmp_path, maker) == "3"
    assert not list((tmp_path / "cache/trixie").glob("root.*"))


@pytest.mark.parametrize(
    "failure, reason",
    [
        (subprocess.CalledProcessError(1, "mmdebstrap"), "mmdebstrap: E: first reason"),
        (Unavailable("no archive"), "no archive"),
        (subprocess.TimeoutExpired("mmdebstrap", 1), "took more than"),
    ],
)
def test_a_half_made_one_is_not_used(
    tmp_path: Path, maker: Maker, failure: Exception, reason: str
) -> None:
    maker.failure = failure
    with pytest.raises(Unavailable, match=reason):
        used(tmp_path, maker)
    maker.failure = None
    assert used(tmp_path, maker) == "1"


def test_without_mmdebstrap_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, maker: Maker
) -> None:
    assert maker.made == 0  # the fixture keeps namespaces out
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="mmdebstrap is not installed"):
        with Distribution(tmp_path / "cache", "trixie", print).used(7):
            pass


def test_an_interrupted_one_is_not_used(tmp_path: Path, maker: Maker) -> None:
    maker.failure = KeyboardInterrupt()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        used(tmp_path, maker)
    maker.failure = None
    assert used(tmp_path, maker) == "1"


def test_an_old_one_is_better_than_none(tmp_path: Path, maker: Maker) -> None:
    used(tmp_path, maker)
    maker.failure = subprocess.CalledProcessError(1, "mmdebstrap")
    said: list[str] = []
    with distribution(tmp_path, maker, said).used(0) as root:
        assert (root / "number").read_text() == "1"
    assert "is old, and stays: mmdebstrap: E: first reason" in said[-1]


def test_it_is_not_exchanged_under_a_user(tmp_path: Path, maker: Maker) -> None:
    said: list[str] = []
    waits = threading.Event()
    numbers = []

    def say(text: str) -> None:
        said.append(text)
        if "waiting" in text:
            waits.set()

    def other() -> None:
        second = Distribution(tmp_path / "cache", "trixie", say, maker)
        second._key = "of other packages"  # pylint: disable=protected-access
        with second.used(7) as root:
            numbers.append((root / "number").read_text())

    with distribution(tmp_path, maker).used(7) as root:
        thread = threading.Thread(target=other)
        thread.start()
        assert waits.wait(60)
        assert (root / "number").read_text() == "1" and maker.made == 1
    thread.join(60)
    assert numbers == ["2"]


def test_a_bare_one_is_another(tmp_path: Path, maker: Maker) -> None:
    used(tmp_path, maker)
    with Distribution(tmp_path / "cache", "trixie", print, maker, bare=True).used(7) as root:
        assert (root / "number").read_text() == "2"
    assert used(tmp_path, maker) == "1"


def test_a_build_that_was_interrupted_is_not_used(tmp_path: Path, maker: Maker) -> None:
    some = distribution(tmp_path, maker)
    with some.used(7):
        with pytest.raises(KeyboardInterrupt), some.tree(tmp_path) as tree:
            (tree / "half an object").touch()
            raise KeyboardInterrupt
        with some.tree(tmp_path) as tree:
            assert not (tree / "half an object").exists()


def test_a_build_of_sources_that_no_longer_come_is_removed(tmp_path: Path, maker: Maker) -> None:
    some = distribution(tmp_path, maker)
    with some.used(7):
        with some.tree(tmp_path) as old:
            pass
        os.utime(old, (1, 1))
        with some.tree(tmp_path / "other") as tree:
            assert tree.exists() and not old.exists()


def test_a_build_outlives_a_run_but_not_its_root_file_system(tmp_path: Path, maker: Maker) -> None:
    top = tmp_path / "top"
    for anew, kept in ((False, False), (False, True), (True, False)):
        if anew:
            shutil.rmtree(tmp_path / "cache/trixie/root")
        some = distribution(tmp_path, maker)
        with some.used(7), some.tree(top) as tree:
            assert (tree / "object").exists() == kept
            (tree / "object").touch()
        with some.used(7), some.tree(tmp_path / "other") as tree:
            assert not (tree / "object").exists()
