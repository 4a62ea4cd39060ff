# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for isx: the JSON file, with times by a rule.  FAKE_ISX=wrong: keys of shnode are wrong; =silent: no file."""
from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict

FACTORS = {"stock": 6.0, "shnode-mixed": 5.0, "shnode": 3.0, "shnode-direct": 2.0}
PHASES = ("count", "plan", "bucketize", "puts", "barrier", "values", "exchange", "total")


def row(way: str, iteration: int) -> Dict[str, Any]:
    times = {f"{phase}_ms": FACTORS[way] + iteration for phase in PHASES}
    return {"way": way, "iteration": iteration, **times, "validated": not (os.environ.get("FAKE_ISX") == "wrong" and way == "shnode")}


def main() -> int:
    parser = argparse.ArgumentParser()
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--weak", type=int)
    size.add_argument("--strong", type=int)
    parser.add_argument("--pin", action="store_true", required=True)
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--warmup", type=int)
    parser.add_argument("--key-range", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    names = ("UCX_TLS", "FAKE_LAYOUT", "SHMEM_SYMMETRIC_SIZE")
    Path("environment.json").write_text(json.dumps({name: os.environ.get(name) for name in names}))
    if os.environ.get("FAKE_ISX") == "silent":
        print("isx: no 4096 bytes of symmetric memory: set SHMEM_SYMMETRIC_SIZE=8192", file=sys.stderr)
        return 1
    rows = [row(way, k) for k in range(options.iterations) for way in FACTORS]
    options.json.write_text(json.dumps({"rows": rows}))
    return 0 if all(each["validated"] for each in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
