# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""However and whenever a job dies, every lever comes back.

PWR_KILLS jobs (default 25, `make check-kills` 1000) of two emulated nodes with two ranks each die at
random moments of throttled Alltoalls.  Where guardian and rank died together, poweraware-restore has
to bring the levers back.  PWR_KILLS_SEED repeats a run.
"""

from __future__ import annotations

import os
import random
import subprocess
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from test_on_cluster import BUILD, TESTS, Nodes, bring_up, cluster

KILLS = int(os.environ.get("PWR_KILLS", "25"))
SEED = int(os.environ.get("PWR_KILLS_SEED", str(time.time_ns() % 1_000_000)))
WORKERS = 2
WAYS = ["kill", "term", "segv", "abort", "exit", "launcher", "guardian-first", "guardian-after"]
NEEDS_RESTORE = {"guardian-first", "guardian-after"}
RANKS = 4
LONGEST_DELAY_US = 60_000
GUARDIANS_TURN_S = 1.0  # before poweraware-restore is tried
HANG_S = 1800.0
CONTROLS = ("msr:0x19a", "scaling_max_freq", "scaling_min_freq")


@dataclass
class Hardware:
    """The levers of one node, followed through the emulator's trace."""

    trace: Path
    offset: int = 0
    originals: dict[tuple[str, str], str] = field(default_factory=dict)
    values: dict[tuple[str, str], str] = field(default_factory=dict)
    lowered_by: set[str] = field(default_factory=set)
    restored_by_others: int = 0

    def follow(self) -> None:
        """Reads what was written since the last time."""
        with self.trace.open("rb") as file:
            file.seek(self.offset)
            data = file.read()
        whole = data[:data.rfind(b"\n") + 1]
        self.offset += len(whole)
        for line in whole.decode().splitlines():
            if line.startswith("t_ns"):
                continue
            _, cpu, control, value, pid = line.split(",")
            if control not in CONTROLS:
                continue
            key = cpu, control
            if self.originals.setdefault(key, value) != value:
                self.lowered_by.add(pid)
            elif pid not in self.lowered_by and pid != "0" and self.values[key] != value:
                self.restored_by_others += 1
            self.values[key] = value

    def moved(self) -> list[str]:
        """The levers that are not where they were found, in words."""
        self.follow()
        return [f"{self.trace.parent.parent.name}: CPU {cpu} {control} is {value}, not {self.originals[cpu, control]}"
                for (cpu, control), value in self.values.items() if value != self.originals[cpu, control]]


@dataclass
class Job:
    """One way to die."""

    way: str
    rank: int
    delay_us: int

    def __str__(self) -> str:
        return f"{self.way}, rank {self.rank}, {self.delay_us} us"


class Tally:
    """What all workers found."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.failures: list[str] = []
        self.jobs: Counter[str] = Counter()
        self.caught: Counter[str] = Counter()  # a lever was moved when the rank died
        self.by_command: Counter[str] = Counter()  # poweraware-restore had something to do


def draw_jobs(count: int, seed: int) -> list[Job]:
    """Every way equally often, in random order, at random moments."""
    generator = random.Random(seed)
    jobs = []
    for i in range(count):
        way = WAYS[i % len(WAYS)]
        # long enough for some ranks to notice that their guardian is dead, and to start another
        longest = 5 * LONGEST_DELAY_US if way == "guardian-first" else LONGEST_DELAY_US
        jobs.append(Job(way, generator.randrange(RANKS), generator.randrange(longest)))
    generator.shuffle(jobs)
    return jobs


def restore_by_command(nodes: Nodes) -> str:
    done = cluster("exec", "--name", nodes.name, "--all", "--", str(BUILD / "opal" / "poweraware-restore"), "--all")
    return done.stdout + done.stderr


def wait_until_back(nodes: Nodes, hardware: list[Hardware], needs_restore: bool) -> tuple[list[str], bool, str]:
    """What is still moved when nothing more is to be expected; whether poweraware-restore was needed, what it said."""
    begin = tried = time.monotonic()
    commanded, said = False, ""
    while True:
        moved = [line for node in hardware for line in node.moved()]
        now = time.monotonic()
        if not moved or now - begin > HANG_S:
            return moved, commanded, said
        if needs_restore and now - tried > GUARDIANS_TURN_S:
            commanded, said, tried = True, restore_by_command(nodes), now
        time.sleep(0.02)


def die_once(nodes: Nodes, hardware: list[Hardware], job: Job, tally: Tally) -> None:
    for node in hardware:
        node.follow()
        node.lowered_by.clear()
        node.restored_by_others = 0
    done = nodes.run([str(TESTS / "victim"), job.way, str(job.rank), str(job.delay_us)],
                     "--layout", "2,2", mca={"coll_poweraware_min_bytes": "0", "coll_poweraware_scheme": "throttle"})
    moved, commanded, said = wait_until_back(nodes, hardware, job.way in NEEDS_RESTORE)
    with tally.lock:
        tally.jobs[job.way] += 1
        tally.by_command[job.way] += commanded
        tally.caught[job.way] += commanded or any(node.restored_by_others for node in hardware)
        if done.returncode in (0, 124):
            tally.failures.append(f"{job}: did not die as told (exit status {done.returncode}): {done.stdout[-400:]}")
        if not any(node.lowered_by for node in hardware):
            tally.failures.append(f"{job}: no lever was moved: nothing was proven: {done.stdout[-400:]}")
        tally.failures += [f"{job}: {line} {said}" for line in moved]


def work(nodes: Nodes, jobs: list[Job], tally: Tally) -> None:
    traces = [node / "emulator" / "trace.csv" for node in sorted((nodes.state / "nodes").iterdir())]
    hardware = [Hardware(trace) for trace in traces if trace.exists()]
    for job in jobs:
        try:
            die_once(nodes, hardware, job, tally)
        except (subprocess.SubprocessError, OSError) as error:
            with tally.lock:
                tally.failures.append(f"{job}: {error}")


def left_behind(nodes: Nodes) -> str:
    """Journals that are still there when all is over, after a last poweraware-restore."""
    restore_by_command(nodes)
    done = cluster("exec", "--name", nodes.name, "--all", "--", "sh", "-c",
                   "ls /dev/shm/poweraware.*/ 2>/dev/null | grep journal")
    return done.stdout


def test_levers_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    jobs = draw_jobs(KILLS, SEED)
    tally = Tally()
    clusters: list[Nodes] = []
    try:
        for worker in range(WORKERS):
            clusters.append(bring_up(f"coll-kills-{os.getpid()}-{worker}", 2, "skylake.machine"))
        threads = [threading.Thread(target=work, args=(nodes, jobs[worker::WORKERS], tally))
                   for worker, nodes in enumerate(clusters)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journals = "".join(left_behind(nodes) for nodes in clusters)
    finally:
        for nodes in clusters:
            cluster("down", "--name", nodes.name)
    with capsys.disabled():
        print(f"\nseed {SEED}: {KILLS} jobs")
        for way in WAYS:
            print(f"  {way:15} {tally.jobs[way]:4} jobs, {tally.caught[way]:4} with a lever moved at their death, "
                  f"{tally.by_command[way]:4} put back by poweraware-restore")
    assert tally.failures == [], f"seed {SEED}"
    assert journals == ""
    assert sum(tally.caught.values()) >= KILLS / 4, "too few deaths with a lever moved: nothing was proven"
