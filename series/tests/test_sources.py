# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The copy of the sources: what it holds, and that what did not change keeps its age."""

import os
import subprocess
from pathlib import Path

import pytest

from series import sources


@pytest.fixture(name="top")
def _top(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "part").mkdir(parents=True)
    (top / "part/one.c").write_text("one")
    (top / "script").write_text("#!/bin/sh")
    (top / "script").chmod(0o755)
    (top / "link").symlink_to("script")
    (top / ".gitignore").write_text("*.o\n/configure\n")
    (top / "one.o").write_text("object")
    return top


def update(top: Path) -> int:
    return sources.update(top, top.with_name("copy"), top.with_name("remembered"))


def test_what_git_knows_and_what_is_new(top: Path) -> None:
    subprocess.run(["git", "init", "-q", top], check=True)
    subprocess.run(["git", "-C", top, "add", "script"], check=True)
    assert sources.listing(top) == [".gitignore", "link", "part/one.c", "script"]
    (top / "script").unlink()
    (top / "link").unlink()
    assert sources.listing(top) == [".gitignore", "part/one.c"]


def test_without_git_builds_are_left_out(top: Path) -> None:
    for folder in ("b", "build-two", "results"):
        (top / folder).mkdir()
        (top / folder / "file").write_text("")
    (top / "b/config.status").write_text("")
    assert sources.listing(top) == [".gitignore", "link", "one.o", "part/one.c", "script"]


def test_the_copy_is_the_same(top: Path) -> None:
    assert update(top) == 5
    copy = top.with_name("copy")
    assert (copy / "part/one.c").read_text() == "one"
    assert os.access(copy / "script", os.X_OK) and not os.access(copy / "part/one.c", os.X_OK)
    assert os.readlink(copy / "link") == "script"


def test_only_what_changed_is_new(top: Path) -> None:
    update(top)
    copy = top.with_name("copy")
    for name in ("part/one.c", "script"):
        os.utime(copy / name, (1, 1))
    os.utime(top / "part/one.c")  # as a fresh check-out does
    assert update(top) == 0
    (top / "script").write_text("#!/bin/bash")
    assert update(top) == 1
    assert (copy / "part/one.c").stat().st_mtime == 1
    assert (copy / "script").stat().st_mtime > 1 and os.access(copy / "script", os.X_OK)


def test_a_change_of_mode_or_kind_is_one(top: Path) -> None:
    update(top)
    (top / "script").chmod(0o644)
    (top / "link").unlink()
    (top / "link").symlink_to("part")
    (top / "part/one.c").unlink()
    (top / "part/one.c").symlink_to("../script")
    assert update(top) == 3
    assert (top.with_name("copy") / "part/one.c").is_symlink()


def test_what_left_the_sources_leaves_the_copy(top: Path) -> None:
    update(top)
    copy = top.with_name("copy")
    (copy / "configure").write_text("generated there")
    (top / "part/one.c").unlink()
    assert update(top) == 1
    assert not (copy / "part/one.c").exists()
    assert (copy / "configure").exists()
