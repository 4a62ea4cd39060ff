# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a job's page says in sentences."""
from __future__ import annotations

import dataclasses

from poweraware import advice, job
from poweraware.tests.synthetic import make_job

NOTE = ("Joules of calls are a share of their nodes' energy by time and state: a second of CPU time counts 1, a second asleep 0.3, "
        "one with P-states lowered 0.65, one with T-states lowered 0.475")  # fmt: skip


def made(**settings: str) -> job.Job:
    document = make_job()
    document["provenance"]["attribution"]["note"] = NOTE
    document["settings"].update(settings)
    return job.from_json(document, "made up")


def test_the_job_in_a_sentence() -> None:
    assert advice.result(made()) == "8 processes, 10 s, 2000 J (200 W, emulated); 4 % of the time in collectives, 50 % of that asleep."
    windows = made()
    windows.calls[0].collective = "win_fence"
    assert "of the time in collectives and windows, " in advice.result(windows)
    without = job.from_json(make_job(energy=False), "made up")
    assert "energy is not known" in advice.result(without) and advice.advice(without)


def test_what_sleep_saves() -> None:
    """3.5 s of calls, 1.75 asleep and 1.75 of CPU time, 70 J: 70 / (0.3 * 3.5 + 0.7 * 1.75) J for a second awake."""
    found = made()
    awake = 70 / (0.3 * 3.5 + 0.7 * 1.75)
    assert f"saved about {0.7 * 1.75 * awake:.4g} J (modelled)" in advice.advice(found)[0]
    assert not any("would save" in line for line in advice.advice(found)), "ranks do sleep"
    polls = made(idle="off")
    polls.totals.joules = 100.0
    polls.calls[0].spin_s = 2.0
    more = 0.7 * (2.0 + 0.1 + 0.05) * awake
    assert any(f"would save about {more:.4g} J (modelled): --mca coll_poweraware_idle collectives" in line for line in advice.advice(polls))


def test_what_levers_would_save() -> None:
    found = made()
    for node in found.nodes:
        node.levers[1].why_off = "no right to write 0x19a"
    (line,) = [line for line in advice.advice(found) if "T-states off: no right to write 0x19a" in line]
    assert f"{(1 - 0.475) * 1.75 * 70 / (0.3 * 3.5 + 0.7 * 1.75):.4g} J less (modelled)" in line and "poweraware-info" in line


def test_a_short_job_and_one_with_nothing_to_gain() -> None:
    found = made()
    found.totals.setup_s = 0.1 * found.totals.process_s
    assert any("Setting up poweraware took 10 % of the time" in line for line in advice.advice(found))
    idle = made()
    idle.totals.joules = 1e9
    assert advice.advice(idle) == ["Nothing else would save a noticeable part of this job's energy in collectives."]


def test_who_is_waited_for() -> None:
    """8 processes; 14 s of Barriers, of which rank 3 had none."""
    found = made()
    barrier = dataclasses.replace(found.calls[0], collective="barrier", seconds=14.0, least_s=0.0, least_process=3, processes=8, size=8)
    found.calls.append(barrier)
    (line,) = [line for line in advice.advice(found) if "waits for" in line]
    assert line == ("MPI_COMM_WORLD waits for rank 3: it spent 0.3 s in allreduce, alltoall, barrier, the others 2.386 s each (measured).")
    barrier.collective = "bcast"  # where a root leaves first, and is not late for that
    assert not any("waits for" in line for line in advice.advice(found))
    barrier.collective, barrier.size = "barrier", 2  # several communicators of one name
    assert not any("waits for" in line for line in advice.advice(found))
