# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a reader must know of a job, in words."""
from __future__ import annotations

from typing import List

from poweraware.job import Job
from poweraware.wording import plural


def setting(job: Job) -> str:
    """Where and how the job ran, in one line."""
    processes = "1 process" if job.processes == 1 else f"{job.processes} processes"
    parts = [
        f"{processes} on {plural(len(job.nodes), 'node')}",
        f"scheme {job.settings.scheme}, idle {job.settings.idle}",
        f"Open MPI {job.software.open_mpi}, poweraware {job.software.poweraware}",
        f"user {job.job.user}",
        f"began {job.begin}",
    ]
    if job.job.batch_job is not None:
        parts.insert(0, f"batch job {job.job.batch_job}")
    return "; ".join(parts)


def warnings(job: Job) -> List[str]:
    """What a reader must know before believing the figures."""
    lines = []
    if not job.complete:
        lines.append(f"The job's document is not complete: {job.why_incomplete}.")
    without = [node.host for node in job.nodes if node.energy.joules is None]
    if without and len(without) < len(job.nodes):
        lines.append(f"{plural(len(without), 'node')} without an energy meter: {', '.join(without[:5])}.")
    shared = [node.host for node in job.nodes if 0 < node.cpus < node.processes]
    if shared:
        lines.append(f"More processes than CPUs on {', '.join(shared[:5])}: they took turns, which stretches times.")
    return lines


def provenance(job: Job) -> List[str]:
    """One sentence or two for each kind of figure."""
    return [
        job.provenance.time.sentence("Times"),
        job.provenance.energy.sentence("Energy and power"),
        job.provenance.attribution.sentence("Energy of calls"),
    ]
