# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What commands that make a document, a summary and a page of many jobs have in common."""
from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Callable, Dict, NoReturn, Optional, Tuple, Type

from bench.common.options import JobOptions


def guarded(options: JobOptions, run: Callable[[], int], errors: Tuple[Type[Exception], ...]) -> int:
    """The exit status of run; of these errors and of a signal that asks for the end the user is told."""
    signal.signal(signal.SIGTERM, _stop)
    try:
        return run()
    except errors as error:
        say(options, str(error))
        return 1
    except KeyboardInterrupt:
        say(options, f"stopped; --resume --output {options.output} goes on")
        return 130


def _stop(_number: int, _frame: Optional[FrameType]) -> NoReturn:
    raise KeyboardInterrupt


def say(options: JobOptions, words: str) -> None:
    """A line for the user."""
    print(f"{options.name}: {words}", file=sys.stderr, flush=True)


def is_built(options: JobOptions, several_nodes: bool, *programs: str) -> bool:
    """Whether what jobs need is there; the user is told what is not."""
    needed = [*(options.build / program for program in programs), options.plugin_dir / "mca_coll_poweraware.so"]
    needed += [options.cluster_program] if several_nodes else []
    missing = [str(path) for path in needed if not path.exists()]
    if missing:
        say(options, f"missing: {', '.join(missing)}: build first, or see --build")
    return not missing


def write(options: JobOptions, document: Dict[str, Any], summary: str, page: Callable[[], str]) -> None:
    """Document, summary and page; page: needs matplotlib, which may not be there."""
    _write(options.output / "document.json", json.dumps(document, indent=1) + "\n")
    _write(options.output / "summary.txt", summary)
    print(summary, end="")
    try:
        _write(options.output / "page.html", page())
    except ImportError as error:
        say(options, f"no page: {error} in {sys.executable}")
    else:
        print(f"\nPage: {options.output}/page.html")


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
