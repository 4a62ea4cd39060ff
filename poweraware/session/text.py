# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The report as plain text."""
from __future__ import annotations

from poweraware.session import tables, words
from poweraware.session.document import Document
from poweraware.table import as_paragraph, as_table


def render(document: Document) -> str:
    """All tables of a document, its warnings first and its provenance last."""
    parts = [as_paragraph(words.result(document)), as_paragraph(words.setting(document))]
    parts += [as_paragraph("WARNING: " + line) for line in words.warnings(document)]
    shown = [tables.paper([document]), *tables.all_tables(document)]
    parts += [as_table(table) for table in shown if table.rows]
    for title, lines in (("What is measured, what is not", words.provenance(document)),
                         ("What to take from it", words.conclusions(document))):  # fmt: skip
        parts += [title, *map(as_paragraph, lines)]
    return "\n\n".join(parts) + "\n"
