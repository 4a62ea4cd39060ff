# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What scheme auto has decided, and what that brought and cost, in a table and in a sentence: only what was measured."""
from __future__ import annotations

import math
from typing import Dict, List, Optional, Tuple

from poweraware.job import CallClass, Choice, DecidedClass, Estimate, Job
from poweraware.table import Table, without_empty_columns
from poweraware.wording import number, plural, size

_BY_TABLE = "table"  # an algorithm: what the decision table says
_NOTHING = "poll"  # a depth
_DEPTHS = {
    "levers": "levers, sleep",
    "ladder": "sleep",
    "linger": "sleep, later",
    _NOTHING: "nothing",
}
_Logarithms = Tuple[float, float]  # middle, and how far the interval reaches
_Kind = Tuple[str, Optional[int]]  # of calls: collective, bytes


# ---- the table ----


def table(job: Job) -> Table:
    """One row per class of calls, those with most calls first."""
    found = sorted(_classes(job), key=lambda each: -each.calls)
    heads = ["collective", "up to", "calls", "algorithm", "why", "gain (%)", "trials cost (ms)", "saves by", "time (%)", "CPU time (%)", "energy (%)"]
    return without_empty_columns(Table("What auto decided", heads, [_row(job, each) for each in found], _note(job)))


def _row(job: Job, each: DecidedClass) -> List[str]:
    return [
        each.collective,
        "-" if each.up_to_bytes is None else size(each.up_to_bytes),
        str(each.calls),
        _algorithm(job, each),
        _why(each.choice),
        _gain(each.choice),
        number(1e3 * each.lost_s / job.processes) if each.lost_s > 0 else "-",
        _depth(job, each),
        *(_percents(estimate, each.pairs) for estimate in (each.slowdown, each.cpu, each.energy)),
    ]


def _depth(job: Job, each: DecidedClass) -> str:
    """Calls whose bytes are not known may move levers, where there are any."""
    has_levers = any(lever.backend for node in job.nodes for lever in node.levers)
    return _DEPTHS["ladder" if each.depth == "levers" and not has_levers else each.depth]


def _algorithm(job: Job, each: DecidedClass) -> str:
    """What the table says is what most calls took, where all calls of the kind belong to this class."""
    if each.choice is not None and each.choice.algorithm != _BY_TABLE:
        return each.choice.algorithm
    found = _calls(job).get(_kind(each), [])
    return max(found, key=lambda calls: calls.calls).algorithm if found and len(_alike(job, each)) == 1 else "as the table says"


def _why(choice: Optional[Choice]) -> str:
    if choice is not None and choice.trials == 0 and choice.algorithm != _BY_TABLE:
        return "known from another communicator or job"
    if choice is None or choice.trials == 0:
        return "table, nothing else tried"
    trials = plural(choice.trials, "trial") + (f", {plural(choice.take_overs, 'change')}" if choice.take_overs > 1 else "")
    if choice.algorithm != _BY_TABLE:
        return f"took over after {trials}"
    return f"table, again after {trials}" if choice.take_overs else f"table, kept after {trials}"


def _gain(choice: Optional[Choice]) -> str:
    """Less time than the next best."""
    return f"{100 * (1 - choice.gain):.1f}" if choice is not None and choice.trials > 0 and choice.gain < 1 else "-"


def _percents(estimate: Optional[Estimate], pairs: int) -> str:
    if estimate is None or pairs == 0:
        return "-"
    if estimate.low is None or estimate.high is None or _logarithms(estimate) is None:
        return "not known yet"
    return f"{100 * estimate.middle:+.1f} [{100 * estimate.low:+.1f}, {100 * estimate.high:+.1f}]"


def _note(job: Job) -> str:
    lines = [
        "As rank 0 knows it. Gain: less time than the next best algorithm, by the trials. Time, CPU time and energy: of the program while "
        "such calls save, against calls that save nothing, measured, with an interval of 3.5 standard errors; at the depth that was tried "
        "last. Trials cost: in slower algorithms, per process. Of several communicators with one layout the busiest one is shown."
    ]
    if _energy_kind(job) == "emulated":
        lines.append("Energy: emulated.")
    if job.decisions is not None and job.decisions.left_out > 0:
        lines.append(f"{plural(job.decisions.left_out, 'more row')} had no room.")
    return " ".join(lines)


# ---- the sentence ----


def sentence(job: Job) -> str:
    """What the default saved and what that cost; "" of another scheme, and of a document that does not know."""
    if job.settings.scheme != "auto" or job.decisions is None:
        return ""
    if job.settings.max_slowdown_percent <= 0:
        return "What saving brought and cost was not measured: coll_poweraware_max_slowdown is 0."
    weights = _weights(job)
    known = _known(weights)
    covered = _share(job, sum(weight for _, weight in known))
    if not any(weight > 0 for _, weight in known):
        return f"What saving brought and cost is not known yet: too few calls to measure{_of_given_up(job, weights)}{_of_trials(job)}."
    told = [
        _told(job, "CPU time", covered, [(each.cpu, weight) for each, weight in known]),
        _told(job, f"energy ({_energy_kind(job)})", covered, [(each.energy, weight) for each, weight in known]),
        _told(job, "time", covered, [(each.slowdown, weight) for each, weight in known]),
    ]
    said = ", ".join(each for each in told if each)
    return f"Saving against not saving, as rank 0 has measured it in calls with {covered} of the time in collectives: {said}{_of_given_up(job, weights)}{_of_trials(job)}."


def effects(job: Job) -> Dict[str, Tuple[float, float, float]]:
    """The same in figures, measured: of time, cpu and energy the ratio less 1 of saving to not saving, and its interval; what is
    not known is missing."""
    known = _known(_weights(job)) if job.settings.scheme == "auto" and job.settings.max_slowdown_percent > 0 else []
    means = {name: _mean([(getattr(each, field), weight) for each, weight in known])
             for name, field in (("time", "slowdown"), ("cpu", "cpu"), ("energy", "energy"))}  # fmt: skip
    return {name: (math.expm1(mean[0]), math.expm1(mean[0] - mean[1]), math.expm1(mean[0] + mean[1]))
            for name, mean in means.items() if mean is not None}  # fmt: skip


def _known(weights: List[Tuple[DecidedClass, float]]) -> List[Tuple[DecidedClass, float]]:
    """Of those that save, and of which that was measured."""
    return [(each, weight) for each, weight in weights if each.depth != _NOTHING and _logarithms(each.slowdown) is not None]


def _weights(job: Job) -> List[Tuple[DecidedClass, float]]:
    """Of each class the seconds of its calls by all processes; classes of one kind share them by their calls."""
    seconds = {kind: sum(calls.seconds for calls in found) for kind, found in _calls(job).items()}
    return [(each, seconds.get(_kind(each), 0.0) * each.calls / max(1, sum(other.calls for other in _alike(job, each)))) for each in _classes(job)]


def _mean(found: List[Tuple[Optional[Estimate], float]]) -> Optional[Tuple[float, float, float]]:
    """Over classes that have an interval, by their time: middle, reach, and that time; None if none has."""
    tried = [(None if each is None else _logarithms(each), weight) for each, weight in found]
    known = [(estimate, weight) for estimate, weight in tried if estimate is not None]
    whole = sum(weight for _, weight in known)
    if whole <= 0:
        return None
    middle = sum(weight * estimate[0] for estimate, weight in known) / whole
    return middle, math.sqrt(sum((weight * estimate[1]) ** 2 for estimate, weight in known)) / whole, whole


def _told(job: Job, name: str, covered: str, found: List[Tuple[Optional[Estimate], float]]) -> str:
    """The mean in words; "" if there is none."""
    mean = _mean(found)
    if mean is None:
        return ""
    middle, reach, whole = mean
    low, high = _percent(middle - reach), _percent(middle + reach)
    where = "" if _share(job, whole) == covered else f" (in calls with {_share(job, whole)})"
    if low > 0:
        return f"{_percent(middle):.1f} % [{low:.1f}, {high:.1f}] more {name}{where}"
    if high < 0:
        return f"{-_percent(middle):.1f} % [{-high:.1f}, {-low:.1f}] less {name}{where}"
    return f"no sure difference in {name} [{low:+.1f} %, {high:+.1f} %]{where}"


def _of_given_up(job: Job, weights: List[Tuple[DecidedClass, float]]) -> str:
    seconds = sum(weight for each, weight in weights if each.depth == _NOTHING)
    return f"; nothing is saved in calls with {_share(job, seconds)} of the time in collectives, where that cost too much time" if seconds > 0 else ""


def _of_trials(job: Job) -> str:
    classes = _classes(job)
    if not any(each.choice is not None and each.choice.trials > 0 for each in classes):
        return ""
    found = sum(each.choice is not None and each.choice.algorithm != _BY_TABLE for each in classes)
    lost_s = sum(each.lost_s for each in classes) / job.processes
    cost = "less than 1 ms" if lost_s < 1e-3 else f"{number(lost_s)} s"
    return f"; trials of other algorithms cost {cost} per process and found a faster one for {found} of {plural(len(classes), 'kind')} of calls"


def _energy_kind(job: Job) -> Optional[str]:
    return None if job.decisions is None else job.decisions.energy_provenance


# ---- both ----


def _classes(job: Job) -> List[DecidedClass]:
    return [] if job.decisions is None else job.decisions.classes


def _kind(each: DecidedClass) -> _Kind:
    return each.collective, each.up_to_bytes


def _alike(job: Job, each: DecidedClass) -> List[DecidedClass]:
    """Classes of its kind, on other layouts."""
    return [other for other in _classes(job) if _kind(other) == _kind(each)]


def _calls(job: Job) -> Dict[_Kind, List[CallClass]]:
    found: Dict[_Kind, List[CallClass]] = {}
    for each in job.calls:
        found.setdefault((each.collective, each.up_to_bytes), []).append(each)
    return found


def _logarithms(estimate: Estimate) -> Optional[_Logarithms]:
    """None: there is no interval, or one that says nothing."""
    if estimate.low is None or estimate.high is None or min(estimate.low, estimate.middle) <= -1:
        return None
    return math.log1p(estimate.middle), (math.log1p(estimate.high) - math.log1p(estimate.low)) / 2


def _percent(logarithm: float) -> float:
    return 100 * math.expm1(logarithm)


def _share(job: Job, seconds: float) -> str:
    whole = job.all_calls().seconds
    return f"{100 * min(1.0, seconds / whole) if whole > 0 else 0:.0f} %"
