# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The page of a job: one self-contained HTML file, also well-formed XML."""
from __future__ import annotations

from html import escape
from typing import Sequence

from poweraware import advice, decisions, pictures, tables, words
from poweraware.job import Job
from poweraware.markup import as_box, as_picture, as_table, whole


def render(jobs: Sequence[Job], names: Sequence[str]) -> str:
    """The page for one or more jobs; names head their sections."""
    sections = [_job(job, name) for job, name in zip(jobs, names)]
    if len(jobs) > 1:
        sections.insert(0, _side_by_side(jobs, names))
    return whole(sections, names)


def _side_by_side(jobs: Sequence[Job], names: Sequence[str]) -> str:
    parts = [f"<h1>{len(jobs)} jobs side by side</h1>\n", as_table(tables.side_by_side(jobs, pictures.labels_of(jobs, names)))]
    parts += [as_picture(picture) for picture in pictures.side_by_side(jobs, names)]
    return "".join(parts)


def _job(job: Job, name: str) -> str:
    parts = [
        f"<h1>Energy of a job: {escape(job.job.program)} ({escape(name)})</h1>\n",
        *(f"<p>{escape(line)}</p>\n" for line in (advice.result(job), decisions.sentence(job)) if line),
        f'<p class="note">{escape(words.setting(job))}.</p>\n',
    ]
    found = words.warnings(job)
    if found:
        parts.append(as_box("Warnings", found, "box warning"))
    parts.append(as_box("What is measured, what is not", words.provenance(job), "box"))
    first, *others = tables.all_tables(job)
    parts.append(as_table(first))
    parts += [as_picture(picture) for picture in pictures.all_pictures(job)]
    parts += [as_table(table) for table in others]
    parts.append(as_box("What to take from it", advice.advice(job), "box"))
    parts.append(f"<h2>Command</h2>\n<p><code>{escape(' '.join(job.job.command))}</code></p>\n")
    return "".join(parts)
