# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Energy samplers on the nodes during one run, and what they wrote as part of the document."""
from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any, List, Optional, Tuple

from bench.common import processes
from bench.common.countdown import Countdown
from bench.run.cluster import Cluster
from poweraware.session.document import NodeEnergy, Samples
from poweraware.session.energy import WHOLE_NODE

_FIRST_SAMPLE_S = 20.0
_STOP_GRACE_S = 10.0
_PARTS_OF_PACKAGES = "core"
_GPU_SOURCE = "nvml"


class Samplers:
    """One sampler per meter: on every node, or on one where all share the real hardware."""

    def __init__(self, cluster: Cluster, program: Optional[Path], interval_ms: int) -> None:
        self._cluster = cluster
        self._program = program
        self._interval_ms = interval_ms
        emulated = all(node.emulator is not None for node in cluster.nodes)
        every = list(range(len(cluster.nodes)))
        self._covers = [[node] for node in every] if emulated else [every]
        self._emulated = emulated
        self._running: List["subprocess.Popen[bytes]"] = []

    def start(self, folder: Path) -> None:
        """Starts the samplers and waits until each has written a sample or has ended."""
        if self._program is None:
            return
        for covers in self._covers:
            node = self._cluster.nodes[covers[0]].name
            output = _output(folder, covers[0])
            command = [str(self._program), "--interval-ms", str(self._interval_ms), "--output"]
            line = self._cluster.exec_command(node, command + [str(output)])
            self._running.append(processes.start(line, output.with_suffix(".log")))
        countdown = Countdown(_FIRST_SAMPLE_S)
        for covers, process in zip(self._covers, self._running):
            while process.poll() is None and countdown.left() > 0:
                if _has_sample(_output(folder, covers[0])):
                    break
                time.sleep(0.02)

    def stop(self) -> None:
        """Ends the samplers; each writes a last sample."""
        for process in self._running:
            if process.poll() is None:
                process.terminate()
        for process in self._running:
            if processes.wait(process, _STOP_GRACE_S) is None:
                processes.stop(process, 0.0)
        self._running = []

    def collect(self, folder: Path) -> List[NodeEnergy]:
        """What the samplers wrote, or why there is nothing."""
        return [self._collect_one(folder, covers) for covers in self._covers]

    def _collect_one(self, folder: Path, covers: List[int]) -> NodeEnergy:
        output = _output(folder, covers[0])
        if self._program is None:
            return _absent(covers, "poweraware-sample is not built")
        try:
            return parse(output.read_text(encoding="utf-8"), covers, self._emulated)
        except OSError:
            words = processes.last_words(output.with_suffix(".log")) or "it wrote nothing"
            return _absent(covers, f"poweraware-sample did not start: {words}")
        except (ValueError, KeyError, TypeError) as error:
            words = processes.last_words(output.with_suffix(".log")) or repr(error)
            return _absent(covers, f"poweraware-sample gave no samples: {words}")


def parse(text: str, covers: List[int], emulated: bool = False) -> NodeEnergy:
    """The JSON lines of a sampler; a last line that was cut off is left out, and so is a domain
    that could not be read all the time, unless the node's total needs it: ValueError.  The GPUs
    that an emulated node shows are the host's: they are left out too."""
    lines = text.split("\n")[:-1]
    head = json.loads(lines[0]) if lines else {}
    domains: List[str] = head["domains"]
    times, columns = _columns(lines[1:], len(domains))
    if len(times) < 2:
        raise ValueError("fewer than two samples")
    sources: List[str] = head.get("sources", [head["source"]] * len(domains))
    own = [not (emulated and source == _GPU_SOURCE) for source in sources]
    total = total_domains([name for name, mine in zip(domains, own) if mine])
    kept = {
        name: column
        for name, column, mine in zip(domains, columns, own)
        if mine and None not in column
    }
    for name in total:
        if name not in kept:
            raise ValueError(f"{name} could not be read all the time")
    samples = Samples(times, list(kept.values()))
    return NodeEnergy(covers[0], covers, head["source"], list(kept), total, samples)


def total_domains(domains: List[str]) -> List[str]:
    """Domains that add up to the node: the whole-node meter alone where there is one, else
    everything but core domains, which are parts of packages."""
    if WHOLE_NODE in domains:
        return [WHOLE_NODE]
    return [name for name in domains if not name.startswith(_PARTS_OF_PACKAGES)]


def _columns(lines: List[str], domains: int) -> Tuple[List[int], List[List[Any]]]:
    times: List[int] = []
    columns: List[List[Any]] = [[] for _ in range(domains)]
    for line in lines:
        sample = json.loads(line)
        values = sample["energy_uj"]
        if len(values) != domains:
            raise ValueError(f"a sample has {len(values)} values for {domains} domains")
        if times and sample["t_ns"] <= times[-1]:  # the real-time clock was set back
            continue
        times.append(sample["t_ns"])
        for column, value in zip(columns, values):
            column.append(value)
    return times, columns


def _output(folder: Path, node: int) -> Path:
    return folder / f"energy-{node}.jsonl"


def _has_sample(output: Path) -> bool:
    try:
        return output.read_bytes().count(b"\n") >= 2
    except OSError:
        return False


def _absent(covers: List[int], why: str) -> NodeEnergy:
    return NodeEnergy(covers[0], covers, None, [], [], Samples(), why)
