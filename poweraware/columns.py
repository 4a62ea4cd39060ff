# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Figures of jobs, nodes, calls and regions as columns, each once: exports, frames and the index of a fleet have them from here."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Optional, Sequence, Tuple, Type, TypeVar, Union

from poweraware import decisions
from poweraware.advice import PerSecond
from poweraware.job import CallClass, Job, Node, Region, Sums

Value = Union[str, int, float, bool, None]
Of = TypeVar("Of", contravariant=True)


@dataclass(frozen=True)
class Column(Generic[Of]):
    """A figure: its name, unit, and how it comes from what it is of."""

    name: str
    unit: str
    type: Type[Any]
    text: str
    value: Callable[[Of], Value]


class _Known:
    """A job, and what several of its columns need."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.calls = job.all_calls()
        self.per_second = PerSecond.of(job)
        self.effects = decisions.effects(job)

    def modelled(self, of: Callable[[PerSecond], float]) -> Optional[float]:
        """None without a model."""
        return None if self.per_second is None else of(self.per_second)


def values(columns: Sequence[Column[Of]], of: Of) -> Dict[str, Value]:
    """By the names of columns."""
    return {column.name: column.value(of) for column in columns}


def of_job(job: Job) -> Dict[str, Value]:
    """All columns of a job."""
    return values(JOB, _Known(job))


def domain_joules(job: Job, kind: str) -> Optional[float]:
    """Of package, dram, gpu or platform; None where no node has it."""
    found = [node.energy.domains[kind].joules for node in job.nodes if kind in node.energy.domains]
    return sum(found) if found else None


def _effect(name: str, text: str) -> List[Column[_Known]]:
    def part(index: int) -> Callable[[_Known], Value]:
        return lambda of: of.effects[name][index] if name in of.effects else None

    return [Column(f"{name}_effect", "1", float, text, part(0)),
            Column(f"{name}_effect_low", "1", float, "Of its interval of 3.5 standard errors.", part(1)),
            Column(f"{name}_effect_high", "1", float, "Of its interval of 3.5 standard errors.", part(2))]  # fmt: skip


JOB: Tuple[Column[_Known], ...] = (
    Column("job", "", str, "Name of the job, as mpirun gives it.", lambda of: of.job.job.id),
    Column("batch_job", "", str, "Identifier that the batch system gave.", lambda of: of.job.job.batch_job),
    Column("user", "", str, "Login name, or number.", lambda of: of.job.job.user),
    Column("program", "", str, "Name of what rank 0 ran.", lambda of: of.job.job.program),
    Column("scheme", "", str, "off, dvfs, throttle or auto.", lambda of: of.job.settings.scheme),
    Column("idle", "", str, "Where waiting ranks give the CPU back.", lambda of: of.job.settings.idle),
    Column("begin_ns", "ns", int, "When the job began, since 1970.", lambda of: of.job.begin_ns),
    Column("begin_time_seconds", "s", float, "When the job began, since 1970.", lambda of: of.job.begin_ns * 1e-9),
    Column("complete", "", bool, "1 when all processes are in the document.", lambda of: of.job.complete),
    Column("processes", "", int, "Processes of the job.", lambda of: of.job.processes),
    Column("nodes", "", int, "Nodes in the job's document.", lambda of: len(of.job.nodes)),
    Column("packages", "", int, "Packages of these nodes.", lambda of: sum(node.packages for node in of.job.nodes)),
    Column("cpus", "", int, "Hardware threads of these nodes.", lambda of: sum(node.cpus for node in of.job.nodes)),
    Column("seconds", "s", float, "From the job's begin to its end.", lambda of: of.job.totals.seconds),
    Column("process_seconds", "s", float, "Time of all processes.", lambda of: of.job.totals.process_s),
    Column("cpu_seconds", "s", float, "User and system time of all processes.", lambda of: of.job.totals.cpu_s),
    Column("setup_seconds", "s", float, "Time of all processes that went to setting up poweraware.", lambda of: of.job.totals.setup_s),
    Column("collective_seconds", "s", float, "Time of all processes in collectives.", lambda of: of.calls.seconds),
    Column("spin_seconds", "s", float, "Of that, waiting by polling.", lambda of: of.calls.spin_s),
    Column("rest_seconds", "s", float, "Of that, waiting on a cache line.", lambda of: of.calls.monitor_s),
    Column("asleep_seconds", "s", float, "Of that, with the CPU given back.", lambda of: of.calls.sleep_s),
    Column("energy_kind", "", str, "Where joules come from: measured, emulated, modelled or absent.", lambda of: of.job.provenance.energy.kind),
    Column("joules", "J", float, "Energy of the job's nodes while it ran.", lambda of: of.job.totals.joules),
    Column("uncertainty_joules", "J", float, "The energy is off by so much at most.", lambda of: of.job.totals.uncertainty_j),
    Column("watts", "W", float, "Mean power of the job's nodes.", lambda of: of.job.totals.mean_watts),
    Column("package_joules", "J", float, "Of the energy, that of packages.", lambda of: domain_joules(of.job, "package")),
    Column("dram_joules", "J", float, "Of the energy, that of memory.", lambda of: domain_joules(of.job, "dram")),
    Column("gpu_joules", "J", float, "Of the energy, that of GPUs.", lambda of: domain_joules(of.job, "gpu")),
    Column("waiting_joules", "J", float, "Spent while ranks waited in collectives (modelled).",
           lambda of: of.modelled(lambda model: model.of_waiting(of.calls))),
    Column("saved_joules", "J", float, "Saved by sleeping instead of spinning (modelled).",
           lambda of: of.modelled(lambda model: model.saved_by_sleep(of.calls.sleep_s))),
    Column("savable_joules", "J", float, "What sleeping would save where ranks spun (modelled).",
           lambda of: of.modelled(lambda model: model.saved_by_sleep(of.calls.spin_s))),
    *_effect("time", "Time while calls save, over that while they do not, less 1, where auto has tried both (measured)."),
    *_effect("cpu", "The same of CPU time (measured)."),
    *_effect("energy", "The same of energy (measured or emulated, as joules are)."),
    Column("open_mpi", "", str, "Version of Open MPI.", lambda of: of.job.software.open_mpi),
    Column("poweraware", "", str, "Version of the plug-in.", lambda of: of.job.software.poweraware),
)  # fmt: skip

NODE: Tuple[Column[Node], ...] = (
    Column("host", "", str, "Name of the node.", lambda node: node.host),
    Column("processes", "", int, "Processes of the job, there.", lambda node: node.processes),
    Column("cpus", "", int, "Hardware threads; 0: unknown.", lambda node: node.cpus),
    Column("packages", "", int, "Packages; 0: unknown.", lambda node: node.packages),
    Column("process_seconds", "s", float, "Time of its processes.", lambda node: node.process_s),
    Column("cpu_seconds", "s", float, "User and system time of its processes.", lambda node: node.cpu_s),
    Column("energy_kind", "", str, "Where its joules come from.", lambda node: node.energy.provenance or "absent"),
    Column("joules", "J", float, "Energy of the node while the job ran there.", lambda node: node.energy.joules),
    Column("uncertainty_joules", "J", float, "The energy is off by so much at most.", lambda node: node.energy.uncertainty_j),
)

_SUMS: Tuple[Column[Sums], ...] = (
    Column("calls", "", int, "Calls of all processes.", lambda of: of.calls),
    Column("bytes", "B", int, "What the calls moved, in the collective's own meaning.", lambda of: of.bytes),
    Column("seconds", "s", float, "Time of all processes in the calls.", lambda of: of.seconds),
    Column("longest_seconds", "s", float, "The longest call of any process.", lambda of: of.longest_s),
    Column("spin_seconds", "s", float, "Of the time, waiting by polling.", lambda of: of.spin_s),
    Column("rest_seconds", "s", float, "Of the time, waiting on a cache line.", lambda of: of.monitor_s),
    Column("asleep_seconds", "s", float, "Of the time, with the CPU given back.", lambda of: of.sleep_s),
    Column("cpu_seconds", "s", float, "User and system time in the calls.", lambda of: of.cpu_s),
    Column("joules", "J", float, "Energy attributed to the calls (modelled).", lambda of: of.joules),
)

CALL: Tuple[Column[CallClass], ...] = (
    Column("communicator", "", str, "Its name; missing: several.", lambda of: of.communicator),
    Column("size", "", int, "Processes of the communicator.", lambda of: of.size),
    Column("collective", "", str, "Name of the collective.", lambda of: of.collective),
    Column("algorithm", "", str, "What it was done by.", lambda of: of.algorithm),
    Column("up_to_bytes", "B", int, "Largest call of the size class; missing: bytes are not known.", lambda of: of.up_to_bytes),
    *_SUMS,
)

REGION: Tuple[Column[Region], ...] = (
    Column("region", "", str, "Its name; missing: all that had no room.", lambda of: of.name),
    Column("entered", "", int, "By all processes together.", lambda of: of.entered),
    Column("seconds", "s", float, "Time of all processes in a region.", lambda of: of.process_s),
    Column("cpu_seconds", "s", float, "User and system time meanwhile.", lambda of: of.cpu_s),
    Column("collective_seconds", "s", float, "Of that, in collectives.", lambda of: of.calls.seconds),
    Column("asleep_seconds", "s", float, "Of that, with the CPU given back.", lambda of: of.calls.sleep_s),
    Column("joules", "J", float, "Energy attributed to a region (modelled).", lambda of: of.joules),
)
