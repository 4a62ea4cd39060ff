# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a reader must know of a session, and its figures, in words."""
from __future__ import annotations

import math
from typing import List, Optional

from poweraware import ratios
from poweraware.ratios import Ratio
from poweraware.session import energy, jobs
from poweraware.session.document import BASELINE, ROOTED, Document, Preload, Run
from poweraware.session.summary import Spread, overall, run_power_w, run_time_s
from poweraware.wording import number, plural


_DEFAULT = "auto"
_SCHEMES = {
    BASELINE: "stock Open MPI; calls are only counted",
    "dvfs": "stock algorithms, at the lowest frequency during large calls",
    "throttle": "the algorithms of ICPP 2010, at the lowest frequency, and throttled where ranks must wait",
    _DEFAULT: "the default: an algorithm of ours and levers only where they pay; waiting ranks sleep",
}
_SHIFT_SCHEMES = {
    "poll": "ranks poll while they wait, as with stock Open MPI",
    "dvfs": "ranks poll at the lowest frequency while they wait",
    "interrupt": "ranks sleep until the network wakes them",
    "interrupt_dvfs": "both",
    _DEFAULT: "the default: of these what the predicted length of a wait is worth",
}


def result(document: Document) -> str:
    """The session in one sentence: what the default, or the last scheme, came to."""
    others = [scheme for scheme in document.schemes() if scheme != document.baseline()]
    if not others or document.baseline() not in document.schemes():
        return f"Without a second scheme beside {document.baseline()} there is nothing to compare."
    return _against_baseline(document, _DEFAULT if _DEFAULT in others else others[-1])


def schemes(document: Document) -> List[str]:
    """What each scheme is."""
    what = {name: _preloaded(document, preload) for name, preload in document.settings.preloads.items()}
    what.update(_SHIFT_SCHEMES if document.baseline() in _SHIFT_SCHEMES else _SCHEMES)
    return [f"{scheme}: {what[scheme]}." for scheme in document.schemes() if scheme in what]


def _preloaded(document: Document, preload: Preload) -> str:
    variables = [f"{name}={value}" for name, value in preload.variables.items()]
    return f"{document.baseline()}, with {preload.file} preloaded" + (f" and {', '.join(variables)}" if variables else "")


def conclusions(document: Document) -> List[str]:
    """All schemes against the baseline, and what keeps levers off."""
    lines = [_against_baseline(document, scheme) for scheme in document.schemes() if scheme != document.baseline()]
    off = sorted({reason for run in document.runs if _has_our_levers(document, run) for reason in jobs.why_off(run)})
    return [*lines, *(f"{reason}. poweraware-info says what that is worth and how to get it." for reason in off)] or [result(document)]


def _against_baseline(document: Document, scheme: str) -> str:
    """Geometric means over benchmarks, in pairs of repetitions."""
    nodes = document.cluster.nodes
    time = overall(document, scheme, run_time_s)
    joules = overall(document, scheme, lambda run: energy.run_energy_j(run, nodes))
    watts = overall(document, scheme, lambda run: run_power_w(run, nodes))
    if time is None:
        return f"{scheme}: there is no pair of good runs with {document.baseline()}."
    parts = [f"time {time.text()}"]
    if joules is not None and watts is not None:
        parts = [f"energy {joules.text()}", f"power {watts.text()}", *parts]
    named = [("energy", joules), ("power", watts), ("time", time)]
    certain = [_change(name, figure) for name, figure in named if figure is not None and figure.differs]
    if time.low is None:
        claim = f"{scheme} against {document.baseline()}: too few repetitions for a claim"
    elif certain:
        claim = f"{scheme}: {' and '.join(certain)} than {document.baseline()}"
    else:
        claim = f"{scheme} and {document.baseline()} cannot be told apart"
    kind = "" if joules is None else f"; energy: {document.provenance.energy.kind}"
    count = plural(len(document.benchmarks()), "benchmark")
    return f"{claim} ({', '.join(parts)} of {document.baseline()}'s; geometric mean of {count}, {plural(time.count, 'repetition')}{kind})."


def _change(name: str, figure: Ratio) -> str:
    return f"{abs(100 * (figure.middle - 1)):.0f} % {'less' if figure.middle < 1 else 'more'} {name}"


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
    """Whose latency that of collectives with a root is; a sentence and a space, or nothing."""
    rooted = [name for name in document.benchmarks() if name in ROOTED]
    return f"Latency of {' and '.join(rooted)} is that of the slowest rank, of others the mean over ranks. " if rooted else ""


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


def regions_caption(document: Document) -> str:
    """Provenance of the energy of regions, for a caption."""
    kinds = {origin.kind for origin in map(jobs.origin_of_regions, document.runs) if origin is not None}
    return f"energy of regions: {' and '.join(sorted(kinds))}, a share of the energy that the job's recorder read, calls included"


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
    of_regions = [origin for origin in map(jobs.origin_of_regions, document.runs) if origin is not None]
    lines += [origin.sentence("Energy of regions") for origin in of_regions[:1]]
    lines += [f"{each.name}: {each.kind}. {each.note}" for each in document.references]
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
        f"--bind-to {cluster.binding.bind_to} --map-by {cluster.binding.map_by} under all schemes",
        f"emulated machine {cluster.machine}" if cluster.machine else "real power hardware",
        _link(document),
        f"host {document.host.name}: {plural(document.host.cpus, 'CPU')}, "
        f"{document.host.cpu_model}, Linux {document.host.kernel}",
        f"Open MPI {document.software.open_mpi}, poweraware {document.software.poweraware}{_made_from(document)}",
        f"created {document.created}",
    ]
    return "; ".join(parts)


def _made_from(document: Document) -> str:
    software = document.software
    parts = [text for text in (software.commit and f"commit {software.commit}", software.compiler) if text]
    return f" ({', '.join(parts)})" if parts else ""


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
    lines += [
        f"{scheme} has moved no lever: does it need a variable (--preload-env), or a right, to do so?"
        for scheme in document.settings.preloads
        if _is_idle(document, scheme)
    ]
    for run in document.runs:
        if not _has_our_levers(document, run):
            continue
        for reason, count in jobs.why_off(run).items():
            lines.append(f"Run {run.id}, {plural(count, 'node')}: {reason}.")
    return lines


def _has_our_levers(document: Document, run: Run) -> bool:
    return run.scheme != document.baseline() and run.scheme not in document.settings.preloads


def _is_idle(document: Document, scheme: str) -> bool:
    """Whether all good runs of a scheme have left every CPU in one state, as far as states are known."""
    runs = [run for name in document.benchmarks() for run in document.good_runs(name, scheme) if run.states]
    return bool(runs) and not any(cpu.transitions for run in runs for node in run.states for cpu in node.cpus)


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
