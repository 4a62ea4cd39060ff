# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for patterns_shmem and patterns_windows: the JSON file, with times by a rule.  FAKE_PATTERNS=wrong: data of
PPQ are wrong; =silent: no file."""
from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict

FACTORS = {"MPQMPQ": 8, "MPMPQ": 4, "PQPQ": 6, "PPQ": 2, "MMPQAMM": 1, "putv": 1}


def row(operation: str, pattern: str, fragments: int, options: argparse.Namespace) -> Dict[str, Any]:
    begin_ns = time.time_ns()
    time.sleep(options.least_ms / 1e3)
    taken_us = 100.0 * FACTORS[pattern]
    return {
        "operation": operation, "pattern": pattern, "fragments": fragments, "bytes": options.bytes, "calls": 10,
        "median_us": taken_us, "mean_us": taken_us, "sender_cpu_us": taken_us / 2, "target_cpu_us": 7.0,
        "t_begin_ns": begin_ns, "t_end_ns": time.time_ns(), "way": "pack" if pattern == "putv" else None,
        "validated": not (os.environ.get("FAKE_PATTERNS") == "wrong" and pattern == "PPQ"),
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=int)
    parser.add_argument("--fragments")
    parser.add_argument("--operations")
    parser.add_argument("--least-ms", type=int)
    parser.add_argument("--calls", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    Path("environment.json").write_text(json.dumps({key: os.environ.get(key) for key in ("UCX_TLS", "OMPI_MCA_osc", "FAKE_LAYOUT")}))
    if os.environ.get("FAKE_PATTERNS") == "silent":
        print("patterns: no 268435456 bytes of symmetric memory", file=sys.stderr)
        return 1
    most = int(options.fragments.partition(":")[2])
    rows = []
    for operation in options.operations.split(","):
        for pattern in FACTORS:
            if pattern != "putv" or (operation == "put" and os.environ["FAKE"] == "shmem"):
                rows += [row(operation, pattern, f, options) for f in (1, 4) if f <= most]
    options.json.write_text(json.dumps({"library": os.environ["FAKE"], "rows": rows}))
    return 0 if all(each["validated"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
