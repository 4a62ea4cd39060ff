# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A session: every benchmark under every scheme, one run after the other, into one document.

1. Bring the cluster up.  2. Per run: start the samplers, run mpirun, stop the samplers, collect.
3. Save the document after each run, so that whatever happens later loses nothing.  4. Take the
cluster down.
"""
from __future__ import annotations

import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

from bench.common import processes
from bench.common.progress import Progress
from bench.run import facts, machine, preload, resume
from bench.run.cluster import Cluster
from bench.run.errors import DriverError
from bench.run.options import Options
from bench.run.places import Places
from bench.run.sampler import Samplers
from bench.run.states import TraceReader, moved, node_states, realtime_offset_ns
from poweraware import job
from poweraware.documents import DocumentError
from poweraware.session import document as doc

COMPONENT_PRIORITY = "95"


@dataclass(frozen=True)
class Step:
    """One run to be made."""

    benchmark: str
    scheme: str
    repetition: int

    @property
    def id(self) -> str:
        return f"{self.benchmark}-{self.scheme}-{self.repetition}"


def plan(options: Options) -> List[Step]:
    """All runs.  Within each repetition every benchmark meets the schemes in a random order, so
    that what changes slowly on the host (heat, other load) does not favour one of them."""
    chance = random.Random(options.seed)
    steps = []
    for repetition in range(1, options.repetitions + 1):
        for benchmark in options.family.benchmarks:
            schemes = list(options.schemes)
            chance.shuffle(schemes)
            steps += [Step(benchmark, scheme, repetition) for scheme in schemes]
    return steps


class Session:
    """One session from start to end; document is always what there is so far."""

    def __init__(self, options: Options, places: Places) -> None:
        self._options = options
        self._places = places
        before = resume.earlier(options, self.document_path)
        if before is not None:
            options.seed = before.settings.seed
        self.document = _empty_document(options)
        steps = plan(options)
        wanted = {step.id for step in steps}
        self.document.runs = [run for run in before.runs if run.failure is None and run.id in wanted] if before is not None else []
        kept = {run.id for run in self.document.runs}
        self._steps = [step for step in steps if step.id not in kept]
        self._progress = Progress([(step.benchmark, step.scheme) for step in self._steps])
        self._cluster = Cluster(options, options.output / "cluster.log")
        self._traces: Dict[int, TraceReader] = {}
        self._packages: Dict[int, Dict[int, int]] = {}
        self._left_moved: Optional[str] = None  # a control, by the last run

    @property
    def document_path(self) -> Path:
        return self._options.output / "document.json"

    def run(self) -> None:
        """Makes all runs; cleans up whatever happens."""
        try:
            if self._steps:
                self._bring_up()
            for number, step in enumerate(self._steps, 1):
                self._progress.begin(f"run {number}/{len(self._steps)}: {step.id}")
                run = self._one_run(step)
                self.document.runs.append(run)
                doc.save_series(run, self.document_path)
                self._save()
                self._progress.end(f"{step.id}: {run.failure or 'ok'}, {run.wall_s:.1f} s")
                self._mend_nodes(step, run)
            self.document.complete = True
            self._save()
        finally:
            self._cluster.stop()

    def _mend_nodes(self, step: Step, run: doc.Run) -> None:
        """New nodes where they are gone, or where a run has left controls moved, which would change the runs after it."""
        if run.failure is not None and not self._cluster.is_up():
            self._bring_up()
        elif self._left_moved is not None and step is not self._steps[-1]:
            self._progress.say(f"{step.id} has left controls moved ({self._left_moved}): new nodes")
            self._cluster.take_down()
            self._bring_up()

    def _save(self) -> None:
        self._options.family.compare(self.document.runs, self.document.schemes()[0])
        doc.choose_windows(self.document.runs)
        self.document.provenance = facts.provenance(self._options, self.document.runs)
        doc.save(self.document, self.document_path)

    def _bring_up(self) -> None:
        self._progress.say(f"bringing up {len(self._options.layout)} nodes")
        self._cluster.start()
        self._check_nodes()

    def _check_nodes(self) -> None:
        """The nodes must see the output folder; emulated ones have a trace and a topology."""
        folder = str(self._options.output)
        for index, node in enumerate(self._cluster.nodes):
            if self._cluster.call_on(node.name, ["test", "-w", folder]) is None:
                raise DriverError(
                    f"node {node.name} does not see {folder}: choose an --output that is not "
                    "below a temporary folder"
                )
            if node.emulator is not None:
                self._traces[index] = TraceReader(node.emulator / "trace.csv")
                answer = self._cluster.call_on(node.name, ["lscpu", "-p=CPU,SOCKET"])
                self._packages[index] = facts.packages(answer)

    def _one_run(self, step: Step) -> doc.Run:
        folder = self._options.output / "runs" / step.id
        shutil.rmtree(folder, ignore_errors=True)  # of a failed run that is made again
        folder.mkdir(parents=True)
        samplers = Samplers(self._cluster, self._places.sampler, self._options.interval_ms)
        try:
            samplers.start(folder)
            run = self._run_benchmark(step, folder)
        finally:
            samplers.stop()
        run.energy = samplers.collect(folder)
        return run

    def _run_benchmark(self, step: Step, folder: Path) -> doc.Run:
        mca = self._parameters(step, folder)
        command = self._options.family.prepare(step.benchmark, folder)
        library = self._options.preloads.get(step.scheme)
        if library is not None:
            command = preload.before(library, command)
        line = self._cluster.run_command(mca, command)

        offset_ns = realtime_offset_ns()
        for trace in self._traces.values():
            trace.advance(offset_ns)
        initial = {node: trace.states() for node, trace in self._traces.items()}
        controls = {node: trace.controls() for node, trace in self._traces.items()}
        start_ns, start_s = time.time_ns(), time.monotonic()
        status = self._wait_for(line, folder)
        end_ns, wall_s = time.time_ns(), time.monotonic() - start_s

        run = doc.Run(
            id=step.id,
            benchmark=step.benchmark,
            scheme=step.scheme,
            repetition=step.repetition,
            command=line,
            mca=mca,
            exit_status=status,
            failure=None,
            start_ns=start_ns,
            end_ns=end_ns,
            wall_s=wall_s,
            window="mpirun",
        )
        self._read_results(run, folder)
        self._left_moved = None
        for node, trace in self._traces.items():
            events = trace.advance(offset_ns)
            self._left_moved = self._left_moved or moved(controls[node], trace.controls())
            if initial[node]:
                packages = self._packages[node]
                run.states.append(
                    node_states(node, initial[node], events, start_ns, end_ns, packages)
                )
        return run

    def _parameters(self, step: Step, folder: Path) -> Dict[str, str]:
        """MCA parameters of a run; the user's come last and win."""
        family = self._options.family
        parameters = {
            "coll_poweraware_priority": COMPONENT_PRIORITY,
            **family.parameters(family.schemes[0] if step.scheme in self._options.preloads else step.scheme),
            "coll_poweraware_report_dir": str(folder),
            # what earlier sessions have learnt is not to matter; what this one does is
            "coll_poweraware_knowledge": str(self._options.output.resolve() / "knowledge.json"),
        }
        if self._options.machine is not None:
            parameters.update(machine.parameters(self._options.machine))
        if self._places.guard is not None:
            parameters["coll_poweraware_helper_dir"] = str(self._places.guard.parent)
        return {**parameters, **self._options.mca}

    def _wait_for(self, line: List[str], folder: Path) -> Optional[int]:
        """Runs a command with the component in reach; None when it took too long."""
        process = processes.start(line, folder / "errors.txt", folder / "output.txt", self._places.environment(), folder)
        try:
            return processes.wait(process, self._options.timeout_s, self._progress.tick)
        finally:
            processes.stop(process)

    def _read_results(self, run: doc.Run, folder: Path) -> None:
        found = self._options.family.read(run.benchmark, folder)
        run.rows, run.ranks, run.result = found.rows, found.ranks, found.result
        names = [node.name for node in self._cluster.nodes]
        for rank in run.ranks:
            rank.node = names.index(rank.host) if rank.host in names else None
        run.failure = (
            self._ended_badly(run, folder, found.failure)
            or self._ran_without_library(run, folder)
            or found.failure
            or self._read_job(run, folder)
        )

    def _ended_badly(self, run: doc.Run, folder: Path, results: Optional[str]) -> Optional[str]:
        """What the program said of it, else what is wrong with its results, else what mpirun said."""
        if run.exit_status is None:
            return f"took over {self._options.timeout_s:.0f} s and was ended"
        if run.exit_status == 0:
            return None
        errors = folder / "errors.txt"
        words = processes.last_words(errors, notices=False) or results or processes.last_words(errors)
        place = folder.relative_to(self._options.output)
        return f"exit status {run.exit_status}" + (f": {words}" if words else "") + f" (see {place}/*.txt)"

    def _ran_without_library(self, run: doc.Run, folder: Path) -> Optional[str]:
        library = self._options.preloads.get(run.scheme)
        if library is None:
            return None
        return preload.refusal(library, (folder / "errors.txt").read_text(encoding="utf-8", errors="replace"))

    def _read_job(self, run: doc.Run, folder: Path) -> Optional[str]:
        """Takes over what the component has written of a run that ended well, or says what is wrong with it."""
        path = folder / "job.json"
        if not path.exists():
            return None
        try:
            run.job = doc.read_json(path)
            job.from_json(run.job, path.name)
        except DocumentError as error:
            run.job = None
            return str(error).split("\n", maxsplit=1)[0]
        return None


def _empty_document(options: Options) -> doc.Document:
    return doc.Document(
        format=doc.FORMAT,
        version=doc.VERSION,
        created=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        complete=False,
        command=options.command,
        host=facts.host(),
        software=facts.software(options.build),
        cluster=facts.cluster(options),
        provenance=facts.provenance(options, []),
        settings=facts.settings(options),
        references=options.family.references(),
    )
