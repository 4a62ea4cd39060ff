# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Command line of the report."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import List, Optional

from bench.report import text
from bench.report.document import DocumentError, load


def parser() -> argparse.ArgumentParser:
    """Options of the command."""
    options = argparse.ArgumentParser(
        prog="report",
        description="Turn benchmark documents into one self-contained HTML page or a text "
        "summary.  Exit status: 0 = done, 2 = a document or an option is wrong.",
    )
    options.add_argument("documents", nargs="+", type=Path, metavar="DOC.json")
    options.add_argument("-o", "--output", type=Path, metavar="page.html", help="page to write")
    options.add_argument("--text", action="store_true", help="print a text summary")
    return options


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command; returns its exit status."""
    options = parser().parse_args(arguments)
    if options.output is None and not options.text:
        parser().error("nothing to do: give -o page.html, --text or both")
    try:
        documents = [load(path) for path in options.documents]
        if options.output is not None:
            from bench.report import page  # here, so that --text works without matplotlib

            names = [path.parent.name or path.stem for path in options.documents]
            options.output.write_text(page.render(documents, names), encoding="utf-8")
    except DocumentError as error:
        print(f"report: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(
            f"report: {sys.executable}: {error}: install matplotlib for it, or use --text",
            file=sys.stderr,
        )
        return 2
    except OSError as error:
        print(f"report: {options.output}: cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    if options.text:
        print("\n\n".join(text.render(document) for document in documents), end="")
    return 0
