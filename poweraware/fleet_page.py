# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The page of many jobs: pictures, and tables that a click on a head sorts."""
from __future__ import annotations

from html import escape
from typing import Dict, List, Tuple

from poweraware import fleet
from poweraware.fleet import Row
from poweraware.index import Index
from poweraware.markup import as_picture, as_table, whole
from poweraware.picture import WIDTH_IN, Figure, Picture, from_zero, legend_above, render
from poweraware.pictures import STATES, stacked
from poweraware.wording import number

_MOST_BARS = 14
_MOST_LABELS = 12
_KINDS = (("measured", "#0072B2", ""), ("emulated", "#E69F00", "///"), ("modelled", "#CC79A7", "..."))

# Rows as numbers where both cells are, else as text.  Without & and <: the page is XML, too.
_SORT = """<script>
document.querySelectorAll("th").forEach(function (head) {
  head.style.cursor = "pointer";
  head.onclick = function () {
    var at = head.cellIndex, body = head.closest("table").tBodies[0], sign = head.dataset.sign || -1;
    head.dataset.sign = -sign;
    Array.from(body.rows).sort(function (left, right) {
      var a = left.cells[at].textContent, b = right.cells[at].textContent, by = parseFloat(a) - parseFloat(b);
      return sign * (isNaN(by) ? a.localeCompare(b) : by);
    }).forEach(function (row) { body.appendChild(row); });
  };
});
</script>
"""


def render_page(index: Index, name: str, most: int) -> str:
    """As HTML."""
    first, *others = fleet.all_tables(index, most)
    parts = [f"<h1>Waiting and energy of jobs: {escape(name)}</h1>\n", f"<p>{escape(fleet.summary(index))}</p>\n", as_table(first)]
    parts += [as_picture(picture) for picture in _pictures(index)]
    parts += [as_table(table) for table in others if table.rows]
    return whole([*parts, _SORT], [name])


def _pictures(index: Index) -> List[Picture]:
    rows = fleet.over_time(index)
    return [_waiting(rows, fleet.period(index).name), _energy(rows, fleet.period(index).name),
            _bars(fleet.sums(index, "user", _MOST_BARS), "user"), _bars(fleet.sums(index, "program", _MOST_BARS), "application")]  # fmt: skip


def _waiting(rows: List[Row], period: str) -> Picture:
    parts = {name: [0.0, 0.0, 0.0] for name in _names(rows)}
    for row in rows:
        parts[row["name"]] = [old + new for old, new in zip(parts[row["name"]], fleet.parts_of_waiting(row))]
    layers = [(label, colour, hatch, [hours[k] for hours in parts.values()]) for k, (label, colour, hatch) in enumerate(STATES[:3])]
    return _over_time(f"Waiting by {period}", "Time of all processes that waited in collectives, by when the job began (UTC). Measured.",
                      "process hours", list(parts), layers)  # fmt: skip


def _energy(rows: List[Row], period: str) -> Picture:
    joules: Dict[Tuple[str, str], float] = {(row["name"], row["kind"]): row["joules"] or 0.0 for row in rows}
    layers = [(label, colour, hatch, [joules.get((name, label), 0.0) / 3.6e6 for name in _names(rows)]) for label, colour, hatch in _KINDS]
    layers = [layer for layer in layers if any(layer[3])]
    found = ", ".join(layer[0] for layer in layers)
    return _over_time(f"Energy by {period}", f"Energy of the jobs' nodes, by when the job began (UTC): {found}.", "energy (kWh)", _names(rows), layers)


def _over_time(title: str, caption: str, label: str, names: List[str], layers: List[Tuple[str, str, str, List[float]]]) -> Picture:
    said = ", ".join(f"{name} {number(sum(values))}" for name, _, _, values in layers)
    picture = Picture(title, caption, f"Bars over time, {label}; in all: {said}.", why_absent=None if layers and names else "nothing is known of it")
    if layers and names:
        figure = Figure(figsize=(WIDTH_IN, 3.2), layout="constrained")
        axis = figure.subplots()
        below = [0.0] * len(names)
        for name, colour, hatch, values in layers:
            axis.bar(range(len(names)), values, bottom=below, color=colour, hatch=hatch, edgecolor="white", label=name)
            below = [old + new for old, new in zip(below, values)]
        step = -(-len(names) // _MOST_LABELS)
        axis.set_xticks(range(0, len(names), step), names[::step], rotation=30, ha="right")
        axis.set(ylabel=label)
        axis.grid(axis="x", visible=False)
        from_zero(axis)
        legend_above(figure, axis)
        picture.svg = render(figure)
    return picture


def _bars(rows: List[Row], what: str) -> Picture:
    parts: Dict[str, List[float]] = {}
    for row in rows:
        old = parts.get(row["name"] or "-", [0.0, 0.0, 0.0])
        parts[row["name"] or "-"] = [left + right for left, right in zip(old, fleet.parts_of_waiting(row))]
    said = ", ".join(f"{name} {number(sum(hours))}" for name, hours in parts.items())
    picture = Picture(f"Who waited: by {what}", "Time of all processes that waited in collectives, most first. Measured.",
                      f"Horizontal bars of process hours by {what}: {said}.", why_absent=None if parts else "there are no jobs")  # fmt: skip
    if parts:
        picture.svg = stacked(list(parts.items()), STATES[:3], "process hours")
    return picture


def _names(rows: List[Row]) -> List[str]:
    return list(dict.fromkeys(row["name"] for row in rows))
