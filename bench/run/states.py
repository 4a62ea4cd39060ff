# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Frequencies and duty cycles over time, from the writes that the emulator traced.

The trace grows during the whole session: a reader remembers how far it has read and which state
each CPU was left in.  Times are CLOCK_MONOTONIC there and CLOCK_REALTIME in the document.
"""
from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from poweraware.session.document import Changes, CpuStates, NodeStates, Residency

# A run of many small calls can change states millions of times: beyond this many per node only the
# changes around its middle are kept, while transitions and residency always count all.
MAX_CHANGES = 8_000

FULL_DUTY = 100.0
_CLOCK_MODULATION = "msr:0x19a"
_MODULATION_ENABLE = 0x10
_MODULATION_STEPS = 16.0  # bit 0 is the half step; it is 0 where the CPU has steps of 1/8 only
_RATIO_KHZ = 100_000

State = Tuple[Optional[float], float]
Control = Tuple[int, str]  # cpu, what was written
Event = Tuple[int, int, State]  # realtime ns, cpu, state


def duty_percent(value: int) -> float:
    """Duty cycle that a value of IA32_CLOCK_MODULATION asks for."""
    steps = value & 0xF
    if not value & _MODULATION_ENABLE or steps == 0:
        return FULL_DUTY
    return steps / _MODULATION_STEPS * 100.0


def frequency_khz(control: str, value: str) -> Optional[float]:
    """Frequency that a write asks for; None for other controls."""
    if control in ("scaling_max_freq", "scaling_setspeed") and value.isdigit():
        return float(value)
    if control in ("msr:0x199", "msr:0x774"):  # PERF_CTL, HWP_REQUEST: ratio in bits 15:8
        return float((int(value, 16) >> 8 & 0xFF) * _RATIO_KHZ) or None
    return None


def realtime_offset_ns() -> int:
    """CLOCK_REALTIME minus CLOCK_MONOTONIC, from the closest of a few pairs of readings."""
    best: Optional[Tuple[int, int]] = None
    for _ in range(5):
        before = time.monotonic_ns()
        real = time.time_ns()
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, real - (before + after) // 2)
    assert best is not None
    return best[1]


@dataclass
class _Cpu:
    """What the trace says of a CPU so far."""

    freq_khz: Optional[float] = None
    duty_percent: float = FULL_DUTY


@dataclass
class TraceReader:
    """Reads one node's trace.csv piece by piece."""

    path: Path
    _position: int = 0
    _cpus: Dict[int, _Cpu] = field(default_factory=dict)
    _controls: Dict[Control, str] = field(default_factory=dict)

    def advance(self, offset_ns: int) -> List[Event]:
        """Changes of state in the complete lines written since the last call."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._position)
                data = file.read()
        except OSError:
            return []
        end = data.rfind(b"\n") + 1
        self._position += end
        events: List[Event] = []
        for line in data[:end].decode("ascii", errors="replace").splitlines():
            cells = line.split(",")
            if len(cells) == 5 and cells[0].isdigit():
                self._take(cells, offset_ns, events)
        return events

    def states(self) -> Dict[int, State]:
        """The current state of each CPU."""
        return {cpu: (now.freq_khz, now.duty_percent) for cpu, now in self._cpus.items()}

    def controls(self) -> Dict[Control, str]:
        """The current value of each control that the trace has."""
        return dict(self._controls)

    def _take(self, cells: List[str], offset_ns: int, events: List[Event]) -> None:
        cpu, control, value, writer = int(cells[1]), cells[2], cells[3], cells[4]
        self._controls[cpu, control] = value
        now = self._cpus.setdefault(cpu, _Cpu())
        before = (now.freq_khz, now.duty_percent)
        if control == _CLOCK_MODULATION:
            now.duty_percent = duty_percent(int(value, 16))
        else:
            # The last write decides; among the initial values (writer 0) the ceiling does.
            wish = frequency_khz(control, value)
            if wish is not None and (writer != "0" or control == "scaling_max_freq"):
                now.freq_khz = wish
        after = (now.freq_khz, now.duty_percent)
        if after != before:
            events.append((int(cells[0]) + offset_ns, cpu, after))


def moved(before: Mapping[Control, str], after: Mapping[Control, str]) -> Optional[str]:
    """The first control that is not as it was."""
    for (cpu, control), value in sorted(after.items()):
        if value != before.get((cpu, control), value):
            return f"{control} of CPU {cpu} is {value}, not {before[cpu, control]}"
    return None


def node_states(
    node: int,
    initial: Mapping[int, State],
    events: Sequence[Event],
    begin_ns: int,
    end_ns: int,
    packages: Dict[int, int],
) -> NodeStates:
    """States of a node between two times, from the states at begin and the changes since."""
    ordered = sorted(event for event in events if begin_ns < event[0] < end_ns)
    first, last = _window(ordered, begin_ns, end_ns)
    cpus = []
    for cpu in sorted(initial):
        timeline = [(begin_ns, initial[cpu])]
        timeline += [(t_ns, state) for t_ns, which, state in ordered if which == cpu]
        cpus.append(_cpu_states(cpu, packages.get(cpu), timeline, end_ns, (first, last)))
    complete = (first, last) == (begin_ns, end_ns)
    return NodeStates(node, first, last, complete, cpus)


def _window(events: Sequence[Event], begin_ns: int, end_ns: int) -> Tuple[int, int]:
    """The whole interval, or its middle part that holds as many changes as are kept."""
    if len(events) <= MAX_CHANGES:
        return begin_ns, end_ns
    middle = len(events) // 2
    low = middle - MAX_CHANGES // 2
    return events[low][0], events[low + MAX_CHANGES][0]


def _cpu_states(
    cpu: int,
    package: Optional[int],
    timeline: List[Tuple[int, State]],
    end_ns: int,
    window: Tuple[int, int],
) -> CpuStates:
    seconds: Dict[State, float] = {}
    changes = Changes()
    for place, (t_ns, state) in enumerate(timeline):
        until_ns = timeline[place + 1][0] if place + 1 < len(timeline) else end_ns
        seconds[state] = seconds.get(state, 0.0) + (until_ns - t_ns) / 1e9
        if until_ns > window[0] and t_ns < window[1]:
            changes.t_ns.append(max(t_ns, window[0]))
            changes.freq_khz.append(state[0])
            changes.duty_percent.append(state[1])
    residency = [Residency(state[0], state[1], spent) for state, spent in seconds.items()]
    return CpuStates(cpu, package, len(timeline) - 1, residency, changes)
