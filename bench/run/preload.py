# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Somebody else's library in the program."""
from __future__ import annotations

import re
from pathlib import Path
from typing import List, Optional

from poweraware.session.document import Preload

# Emulated nodes preload a library of their own, which has to stay.
_JOIN = 'LD_PRELOAD=$0${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"'


def before(library: Preload, command: List[str]) -> List[str]:
    """The command with the library's variables, and with the library beside those that its environment preloads."""
    variables = [f"{name}={value}" for name, value in library.variables.items()]
    return [*(["env", *variables] if variables else []), "sh", "-c", _JOIN, library.file, *command]


def refusal(library: Preload, errors: str) -> Optional[str]:
    """What the loader said where it went on without the library."""
    found = re.search(rf"ld\.so: object '{re.escape(library.file)}' .*cannot be preloaded \((.+)\)", errors)
    return None if found is None else f"{Path(library.file).name} was not preloaded: {found.group(1)}"
