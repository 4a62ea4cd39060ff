#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of many jobs, made of one of a real job (sample.json): other users, programs, nodes, days, lengths.

    poweraware/tests/make_fleet.py FOLDER COUNT
"""
from __future__ import annotations

import copy
import json
import random
import sys
from pathlib import Path
from typing import Any, Dict

Json = Dict[str, Any]

_SAMPLE = Path(__file__).resolve().parent / "sample.json"
_USERS = ("ada", "bo", "cy", "dee", "eve")
_PROGRAMS = ("cfd", "md", "qcd")
_TIMES = ("seconds", "process_s", "cpu_s", "setup_s", "joules", "uncertainty_j", "spin_s", "monitor_s", "sleep_s", "longest_s", "least_s")
_DAY_NS = 86_400_000_000_000
_FOLDERS = 100


def make_one(sample: Json, number: int) -> Json:
    """A job of its own: times and energy of a random factor, sums as they were."""
    chance = random.Random(number)
    found = copy.deepcopy(sample)
    _scale(found, chance.uniform(0.5, 20.0))
    found["begin_ns"] += number % 90 * _DAY_NS + number
    found["job"].update(id=str(number), batch_job=str(1000 + number), user=_USERS[number % len(_USERS)], program=chance.choice(_PROGRAMS))
    first = chance.randrange(500)
    for k, node in enumerate(found["nodes"]):
        node["host"] = f"node{first + k}"
    return found


def make(folder: Path, count: int) -> None:
    """count documents, in folders of many."""
    sample = json.loads(_SAMPLE.read_text(encoding="utf-8"))
    for number in range(count):
        place = folder / f"{number % _FOLDERS:02}" / f"job-{number}-n0-1.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(make_one(sample, number)), encoding="utf-8")


def _scale(node: Any, factor: float) -> None:
    if isinstance(node, list):
        for each in node:
            _scale(each, factor)
    elif isinstance(node, dict):
        for name, value in node.items():
            if name in _TIMES and value is not None:
                node[name] = value * factor
            elif name != "decisions":
                _scale(value, factor)


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]))
