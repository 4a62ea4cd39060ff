# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Runs a command to which the kernel refuses system calls, as a container's seccomp filter does.

    refuse.py ERRNO SYSTEM_CALL[,SYSTEM_CALL ...] COMMAND [ARGUMENT ...]

ERRNO is a name such as EPERM, a system call one such as memfd_create, or futex:N for its operation N (futex(2)) alone.
Exit status: the command's, or 77 without Debian's python3-seccomp.
"""

from __future__ import annotations

import errno
import os
import sys

try:
    import seccomp  # type: ignore[import-not-found]
except ImportError:
    print("skipped: no python3-seccomp", file=sys.stderr)
    sys.exit(77)

FUTEX_OPERATION = 0xFF  # FUTEX_PRIVATE_FLAG included: what is between threads is another operation


def refuse(error: int, names: list[str]) -> None:
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in names:
        call, _, operation = name.partition(":")
        if operation:
            rules.add_rule(seccomp.ERRNO(error), call, seccomp.Arg(1, seccomp.MASKED_EQ, FUTEX_OPERATION, int(operation)))
        else:
            rules.add_rule(seccomp.ERRNO(error), call)
    rules.load()


if __name__ == "__main__":
    refuse(getattr(errno, sys.argv[1]), sys.argv[2].split(","))
    os.execvp(sys.argv[3], sys.argv[3:])
