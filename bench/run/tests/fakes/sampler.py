# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for poweraware-sample: a node of 100 W, three quarters of it in the package."""
from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

WATTS = {"package-0": 75.0, "core-0": 30.0, "dram-0": 25.0}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--interval-ms", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    if os.environ.get("FAKE_SAMPLER") == "fail":
        print("poweraware-sample: no energy meter: powercap: no such directory", file=sys.stderr)
        return 1
    stopping = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stopping.append(number))
    start = time.time_ns()
    with options.output.open("w") as file:
        file.write(json.dumps({"source": "powercap", "host": "n0", "domains": list(WATTS)}) + "\n")
        while True:
            last = bool(stopping)
            now = time.time_ns()
            used = [round(watts * (now - start) / 1e3) for watts in WATTS.values()]
            file.write(json.dumps({"t_ns": now, "energy_uj": used}) + "\n")
            file.flush()
            if last:
                return 0
            time.sleep(options.interval_ms / 1e3)


if __name__ == "__main__":
    sys.exit(main())
