# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a reader must know of a session, and its figures, in words."""
from __future__ import annotations

import math
from typing import List, Optional

from poweraware import ratios
from poweraware.ratios import Ratio
from poweraware.session import energy, jobs
from poweraware.session.document import BASELINE, Document
from poweraware.session.summary import Spread, run_time_s
from poweraware.wording import number, plural


def mean_and_deviation(figure: Optional[Spread]) -> str:
    """Mean, and the deviation when there are repetitions to take it over."""
    if figure is None:
        return "-"
    if figure.count == 1:
        return number(figure.mean)
    if figure.deviation < 1e-6 * abs(figure.mean) or figure.deviation == 0:
        return f"{number(figure.mean)} ± 0"
    decimals = 1 - math.floor(math.log10(figure.deviation))
    if figure.mean != 0:
        decimals = min(decimals, 4 - math.floor(math.log10(abs(figure.mean))))
    decimals = max(0, decimals)
    return f"{figure.mean:.{decimals}f} ± {figure.deviation:.{decimals}f}"


def ratio(figure: Optional[Ratio]) -> str:
    """A ratio to the baseline, with its interval if there is one."""
    return "-" if figure is None else figure.text()


def too_few(document: Document) -> str:
    """That there are too few repetitions for intervals, a sentence and a space; or nothing."""
    if document.settings.repetitions >= ratios.FEWEST:
        return ""
    return (
        f"{plural(document.settings.repetitions, 'repetition')} cannot show how much runs scatter: nothing is claimed, and "
        f"no change is told. --repetitions {ratios.FEWEST} or more gives intervals. "
    )


def oversubscribed(document: Document) -> bool:
    """True when the ranks did not each have a real CPU."""
    return document.cluster.virtual and document.cluster.ranks > document.host.cpus


def latency_caption(document: Document) -> str:
    """Of collectives with a root, what their latency leaves out; a sentence and a space, or nothing."""
    rooted = [name for name in document.benchmarks() if name in ("bcast", "reduce")]
    if not rooted:
        return ""
    return (
        f"Latency of {' and '.join(rooted)} is the mean over ranks, as OSU's programs have it: who need not wait for the "
        "others returns early, so it may be far below the time in which all are through. "
    )


def time_caption(document: Document) -> str:
    """Provenance of times, for a caption."""
    text = f"time: {document.provenance.time.kind}"
    if oversubscribed(document):
        ranks = plural(document.cluster.ranks, "rank")
        text += f", with {ranks} on {plural(document.host.cpus, 'CPU')}: oversubscribed, stretched"
    return text


def power_caption(document: Document, what: str = "power") -> str:
    """Provenance of powers and energies, for a caption."""
    return f"{what}: {document.provenance.energy.kind}{_machine(document, 'energy')}"


def states_caption(document: Document) -> str:
    """Provenance of frequencies and duty cycles, for a caption."""
    return f"states: {document.provenance.states.kind}{_machine(document, 'states')}"


def provenance(document: Document) -> List[str]:
    """The provenance box: one sentence or two for each kind of figure."""
    origins = document.provenance
    lines = [
        origins.time.sentence("Times and latencies"),
        origins.energy.sentence("Energy and power"),
        origins.states.sentence("Frequencies and duty cycles"),
    ]
    if oversubscribed(document):
        lines.append(
            f"The {document.cluster.ranks} ranks shared "
            f"{plural(document.host.cpus, 'real CPU')}: they took turns, so every time is "
            "stretched, and energy, which is power times time, with it. Times are not comparable "
            "to real hardware. Mean power and states compare the schemes; times and energies show "
            "that control and accounting work, not how fast or frugal a real cluster would be."
        )
    return lines


def setting(document: Document) -> str:
    """Where the session ran, in one line."""
    cluster = document.cluster
    kind = "name-space node" if cluster.virtual else "node"
    parts = [
        f"{plural(cluster.ranks, 'rank')} on {plural(cluster.nodes, kind)}"
        f" ({', '.join(map(str, cluster.layout))})",
        f"emulated machine {cluster.machine}" if cluster.machine else "real power hardware",
        _link(document),
        f"host {document.host.name}: {plural(document.host.cpus, 'CPU')}, "
        f"{document.host.cpu_model}, Linux {document.host.kernel}",
        f"Open MPI {document.software.open_mpi}, poweraware {document.software.poweraware}",
        f"created {document.created}",
    ]
    return "; ".join(parts)


def warnings(document: Document) -> List[str]:
    """What a reader must know before believing the figures."""
    lines = []
    if not document.complete:
        lines.append("The session is not complete: these are the runs until it was stopped.")
    failed = [run for run in document.runs if run.failure is not None]
    for run in failed:
        lines.append(f"Run {run.id} failed and is left out: {run.failure}.")
    shortest_s = energy.RESOLVED_SAMPLES * document.settings.interval_ms / 1e3
    short = sorted({run.benchmark for run in document.runs if run.energy and run_time_s(run) < shortest_s})
    if short and document.provenance.energy.kind != "absent":
        lines.append(
            f"{', '.join(short)}: there are runs shorter than {number(shortest_s)} s, whose energy is mostly interpolation "
            "between samples: take a larger problem, or samples more often (--interval-ms)."
        )
    for run in document.runs:
        if run.scheme == BASELINE:  # moves no levers
            continue
        for reason, count in jobs.why_off(run).items():
            lines.append(f"Run {run.id}, {plural(count, 'node')}: {reason}.")
    return lines


def _machine(document: Document, kind: str) -> str:
    emulated = getattr(document.provenance, kind).kind == "emulated"
    return f" ({document.cluster.machine}.machine)" if emulated and document.cluster.machine else ""


def _link(document: Document) -> str:
    link = document.cluster.link
    parts = []
    if link.rate_mbit is not None:
        parts.append(f"{number(link.rate_mbit)} Mbit/s")
    if link.latency_us is not None:
        parts.append(f"{number(link.latency_us)} us added latency")
    return "link " + (", ".join(parts) if parts else "not limited")
