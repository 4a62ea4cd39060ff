# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""How much predictions depend on each figure that goes into them, as pictures."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Dict, List, Tuple

from bench.model import predict
from bench.model.machines import Machine
from poweraware import picture
from poweraware.markup import as_box, as_picture, as_table, whole
from poweraware.picture import Picture
from poweraware.table import Table
from poweraware.wording import number

CHANGE = 0.5  # each figure is made smaller and larger by so much
_NODES = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 100_000)
_BYTES = tuple(1 << power for power in range(6, 25))
# Schemes of the models, by those of sessions that are drawn alike.
_DRAWN_AS = {"default": "off", "throttle, paper": "throttle", "asleep": "auto"}

FIGURES: Dict[str, str] = {
    "core_dyn_w": "power of an active core",
    "core_idle_w": "power of a sleeping core",
    "static_w": "static power of a node",
    "exponent": "exponent of frequency",
    "f_min_hz": "lowest frequency",
    "o_dvfs_s": "O_dvfs",
    "o_throttle_s": "O_throttle",
    "t_w_s": "t_w",
    "c_net": "C_net",
    "c_net_power": "C_net of half of the cores",
    "c_throttle": "C_throttle",
    "wake_s": "time to wake",
}


@dataclass(frozen=True)
class Effect:
    """What a scheme takes of the default's energy with one figure smaller, as it is, and larger."""

    figure: str
    smaller: float
    middle: float
    larger: float

    @property
    def reach(self) -> float:
        """How far the two ends are apart."""
        return abs(self.larger - self.smaller)


def energy_over_default(m: Machine, collective: str, scheme: str, M: float) -> float:
    """Of one call."""
    found = {each.scheme: each.energy_j for each in predict.predict(m, collective, M)}
    return found[scheme] / found["default"]


def effects(m: Machine, collective: str, scheme: str, M: float) -> List[Effect]:
    """Of all figures that matter, the largest first."""
    middle = energy_over_default(m, collective, scheme, M)
    found = []
    for figure in FIGURES:
        smaller, larger = (
            energy_over_default(_changed(m, figure, factor), collective, scheme, M) for factor in (1 - CHANGE, 1 + CHANGE)
        )
        found.append(Effect(figure, smaller, middle, larger))
    return sorted((effect for effect in found if effect.reach > 1e-9), key=lambda effect: -effect.reach)


def _changed(m: Machine, figure: str, factor: float) -> Machine:
    value = getattr(m, figure) * factor
    if figure == "f_min_hz":
        value = min(value, m.f_max_hz)
    return replace(m, **{figure: value})


# ---- pictures ----


def page(m: Machine, collective: str, M: float) -> str:
    """All of it, one self-contained HTML page."""
    schemes = [name for name in predict.COLLECTIVES[collective] if name != "default"]
    title = f"{collective} of {M:g} B on {m.name}, {m.nodes} nodes"
    parts = [f"<h1>Sensitivity of the models: {title}</h1>\n"]
    parts.append(as_box("What this is", ["Everything here is modelled: computed from equations and assumptions."], "box"))
    parts += [as_picture(_tornado(m, collective, scheme, M)) for scheme in schemes]
    parts.append(as_picture(_curves(m, collective, "number of nodes", _NODES, lambda n: (m.of(n), M))))
    parts.append(as_picture(_curves(m, collective, "bytes of a message", _BYTES, lambda size: (m, size))))
    parts += [as_table(_table(m, collective, scheme, M)) for scheme in schemes]
    return whole(parts, [f"sensitivity, {title}"])


def _caption(m: Machine, text: str) -> str:
    return f"{text} Modelled: {m.name}, {m.nodes} nodes of {m.cores} cores."


def _tornado(m: Machine, collective: str, scheme: str, M: float) -> Picture:
    found = effects(m, collective, scheme, M)
    picture_ = Picture(
        title=f"What the energy of {scheme} depends on",
        caption=_caption(m, f"Energy over the default's with one figure {CHANGE:.0%} smaller (light) or larger (dark); the line: as "
                         "assumed."),  # fmt: skip
        alt=f"Bars of energy over the default's, {collective}, {scheme}, one for each figure; see the table.",
    )
    if not found:
        picture_.why_absent = "it depends on none"
        return picture_
    figure, (axis,) = picture.panels([""], 0.7 + 0.3 * len(found))
    for place, effect in enumerate(reversed(found)):
        for value, colour, hatch, label in ((effect.smaller, "#56B4E9", "///", "smaller"), (effect.larger, "#0072B2", "", "larger")):
            axis.barh(place, value - effect.middle, left=effect.middle, color=colour, hatch=hatch, edgecolor="black",
                      linewidth=0.6, height=0.6, label=f"{CHANGE:.0%} {label}" if place == 0 else None)  # fmt: skip
    axis.axvline(found[0].middle, color="black", linewidth=1)
    axis.set_yticks(range(len(found)), [FIGURES[effect.figure] for effect in reversed(found)])
    axis.set(xlabel="energy / default")
    axis.grid(axis="y", visible=False)
    picture.legend_above(figure, axis)
    picture_.svg = picture.render(figure)
    return picture_


def _curves(
    m: Machine, collective: str, label: str, values: Tuple[int, ...], at: Callable[[int], Tuple[Machine, float]]
) -> Picture:
    figure, axes = picture.panels(["time", "energy"], 3.0)
    drawn_as = {name: _DRAWN_AS.get(name, name) for name in predict.COLLECTIVES[collective]}
    for scheme, style in ((name, picture.look(drawn, list(drawn_as.values()))) for name, drawn in drawn_as.items()):
        lines: List[List[float]] = [[], []]
        for value in values:
            machine, size = at(value)
            found = {each.scheme: each for each in predict.predict(machine, collective, size)}
            lines[0].append(found[scheme].time_s / found["default"].time_s)
            lines[1].append(found[scheme].energy_j / found["default"].energy_j)
        for axis, line in zip(axes, lines):
            axis.plot(values, line, color=style.colour, linestyle=style.line, marker=style.marker, markersize=3, label=scheme)
    for axis, what in zip(axes, ("time", "energy")):
        axis.set(xscale="log", xlabel=label, ylabel=f"{what} / default")
        low, high = axis.get_ylim()
        axis.set_ylim(max(0.0, min(low, 0.9)), min(max(high, 1.1), 3.0))
    picture.legend_above(figure, axes[0])
    return Picture(
        title=f"By {label}",
        caption=_caption(m, "Time and energy of a call over the default's; above 3 the axis ends."),
        alt=f"Lines of time and energy over the default's against the {label}, one for each scheme.",
        svg=picture.render(figure),
    )


def _table(m: Machine, collective: str, scheme: str, M: float) -> Table:
    rows = [
        [FIGURES[effect.figure], number(getattr(m, effect.figure)), f"{effect.smaller:.3f}", f"{effect.middle:.3f}", f"{effect.larger:.3f}"]
        for effect in effects(m, collective, scheme, M)
    ]
    heads = ["figure", "assumed", f"{CHANGE:.0%} smaller", "as assumed", f"{CHANGE:.0%} larger"]
    return Table(f"Energy over the default's: {scheme}", heads, rows, "Modelled. Units: seconds, watts, hertz; see machines.py.")
