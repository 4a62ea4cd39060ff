# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Which Python runs: with several installed, the first in PATH is often not the one that the
distribution's modules belong to."""
from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

_SYSTEM_PYTHON = "/usr/bin/python3"
_FIND = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, sys.argv[1:])))"


def prefer_a_complete_one() -> None:
    """Starts this program again with the system's Python if only that one has the modules we use; ends it where there
    is no jsonschema.  Without matplotlib there are no pages."""
    for wanted in (("jsonschema", "matplotlib"), ("jsonschema",)):
        if all(map(importlib.util.find_spec, wanted)):
            return
        if os.path.exists(_SYSTEM_PYTHON) and subprocess.run([_SYSTEM_PYTHON, "-c", _FIND, *wanted], check=False).returncode == 0:
            os.execv(_SYSTEM_PYTHON, [_SYSTEM_PYTHON, *sys.argv])
    sys.exit(f"{sys.executable} has no jsonschema (Debian, Ubuntu: python3-jsonschema)")
