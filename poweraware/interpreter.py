# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Which Python runs: with several installed, the first in PATH is often not the one that the
distribution's matplotlib belongs to."""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

_SYSTEM_PYTHON = "/usr/bin/python3"
_FIND = "import importlib.util as u, sys; sys.exit(u.find_spec('matplotlib') is None)"


def prefer_one_with_matplotlib() -> None:
    """Starts this program again with the system's Python if only that one has matplotlib."""
    if importlib.util.find_spec("matplotlib") is not None or not os.path.exists(_SYSTEM_PYTHON):
        return
    if subprocess.run([_SYSTEM_PYTHON, "-c", _FIND], check=False).returncode == 0:
        os.execv(_SYSTEM_PYTHON, [_SYSTEM_PYTHON, *sys.argv])
