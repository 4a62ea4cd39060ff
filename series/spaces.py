# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Starting programs in namespaces of their own, of which nothing is left when they or the caller end."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.testbed.cluster.namespaces import privileged
from series.errors import Unavailable

_ENTER = Path(__file__).resolve().parent / "enter"


def isolated(*command: str, offline: bool = False) -> list[str]:
    """The command line that runs a command as root, with own mounts and processes; offline: without a network.

    An ordinary user is root of a user namespace, which has the sub-uids of /etc/subuid for the other
    users of a distribution. A caller that is killed takes the whole along.
    """
    user = [] if privileged() else ["unshare", "--user", "--map-root-user", "--map-auto", "--"]
    mounts = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    mounts += ["--net"] * offline + ["--"]
    return [*user, "setpriv", "--pdeathsig", "KILL", "--", *mounts, *command]


def inside(
    root: Path, work: Path, *command: str, writable: bool = False, offline: bool = False
) -> list[str]:
    """The command line that runs a command in a root file system, where work is /poweraware.

    Writable: the command may change the root file system, for itself and for as long as it runs.
    """
    options = ["--writable"] * writable
    return isolated(str(_ENTER), *options, str(root), str(work), *command, offline=offline)


def require() -> None:
    """Raises Unavailable where such namespaces are refused."""
    try:
        done = subprocess.run(
            isolated("mount", "-t", "tmpfs", "none", "/mnt"),
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise Unavailable(f"{error.filename} is missing (package util-linux)") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise Unavailable(
            f"no namespaces for a root file system: {said[-1]} (needs root, or sub-uids"
            " in /etc/subuid and /etc/subgid, and the package uidmap)"
        )


def remove(path: Path) -> None:
    """Removes a tree that may hold files of other users of a root file system."""
    if path.exists():
        subprocess.run(isolated("rm", "-rf", "--one-file-system", str(path)), check=True)
