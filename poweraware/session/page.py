# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The report as one self-contained HTML page, also well-formed XML."""
from __future__ import annotations

from html import escape
from typing import List, Sequence

from poweraware.markup import as_box, as_picture, as_table, whole
from poweraware.picture import Picture
from poweraware.session import figures, figures_time, onesided, tables, words
from poweraware.session.document import WAITS, Document


def render(documents: Sequence[Document], names: Sequence[str]) -> str:
    """The page for one or more documents; names head their sections."""
    sections = [_document(document, name) for document, name in zip(documents, names)]
    if any(document.is_of_applications() for document in documents):
        sections.append(as_table(tables.paper(documents)))
    return whole(sections, names)


def pictures(document: Document) -> List[Picture]:
    """All pictures of a document, in the order of the page."""
    applications = document.is_of_applications()
    found = [
        figures.application_times(document) if applications else figures.latency(document),
        figures_time.power(document),
        figures.power_bars(document),
        figures.energy_bars(document),
        figures.energy_delay(document),
    ]
    if not applications:
        found.append(figures.energy_by_size(document))
    if document.settings.family == onesided.FAMILY:
        found = [*(figures.over_polling(document, quantity) for quantity in onesided.QUANTITIES), *found]
    for benchmark in document.benchmarks():
        found += [figures_time.states(document, benchmark, scheme) for scheme in figures_time.states_schemes(document)]
    if not applications:
        found.append(figures.cpu_seconds(document))
    per_node = figures_time.power_per_node(document)
    return found if per_node is None else [*found, per_node]


def _subject(document: Document) -> str:
    return {onesided.FAMILY: "one-sided communication", WAITS: "waits"}.get(document.settings.family, "collectives")


def _document(document: Document, name: str) -> str:
    parts = [f"<h1>Power-aware {_subject(document)}: {escape(name)}</h1>\n"]
    parts.append(f"<p>{escape(words.result(document))}</p>\n")
    parts.append(f'<p class="note">{escape(words.setting(document))}.</p>\n')
    found = words.warnings(document)
    if found:
        parts.append(as_box("Warnings", found, "box warning"))
    parts.append(as_box("What is measured, what is not", words.provenance(document), "box"))
    parts.append(as_box("Schemes", words.schemes(document), "box"))
    shown = tables.all_tables(document)
    parts += [as_table(table) for table in shown[:2] or [tables.headline(document)]]
    if document.runs:
        parts += [as_picture(picture) for picture in pictures(document)]
    parts += [as_table(table) for table in shown[2:]]
    parts.append(as_box("What to take from it", words.conclusions(document), "box"))
    parts.append(_commands(document))
    return "".join(parts)


def _commands(document: Document) -> str:
    lines = [escape(" ".join(document.command))]
    if document.runs:
        lines.append(escape(" ".join(document.runs[0].command)))
    items = "".join(f"<li><code>{line}</code></li>" for line in lines)
    return f"<h2>Commands</h2>\n<p>The session and its first run:</p>\n<ul>{items}</ul>\n"
