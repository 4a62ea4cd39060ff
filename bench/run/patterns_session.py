# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A session of `run patterns`.

1. Per place: bring a cluster up, and per repetition and library run the program with samplers beside it.
2. Save the document after each run.  3. Write the page and the summary.
"""
from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from bench.common import processes
from bench.common.progress import Progress
from bench.run import facts, patterns_figures
from bench.run.cluster import Cluster
from bench.run.errors import DriverError
from bench.run.options import Options
from bench.run.patterns import DOCUMENT, LAYOUTS, Patterns, joules, mca, read_rows, variables
from bench.run.places import Places
from bench.run.sampler import Samplers
from poweraware.session.document import NodeEnergy, Run


class Session:
    """All runs, one after the other; document is what there is so far."""

    def __init__(self, options: Options, places: Places) -> None:
        self._options, self._places = options, places
        assert isinstance(options.family, Patterns)
        self._family = options.family
        chance = random.Random(options.seed)
        self._steps: Dict[str, List[Tuple[str, int]]] = {}
        for place in self._family.places:
            self._steps[place] = [(library, k + 1) for library in self._family.benchmarks for k in range(options.repetitions)]
            chance.shuffle(self._steps[place])
        everything = [(library, place) for place, steps in self._steps.items() for library, _ in steps]
        self._progress = Progress(everything)
        self._runs: List[Run] = []
        self.document: Dict[str, Any] = {
            "format": 1, "complete": False, "command": options.command, "host": dataclasses.asdict(facts.host()),
            "software": dataclasses.asdict(facts.software(options.build)), "bytes": self._family.bytes,
            "machine": options.machine.stem if options.machine is not None else None,
            "link": {"rate_mbit": options.rate_mbit, "latency_us": options.latency_us},
            "repetitions": options.repetitions, "interval_ms": options.interval_ms, "rows": [], "failures": [],
        }  # fmt: skip

    def run(self) -> None:
        """Makes all runs; cleans up whatever happens."""
        for place, steps in self._steps.items():
            options = dataclasses.replace(self._options, layout=LAYOUTS[place], cluster_name=f"{self._options.cluster_name}-{place}")
            cluster = Cluster(options, options.output / "cluster.log")
            try:
                self._progress.say(f"bringing up {len(options.layout)} nodes")
                cluster.start()
                for library, repetition in steps:
                    self._one(cluster, place, library, repetition)
            finally:
                cluster.stop()
        self.document["complete"] = True
        self._save()

    def _one(self, cluster: Cluster, place: str, library: str, repetition: int) -> None:
        name = f"{place}-{library}-{repetition}"
        folder = self._options.output / "runs" / name
        folder.mkdir(parents=True)
        self._progress.begin(name)
        samplers = Samplers(cluster, self._places.sampler, self._options.interval_ms)
        try:
            samplers.start(folder)
            status = self._start(cluster, place, library, folder)
        finally:
            samplers.stop()
        energies = samplers.collect(folder)
        failure = self._take(energies, place, library, repetition, folder, status)
        if failure is not None:
            self.document["failures"].append(f"{name}: {failure}")
        self._save()
        self._progress.end(f"{name}: {failure or 'ok'}")

    def _start(self, cluster: Cluster, place: str, library: str, folder: Path) -> Optional[int]:
        command = ["env", *variables(place, self._family.bytes), *self._family.prepare(library, folder)]
        line = cluster.run_command({**mca(place, library), **self._options.mca}, command)
        process = processes.start(line, folder / "errors.txt", folder / "output.txt", self._places.environment(), folder)
        try:
            return processes.wait(process, self._options.timeout_s, self._progress.tick)
        finally:
            processes.stop(process)

    def _take(self, energies: List[NodeEnergy], place: str, library: str, repetition: int, folder: Path, status: Optional[int]) -> Optional[str]:
        """Rows into the document; what is wrong with the run."""
        rows = read_rows(folder)
        wrong = [row for row in rows if not row["validated"]]
        if status is None:
            return f"took over {self._options.timeout_s:.0f} s and was ended"
        if wrong:
            return f"wrong data: {wrong[0]['operation']} {wrong[0]['pattern']} of {wrong[0]['fragments']} fragments"
        if status != 0 or not rows:
            words = processes.last_words(folder / "errors.txt", notices=False) or "the benchmark left no results"
            return f"exit status {status}: {words}"
        for row in rows:
            energy = {f"{kind}_j": joules(energies, name, row, self._options.interval_ms) for kind, name in (("cpu", "package"), ("dram", "dram"))}
            self.document["rows"].append({"place": place, "library": library, "repetition": repetition, **row, **energy})
        self._runs.append(_as_run(energies))
        return None

    def _save(self) -> None:
        origin = facts.provenance(self._options, self._runs).energy
        self.document["energy"] = {"kind": origin.kind, "note": origin.note}
        path = self._options.output / DOCUMENT
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.document, indent=1) + "\n", encoding="utf-8")
        part.replace(path)


def _as_run(energies: List[NodeEnergy]) -> Run:
    """What facts want of a run: its meters."""
    run = Run(id="", benchmark="", scheme="", repetition=1, command=[], mca={}, exit_status=0, failure=None, start_ns=0, end_ns=0,
              wall_s=0.0, window="mpirun")  # fmt: skip
    run.energy = energies
    return run


def report(document: Dict[str, Any], output: Path) -> bool:
    """Summary and page; whether both could be written."""
    summary = patterns_figures.text(document)
    print(summary, end="")
    (output / "summary.txt").write_text(summary, encoding="utf-8")
    try:
        from bench.run import patterns_page  # here, so that runs need no matplotlib
    except ImportError as error:
        print(f"run: no page: {error}")
        return True
    (output / "report.html").write_text(patterns_page.render(document, output.name), encoding="utf-8")
    print(f"\nPage: {output}/report.html")
    return True


def run(options: Options, places: Places) -> int:
    """A session; its exit status."""
    if options.preloads or options.resume:
        raise DriverError("patterns takes neither --preload nor --resume")
    session = Session(options, places)
    try:
        session.run()
    finally:
        if session.document["rows"]:
            report(session.document, options.output)
    for failure in session.document["failures"]:
        print(f"run: {failure}")
    return 1 if session.document["failures"] else 0
