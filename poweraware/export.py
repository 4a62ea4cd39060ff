# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Jobs in other programs' formats.

CSV: files as COUNTDOWN writes them (semicolons, its column names, J, W and s), with columns of our own behind
them. Prometheus: a text file for the textfile collector of node_exporter, one set of gauges per job.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence

from poweraware import columns
from poweraware.columns import Value, domain_joules
from poweraware.job import CallClass, Job

_OF_SYSTEM = ("package", "dram", "gpu")
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
    of_jobs = [columns.of_job(each.job) for each in jobs]
    for name in _GAUGES:
        lines += [f"# HELP poweraware_job_{name} {_TEXTS[name]}", f"# TYPE poweraware_job_{name} gauge"]
        for each, found in zip(jobs, of_jobs):
            if found[name] is not None:
                lines.append(f"poweraware_job_{name}{_labels(each)} {_gauge(found[name])}")
    for name, text in (("seconds", "Time of all processes in a collective."), ("calls", "Calls of all processes."),
                       ("joules", "Energy attributed to a collective (modelled).")):  # fmt: skip
        lines += [f"# HELP poweraware_collective_{name} {text}", f"# TYPE poweraware_collective_{name} gauge"]
        for each in jobs:
            for collective, sums in each.job.by_collective().items():
                found = getattr(sums, name)
                if found is not None:
                    lines.append(f"poweraware_collective_{name}{_labels(each, collective=collective)} {_number(found)}")
    for column in columns.REGION:
        if column.name in _OF_REGION:
            lines += [f"# HELP poweraware_region_{column.name} {column.text}", f"# TYPE poweraware_region_{column.name} gauge"]
            lines += [f"poweraware_region_{column.name}{_labels(each, region=region.name or '')} {_gauge(column.value(region))}"
                      for each in jobs for region in each.job.regions if column.value(region) is not None]  # fmt: skip
    return "\n".join(lines) + "\n"


_OF_REGION = ("seconds", "collective_seconds", "joules")
_GAUGES = ("joules", "uncertainty_joules", "seconds", "cpu_seconds", "setup_seconds", "collective_seconds", "asleep_seconds",
           "processes", "nodes", "complete", "begin_time_seconds")  # fmt: skip
_TEXTS = {column.name: column.text for column in columns.JOB}


FORMATS: Dict[str, Callable[[Sequence[Exported]], str]] = {
    "csv": summary_csv,
    "csv-calls": calls_csv,
    "csv-regions": regions_csv,
    "csv-series": series_csv,
    "prometheus": prometheus,
}


def _summary_row(job: Job) -> List[str]:
    joules = {kind: domain_joules(job, kind) for kind in _OF_SYSTEM}
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


def _gauge(value: Value) -> str:
    assert isinstance(value, (bool, int, float))
    return _number(float(value))


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
