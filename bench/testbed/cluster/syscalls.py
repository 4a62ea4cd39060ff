# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The Linux calls about namespaces that Python's os module has only since 3.12, or not at all.

Every function raises OSError with the call's name in its text.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

# <linux/sched.h>
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# <linux/mount.h>
_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_PRIVATE = 0x40000

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, call: str) -> None:
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    _check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(descriptor: int, kind: int) -> None:
    _check(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)), "setns")


def sethostname(name: str) -> None:
    raw = name.encode()
    _check(_libc.sethostname(raw, ctypes.c_size_t(len(raw))), f"sethostname {name}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None) -> None:
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode() if data else None,
    )
    _check(result, f"mount {target}")


def mount_private() -> None:
    """Stops mounts of this mount namespace from reaching any other, and the reverse."""
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE, None)


def mount_tmpfs(target: Path) -> None:
    _mount("tmpfs", str(target), "tmpfs", 0, "mode=1777")


def mount_proc() -> None:
    """Makes /proc show the caller's PID namespace."""
    _mount("proc", "/proc", "proc", 0, None)


def mount_bind(source: Path, target: Path) -> None:
    _mount(str(source), str(target), None, _MS_BIND, None)


def set_process_name(name: str) -> None:
    """The name ps -o comm shows (15 characters)."""
    _check(_libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0), "prctl PR_SET_NAME")


def die_with_parent(signal_number: int) -> None:
    """Has the kernel send the signal when the parent thread ends.

    Any later change of credentials switches it off, so this comes after setns() and unshare(). A
    parent that died before the call goes unnoticed: the caller looks for that itself.
    """
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "prctl PR_SET_PDEATHSIG")
