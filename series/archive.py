# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Which Debian release has which Open MPI, and where this machine gets Debian's packages from."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Optional

from series.errors import Unavailable

SUITES: Mapping[str, str] = {"4.1": "bookworm", "5.0": "trixie", "6.0": "forky"}

# What configure and the tests need; likwid, msr-tools and valgrind keep tests of opal/ from being
# skipped. Packages that only the emulated nodes and hardware need are not here: see inside.
PACKAGES = (
    "autoconf",
    "automake",
    "binutils",
    "elfutils",
    "fuse3",
    "gcc",
    "iproute2",
    "kmod",
    "libcmocka-dev",
    "libcpupower-dev",
    "libevent-dev",
    "libfuse3-dev",
    "libhwloc-dev",
    "libjansson-dev",
    "libopenmpi-dev",
    "libpmix-dev",
    "libtool",
    "libucx-dev",
    "likwid",
    "make",
    "msr-tools",
    "openmpi-bin",
    "pkg-config",
    "procps",
    "python3",
    "python3-jsonschema",
    "python3-pytest",
    "python3-seccomp",
    "valgrind",
)

# What the archive of packages itself wants, where nothing of ours is to be found.
BARE = ("ca-certificates",)

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# 'http://mirror/debian/dists/bookworm/InRelease' mirror_debian_dists_bookworm_InRelease 0
_RELEASE_FILE = re.compile(r"^'(?P<mirror>.+)/dists/(?P<suite>[^']+)/InRelease' ")

# How packages are fetched here: proxies, time-outs, and whether old Release files will do, as those
# of an archive of snapshots must.
_FETCHING = re.compile(r"^Acquire::(http|https|ftp|Retries|ForceIPv[46]|Check-\w+)\b")


def mirror_of(listing: str, suites: Iterable[str]) -> Optional[str]:
    """The archive that serves one of the suites, from what "apt-get --print-uris update" says."""
    wanted = set(suites)
    for line in listing.splitlines():
        found = _RELEASE_FILE.match(line)
        if found and found["suite"] in wanted:
            return found["mirror"]
    return None


def fetching_options(dump: str) -> list[str]:
    """The lines of "apt-config dump" that say how to fetch, without those that only open a section."""
    return [
        line
        for line in dump.splitlines()
        if _FETCHING.match(line) and not line.endswith(' "";')
    ]


def release_names(os_release: str) -> list[str]:
    """What the sources of this Debian may call it; empty for another distribution."""
    fields = dict(line.split("=", 1) for line in os_release.splitlines() if "=" in line)
    if fields.get("ID", "").strip('"') != "debian":
        return []
    codename = fields.get("VERSION_CODENAME", "").strip('"')
    names = ["oldoldstable", "oldstable", "stable", "testing", "unstable", "sid"]
    return [codename] * bool(codename) + names


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout


def this_mirror() -> str:
    """The archive this machine installs Debian's packages from, or $PWR_SERIES_MIRROR."""
    chosen = os.environ.get("PWR_SERIES_MIRROR")
    if chosen:
        return chosen
    names = release_names(Path("/etc/os-release").read_text(encoding="utf-8"))
    mirror = mirror_of(_output("apt-get", "--print-uris", "update"), names)
    if mirror is None:
        raise Unavailable(
            "apt here knows no archive of Debian: name one in PWR_SERIES_MIRROR"
            " (and install debian-archive-keyring)"
        )
    return mirror


def these_fetching_options() -> list[str]:
    return fetching_options(_output("apt-config", "dump"))


def version_in(root: Path) -> str:
    """The version of Open MPI in a root file system, without the distribution's part; "none" without."""
    status = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
    found = re.search(r"^Package: openmpi-bin\n(?:.+\n)*?Version: ([^-\n]+)", status, re.MULTILINE)
    return found[1] if found else "none"


def source_line(mirror: str, suite: str, keyring: Path = KEYRING) -> str:
    signed = f"[signed-by={keyring}] " if keyring.is_file() else ""
    return f"deb {signed}{mirror} {suite} main"
