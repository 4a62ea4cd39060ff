# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for wait_load and shmem_load: the object that they print, and what the environment was.  FAKE_WAITS=wrong:
results are wrong; =silent: it prints nothing."""
from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("what")
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    parser.add_argument("--late-us", type=int, required=True)
    parser.add_argument("--collective")
    parser.add_argument("--bytes", type=int)
    options = parser.parse_args()
    names = ("UCX_TLS", "OMPI_MCA_scoll", "OMPI_MCA_coll_poweraware_scheme", "OMPI_MCA_mca_base_component_path")
    Path("seen.json").write_text(json.dumps({"what": options.what, "collective": options.collective, **{n: os.environ.get(n) for n in names}}))
    begin_ns = time.time_ns()
    time.sleep(options.iterations * options.late_us / 1e6)
    found = {"iterations": options.iterations, "time_us": {"mean": options.late_us + 10.0}, "t_begin_ns": begin_ns,
             "t_end_ns": time.time_ns(), "cpu_s": 0.125}  # fmt: skip
    if os.environ["FAKE"] == "shmem":
        found["wrong"] = 2 if os.environ.get("FAKE_WAITS") == "wrong" else 0
    if os.environ.get("FAKE_WAITS") != "silent":
        print("something that mpirun says")
        print(json.dumps(found))
    return 1 if found.get("wrong") else 0


if __name__ == "__main__":
    sys.exit(main())
