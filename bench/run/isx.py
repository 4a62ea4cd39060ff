# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The bucket sort of ../isx: what `run isx` starts."""
from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Dict, List

from bench.common.values import count, positive
from bench.run import isx_figures
from bench.run.family import OURS, executable
from bench.run.placed import LAYOUTS_ARE_THEIRS, RESULT, STOCK, PlacedFamily, add_places

LAYOUTS: Dict[str, List[int]] = {"1x2": [2], "1x4": [4], "1x8": [8], "2x2": [2, 2], "2x4": [4, 4]}
_KEY_BYTES = 4
_OTHER_BYTES = 128 << 20  # of symmetric memory, for OpenSHMEM and libshnode


def counts(text: str) -> List[int]:
    """Different numbers of keys, with commas between them."""
    found = [count(part) for part in text.split(",")]
    if len(set(found)) != len(found):
        raise argparse.ArgumentTypeError(f"'{text}' names a number twice")
    return found


class Isx(PlacedFamily):
    """Benchmarks are weak-KEYS and strong-KEYS; each program runs all ways by turns."""

    name = "isx"
    document_name = "isx.json"
    benchmark_noun = "benchmark"
    layouts = LAYOUTS

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark", LAYOUTS_ARE_THEIRS)
        group.add_argument("--weak", type=counts, metavar="N,...", default=[4096, 2_000_000], help="keys of each PE (default: 4096,2000000)")
        group.add_argument("--strong", type=counts, metavar="N,...", default=[8_000_000], help="keys of all PEs (default: 8000000)")
        add_places(group, LAYOUTS, f"nodes x PEs of each, of {', '.join(LAYOUTS)}")
        group.add_argument("--iterations", type=positive, default=15, metavar="N", help="sorts of each way in a run (default: %(default)s)")
        group.add_argument("--warmup", type=count, default=2, metavar="N", help="sorts before them (default: %(default)s)")
        group.add_argument("--key-range", type=positive, default=1 << 18, metavar="N",
                           help="keys are below N (default: %(default)s, 32,768 values for each of 8 PEs, as ISx has with 8,192)")  # fmt: skip

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        self.places = given.places
        self._weak, self._strong = given.weak, given.strong
        self.benchmarks = [f"weak-{keys}" for keys in given.weak] + [f"strong-{keys}" for keys in given.strong]
        self._key_range = given.key_range
        self._arguments = ["--pin", "--iterations", str(given.iterations), "--warmup", str(given.warmup), "--key-range", str(given.key_range)]
        folder = given.build / "bench" / self.name
        for benchmark in self.benchmarks:
            self._take_program(benchmark, executable([folder / self.name]), OURS, "isx of poweraware", f"isx in {folder}")

    def settings(self) -> Dict[str, Any]:
        return {"key_range": self._key_range}

    def mca(self, place: str, benchmark: str) -> Dict[str, str]:
        """PEs that wait give the CPU to others, where there are more than CPUs."""
        return {**STOCK, "mpi_yield_when_idle": "1"}

    def variables(self, place: str) -> List[str]:
        layout = LAYOUTS[place]
        keys = max([*self._weak, *(number // sum(layout) for number in self._strong)])
        transports = "self,sm" if len(layout) == 1 else "self,sm,tcp"
        return [f"UCX_TLS={transports}", f"SHMEM_SYMMETRIC_SIZE={2 * _KEY_BYTES * keys + _OTHER_BYTES}"]

    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        scaling, keys = benchmark.split("-")
        return [str(self.programs[benchmark].path), f"--{scaling}", keys, *self._arguments, "--json", RESULT]

    def fault(self, row: Dict[str, Any]) -> str:
        return f"wrong keys: {row['way']}"

    def text(self, document: Dict[str, Any]) -> str:
        return isx_figures.text(document)

    def page(self, document: Dict[str, Any], name: str) -> str:
        from bench.run import isx_page  # here, so that runs need no matplotlib

        return isx_page.render(document, name)
