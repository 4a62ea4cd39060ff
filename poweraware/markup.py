# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Parts of a self-contained HTML page, which is also well-formed XML."""
from __future__ import annotations

from html import escape
from typing import Sequence

from poweraware.picture import Picture
from poweraware.table import Table

CSS = """
body { font: 15px/1.45 system-ui, sans-serif; color: #111; background: #fff;
       max-width: 1000px; margin: 1.5em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #999; }
table { border-collapse: collapse; font-size: 0.8em; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.55em; text-align: right; border-bottom: 1px solid #ddd;
         vertical-align: top; }
th { border-bottom: 1px solid #333; } .text { text-align: left; } td { white-space: nowrap; }
td.wide { white-space: normal; }
.scroll { overflow-x: auto; } figure { margin: 1em 0; } figure img { width: 100%; }
figcaption, .note { font-size: 0.85em; color: #333; margin: 0.3em 0; }
.box { border: 1px solid #333; padding: 0.2em 1em; } .warning { border-left: 6px solid #D55E00; }
.absent { border: 1px dashed #777; padding: 1em; }
@media print { body { max-width: none; margin: 0; font-size: 10pt; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } .scroll { overflow: visible; } }
"""
_WIDE_CELL = 40


def whole(sections: Sequence[str], names: Sequence[str]) -> str:
    """A page of sections that are HTML already."""
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width"/>'
        f"<title>poweraware: {escape(', '.join(names))}</title><style>{CSS}</style></head>\n"
        f"<body>\n{''.join(sections)}</body></html>\n"
    )


def as_box(title: str, lines: Sequence[str], style: str) -> str:
    """Lines in a frame."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<h2>{escape(title)}</h2>\n<div class="{style}"><ul>{items}</ul></div>\n'


def as_picture(picture: Picture) -> str:
    """A picture with its title and caption, or why there is none."""
    title = escape(picture.title)
    if picture.svg is None:
        reason = escape(picture.why_absent or "there is nothing to draw")
        return f'<h2>{title}</h2>\n<p class="absent">No picture: {reason}.</p>\n'
    return (
        f"<h2>{title}</h2>\n<figure>"
        f'<img src="{picture.data_uri()}" alt="{escape(picture.alt)}"/>'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>\n"
    )


def as_table(table: Table) -> str:
    """A table with its title and note."""
    if not table.rows:
        return f'<h2>{escape(table.title)}</h2>\n<p class="absent">There are no runs.</p>\n'
    texts = [
        not any(line[k][:1].isdigit() for line in table.rows) for k in range(len(table.heads))
    ]
    heads = "".join(
        f"<th{_style(head, text)}>{escape(head)}</th>" for head, text in zip(table.heads, texts)
    )
    body = ""
    for line in table.rows:
        cells = "".join(
            f"<td{_style(cell, text)}>{escape(cell)}</td>" for cell, text in zip(line, texts)
        )
        body += f"<tr>{cells}</tr>\n"
    return (
        f'<h2>{escape(table.title)}</h2>\n<div class="scroll"><table><thead><tr>{heads}</tr>'
        f'</thead>\n<tbody>{body}</tbody></table></div>\n<p class="note">{escape(table.note)}</p>\n'
    )


def _style(cell: str, text: bool) -> str:
    names = (["text"] if text else []) + (["wide"] if len(cell) > _WIDE_CELL else [])
    return f' class="{" ".join(names)}"' if names else ""
