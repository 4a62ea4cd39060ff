# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Random jobs on three emulated nodes, one after the other, under random settings and limits, and in each something of it or of
ours is killed or stopped at a random moment: nothing hangs, what lives is right, levers come back, nothing is left.
Beside them a job lives on three other nodes all the time: its memory, descriptors and mappings stay as they are.

PWR_SOAK_S seconds (default 40, `make check-soak` an hour); PWR_SEED: what all is drawn from (1).
"""

from __future__ import annotations

import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from differential_jobs import SOUND_STOCK  # noqa: E402
from nodes import BUILD, Nodes, bring_up, cluster  # noqa: E402
from test_kills import Hardware, restore_by_command, wait_until_back  # noqa: E402
from test_rungs_on_cluster import ONE_SIDED  # noqa: E402

SECONDS = float(os.environ.get("PWR_SOAK_S", "40"))
SEED = int(os.environ.get("PWR_SEED", "1"))
TESTS = BUILD / "coll_poweraware" / "tests"
HANG_S = 900
LATEST_S = 3.0  # after its start something happens to a job
PROGRESS_S = 30.0
LONG_S = 1800.0  # memory is judged
LONG = "PWR_SOAK_LONG"  # in the environment of the job that lives all the time

PROGRAMS = {
    "collectives": (["check_collectives", "--beyond-stock", "--stay", "--limit", str(HANG_S)], " 0 wrong results"),
    "communicators": (["check_collectives", "--beyond-stock", "--stay", "--fresh", "--limit", str(HANG_S)], " 0 wrong results"),
    "threads": (["check_collectives", "--beyond-stock", "--stay", "--threads", "2", "--limit", str(HANG_S)], " 0 wrong results"),
    "alltoalls": (["check_alltoall"], " 0 wrong results"),
    "waits": (["check_waits", "-l", "20"], "check_waits: 0 wrong results"),
}
SETTINGS = {
    "scheme": ["off", "dvfs", "throttle", "auto"],
    "idle": ["off", "collectives", "all"],
    "min_bytes": ["0", "65536"],
    "single_copy": ["true", "false"],
    "segment_bytes": ["4194304", "300000"],
}
LAYOUTS = ["2,2,2", "1,1,1", "3,1,2", "4", "1,3"]
# Where stock lives; what the files of a report may not have is said, and costs no job.
LIMITS = ["", "", "--nofile=64", "--nofile=128", "--fsize=0", "--fsize=100000", "--memlock=0", "--stack=262144"]
# What is done on one node: to which processes, by which signals.  A rank that dies ends its job; nothing else does.
RANKS = "check_"
DISTURBANCES = {
    "nothing": [],
    "kill guardians": [("KILL", "poweraware-guar")],
    "kill recorder": [("KILL", "poweraware-reco")],
    "stop guardians": [("STOP", "poweraware-guar"), ("CONT", "poweraware-guar")],
    "stop recorder": [("STOP", "poweraware-reco"), ("CONT", "poweraware-reco")],
    "stop ranks": [("STOP", RANKS), ("CONT", RANKS)],
    "stop all": [("STOP", "^(ch|pow)"), ("CONT", "^(ch|pow)")],
    "kill ranks": [("KILL", RANKS)],
    "end ranks": [("TERM", RANKS)],
    "kill ranks and helpers": [("KILL", "^(ch|pow)")],
    "kill launcher": [("KILL", "orted")],
}
DEADLY = {"kill ranks", "end ranks", "kill ranks and helpers", "kill launcher"}


@dataclass
class Job:
    """One job, all of it drawn before it begins."""

    program: str
    calls: int
    seed: int
    layout: str
    limit: str
    report: bool
    settings: dict[str, str]
    disturbance: str
    node: int
    after_s: float

    def __str__(self) -> str:
        return (f"{self.program} seed {self.seed}, {self.calls} calls, layout {self.layout}, {self.limit or 'no limit'}, "
                f"{'report, ' if self.report else ''}{self.settings}, {self.disturbance} on n{self.node} after {self.after_s:.3f} s")


def draw(generator: random.Random) -> Job:
    layout = generator.choice(LAYOUTS)
    return Job(generator.choice(list(PROGRAMS)), generator.randrange(20, 120), generator.randrange(1_000_000), layout,
               generator.choice(LIMITS), generator.random() < 0.5,
               {name: generator.choice(values) for name, values in SETTINGS.items()},
               generator.choice(list(DISTURBANCES)), generator.randrange(layout.count(",") + 1),
               generator.uniform(0.2, LATEST_S))


# ---- one job ----

@dataclass
class Tally:
    """What was run, and what came of it."""

    programs: Counter[str] = field(default_factory=Counter)
    limits: Counter[str] = field(default_factory=Counter)
    disturbed: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)  # there was something to kill or to stop
    moved: int = 0  # jobs that moved levers
    restored: int = 0  # by poweraware-restore
    launcher_hung: int = 0
    failures: list[str] = field(default_factory=list)


def disturb(nodes: Nodes, job: Job, tally: Tally) -> None:
    for number, (signal, pattern) in enumerate(DISTURBANCES[job.disturbance]):
        time.sleep(job.after_s if number == 0 else 0.5)
        done = cluster("exec", "--name", nodes.name, f"n{job.node}", "--", "pkill", f"-{signal}", pattern)
        tally.met[job.disturbance] += number == 0 and done.returncode == 0


def mca_of(job: Job, folder: Path) -> dict[str, str]:
    mca = {f"coll_poweraware_{name}": value for name, value in job.settings.items()}
    mca["coll_poweraware_knowledge"] = str(folder / "knowledge.json")
    if job.report:
        mca |= {f"coll_poweraware_{each}": str(folder) for each in ("report_dir", "ranks_dir", "trace_dir")}
    if job.limit.startswith("--fsize"):
        mca |= {"btl": "self,tcp", **ONE_SIDED}  # shared memory of Open MPI is a file
    return {**SOUND_STOCK, **mca}


def judge(job: Job, done: subprocess.CompletedProcess[str], tally: Tally) -> None:
    """mpirun of 4.1 blocks itself at its end now and then when a rank was killed; all ranks are gone then."""
    right = done.returncode == 0 and PROGRAMS[job.program][1] in done.stdout
    if job.disturbance in DEADLY and "wrong:" not in done.stdout:
        if done.returncode == 124:
            tally.launcher_hung += 1
            right = re.search(r"noticed that process rank .* exited on signal|ORTE has lost communication", done.stdout) is not None
        else:
            right = True
    if not right:
        tally.failures.append(f"{job}: exit status {done.returncode}: {done.stdout[-1500:]}")


def run(nodes: Nodes, hardware: list[Hardware], job: Job, folder: Path, tally: Tally) -> None:
    for node in hardware:
        node.follow()
        node.lowered_by.clear()
    program, *arguments = PROGRAMS[job.program][0]
    words = [str(TESTS / program), *arguments]
    if program != "check_waits":
        words += ["--calls", str(job.calls), "--seed", str(job.seed)]
    if job.limit:
        words = ["prlimit", job.limit, *words]
    disturber = threading.Thread(target=disturb, args=(nodes, job, tally))
    disturber.start()
    done = nodes.run(words, "--layout", job.layout, "--bind", "core", mca=mca_of(job, folder), timeout=HANG_S)
    disturber.join()
    needs_restore = job.disturbance in DEADLY
    moved, commanded, said = wait_until_back(nodes, hardware, needs_restore)
    tally.programs[job.program] += 1
    tally.limits[job.limit or "none"] += 1
    tally.disturbed[job.disturbance] += 1
    tally.moved += any(node.lowered_by for node in hardware)
    tally.restored += commanded
    judge(job, done, tally)
    tally.failures += [f"{job}: {line} {said}" for line in moved]
    tally.failures += [f"{job}: left: {line}" for line in left_behind(nodes)]


LEFT = (r"pgrep -l ^poweraware-; pgrep -l ^check_; find /dev/shm -maxdepth 2 "
        r"\( -name 'poweraware.*.*.*' -o -name '*journal*' -o -name 'calls.*' -o -name 'pwr*' \) 2>/dev/null")


def left_behind(nodes: Nodes) -> list[str]:
    """Processes and files that are there when all is over; recorders and guardians may take a moment."""
    begin = time.monotonic()
    while True:
        done = cluster("exec", "--name", nodes.name, "--all", "--", "sh", "-c", LEFT)
        left = [line for line in done.stdout.splitlines() if line.strip()]
        if not left or time.monotonic() - begin > 60:
            remove = "rm -rf /dev/shm/poweraware.*.*.*; pkill -KILL ^poweraware-; pkill -KILL ^check_"
            if left:  # said once
                cluster("exec", "--name", nodes.name, "--all", "--", "sh", "-c", remove)
            return left
        restore_by_command(nodes)
        time.sleep(0.2)


# ---- the job that lives all the time ----

@dataclass
class Held:
    """What the processes of a job hold, again and again."""

    pids: list[str]
    samples: list[tuple[int, int, int]] = field(default_factory=list)

    def sample(self) -> None:
        resident = descriptors = mappings = 0
        for pid in self.pids:
            proc = Path("/proc") / pid
            status = (proc / "status").read_text()
            found = re.search(r"VmRSS:\s+(\d+) kB", status)
            assert found is not None, f"the job that lives all the time has ended: {status}"
            resident += int(found.group(1))
            descriptors += len(os.listdir(proc / "fd"))
            mappings += (proc / "maps").read_text().count("\n")
        self.samples.append((resident, descriptors, mappings))

    def early_and_late(self) -> list[tuple[str, float, float]]:
        """The medians of the second and of the last quarter."""
        quarter = len(self.samples) // 4
        early = list(zip(*self.samples[quarter:2 * quarter]))
        late = list(zip(*self.samples[-quarter:]))
        return [(name, statistics.median(early[i]), statistics.median(late[i]))
                for i, name in enumerate(("resident kB", "descriptors", "mappings"))]


def processes_with(word: str) -> list[str]:
    found = []
    for proc in Path("/proc").glob("[0-9]*"):
        try:
            if (proc / "comm").read_text().startswith("check_") and word.encode() in (proc / "environ").read_bytes():
                found.append(proc.name)
        except OSError:
            pass
    return found


@pytest.fixture(scope="module")
def held() -> Iterator[Held]:
    token = f"{LONG}={os.getpid()}"
    nodes = bring_up(f"coll-soak-{os.getpid()}-long", 3, "skylake.machine")
    ended: list[subprocess.CompletedProcess[str]] = []
    words = [str(TESTS / "check_collectives"), "--beyond-stock", "--stay", "--fresh", "--most-bytes", "4000", "--calls",
             "1000000000", "--seed", str(SEED), "--limit", str(HANG_S)]
    thread = threading.Thread(target=lambda: ended.append(
        nodes.run(words, "--layout", "2,1,1", "--bind", "core", "--env", token, mca={
            **SOUND_STOCK, "coll_poweraware_scheme": "auto", "coll_poweraware_min_bytes": "0",
            "coll_poweraware_report": "summary"}, timeout=int(SECONDS) + 100 * HANG_S)))
    thread.start()
    try:
        begin = time.monotonic()
        while len(processes_with(token)) < 4:
            assert not ended and time.monotonic() - begin < HANG_S, f"the job that lives all the time does not begin: {ended}"
            time.sleep(0.2)
        yield Held(processes_with(token))
        assert not ended, f"the job that lives all the time has ended: {ended[0].stdout[-2000:]}"
    finally:
        cluster("down", "--name", nodes.name)
        thread.join()


# ---- all of them ----

def files_of(nodes: Nodes) -> int:
    done = cluster("exec", "--name", nodes.name, "--all", "--", "sh", "-c", "find /dev/shm -name 'poweraware*' | wc -l")
    return sum(int(each) for each in re.findall(r"(\d+)$", done.stdout, re.M))


def say(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        print(text, flush=True)


def test_soak(held: Held, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o777)
    generator = random.Random(SEED)
    tally = Tally()
    nodes = bring_up(f"coll-soak-{os.getpid()}", 3, "skylake.machine")
    files: list[int] = []
    told = 0
    begin = said = time.monotonic()
    try:
        traces = [node / "emulator" / "trace.csv" for node in sorted((nodes.state / "nodes").iterdir())]
        hardware = [Hardware(trace) for trace in traces if trace.exists()]
        while time.monotonic() - begin < SECONDS or len(held.samples) < 8:
            run(nodes, hardware, draw(generator), tmp_path, tally)
            for failure in tally.failures[told:]:
                say(capsys, failure)
            told = len(tally.failures)
            held.sample()
            files.append(files_of(nodes))
            if time.monotonic() - said > PROGRESS_S:
                said = time.monotonic()
                say(capsys, f"{said - begin:.0f} s: {len(files)} jobs, {len(tally.failures)} failures, {held.samples[-1]}")
    finally:
        cluster("down", "--name", nodes.name)
    say(capsys, f"\nseed {SEED}: {len(files)} jobs in {time.monotonic() - begin:.0f} s, {tally.moved} moved levers, after "
        f"{tally.restored} poweraware-restore put some back, {tally.launcher_hung} launchers hung")
    say(capsys, f"  programs: {dict(tally.programs)}\n  limits: {dict(tally.limits)}")
    for name, number in tally.disturbed.items():
        say(capsys, f"  {name:25} {number:4} jobs, {tally.met[name]:4} in time")
    for name, early, late in held.early_and_late():
        say(capsys, f"  {name}: {early:.0f} early, {late:.0f} late")
        # without us memory grows for minutes, too, as Open MPI keeps what messages once needed
        if (name != "resident kB" or SECONDS >= LONG_S) and late > 1.03 * early + 4:
            tally.failures.append(f"{name} grow: {early} early, {late} late")
    quarter = len(files) // 4
    say(capsys, f"  files in /dev/shm: {max(files[:quarter])} early, {max(files[-quarter:])} late")
    if max(files[-quarter:]) > max(files[:2 * quarter]):
        tally.failures.append(f"files in /dev/shm grow: {files}")
    knowledge = tmp_path / "knowledge.json"
    assert not knowledge.exists() or knowledge.stat().st_size <= 1 << 20
    assert tally.failures == [], f"seed {SEED}"
