# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The rules find what they are for: each is broken once."""

from __future__ import annotations

import trace_rules as rules
from trace_rules import Interval, Levers, Rank

T7, T4 = 0x12, 0x18
BCAST = rules.COLLECTIVES.index("bcast")


def talk(begin: int, end: int, phase: int = 2, collective: int = rules.ALLTOALL, call: int = 0) -> Interval:
    return Interval(begin, end, collective, call, phase)


def levers(*writes: tuple[int, int]) -> dict[str, Levers]:
    node = Levers()
    for t_ns, value in writes:
        node.add(t_ns, 0, rules.MSR, value)
    return {"n0": node}


def rank(*net: Interval, number: int = 0, package: int = 0) -> Rank:
    return Rank(number, "n0", 0, package, list(net))


def test_levels() -> None:
    assert [rules.level(v) for v in (0x0, 0x8, T7, T4, 0x1E)] == [0, 0, 7, 4, 1]


def test_throttled_before_and_after_is_fine() -> None:
    node = levers((0, 0), (10, T7), (20, 0), (30, T7))
    assert rules.throttled_while_talking([rank(talk(20, 30))], node, 0) == []


def test_throttled_at_the_start() -> None:
    node = levers((0, 0), (10, T7), (20, 0))
    assert len(rules.throttled_while_talking([rank(talk(15, 30))], node, 0)) == 1


def test_throttled_in_the_middle() -> None:
    node = levers((0, 0), (25, T7), (26, 0))
    assert len(rules.throttled_while_talking([rank(talk(20, 30))], node, 0)) == 1


def test_partial_state_is_for_leaders_only() -> None:
    node = levers((0, 0), (10, T4))
    assert rules.throttled_while_talking([rank(talk(20, 30, collective=BCAST))], node, 4) == []
    assert len(rules.throttled_while_talking([rank(talk(20, 30, collective=rules.ALLTOALL))], node, 4)) == 1
    assert len(rules.throttled_while_talking([rank(talk(20, 30, collective=BCAST))], node, 0)) == 1


def test_two_packages_at_once() -> None:
    a, b = rank(talk(0, 10)), rank(talk(9, 20, 3), number=1, package=1)
    assert len(rules.several_groups_at_once([a, b])) == 1
    later = rank(talk(10, 20, 3), number=1, package=1)
    assert rules.several_groups_at_once([a, later]) == []


def test_phase_three_before_phase_two_is_over() -> None:
    a, b = rank(talk(0, 10, 2)), rank(talk(5, 20, 3), number=1, package=1)
    assert len(rules.phases_out_of_order([a, b])) == 1
    later = rank(talk(10, 20, 3), number=1, package=1)
    assert rules.phases_out_of_order([a, later]) == []


def test_phases_of_one_rank() -> None:
    assert len(rules.phases_out_of_order([rank(talk(0, 10, 3), talk(10, 20, 2))])) == 1
    assert len(rules.phases_out_of_order([rank(talk(0, 10, 1))])) == 1
    together = [rank(talk(0, 10, 3), talk(10, 20, 4)), rank(talk(0, 15, 3), number=1)]
    assert rules.phases_out_of_order(together) == []


def test_state_changes() -> None:
    node = levers((0, 0), (10, T7), (20, 0), (30, T7), (31, 0), (40, T7), (50, 0), (110, T7), (120, 0))
    a = rank(talk(22, 28))
    a.calls = [(5, 60, rules.ALLTOALL), (100, 130, BCAST)]
    assert rules.state_changes(a, node) == [4]  # 30..31 and 40..50 are one rest, the Bcast is none of ours
    a.net.append(talk(32, 38))
    assert rules.state_changes(a, node) == [6]
    a.calls = [(60, 100, rules.ALLTOALL)]
    assert rules.state_changes(a, node) == [0]


def test_two_talkers_in_a_bcast() -> None:
    a = rank(talk(0, 10, collective=BCAST))
    b = rank(talk(0, 10, collective=BCAST), number=1)
    assert len(rules.several_talkers([a, b])) == 1
    assert rules.several_talkers([a]) == []


def test_lever_left_behind() -> None:
    assert len(rules.not_restored(levers((0, 0), (10, T7)))) == 1
    assert rules.not_restored(levers((0, 0), (10, T7), (20, 0))) == []


def test_never_throttled() -> None:
    assert len(rules.never_throttled([rank()], levers((0, 0)))) == 1
