# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Tables, which pages and text summaries share, and text."""
from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import List

_WIDTH = 100


@dataclass
class Table:
    """A title, column heads, rows of text and a note on how to read it."""

    title: str
    heads: List[str]
    rows: List[List[str]]
    note: str


def without_empty_columns(table: Table) -> Table:
    """Columns in which no row says anything tell nothing."""
    kept = [k for k in range(len(table.heads)) if any(row[k] not in ("-", "") for row in table.rows)]
    rows = [[row[k] for k in kept] for row in table.rows]
    return Table(table.title, [table.heads[k] for k in kept], rows, table.note)


def as_paragraph(text: str) -> str:
    """Filled lines."""
    return textwrap.fill(text, _WIDTH)


def as_table(table: Table) -> str:
    """Columns in line, title above, note below."""
    lines: List[List[str]] = [table.heads] + table.rows
    widths = [max(len(line[k]) for line in lines) for k in range(len(table.heads))]
    words_columns = [
        k for k in range(len(widths)) if not any(line[k][:1].isdigit() for line in table.rows)
    ]
    out = [table.title, "=" * len(table.title)]
    for line in lines:
        cells = [
            text.ljust(width) if k in words_columns else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths))
        ]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out) + "\n" + as_paragraph(table.note)
