# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What all pictures share: matplotlib and numpy, style, the look of each scheme, and the way into the page."""
from __future__ import annotations

import base64
import io
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

# OpenBLAS starts threads when numpy is loaded, and they spin: a third of the CPU time of a page, which multiplies no
# matrices.  Programs that this process starts are to find the variable as it was.
_AS_IT_WAS = os.environ.get("OPENBLAS_NUM_THREADS")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import matplotlib  # noqa: E402

matplotlib.use("svg")
import matplotlib.ticker as ticker  # noqa: E402  (after the choice of back end)
import numpy as numpy  # noqa: E402
from matplotlib.figure import Figure as Figure  # noqa: E402

if _AS_IT_WAS is None:
    del os.environ["OPENBLAS_NUM_THREADS"]
else:
    os.environ["OPENBLAS_NUM_THREADS"] = _AS_IT_WAS

from poweraware.wording import number  # noqa: E402

WIDTH_IN = 9.4
_PANELS_PER_ROW = 3
_LEGEND_IN = 0.3

_STYLE: Dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.8,
    "svg.fonttype": "path",
    "svg.hashsalt": "poweraware",
}
matplotlib.rcParams.update(_STYLE)


@dataclass(frozen=True)
class Look:
    """How a scheme is drawn everywhere: never by colour alone."""

    colour: str
    line: str
    marker: str
    hatch: str


# Okabe and Ito's palette: distinct under the common colour vision deficiencies.
_LOOKS = {
    "off": Look("#000000", "-", "o", ""),
    "dvfs": Look("#0072B2", "--", "s", "///"),
    "throttle": Look("#D55E00", "-.", "^", "xxx"),
    "auto": Look("#009E73", ":", "D", "..."),
    "poll": Look("#000000", "-", "o", ""),
    "interrupt": Look("#E69F00", (0, (1, 1)), "P", "+++"),  # type: ignore[arg-type]
    "interrupt_dvfs": Look("#D55E00", "-.", "^", "xxx"),
}
_OTHER_LOOKS = (
    Look("#CC79A7", (0, (5, 1)), "v", "\\\\\\"),  # type: ignore[arg-type]
    Look("#E69F00", (0, (1, 1)), "P", "+++"),  # type: ignore[arg-type]
    Look("#56B4E9", (0, (3, 1, 1, 1)), "X", "ooo"),  # type: ignore[arg-type]
)


@dataclass
class Picture:
    """A drawn figure, or the reason why there is none."""

    title: str
    caption: str
    alt: str
    svg: Optional[bytes] = None
    why_absent: Optional[str] = None

    def data_uri(self) -> str:
        """The picture as the source of an <img>: nothing is loaded, and names inside it cannot
        clash with those of other pictures on the page."""
        assert self.svg is not None
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")


def look(scheme: str, schemes: List[str]) -> Look:
    """The look of a scheme; unknown ones take the spare looks in their order."""
    if scheme in _LOOKS:
        return _LOOKS[scheme]
    others = [name for name in schemes if name not in _LOOKS]
    return _OTHER_LOOKS[others.index(scheme) % len(_OTHER_LOOKS)]


def panels(names: List[str], height_in: float, columns: int = _PANELS_PER_ROW) -> Tuple[Figure, List[Any]]:
    """A figure with one axes per name, so many to a row."""
    columns = min(len(names), columns)
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(WIDTH_IN, height_in * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    axes = list(grid.flat)
    for spare in axes[len(names) :]:
        spare.remove()
    return figure, axes[: len(names)]


def legend_above(figure: Figure, axes: Any, columns: Optional[int] = None) -> None:
    """One legend for all panels, above them: in one line, or in as many as columns leave."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        columns = columns or len(labels)
        lines = -(-len(labels) // columns)
        height_in = figure.get_size_inches()[1]
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - lines * _LEGEND_IN / height_in))
        figure.legend(
            handles,
            labels,
            loc="upper center",
            ncol=columns,
            handlelength=3.2,
            borderaxespad=0.1,
        )


def from_zero(axis: Any) -> None:
    """Starts a linear vertical axis at 0 and leaves room above the highest value."""
    axis.margins(y=0.12)
    axis.autoscale(axis="y")
    axis.set_ylim(bottom=0)


def log_axis(axis: Any, low: float, high: float) -> None:
    """A logarithmic vertical axis with labelled ticks even where it spans little."""
    low, high = low / 1.4, high * 1.4
    axis.set(yscale="log", ylim=(low, high))
    subs: Tuple[float, ...] = (1.0, 2.0, 3.0, 5.0, 7.0)
    if high / low > 20:
        subs = (1.0, 2.0, 5.0) if high / low < 500 else (1.0,)
    axis.yaxis.set_major_locator(ticker.LogLocator(subs=subs, numticks=12))
    axis.yaxis.set_major_formatter(lambda value, _: number(value))
    axis.yaxis.set_minor_formatter(ticker.NullFormatter())


def draw_products(axis: Any, products: Sequence[float]) -> None:
    """A dotted hyperbola for each: along it the product of both axes is the same.  The axis keeps its limits."""
    low, high = axis.get_xlim()
    bottom, top = axis.get_ylim()
    for product in products:
        xs = [low + (high - low) * (k + 1) / 200 for k in range(200)]
        points = [(x, product / x) for x in xs if x > 0 and product / x <= top]
        axis.plot([x for x, _ in points], [y for _, y in points], color="#999999", linewidth=0.7, linestyle=":", zorder=1)
    axis.set(xlim=(low, high), ylim=(bottom, top))


def render(figure: Figure) -> bytes:
    """The figure as SVG, the same bytes for the same data."""
    buffer = io.BytesIO()
    metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(buffer, format="svg", metadata=metadata)
    return buffer.getvalue()
