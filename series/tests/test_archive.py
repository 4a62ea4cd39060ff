# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Where packages come from: what apt says, read."""

from pathlib import Path

import pytest

from series import archive
from series.errors import Unavailable

LISTING = """\
'https://tools.example/apt/dists/tools/InRelease' tools.example_apt_dists_tools_InRelease 0
'http://mirror.example/debian-security/dists/bookworm-security/InRelease' x 0
'http://mirror.example/debian/dists/bookworm/InRelease' mirror.example_debian_dists_bookworm_InRelease 0
'http://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' x 0
"""


def test_the_archive_is_the_one_that_serves_this_release() -> None:
    assert archive.mirror_of(LISTING, ["bookworm"]) == "http://mirror.example/debian"
    assert archive.mirror_of(LISTING, ["trixie"]) is None
    assert archive.mirror_of("", ["bookworm"]) is None


def test_a_release_may_be_named_by_its_state() -> None:
    names = archive.release_names('ID=debian\nVERSION_CODENAME="bookworm"\n')
    listing = LISTING.replace("dists/bookworm/", "dists/oldstable/")
    assert archive.mirror_of(listing, names) == "http://mirror.example/debian"


def test_another_distribution_has_no_archive_of_debian() -> None:
    assert archive.release_names("ID=ubuntu\nVERSION_CODENAME=noble\n") == []


def test_no_archive_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PWR_SERIES_MIRROR", raising=False)
    monkeypatch.setattr(archive, "_output", lambda *_: "")
    with pytest.raises(Unavailable, match="PWR_SERIES_MIRROR"):
        archive.this_mirror()
    monkeypatch.setenv("PWR_SERIES_MIRROR", "http://own.example/debian")
    assert archive.this_mirror() == "http://own.example/debian"


def test_how_to_fetch_is_taken_over() -> None:
    dump = """\
APT::Architecture "amd64";
Acquire "";
Acquire::http "";
Acquire::http::Proxy "http://proxy.example:3128";
Acquire::Retries "3";
Acquire::Check-Valid-Until "false";
Acquire::Languages:: "none";
Dir::State "var/lib/apt";
"""
    assert archive.fetching_options(dump) == [
        'Acquire::http::Proxy "http://proxy.example:3128";',
        'Acquire::Retries "3";',
        'Acquire::Check-Valid-Until "false";',
    ]


def test_the_keyring_is_named_where_it_is(tmp_path: Path) -> None:
    keyring = tmp_path / "keyring.gpg"
    line = archive.source_line("http://mirror.example/debian", "trixie", keyring)
    assert line == "deb http://mirror.example/debian trixie main"
    keyring.touch()
    line = archive.source_line("http://mirror.example/debian", "trixie", keyring)
    assert line == f"deb [signed-by={keyring}] http://mirror.example/debian trixie main"


def test_the_version_that_was_installed(tmp_path: Path) -> None:
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    status.write_text(
        "Package: openmpi-common\nVersion: 1.0-1\n\n"
        "Package: openmpi-bin\nStatus: install ok installed\nVersion: 6.0.0~rc2-1+b1\n\n"
    )
    assert archive.version_in(tmp_path) == "6.0.0~rc2"
    status.write_text("Package: openmpi-bin\nStatus: deinstall\n\nPackage: other\nVersion: 5.0.7-1\n\n")
    assert archive.version_in(tmp_path) == "none"
