# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of jobs on several emulated nodes: their joules are those of the emulator's own ledger, over counters
that wrap, in other units and with slow updates; and a job that is killed leaves a part per node."""

from __future__ import annotations

import csv
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
from nodes import BUILD, MACHINES, Nodes, bring_up, cluster  # noqa: E402

from bench.common.countdown import comes_true  # noqa: E402
from poweraware import folders  # noqa: E402  (PWR_SRCDIR is in the path)
from poweraware.job import Job  # noqa: E402

HANG = str(BUILD / "coll_poweraware" / "tests" / "check_hang")
JOB = str(BUILD / "coll_poweraware" / "tests" / "check_job")
REST_S = 0.02
REGISTER = 1 << 32  # counts after which a counter wraps

HARDWARE = {
    "usual": {},
    "wraps": {"rapl_start": REGISTER - 300_000},
    "fine units, slow updates": {"rapl_energy_unit": 18, "rapl_dram_unit": 16, "rapl_update_us": 20_000},
    "coarse units": {"rapl_energy_unit": 10, "rapl_dram_unit": 12},
}


def machine_file(folder: Path, changes: dict[str, int]) -> Path:
    """The paper's machine with other counters."""
    path = folder / "changed.machine"
    text = (MACHINES / "icpp2010.machine").read_text()
    path.write_text(text + "".join(f"{key} = {value}\n" for key, value in changes.items()))
    return path


def on_ledger(nodes: Nodes, host: str, column: str, begin_ns: float, end_ns: float) -> float:
    """Joules between two times of the real clock, all packages together."""
    offset = time.time_ns() - time.monotonic_ns()
    with (nodes.state / "nodes" / host / "emulator" / "ledger.csv").open(newline="") as file:
        rows = [{name: float(text) for name, text in row.items() if text} for row in csv.DictReader(file)]
    joules = 0.0
    for package in sorted({row["package"] for row in rows}):
        mine = [(row["t_ns"] + offset, row[column]) for row in rows if row["package"] == package and column in row]
        joules += at(mine, end_ns) - at(mine, begin_ns) if mine else 0.0
    return joules


def at(points: list[tuple[float, float]], t_ns: float) -> float:
    """What the machine had used by then: nothing before the ledger begins, which is when the machine does."""
    if t_ns < points[0][0]:
        return 0.0
    for (t0, j0), (t1, j1) in zip(points, points[1:]):
        if t0 <= t_ns <= t1:
            return j0 + (j1 - j0) * (t_ns - t0) / (t1 - t0)
    raise AssertionError(f"the ledger does not cover {t_ns}: {points[0][0]} to {points[-1][0]}")


class Delays:
    """How long it takes at most to read the counters of a node once: so uncertain is when a reading was."""

    def __init__(self, nodes: Nodes) -> None:
        status = json.loads(cluster("status", "--name", nodes.name, "--json").stdout)
        root = Path(f"/proc/{status['nodes'][0]['pid']}/root/sys/class/powercap")
        self.counters = [path / "energy_uj" for path in root.glob("intel-rapl:*")]
        self.longest_ns = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.read)

    def read(self) -> None:
        before = time.monotonic_ns()
        while not self.over.wait(REST_S):
            for counter in self.counters:
                counter.read_text()
            now = time.monotonic_ns()
            self.longest_ns = max(self.longest_ns, now - before - int(1e9 * REST_S))
            before = now

    def __enter__(self) -> Delays:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()


def measure(nodes: Nodes, folder: Path, slack_ns: Callable[[], int]) -> list[tuple[str, float, float, float]]:
    """A job of 6 s with a late rank: domain, joules in its document, least and most on the ledger.

    What a node used before its first reading, and while only other nodes were there, is reckoned by its mean power.  Under load
    that takes long, and cores do other things then: the document says how uncertain it is.
    """
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    done = nodes.run([HANG, "-l", "6000", "bcast", "0"], "--ppn", "2", "--bind", "core",
                     mca={"coll_poweraware_report_dir": str(folder), "coll_poweraware_scheme": "auto"})
    assert done.returncode == 0, done.stdout
    time.sleep(0.3 + 4e-9 * slack_ns())  # the ledger's next lines
    found = folders.load(folder)
    assert found.complete and [node.host for node in found.nodes] == ["n0", "n1"]
    assert found.provenance.energy.kind == "emulated" and found.totals.joules
    joules = []
    for node in found.nodes:
        begin, end = (found.begin_ns + 1e9 * seconds for seconds in (node.begin_s, node.end_s))
        assert end - begin > 5e9
        for kind, column in (("package", "package_j"), ("core", "core_j"), ("dram", "dram_j"), ("platform", "platform_j")):
            slack = slack_ns()
            least = on_ledger(nodes, node.host, column, begin + slack, end - slack)
            most = on_ledger(nodes, node.host, column, begin - slack, end + slack)
            domain = node.energy.domains[kind]
            joules.append((kind, domain.joules, least - domain.uncertainty_j, most + domain.uncertainty_j))
        assert node.energy.joules == pytest.approx(node.energy.domains["platform"].joules)
        assert node.power and sum(node.power.watts) * node.power.width_s == pytest.approx(node.energy.joules, rel=1e-6)
    return joules


@pytest.mark.parametrize("what", HARDWARE)
def test_joules_are_those_of_the_ledger(what: str, tmp_path: Path) -> None:
    """Within 1 %, as far as it is known when counters were read, which takes long where others have the CPUs, and within what
    the document calls uncertain."""
    tmp_path.chmod(0o777)
    name = f"jobs-{os.getpid()}-{list(HARDWARE).index(what)}"
    nodes = bring_up(name, 2, machine_file(tmp_path, HARDWARE[what]))
    try:
        with Delays(nodes) as delays:
            joules = measure(nodes, tmp_path / "job", lambda: 3 * delays.longest_ns)
        assert [each for each in joules if each[1] <= 20 or not 0.99 * each[2] <= each[1] <= 1.01 * each[3]] == []
    finally:
        cluster("down", "--name", name)


@pytest.fixture(scope="module")
def three() -> Iterator[Nodes]:
    name = f"jobs-{os.getpid()}"
    yield bring_up(name, 3)
    cluster("down", "--name", name)


def check_the_machine_is_counted_once(found: Job) -> None:
    """The three nodes have no hardware of their own: whatever this machine's energy is, they share it."""
    assert len({node.machine for node in found.nodes}) == 1 and found.nodes[0].machine
    if found.totals.joules is None:
        pytest.skip("this machine tells nothing of its energy, and so little of its CPUs that there is no model")
    assert [node.energy.shared_by for node in found.nodes] == [3, 3, 3]
    assert "share" in found.provenance.energy.note


def test_layouts(three: Nodes, tmp_path: Path) -> None:
    """Uneven nodes, and ranks in the order of nodes or in turns."""
    tmp_path.chmod(0o777)
    for options in (("--layout", "1,3,2"), ("--layout", "3,1,2", "--map-by", "node")):
        done = three.run([JOB], *options, mca={"coll_poweraware_report_dir": str(tmp_path)})
        assert done.returncode == 0, done.stdout
        found = folders.load(tmp_path)
        assert found.complete and found.finished == 6
        assert sorted(node.host for node in found.nodes) == ["n0", "n1", "n2"]
        calls = [each.calls for each in found.calls if each.collective == "allreduce" and each.up_to_bytes is not None]
        assert sum(calls) >= 300
        assert sum(node.processes for node in found.nodes) == 6
    check_the_machine_is_counted_once(found)


def test_a_killed_job_leaves_a_part_per_node(three: Nodes, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    done = three.run([JOB, "kill"], "--layout", "2,2,2", mca={"coll_poweraware_report_dir": str(tmp_path)})
    assert done.returncode != 0

    def parts_are_whole() -> bool:
        parts = list(tmp_path.glob("job.*.partial.json"))
        return len(parts) == 3 and all("before it had finished" in part.read_text() for part in parts)

    assert comes_true(parts_are_whole, 600), list(tmp_path.iterdir())
    found = folders.load(tmp_path)
    assert not found.complete and found.reported == 6 and found.finished == 0
    assert [node.host for node in found.nodes] == ["n0", "n1", "n2"]
    allreduces = [each for each in found.calls if each.collective == "allreduce" and each.communicator == "MPI_COMM_WORLD"]
    assert sum(each.calls for each in allreduces) >= 300
    assert "6 of 6 processes are known" in (found.why_incomplete or "")
    assert not list(tmp_path.glob("job.json"))
    check_the_machine_is_counted_once(found)
