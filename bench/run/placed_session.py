# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A session of a family with places (placed.py).

1. Per place: bring a cluster up, and per repetition and benchmark run the program with samplers beside it.
2. Save the document after each run.  3. Write the page and the summary.
"""
from __future__ import annotations

import dataclasses
import json
import random
import shutil
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

from bench.common import processes
from bench.common.progress import Progress
from bench.run import facts
from bench.run.cluster import Cluster
from bench.run.errors import DriverError
from bench.run.options import Options
from bench.run.placed import PlacedFamily, read_rows
from bench.run.places import Places
from bench.run.sampler import Samplers
from poweraware.documents import replace
from poweraware.session.document import NodeEnergy, Run


class Session:
    """All runs, one after the other; document is what there is so far."""

    def __init__(self, options: Options, places: Places) -> None:
        self._options, self._places = options, places
        assert isinstance(options.family, PlacedFamily)
        self._family = options.family
        self._runs: List[Run] = []
        self.document = self._resumed(self._new_document())
        chance = random.Random(options.seed)
        self._steps: Dict[str, List[Tuple[str, int]]] = {}
        for place in self._family.places:
            steps = [(benchmark, k + 1) for benchmark in self._family.benchmarks for k in range(options.repetitions)]
            self._steps[place] = [step for step in steps if (place, *step) not in self._done()]
            chance.shuffle(self._steps[place])
        everything = [(benchmark, place) for place, steps in self._steps.items() for benchmark, _ in steps]
        self._progress = Progress(everything)

    def _new_document(self) -> Dict[str, Any]:
        options = self._options
        return {
            "format": 1, "complete": False, "command": options.command, "host": dataclasses.asdict(facts.host()),
            "software": dataclasses.asdict(facts.software(options.build)), **self._family.settings(),
            "machine": options.machine.stem if options.machine is not None else None,
            "link": {"rate_mbit": options.rate_mbit, "latency_us": options.latency_us},
            "repetitions": options.repetitions, "interval_ms": options.interval_ms, "rows": [], "failures": [],
        }  # fmt: skip

    def _resumed(self, document: Dict[str, Any]) -> Dict[str, Any]:
        """With the rows of an earlier session, which must have been made alike."""
        path = self._options.output / self._family.document_name
        if not (self._options.resume and path.exists()):
            return document
        try:
            earlier = json.loads(path.read_text(encoding="utf-8"))
            for what in ("format", "host", "machine", "link", "interval_ms", *self._family.settings()):
                if earlier[what] != document[what]:
                    raise DriverError(f"--resume: {path} is of another {what} ({earlier[what]}, now {document[what]}): take the same "
                                      "options, or another --output")  # fmt: skip
            return {**document, "rows": earlier["rows"], "energy": earlier["energy"]}
        except (ValueError, KeyError, TypeError) as error:
            raise DriverError(f"--resume: {path} is no document of a session: {error!r}") from error

    def _done(self) -> Set[Tuple[str, str, int]]:
        return {(row["place"], row[self._family.benchmark_noun], row["repetition"]) for row in self.document["rows"]}

    def run(self) -> None:
        """Makes all runs; cleans up whatever happens."""
        for place, steps in self._steps.items():
            if not steps:
                continue
            options = dataclasses.replace(self._options, layout=self._family.layouts[place], cluster_name=f"{self._options.cluster_name}-{place}")
            cluster = Cluster(options, options.output / "cluster.log")
            try:
                self._progress.say(f"bringing up {len(options.layout)} nodes")
                cluster.start()
                for benchmark, repetition in steps:
                    self._one(cluster, place, benchmark, repetition)
            finally:
                cluster.stop()
        self.document["complete"] = True
        self._save()

    def _one(self, cluster: Cluster, place: str, benchmark: str, repetition: int) -> None:
        name = f"{place}-{benchmark}-{repetition}"
        folder = self._options.output / "runs" / name
        shutil.rmtree(folder, ignore_errors=True)  # of a run that failed before
        folder.mkdir(parents=True)
        self._progress.begin(name)
        samplers = Samplers(cluster, self._places.sampler if self._family.has_energy else None, self._options.interval_ms)
        try:
            samplers.start(folder)
            status = self._start(cluster, place, benchmark, folder)
        finally:
            samplers.stop()
        energies = samplers.collect(folder)
        failure = self._take(energies, place, benchmark, repetition, folder, status)
        if failure is not None:
            self.document["failures"].append(f"{name}: {failure}")
        self._save()
        self._progress.end(f"{name}: {failure or 'ok'}")

    def _start(self, cluster: Cluster, place: str, benchmark: str, folder: Path) -> Optional[int]:
        command = ["env", *self._family.variables(place), *self._family.prepare(benchmark, folder)]
        line = cluster.run_command({**self._family.mca(place, benchmark), **self._options.mca}, command)
        process = processes.start(line, folder / "errors.txt", folder / "output.txt", self._places.environment(), folder)
        try:
            return processes.wait(process, self._options.timeout_s, self._progress.tick)
        finally:
            processes.stop(process)

    def _take(self, energies: List[NodeEnergy], place: str, benchmark: str, repetition: int, folder: Path, status: Optional[int]) -> Optional[str]:
        """Rows into the document; what is wrong with the run."""
        rows = read_rows(folder)
        wrong = [row for row in rows if not row["validated"]]
        if status is None:
            return f"took over {self._options.timeout_s:.0f} s and was ended"
        if wrong:
            return self._family.fault(wrong[0])
        if status != 0 or not rows:
            words = processes.last_words(folder / "errors.txt", notices=False) or "the benchmark left no results"
            return f"exit status {status}: {words}"
        for row in rows:
            energy = self._family.energy(energies, row, self._options.interval_ms)
            self.document["rows"].append({"place": place, self._family.benchmark_noun: benchmark, "repetition": repetition, **row, **energy})
        self._runs.append(_as_run(energies))
        return None

    def _save(self) -> None:
        if self._runs or "energy" not in self.document:
            origin = facts.provenance(self._options, self._runs).energy
            self.document["energy"] = {"kind": origin.kind, "note": origin.note}
        replace(self._options.output / self._family.document_name, json.dumps(self.document, indent=1) + "\n")


def _as_run(energies: List[NodeEnergy]) -> Run:
    """What facts want of a run: its meters."""
    run = Run(id="", benchmark="", scheme="", repetition=1, command=[], mca={}, exit_status=0, failure=None, start_ns=0, end_ns=0,
              wall_s=0.0, window="mpirun")  # fmt: skip
    run.energy = energies
    return run


def report(family: PlacedFamily, document: Dict[str, Any], output: Path) -> None:
    """Summary and page."""
    summary = family.text(document)
    print(summary, end="")
    (output / "summary.txt").write_text(summary, encoding="utf-8")
    try:
        page = family.page(document, output.name)
    except ImportError as error:
        print(f"run: no page: {error}")
        return
    (output / "report.html").write_text(page, encoding="utf-8")
    print(f"\nPage: {output}/report.html")


def run(options: Options, places: Places) -> int:
    """A session; its exit status."""
    assert isinstance(options.family, PlacedFamily)
    if options.preloads:
        raise DriverError(f"{options.family.name} does not take --preload")
    session = Session(options, places)
    try:
        session.run()
    finally:
        if session.document["rows"]:
            report(options.family, session.document, options.output)
    for failure in session.document["failures"]:
        print(f"run: {failure}")
    return 1 if session.document["failures"] else 0
