# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The OSU benchmarks: command lines, OSU's text table, and the JSON file that only ours write."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from bench.driver.options import WITHOUT_SIZES, Options
from bench.report.document import Rank, Row

# Column heads of OSU 5 to 7; datatypes, percentiles and the like are left out.
_COLUMNS = {
    "size": "bytes",
    "avg latency(us)": "avg_us",
    "min latency(us)": "min_us",
    "max latency(us)": "max_us",
    "iterations": "iterations",
    "validation": "validated",
}


def command(
    program: Path, benchmark: str, options: Options, json_file: Optional[Path]
) -> List[str]:
    """Full output (-f) and data validation (-c); the JSON file for our own programs only."""
    low, high = options.sizes[benchmark]
    line = [str(program), "-f", "-c"]
    line += [] if benchmark == WITHOUT_SIZES else ["-m", f"{low}:{high}"]
    line += ["-i", str(options.iterations), "-x", str(options.warmup)]
    return line if json_file is None else line + ["--json", str(json_file)]


def parse_text(text: str) -> List[Row]:
    """Rows of OSU's table.  Columns are found by their heads, as they differ between versions."""
    heads: List[str] = []
    rows: List[Row] = []
    for line in text.splitlines():
        if re.match(r"#\s*(Size\b|Avg Latency)", line):
            heads = re.split(r"\s{2,}", line.lstrip("# ").strip())
        elif heads and re.match(r"\s*\d", line):
            row = _text_row(heads, line.split())
            if row is not None:
                rows.append(row)
    return rows


def _text_row(heads: List[str], cells: List[str]) -> Optional[Row]:
    """None for a line that is cut off or mixed with other output."""
    if len(cells) != len(heads):
        return None
    named = {_COLUMNS.get(head.lower(), ""): cell for head, cell in zip(heads, cells)}
    try:
        return Row(
            bytes=int(named["bytes"]) if "bytes" in named else 0,
            iterations=int(named["iterations"]) if "iterations" in named else None,
            avg_us=float(named["avg_us"]),
            min_us=float(named["min_us"]) if "min_us" in named else None,
            max_us=float(named["max_us"]) if "max_us" in named else None,
            validated=named["validated"] == "Pass" if "validated" in named else None,
        )
    except (KeyError, ValueError):
        return None


def read_json(path: Path) -> Optional[Tuple[List[Row], List[Rank]]]:
    """Rows and ranks of our own programs; None when the file is absent or incomplete."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return [_json_row(row) for row in data["rows"]], [_json_rank(r) for r in data["ranks"]]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def why_invalid(rows: List[Row], largest: int) -> Optional[str]:
    """Why the rows are not a result; None when they are."""
    if not rows:
        return "the benchmark printed no results"
    wrong = [str(row.bytes) for row in rows if row.validated is False]
    if wrong:
        return f"wrong data for message sizes {', '.join(wrong)}"
    if rows[-1].bytes * 2 <= largest and largest > 0:
        return f"the results end at {rows[-1].bytes} bytes"
    return None


def _json_row(row: Dict[str, Any]) -> Row:
    return Row(
        bytes=row["bytes"],
        iterations=row["iterations"],
        avg_us=row["avg_us"],
        min_us=row["min_us"],
        max_us=row["max_us"],
        t_begin_ns=row["t_begin_ns"],
        t_end_ns=row["t_end_ns"],
        cpu_s=row.get("cpu_s"),
        validated=row["validated"],
    )


def _json_rank(rank: Dict[str, Any]) -> Rank:
    scope = None if rank["cpu_s"] is None else "calls"
    return Rank(rank["rank"], rank["host"], None, rank["pid"], rank["cpu_s"], scope)
