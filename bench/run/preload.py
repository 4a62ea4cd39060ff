# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Somebody else's library in the program."""
from __future__ import annotations

import re
from pathlib import Path
from typing import List, Optional

# Emulated nodes preload a library of their own, which has to stay.
_JOIN = 'LD_PRELOAD=$0${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"'


def before(library: Path, command: List[str]) -> List[str]:
    """The command with the library beside those that its environment preloads."""
    return ["sh", "-c", _JOIN, str(library), *command]


def refusal(library: Path, errors: str) -> Optional[str]:
    """What the loader said where it went on without the library."""
    found = re.search(rf"ld\.so: object '{re.escape(str(library))}' .*cannot be preloaded \((.+)\)", errors)
    return None if found is None else f"{library.name} was not preloaded: {found.group(1)}"
