# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The access patterns of Jana et al. (../patterns): what `run patterns` starts, and what it reads."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Dict, List, Optional

from bench.common.values import different_of, positive
from bench.run import patterns_figures
from bench.run.family import OURS, executable
from bench.run.placed import LAYOUTS_ARE_THEIRS, RESULT, STOCK, PlacedFamily, add_places
from poweraware.session.document import NodeEnergy
from poweraware.session.energy import RESOLVED_SAMPLES, domain_energy_j

LAYOUTS: Dict[str, List[int]] = {"tcp": [1, 1], "shm": [2]}  # place -> processes per node
OPERATIONS = ("put", "get")
LIBRARIES = ("shmem", "windows")
_UCX = {"tcp": "self,tcp", "shm": "self,sm"}
_COLD = 64 << 20  # what the program goes through, of each kind of memory
# 4.1.4 has no component for windows between nodes but pt2pt, which Debian excludes.
_WINDOWS = {"tcp": {"osc": "pt2pt"}, "shm": {"osc": "^ucx,pt2pt"}}


class Patterns(PlacedFamily):
    """Benchmarks are the libraries: each program runs all patterns."""

    name = "patterns"
    document_name = "patterns.json"
    benchmark_noun = "library"
    layouts = LAYOUTS
    has_energy = True

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark", LAYOUTS_ARE_THEIRS)
        group.add_argument("--libraries", dest="benchmarks", type=different_of(LIBRARIES), metavar="L,...", default=list(LIBRARIES),
                           help=f"of {', '.join(LIBRARIES)} (default: all)")  # fmt: skip
        add_places(group, LAYOUTS, "tcp: two nodes; shm: two processes of one")
        group.add_argument("--operations", type=different_of(OPERATIONS), metavar="O,...", default=list(OPERATIONS),
                           help=f"of {', '.join(OPERATIONS)} (default: all)")  # fmt: skip
        group.add_argument("--bytes", type=positive, default=512 * 1024, metavar="N", help="payload (default: %(default)s)")
        group.add_argument("--fragments", type=positive, default=16384, metavar="N", help="most fragments of it (default: %(default)s)")
        group.add_argument("--least-ms", type=positive, metavar="MS",
                           help="duration of a point (default: as many as its energy takes)")  # fmt: skip
        group.add_argument("--calls", type=positive, default=3, metavar="N", help="calls of a point at least (default: %(default)s)")

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        self.benchmarks = given.benchmarks
        self.places = given.places
        least_ms = given.least_ms or RESOLVED_SAMPLES * given.interval_ms + given.interval_ms // 2
        self.bytes: int = given.bytes
        self._arguments = ["--bytes", str(given.bytes), "--fragments", f"1:{given.fragments}", "--operations", ",".join(given.operations),
                           "--least-ms", str(least_ms), "--calls", str(given.calls), "--json", RESULT]  # fmt: skip
        for benchmark in self.benchmarks:
            name = f"patterns_{benchmark}"
            folder = given.build / "bench" / self.name
            self._take_program(benchmark, executable([folder / name]), OURS, f"{name} of poweraware", f"{name} in {folder}")

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        return [str(self.programs[benchmark].path), *self._arguments]

    def settings(self) -> Dict[str, Any]:
        return {"bytes": self.bytes}

    def mca(self, place: str, benchmark: str) -> Dict[str, str]:
        return {**STOCK, **(_WINDOWS[place] if benchmark == "windows" else {})}

    def variables(self, place: str) -> List[str]:
        """The transport, and memory for two parts and what OpenSHMEM takes itself."""
        return [f"UCX_TLS={_UCX[place]}", f"SHMEM_SYMMETRIC_SIZE={2 * max(_COLD, self.bytes) + _COLD}"]

    def fault(self, row: Dict[str, Any]) -> str:
        return f"wrong data: {row['operation']} {row['pattern']} of {row['fragments']} fragments"

    def energy(self, energies: List[NodeEnergy], row: Dict[str, Any], interval_ms: float) -> Dict[str, Optional[float]]:
        return {f"{kind}_j": joules(energies, name, row, interval_ms) for kind, name in (("cpu", "package"), ("dram", "dram"))}

    def text(self, document: Dict[str, Any]) -> str:
        return patterns_figures.text(document)

    def page(self, document: Dict[str, Any], name: str) -> str:
        from bench.run import patterns_page  # here, so that runs need no matplotlib

        return patterns_page.render(document, name)


def joules(energies: List[NodeEnergy], kind: str, row: Dict[str, Any], interval_ms: float) -> Optional[float]:
    """Of one call, of all domains whose names begin with kind, on all nodes; None where they were not read, or the point was too short."""
    begin_ns, end_ns = row["t_begin_ns"], row["t_end_ns"]
    if end_ns - begin_ns < RESOLVED_SAMPLES * interval_ms * 1e6 or any(not each.domains for each in energies):
        return None
    parts = [domain_energy_j(each, name, begin_ns, end_ns) for each in energies for name in each.domains if name.startswith(kind)]
    known = [part for part in parts if part is not None]
    return sum(known) / row["calls"] if known and len(known) == len(parts) else None
