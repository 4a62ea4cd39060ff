# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What is left of a job that was killed: a document per node, taken together as one."""
from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any, Dict, Iterator, List, Optional

from poweraware.job import CallClass, Domain, Job, Node, Outside, Power, Provenance, Region, Sums, Totals


def merge(parts: List[Job]) -> Job:
    """What is left of a job, one part per node, as one document."""
    parts = _share_machines(_align_windows(parts))
    first = min(parts, key=lambda part: part.begin_ns)
    end_s = max(_after(first, part) + part.totals.seconds for part in parts)
    calls: Dict[Any, CallClass] = {}
    regions: Dict[Optional[str], Region] = {}
    other = Sums()
    for part in parts:
        other.add(part.other_calls)
        for each in part.calls:
            if each.key() in calls:
                calls[each.key()].add_class(each)
            else:
                calls[each.key()] = dataclasses.replace(each)
        for region in part.regions:
            regions.setdefault(region.name, Region(region.name)).add(region)
    joules = _sum(part.totals.joules for part in parts)
    reported = sum(part.reported for part in parts)
    return dataclasses.replace(
        first,
        complete=False,
        why_incomplete=f"{first.why_incomplete}; {reported} of {first.processes} processes are known",
        reported=reported,
        finished=sum(part.finished for part in parts),
        provenance=max((part.provenance for part in parts), key=_sureness),
        totals=Totals(
            seconds=end_s,
            process_s=sum(part.totals.process_s for part in parts),
            cpu_s=sum(part.totals.cpu_s for part in parts),
            setup_s=sum(part.totals.setup_s for part in parts),
            joules=joules,
            uncertainty_j=_sum(part.totals.uncertainty_j for part in parts),
            mean_watts=joules / end_s if joules is not None and end_s > 0 else None,
        ),
        power=parts[0].power if len(parts) == 1 else None,
        calls=sorted(calls.values(), key=lambda each: -each.seconds),
        other_calls=other,
        outside=Outside(
            sum(part.outside.seconds for part in parts),
            sum(part.outside.cpu_s for part in parts),
            _sum(part.outside.joules for part in parts),
        ),
        regions=list(regions.values()),
        nodes=[_moved(node, _after(first, part)) for part in parts for node in part.nodes],
    )


def _align_windows(parts: List[Job]) -> List[Job]:
    """As pwr_ledger_align_windows does for jobs that end: all nodes have the window of the job."""
    first = min(parts, key=lambda part: part.begin_ns)
    end_s = max(_after(first, part) + part.totals.seconds for part in parts)
    return [_extend(part, _after(first, part), end_s) if _may_extend(part, end_s) else part for part in parts]


def _may_extend(part: Job, job_s: float) -> bool:
    """Not where clocks differ so much that its own window would be more than doubled."""
    return len(part.nodes) == 1 and 0 < job_s <= 2 * part.totals.seconds


def _extend(part: Job, late_s: float, job_s: float) -> Job:
    """What its node used at either end is reckoned by its mean power."""
    (node,) = part.nodes
    own_s = part.totals.seconds
    more = (job_s - own_s) / own_s
    power = node.power
    if power is not None and node.energy.joules is not None:
        watts = node.energy.joules / own_s
        power = _add_power(power, -late_s, 0.0, watts)
        power = _add_power(power, own_s, job_s - late_s, watts)
    more_j = more * (node.energy.joules or 0.0)
    energy = dataclasses.replace(
        node.energy,
        joules=_plus(node.energy.joules, more_j),
        uncertainty_j=_plus(node.energy.uncertainty_j, more_j),
        domains={
            kind: Domain(domain.counters, (1 + more) * domain.joules, domain.uncertainty_j + more * domain.joules)
            for kind, domain in node.energy.domains.items()
        },
    )
    return dataclasses.replace(
        part,
        totals=dataclasses.replace(part.totals, joules=energy.joules, uncertainty_j=energy.uncertainty_j),
        outside=dataclasses.replace(part.outside, joules=_plus(part.outside.joules, more_j)),
        nodes=[dataclasses.replace(node, begin_s=-late_s, end_s=job_s - late_s, energy=energy, power=power)],
    )


def _plus(joules: Optional[float], more: float) -> Optional[float]:
    return None if joules is None else joules + more


def _add_power(power: Power, begin_s: float, end_s: float, watts: float) -> Power:
    """So many watts more from begin_s to end_s."""
    width_s = power.width_s
    before = max(0, math.ceil((power.begin_s - begin_s) / width_s))
    after = max(0, math.ceil((end_s - power.begin_s) / width_s) - len(power.watts))
    first_s = power.begin_s - before * width_s

    def added(index: int) -> float:
        of_s = min(end_s, first_s + (index + 1) * width_s) - max(begin_s, first_s + index * width_s)
        return watts * max(0.0, of_s) / width_s

    bins = [0.0] * before + power.watts + [0.0] * after
    return Power(first_s, width_s, [there + added(index) for index, there in enumerate(bins)])


def _share_machines(parts: List[Job]) -> List[Job]:
    """As pwr_ledger_share_machines does for jobs that end: containers on one machine divide its energy."""
    machines = [_machine(part) for part in parts]
    among = Counter(machines)
    return [
        _share(part, among[machine]) if machine and among[machine] > 1 else part
        for part, machine in zip(parts, machines)
    ]


def _machine(part: Job) -> Optional[str]:
    """Of a part whose energy others may have counted, too."""
    if len(part.nodes) != 1 or part.nodes[0].energy.provenance not in ("measured", "modelled"):
        return None
    return part.nodes[0].machine


def _share(part: Job, among: int) -> Job:
    (node,) = part.nodes
    gpu = node.energy.domains.get("gpu", Domain(0, 0.0, 0.0))
    joules = _shared(node.energy.joules, gpu.joules, among)
    uncertainty_j = _shared(node.energy.uncertainty_j, gpu.uncertainty_j, among)
    scale = joules / node.energy.joules if joules and node.energy.joules else 1.0
    power = node.power and dataclasses.replace(node.power, watts=[scale * watts for watts in node.power.watts])
    energy = dataclasses.replace(
        node.energy,
        joules=joules,
        uncertainty_j=uncertainty_j,
        domains={kind: _shared_domain(kind, domain, among) for kind, domain in node.energy.domains.items()},
        shared_by=among,
    )
    calls = [dataclasses.replace(each, joules=_shared(each.joules, 0.0, among)) for each in part.calls]
    other = dataclasses.replace(part.other_calls, joules=_shared(part.other_calls.joules, 0.0, among))
    regions = [dataclasses.replace(each, joules=_shared(each.joules, 0.0, among)) for each in part.regions]
    origin = dataclasses.replace(
        part.provenance.energy,
        note=part.provenance.energy.note + "  Containers that share a machine each have their part of its energy.",
    )
    return dataclasses.replace(
        part,
        provenance=dataclasses.replace(part.provenance, energy=origin),
        totals=dataclasses.replace(part.totals, joules=joules, uncertainty_j=uncertainty_j),
        calls=calls,
        other_calls=other,
        outside=dataclasses.replace(part.outside, joules=_shared(part.outside.joules, gpu.joules, among)),
        regions=regions,
        nodes=[dataclasses.replace(node, energy=energy, power=power)],
    )


def _shared(value: Optional[float], own: float, among: int) -> Optional[float]:
    """What GPUs used is each container's own."""
    return None if value is None else own + (value - own) / among


def _shared_domain(kind: str, domain: Domain, among: int) -> Domain:
    if kind == "gpu":
        return domain
    return dataclasses.replace(domain, joules=domain.joules / among, uncertainty_j=domain.uncertainty_j / among)


def _after(first: Job, part: Job) -> float:
    return (part.begin_ns - first.begin_ns) * 1e-9


def _moved(node: Node, seconds: float) -> Node:
    power = node.power
    if power is not None:
        power = dataclasses.replace(power, begin_s=power.begin_s + seconds)
    return dataclasses.replace(
        node, begin_s=node.begin_s + seconds, end_s=node.end_s + seconds, power=power
    )


def _sureness(provenance: Provenance) -> int:
    return ("absent", "measured", "emulated", "modelled").index(provenance.energy.kind)


def _sum(values: Iterator[Optional[float]]) -> Optional[float]:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
