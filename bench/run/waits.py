# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What waits cost in energy: the loads of ../waits in which one rank, or PE of OpenSHMEM, is late."""
from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Dict, List, Optional

from bench.common.launch import STOCK_OPENSHMEM
from bench.common.values import different_of, positive
from bench.run.family import OURS, Family, Outcome, executable, output_of
from bench.run.osu import add_calls
from poweraware.session.document import Messages, Row

_BYTES = 8
MPI = ("allreduce", "barrier", "bcast", "alltoall")
OPENSHMEM = {f"shmem-{name}": name for name in ("wait-until", "lock", "barrier-all", "sum", "broadcast", "fcollect", "alltoall")}
_USUAL = ["allreduce", "barrier", "shmem-sum", "shmem-barrier-all", "shmem-wait-until"]

# UCX carries OpenSHMEM; every PE of a node has symmetric memory of its own.
_VARIABLES = ["UCX_TLS=self,sm,tcp", "SHMEM_SYMMETRIC_SIZE=16M"]


class Waits(Family):
    """Benchmarks are calls, of MPI and of OpenSHMEM."""

    name = "waits"

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        known = [*MPI, *OPENSHMEM]
        group = parser.add_argument_group("benchmark")
        group.add_argument("--benchmarks", type=different_of(known), metavar="B,...", default=_USUAL,
                           help=f"of {', '.join(known)} (default: {','.join(_USUAL)})")  # fmt: skip
        group.add_argument("--late-ms", type=positive, default=500, metavar="MS",
                           help="how late the last rank is in every call (default: %(default)s)")  # fmt: skip
        add_calls(group, 10, 2, "per run")

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        if ranks < 2:
            parser.error("one rank waits for nobody (--nodes, --ppn)")
        self.benchmarks = given.benchmarks
        self.messages = Messages(_BYTES, _BYTES, given.iterations, given.warmup)
        self._limits = ["--iterations", str(given.iterations), "--warmup", str(given.warmup), "--late-us", str(1000 * given.late_ms)]
        for benchmark in self.benchmarks:
            name = "shmem_load" if benchmark in OPENSHMEM else "wait_load"
            folder = given.build / "bench" / self.name
            self._take_program(benchmark, executable([folder / name]), OURS, f"{name} of poweraware", f"{name} in {folder}")

    def parameters(self, scheme: str) -> Dict[str, str]:
        return {**super().parameters(scheme), **(STOCK_OPENSHMEM if scheme == self.schemes[0] else {"scoll": "poweraware"})}

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        program = str(self.programs[benchmark].path)
        if benchmark in OPENSHMEM:
            return ["env", *_VARIABLES, program, *self._limits, OPENSHMEM[benchmark]]
        return [program, *self._limits, "--bytes", str(_BYTES), "--collective", benchmark, "skew"]

    def read(self, benchmark: str, folder: Path) -> Outcome:
        found = _printed(output_of(folder))
        if found is None:
            return Outcome(failure="the benchmark printed no results")
        row = Row(
            bytes=_BYTES,
            iterations=found["iterations"],
            avg_us=found["time_us"]["mean"],
            t_begin_ns=found["t_begin_ns"],
            t_end_ns=found["t_end_ns"],
            cpu_s=found["cpu_s"],
            validated=not found["wrong"] if "wrong" in found else None,
        )
        return Outcome(rows=[row], failure=f"{found['wrong']} wrong results" if found.get("wrong") else None)


def _printed(text: str) -> Optional[Dict[str, Any]]:
    """The JSON object among what mpirun says."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError):
        return None
    return found if isinstance(found, dict) else None
