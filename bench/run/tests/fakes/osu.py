# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Stands in for osu_* and shift_*: OSU's table, the JSON file when asked for, the document of the component, and
writes to the emulated controls.  FAKE_OSU=KIND:SCHEME changes what it does under one scheme."""
from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from poweraware.tests.synthetic import make_job  # noqa: E402


def kind(scheme: str) -> str:
    name, _, where = os.environ.get("FAKE_OSU", "").partition(":")
    return name if where in ("", scheme) else ""


def write_trace(value: str) -> None:
    line = f"{time.monotonic_ns()},1,msr:0x19a,{value},77\n"
    for trace in Path(os.environ["FAKE_STATE"]).glob("nodes/*/emulator/trace.csv"):
        with trace.open("a") as file:
            file.write(line)


def measure(size: int, iterations: int, scheme: str) -> Dict[str, Any]:
    begin_ns = time.time_ns()
    if scheme == "throttle":
        write_trace("0x12")
    time.sleep(0.05)
    if scheme == "throttle":
        write_trace("0x0")
    end_ns = time.time_ns()
    average = (end_ns - begin_ns) / 1e3 / iterations
    wrong = kind(scheme) == "wrong" and size >= 2048
    return {
        "bytes": size,
        "iterations": iterations,
        "operations": iterations + 1,
        "avg_us": average,
        "min_us": average,
        "max_us": average,
        "t_begin_ns": begin_ns,
        "t_end_ns": end_ns,
        "cpu_s": 0.01,
        "validated": not wrong,
        **({"moved_bytes": size * iterations} if "shift" in os.environ.get("FAKE", "") else {}),
    }


def write_job(scheme: str, begin_ns: int) -> None:
    document = make_job(factor=(time.time_ns() - begin_ns) / 1e10)  # whose time is 10 s times that
    document["begin_ns"] = begin_ns
    document["settings"]["scheme"] = os.environ.get("OMPI_MCA_coll_poweraware_scheme", "auto")
    if kind(scheme) == "wrong-job":
        document["totals"]["joules"] *= 2
    Path(os.environ["OMPI_MCA_coll_poweraware_report_dir"], "job.json").write_text(json.dumps(document))


def ranks() -> List[Dict[str, Any]]:
    layout = [int(part) for part in os.environ["FAKE_LAYOUT"].split(",")]
    hosts = [f"n{node}" for node, count in enumerate(layout) for _ in range(count)]
    return [{"rank": rank, "host": host, "pid": 10 + rank, "cpu_s": 0.25, "wall_s": 1.0} for rank, host in enumerate(hosts)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-f", action="store_true", required=True)
    parser.add_argument("-c", action="store_true", required=True)
    parser.add_argument("-m", required=True)
    parser.add_argument("-i", type=int, required=True)
    parser.add_argument("-x", required=True)
    parser.add_argument("--validation-calls", type=int)
    parser.add_argument("--least-ms", type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("-T", dest="type", choices=["mpi_char", "mpi_int", "mpi_float"])
    options = parser.parse_args()
    scheme = os.environ.get("OMPI_MCA_osc_poweraware_scheme") or os.environ.get("OMPI_MCA_coll_poweraware_scheme", "")
    assert os.environ["OMPI_MCA_mca_base_component_path"].endswith(":SYS_DEFAULT")
    if kind(scheme) == "fail":
        print("MPI_ABORT was invoked", file=sys.stderr)
        return 13
    if kind(scheme) == "wrong-sums" and options.type != "mpi_float":  # as OSU 7.4 on Open MPI 4.1.4
        print(f"{'-' * 74}\nPrimary job  terminated normally, but 1 process returned\n{'-' * 74}", file=sys.stderr)
        print("# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations  Validation\n1024  17.24  16.97  17.52  10  Fail")
        return 1
    if kind(scheme) == "node-dies":
        state = Path(os.environ["FAKE_STATE"])
        (state / "up").unlink()
        shutil.rmtree(state / "nodes")
        return 137
    if kind(scheme) == "hang":
        time.sleep(600)
    Path("preloaded").write_text(f"{os.environ.get('LD_PRELOAD', '')} {os.environ.get('PEER_LEVEL', '-')}")
    if kind(scheme) == "leaves-throttled":
        write_trace("0x12")
    begin_ns = time.time_ns()
    print("\n# OSU MPI Fake Latency Test v7.0\n# Size       Avg Latency(us)   Min Latency(us)   "
          "Max Latency(us)  Iterations        Validation")  # fmt: skip
    size, largest = (int(part) for part in options.m.split(":"))
    rows: List[Dict[str, Any]] = []
    while size <= largest and not (kind(scheme) == "cut" and rows):
        row = measure(size, options.i, scheme)
        rows.append(row)
        latency = f"{row['avg_us']:.2f}"
        verdict = "Pass" if row["validated"] else "Fail"
        print(f"{size:<10} {latency} {latency} {latency} {options.i} {verdict}", flush=True)
        size *= 2
    write_job(scheme, begin_ns)
    if options.json is not None:
        options.json.write_text(json.dumps({"rows": rows, "ranks": ranks()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
