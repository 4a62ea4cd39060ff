# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Jobs in other programs' formats.

CSV: files as COUNTDOWN writes them (semicolons, its column names, J, W and s), with columns of our own behind
them. Prometheus: a text file for the textfile collector of node_exporter, one set of gauges per job.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from poweraware.job import CallClass, Job, Region

_OF_SYSTEM = ("platform", "package", "dram", "gpu")
_TAGS = ("job", "scheme", "benchmark", "repetition")  # what tells lines of several jobs apart


@dataclass(frozen=True)
class Exported:
    """A job, and what it was in a session of bench/run, if it was in one."""

    job: Job
    benchmark: str = ""
    repetition: str = ""
    scheme: str = ""  # of a session, where a peer's is off to its job

    def tags(self) -> List[str]:
        """In the order of _TAGS."""
        return [self.job.job.id, self.scheme or self.job.settings.scheme, self.benchmark, self.repetition]


def summary_csv(jobs: Sequence[Exported]) -> str:
    """One line per job."""
    heads = ["exe_time", "num_mpi_ranks", "num_nodes", "num_sockets", "num_cpus",
             "energy_pkg", "energy_dram", "energy_gpu", "energy_sys",
             "power_pkg", "power_dram", "power_gpu", "power_sys",
             "app_time", "mpi_time", "tot_time", "complete", "provenance", "user", "batch_job", "program", *_TAGS]  # fmt: skip
    return _csv(heads, [[*_summary_row(each.job), *each.tags()] for each in jobs])


def calls_csv(jobs: Sequence[Exported]) -> str:
    """One line per class of calls; number and time are of all processes."""
    levers = list(dict.fromkeys(name for each in jobs for name in each.job.lever_titles()))
    heads = ["type", "number", "time", "data_send", "communicator", "comm_size", "algorithm", "up_to_bytes",
             "longest", "spin_time", "monitor_time", "sleep_time", "cpu_time",
             *(f"{name}_time" for name in levers), "transitions", "energy", *_TAGS]  # fmt: skip
    return _csv(heads, [[*_call_row(calls, levers), *each.tags()] for each in jobs for calls in each.job.calls])


def series_csv(jobs: Sequence[Exported]) -> str:
    """Power over time: one line per bin and node."""
    heads = ["time-sample", "energy-sys", "power-sys", "host", *_TAGS]
    rows = []
    for each in jobs:
        for node in each.job.nodes:
            curve = node.power
            for index, watts in enumerate(curve.watts if curve is not None else []):
                assert curve is not None
                at = each.job.begin_ns * 1e-9 + curve.begin_s + index * curve.width_s
                rows.append([f"{at:.3f}", _number(watts * curve.width_s), _number(watts), node.host, *each.tags()])
    return _csv(heads, rows)


def regions_csv(jobs: Sequence[Exported]) -> str:
    """One line per region that a program has marked; all processes together."""
    heads = ["region", "entered", "time", "cpu_time", "mpi_time", "sleep_time", "energy", "provenance", *_TAGS]
    rows = [
        [region.name or "", str(region.entered), f"{region.process_s:.9f}", f"{region.cpu_s:.9f}", f"{region.calls.seconds:.9f}",
         f"{region.calls.sleep_s:.9f}", _number(region.joules), each.job.provenance.attribution.kind, *each.tags()]
        for each in jobs for region in each.job.regions
    ]  # fmt: skip
    return _csv(heads, rows)


def prometheus(jobs: Sequence[Exported]) -> str:
    """Gauges with labels that tell jobs apart; those of calls by collective."""
    lines: List[str] = []
    for name, text, value in _GAUGES:
        lines += [f"# HELP poweraware_job_{name} {text}", f"# TYPE poweraware_job_{name} gauge"]
        for each in jobs:
            found = value(each.job)
            if found is not None:
                lines.append(f"poweraware_job_{name}{_labels(each)} {_number(found)}")
    for name, text in (("seconds", "Time of all processes in a collective."), ("calls", "Calls of all processes."),
                       ("joules", "Energy attributed to a collective (modelled).")):  # fmt: skip
        lines += [f"# HELP poweraware_collective_{name} {text}", f"# TYPE poweraware_collective_{name} gauge"]
        for each in jobs:
            for collective, sums in each.job.by_collective().items():
                found = getattr(sums, name)
                if found is not None:
                    lines.append(f"poweraware_collective_{name}{_labels(each, collective=collective)} {_number(found)}")
    for name, text, of_region in _OF_REGION:
        lines += [f"# HELP poweraware_region_{name} {text}", f"# TYPE poweraware_region_{name} gauge"]
        for each in jobs:
            for region in each.job.regions:
                found = of_region(region)
                if found is not None:
                    lines.append(f"poweraware_region_{name}{_labels(each, region=region.name or '')} {_number(found)}")
    return "\n".join(lines) + "\n"


_OF_REGION: Tuple[Tuple[str, str, Callable[[Region], Optional[float]]], ...] = (
    ("seconds", "Time of all processes in a region.", lambda region: region.process_s),
    ("collective_seconds", "Of that, in collectives.", lambda region: region.calls.seconds),
    ("joules", "Energy attributed to a region (modelled).", lambda region: region.joules),
)

_GAUGES: Tuple[Tuple[str, str, Callable[[Job], Optional[float]]], ...] = (
    ("joules", "Energy of the job's nodes while it ran.", lambda job: job.totals.joules),
    ("uncertainty_joules", "The energy is off by so much at most.", lambda job: job.totals.uncertainty_j),
    ("seconds", "From the job's begin to its end.", lambda job: job.totals.seconds),
    ("cpu_seconds", "User and system time of all processes.", lambda job: job.totals.cpu_s),
    ("setup_seconds", "Time of all processes that went to setting up poweraware.", lambda job: job.totals.setup_s),
    ("collective_seconds", "Time of all processes in collectives.", lambda job: job.all_calls().seconds),
    ("asleep_seconds", "Of that, with the CPU given back.", lambda job: job.all_calls().sleep_s),
    ("processes", "Processes of the job.", lambda job: float(job.processes)),
    ("nodes", "Nodes in the job's document.", lambda job: float(len(job.nodes))),
    ("complete", "1 when all processes are in the document.", lambda job: float(job.complete)),
    ("begin_time_seconds", "When the job began, since 1970.", lambda job: job.begin_ns * 1e-9),
)


FORMATS: Dict[str, Callable[[Sequence[Exported]], str]] = {
    "csv": summary_csv,
    "csv-calls": calls_csv,
    "csv-regions": regions_csv,
    "csv-series": series_csv,
    "prometheus": prometheus,
}


def _summary_row(job: Job) -> List[str]:
    joules = {kind: _domain_joules(job, kind) for kind in _OF_SYSTEM}
    energies = [joules["package"], joules["dram"], joules["gpu"], job.totals.joules]
    seconds = job.totals.seconds
    in_calls = job.all_calls().seconds
    return [
        _number(seconds),
        str(job.processes),
        str(len(job.nodes)),
        str(sum(node.packages for node in job.nodes)),
        str(sum(node.cpus for node in job.nodes)),
        *(_number(value) for value in energies),
        *(_number(None if value is None or seconds <= 0 else value / seconds) for value in energies),
        _number(max(0.0, job.totals.process_s - in_calls)),
        _number(in_calls),
        _number(job.totals.process_s),
        "1" if job.complete else "0",
        job.provenance.energy.kind,
        job.job.user,
        job.job.batch_job or "",
        job.job.program,
    ]


def _call_row(each: CallClass, levers: Sequence[str]) -> List[str]:
    return [
        "MPI_" + each.collective.upper(),
        str(each.calls),
        f"{each.seconds:.9f}",
        str(each.bytes),
        each.communicator or "",
        "" if each.size is None else str(each.size),
        each.algorithm,
        "" if each.up_to_bytes is None else str(each.up_to_bytes),
        f"{each.longest_s:.9f}",
        f"{each.spin_s:.9f}",
        f"{each.monitor_s:.9f}",
        f"{each.sleep_s:.9f}",
        f"{each.cpu_s:.9f}",
        *(f"{each.held_s.get(name, 0.0):.9f}" for name in levers),
        str(each.transitions),
        _number(each.joules),
    ]


def _domain_joules(job: Job, kind: str) -> Optional[float]:
    found = [node.energy.domains[kind].joules for node in job.nodes if kind in node.energy.domains]
    return sum(found) if found else None


def _number(value: Optional[float]) -> str:
    return "" if value is None else repr(round(value, 9)).removesuffix(".0")


def _csv(heads: List[str], rows: List[List[str]]) -> str:
    """COUNTDOWN quotes nothing: what would end a field or a line is replaced."""
    clean = [[cell.replace(";", ",").replace("\n", " ").replace("\r", " ") for cell in row] for row in rows]
    return "".join(";".join(row) + "\n" for row in [heads, *clean])


def _labels(each: Exported, **more: str) -> str:
    about = each.job.job
    labels = {"user": about.user, "batch_job": about.batch_job or "", "program": about.program,
              "energy": each.job.provenance.energy.kind, **dict(zip(_TAGS, each.tags())), **more}  # fmt: skip
    return "{" + ",".join(f'{name}="{_escape(text)}"' for name, text in labels.items()) + "}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
