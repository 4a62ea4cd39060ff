# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What test_soak.py draws: random programs, settings, limits, and what is killed or stopped."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "osc_poweraware" / "tests"), str(HERE.parents[1] / "oshmem" / "tests")]
from differential_jobs import SOUND_STOCK  # noqa: E402
from nodes import BUILD  # noqa: E402
from test_rungs_on_cluster import ONE_SIDED  # noqa: E402
import test_shmem_on_cluster as shmem  # noqa: E402
import test_windows_on_cluster as windows  # noqa: E402

HANG_S = 300
LIVES_ON = ["--stay", "--limit", str(HANG_S - 60)]  # of a call that hangs the ranks tell which it is
SEVERAL_NODES = ["2,2,2", "1,1,1", "3,1,2", "1,3"]
LAYOUTS = [*SEVERAL_NODES, "4"]


# ---- programs ----

@dataclass(frozen=True)
class Program:
    """A random program, which checks its results."""

    file: str  # of what is built
    options: list[str]
    right: str  # what it says where all was right
    calls: tuple[int, int] = (20, 120)  # from, to; (0, 0): it draws nothing
    mca: dict[str, str] = field(default_factory=dict)
    stock: dict[str, str] = field(default_factory=dict)  # without ours, besides
    variables: list[str] = field(default_factory=list)
    layouts: list[str] = field(default_factory=lambda: LAYOUTS)


def of_collectives(*options: str) -> Program:
    return Program("coll_poweraware/tests/check_collectives", [*LIVES_ON, "--beyond-stock", *options],
                   " 0 wrong results")


PROGRAMS = {
    "collectives": of_collectives(),
    "communicators": of_collectives("--fresh"),
    "threads": of_collectives("--threads", "2"),
    "alltoalls": Program("coll_poweraware/tests/check_alltoall", [], " 0 wrong results"),
    "waits": Program("coll_poweraware/tests/check_waits", ["-l", "20"], "check_waits: 0 wrong results", (0, 0)),
    "windows": Program("osc_poweraware/tests/random_windows",
                       [*LIVES_ON, "--without",
                        ",".join(windows.left_out("pt2pt") + windows.left_out("rdma"))],
                       " 0 wrong results", (100, 600), mca={"osc": "poweraware", "coll_poweraware_idle": "all"},
                       stock={"osc": "sm,pt2pt" if ONE_SIDED else "^poweraware"}, layouts=SEVERAL_NODES),
    "OpenSHMEM": Program("oshmem/tests/random_shmem",
                         [*LIVES_ON, "--without", ",".join(shmem.left_out())], " 0 wrong results",
                         (100, 800), mca={"pml": "ob1", "btl": "^ofi,openib", "scoll": "poweraware"},
                         stock={"scoll": "^poweraware", "opal_common_ucx_opal_mem_hooks": "0"},
                         variables=["UCX_TLS=tcp,self,sm"], layouts=SEVERAL_NODES),
}
NOT_BUILT = [name for name, program in PROGRAMS.items() if not (BUILD / program.file).exists()]


# ---- limits ----

@dataclass(frozen=True)
class Limit:
    """A resource limit under which stock lives, or nearly."""

    option: str  # of prlimit
    value: int
    more: int = 0  # that we may need besides

    def words(self, ours: bool) -> list[str]:
        return ["prlimit", f"--{self.option}={self.value + (self.more if ours else 0)}"]

    def __str__(self) -> str:
        return f"{self.option} {self.value}"


MEGABYTE = 1_000_000


def draw_limit(generator: random.Random) -> Limit | None:
    option = generator.choice(["", "", "", "nofile", "fsize", "as", "data", "stack", "memlock"])
    return {
        "": lambda: None,
        "nofile": lambda: Limit(option, generator.randrange(24, 128)),
        "fsize": lambda: Limit(option, generator.choice([0, 4096, 100_000, 1_000_000])),
        "as": lambda: Limit(option, generator.randrange(200, 800) * MEGABYTE, 1 << 26),
        "data": lambda: Limit(option, generator.randrange(25, 300) * MEGABYTE, 1 << 26),
        "stack": lambda: Limit(option, generator.choice([32_768, 100_000, 1_000_000]), 1 << 16),
        "memlock": lambda: Limit(option, 0),
    }[option]()


# ---- what happens to a job ----

RANKS = "check_|random_"
GUARDIANS = "poweraware-guar"
RECORDER = "poweraware-reco"
HEAD = "head"


@dataclass(frozen=True)
class Disturbance:
    """Signals to processes of one node, one after the other; the first some time after there is such a process."""

    signals: list[tuple[str, str]]
    deadly: bool = False  # the job need not end well
    on_head: bool = False


DISTURBANCES = {
    "nothing": Disturbance([]),
    "kill guardians": Disturbance([("KILL", GUARDIANS)]),
    "kill recorder": Disturbance([("KILL", RECORDER)]),
    "stop guardians": Disturbance([("STOP", GUARDIANS), ("CONT", GUARDIANS)]),
    "stop recorder": Disturbance([("STOP", RECORDER), ("CONT", RECORDER)]),
    "stop ranks": Disturbance([("STOP", RANKS), ("CONT", RANKS)]),
    "stop all": Disturbance([("STOP", f"{RANKS}|poweraware-"), ("CONT", f"{RANKS}|poweraware-")]),
    "kill ranks": Disturbance([("KILL", RANKS)], deadly=True),
    "end ranks": Disturbance([("TERM", RANKS)], deadly=True),
    "kill stopped ranks": Disturbance([("STOP", RANKS), ("KILL", RANKS)], deadly=True),
    "kill ranks and guardians": Disturbance([("KILL", f"{RANKS}|poweraware-")], deadly=True),
    "kill guardians, then ranks": Disturbance([("KILL", GUARDIANS), ("KILL", RANKS)], deadly=True),
    "kill ranks, guardians stopped": Disturbance([("STOP", GUARDIANS), ("KILL", RANKS), ("CONT", GUARDIANS)],
                                                 deadly=True),
    "kill daemon": Disturbance([("KILL", "orted|prted")], deadly=True),
    "kill mpirun": Disturbance([("KILL", "mpirun")], deadly=True, on_head=True),
    "end mpirun": Disturbance([("TERM", "mpirun")], deadly=True, on_head=True),
}
# Until the job is over; what has begun is done to its end, so that nothing stays stopped.
SIGNALLING = """
until pgrep "$3" >/dev/null; do
    [ ! -e "$1" ] || exit 0
    sleep 0.02
done
sleep "$4"
pkill "-$2" $5 "$3" && echo met
shift 5
while [ $# -gt 0 ]; do
    sleep 0.5
    pkill "-$1" "$2"
    shift 2
done
"""


# ---- jobs ----

@dataclass
class Job:
    """One job, all of it drawn before it begins."""

    program: str
    calls: int
    seed: int
    layout: str
    limit: Limit | None
    written: list[str]  # kinds of files that are wanted
    settings: dict[str, str]
    disturbance: str
    which: str  # option of pkill: all, the newest or the oldest of the first ones
    node: str
    after_s: float

    def __str__(self) -> str:
        return (f"{self.program}, {self.calls} calls, seed {self.seed}, layout {self.layout}, "
                f"{self.limit or 'no limit'}, {' '.join(self.written) or 'no files'}, {self.settings}, "
                f"{self.disturbance} {self.which} on {self.node} after {self.after_s:.3f} s")

    @property
    def deadly(self) -> bool:
        return DISTURBANCES[self.disturbance].deadly

    @property
    def kills_recorders(self) -> bool:
        """Or stops them."""
        return any(pattern.endswith(("poweraware-", RECORDER)) for _, pattern in DISTURBANCES[self.disturbance].signals)

    def command(self, ours: bool = True) -> list[str]:
        program = PROGRAMS[self.program]
        words = [str(BUILD / program.file), *program.options]
        if self.calls > 0:
            words += ["--calls", str(self.calls), "--seed", str(self.seed)]
        return (self.limit.words(ours) if self.limit else []) + words

    def options(self) -> list[str]:
        variables = [word for variable in PROGRAMS[self.program].variables for word in ("--env", variable)]
        return ["--layout", self.layout, "--bind", "core", *variables]

    def mca(self, folder: Path, ours: bool = True) -> dict[str, str]:
        program = PROGRAMS[self.program]
        mca = {**SOUND_STOCK, **program.mca}
        if self.limit and self.limit.option == "fsize" and self.program != "OpenSHMEM":
            mca = {"btl": "self,tcp", **ONE_SIDED, **mca}  # shared memory of Open MPI is a file
        if not ours:
            return {**mca, "coll": "^poweraware", **program.stock}
        for name, value in self.settings.items():
            mca.setdefault(f"coll_poweraware_{name}", value)
        mca["coll_poweraware_knowledge"] = str(folder / "cache" / "knowledge.json") if "knowledge" in self.written \
            else "off"
        return mca | {f"coll_poweraware_{kind}": str(folder / "files") for kind in self.written if kind != "knowledge"}

    def signalling(self, over: Path) -> list[str]:
        """The command that does it; it ends when the file is there."""
        signals = DISTURBANCES[self.disturbance].signals
        if not signals:
            return ["true"]
        (signal, pattern), *later = signals
        return ["sh", "-c", SIGNALLING, "sh", str(over), signal, pattern, f"{self.after_s:.3f}", self.which,
                *(word for pair in later for word in pair)]


SETTINGS = {
    "scheme": ["off", "dvfs", "throttle", "auto"],
    "idle": ["off", "collectives", "all"],
    "min_bytes": ["0", "65536"],
    "single_copy": ["true", "false"],
    "segment_bytes": ["4194304", "300000"],
}
KINDS = ["report_dir", "ranks_dir", "trace_dir", "knowledge"]


def draw(generator: random.Random) -> Job:
    """A guardian or a recorder that is to be killed is there, if only the job lives long enough."""
    name = generator.choice([each for each in PROGRAMS if each not in NOT_BUILT])
    program = PROGRAMS[name]
    layout = generator.choice(program.layouts)
    disturbance = generator.choice(list(DISTURBANCES))
    signals = DISTURBANCES[disturbance].signals
    settings = {setting: generator.choice(values) for setting, values in SETTINGS.items()}
    written = [kind for kind in KINDS if generator.random() < 0.5]
    if signals and signals[0][1] == GUARDIANS:
        settings |= {"scheme": generator.choice(["dvfs", "throttle"]), "min_bytes": "0"}
    if signals and signals[0][1] == RECORDER:
        written = sorted({"report_dir", *written})
    node = HEAD if DISTURBANCES[disturbance].on_head else f"n{generator.randrange(layout.count(',') + 1)}"
    first, last = program.calls
    return Job(name, generator.randrange(first, last) if last else 0, generator.randrange(1_000_000), layout,
               draw_limit(generator), written, settings, disturbance, generator.choice(["", "-n", "-o"]), node,
               2.0 * generator.random() ** 2)
