# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Joins what the benchmark and what the component say about each rank."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List

from bench.report.document import Rank


def read_reports(folder: Path) -> Dict[int, Dict[str, Any]]:
    """The component's rank-N.json files by rank; what cannot be read is left out."""
    reports: Dict[int, Dict[str, Any]] = {}
    for path in folder.glob("rank-*.json"):
        try:
            report = json.loads(path.read_text(encoding="utf-8"))
            reports[int(report["rank"])] = report
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return reports


def join(told: List[Rank], reports: Dict[int, Dict[str, Any]], nodes: List[str]) -> List[Rank]:
    """Ranks in order; CPU time is the benchmark's (of its timed calls), else the component's."""
    by_rank = {rank.rank: rank for rank in told}
    for number, report in reports.items():
        if number not in by_rank:
            cpu_s = _number(report.get("cpu_s"))
            pid = report.get("pid")
            by_rank[number] = Rank(
                rank=number,
                host=str(report.get("host", "")),
                node=None,
                pid=pid if isinstance(pid, int) else None,
                cpu_s=cpu_s,
                cpu_scope=None if cpu_s is None else "process",
            )
        by_rank[number].report = report
    for rank in by_rank.values():
        rank.node = nodes.index(rank.host) if rank.host in nodes else None
    return [by_rank[number] for number in sorted(by_rank)]


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
