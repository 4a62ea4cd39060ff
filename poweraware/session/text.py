# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The report as plain text."""
from __future__ import annotations

import textwrap
from typing import List

from poweraware.session import tables, words
from poweraware.session.document import Document

_WIDTH = 100


def render(document: Document) -> str:
    """All tables of a document, its warnings first and its provenance last."""
    parts = [as_paragraph(words.setting(document))]
    parts += [as_paragraph("WARNING: " + line) for line in words.warnings(document)]
    shown = [tables.paper([document]), *tables.all_tables(document)]
    parts += [as_table(table) for table in shown if table.rows]
    parts += ["What is measured, what is not"]
    parts += [as_paragraph(line) for line in words.provenance(document)]
    return "\n\n".join(parts) + "\n"


def as_paragraph(text: str) -> str:
    """Filled lines."""
    return textwrap.fill(text, _WIDTH)


def as_table(table: tables.Table) -> str:
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
