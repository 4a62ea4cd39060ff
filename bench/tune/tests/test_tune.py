# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""poweraware-tune in real jobs: what it writes, that the component takes the table that follows, what it refuses.  Which
rows come out is the machine's affair; how they follow from figures, poweraware/tests/test_decide.py checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SRC = Path(os.environ["PWR_SRCDIR"])
BUILD = Path(os.environ["PWR_BUILDDIR"])
MPIRUN = os.environ.get("MPIRUN", "mpirun")
TUNE = BUILD / "bench" / "tune" / "poweraware-tune"
FAULTY = BUILD / "bench" / "tune" / "tune_fault"


def pmix_plugins() -> dict[str, str]:
    """Open MPI 5.0 and later look for PMIx's plug-ins where ours are unless told."""
    found = [str(folder) for folder in Path("/usr/lib").glob("*/pmix2/lib/pmix") if folder.is_dir()]
    return {"PMIX_MCA_mca_base_component_path": found[0]} if found else {}


def run(ranks: int, program: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    allow = {f"{owner}_ALLOW_RUN_AS_ROOT{end}": "1" for owner in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    # mpirun of 4.1 waits so long for the other ranks of one that failed
    environment = {**os.environ, **allow, **pmix_plugins(), "OMPI_MCA_odls_base_sigkill_timeout": "0",
                   "OMPI_MCA_mpi_yield_when_idle": "1",
                   "OMPI_MCA_mca_base_component_path": f"{BUILD}/coll_poweraware/component:SYS_DEFAULT",
                   "OMPI_MCA_coll_poweraware_helper_dir": str(BUILD / "opal"), **variables}
    start = [MPIRUN, "--oversubscribe", "-np", str(ranks)] if ranks else []
    return subprocess.run([*start, str(program), *options], env=environment, capture_output=True, text=True,
                          check=False)


def measure(folder: Path, *options: str, ranks: int = 3, program: Path = TUNE, **variables: str) -> Any:
    path = folder / "measured.json"
    done = run(ranks, program, "--quick", "--seconds", "0.02", "--output", str(path), *options, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text()), done


def test_measurements_and_table(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    document, done = measure(tmp_path, "--collectives", "bcast,barrier,reduce")
    assert str(tmp_path / "measured.json") in done.stdout and "poweraware decide" in done.stdout
    assert "about" in done.stderr or "not known yet" in done.stderr
    assert {(p["collective"], p["size"]) for p in document["points"]} == {
        ("barrier", 0), *((c, size) for c in ("bcast", "reduce") for size in (8, 4096, 262144))}
    assert {(p["nodes"], p["ranks_per_node"]) for p in document["points"]} == {(1, 2), (1, 3)}
    for point in document["points"]:
        names = [v["name"] for v in point["variants"]]
        assert names[0] == "stock" and len(set(names)) == len(names)
        lengths = {len(v["us"]) for v in point["variants"] if not v["declines"]}
        assert len(lengths) == 1 and lengths.pop() >= 5
        assert all(us > 0 for v in point["variants"] for us in v["us"])
        assert not any(v["wrong"] for v in point["variants"])
    leaders = [v for p in document["points"] if p["collective"] == "bcast" for v in p["variants"]
               if v["name"] == "leader"]
    assert leaders and not any(v["declines"] for v in leaders)
    decided = subprocess.run([sys.executable, str(SRC / "poweraware" / "poweraware"), "decide", str(tmp_path / "measured.json"),
                              "-o", str(table)], capture_output=True, text=True, check=False)  # fmt: skip
    assert decided.returncode == 0, decided.stderr
    # the component takes the table without a word, and so does the schema
    bcasts = BUILD / "coll_poweraware" / "tests" / "bcasts"
    said = run(3, bcasts, "-", "8", OMPI_MCA_coll_poweraware_priority="95",
               OMPI_MCA_coll_poweraware_decision_table=str(table))
    assert said.returncode == 0 and "decision" not in said.stdout + said.stderr
    schema = json.loads((SRC / "coll_poweraware" / "decision.schema.json").read_text())
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft7Validator(schema).validate(json.loads(table.read_text()))


def test_layouts_and_variants(tmp_path: Path) -> None:
    document, _ = measure(tmp_path, "--collectives", "bcast", "--layouts", "1x2,world", "--variants",
                          "stock,tuned,basic,adapt,auto", "--sizes", "64")
    assert [(p["ranks_per_node"], p["size"]) for p in document["points"]] == [(2, 64), (3, 64)]
    for point in document["points"]:
        assert [v["name"] for v in point["variants"]] == ["stock", "adapt", "basic", "tuned", "auto"]


def test_what_declines_is_left_out(tmp_path: Path) -> None:
    """The grouped Alltoall is between nodes; on one it would be measured as the stock function again."""
    document, _ = measure(tmp_path, "--collectives", "alltoall", "--layouts", "1x2", "--variants", "stock,grouped",
                          "--sizes", "64", ranks=2)
    stock, grouped = document["points"][0]["variants"]
    assert not stock["declines"] and stock["us"] and grouped["declines"] and not grouped["us"]


def test_wrong_data_is_said_and_left_out(tmp_path: Path) -> None:
    document, done = measure(tmp_path, "--collectives", "bcast", "--layouts", "1x2", "--sizes", "64", "--variants",
                             "stock,basic", ranks=2, program=FAULTY, PWR_FAULT="flip 1 1 5")
    assert "basic of bcast, 64 bytes on 1 x 2 ranks: wrong data, left out" in done.stderr
    stock, basic = document["points"][0]["variants"]
    assert not stock["wrong"] and stock["us"] and basic["wrong"] and not basic["us"]


@pytest.mark.parametrize("options, reason", [
    ([], "nothing to do"),
    (["--output"], "option --output: needs a value, FILE"),
    (["--outputs", "x"], "unknown option --outputs"),
    (["--output", "x", "y"], 'unexpected argument "y"'),
    (["--output", "x", "--sizes", "8,6"], "not a list of sizes"),
    (["--output", "x", "--sizes", "8;"], "not a list of sizes"),
    (["--from", "x"], "unknown option --from"),
    (["--output", "x", "--blocks", "2"], "not a whole number from 3 to 200"),
    (["--output", "x", "--seconds", "0"], "not a number from 0.001 to 3600"),
])
def test_options_that_are_refused(tmp_path: Path, options: list[str], reason: str) -> None:
    done = run(0, TUNE, *options)
    assert done.returncode == 2 and reason in done.stderr and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize("options, reason", [
    (["--collectives", "scatterv"], '"scatterv" is not known'),
    (["--variants", "stock,bogus"], '"bogus" is neither'),
    (["--layouts", "2x1"], "this job has not 2 nodes with 1 ranks each"),
    (["--layouts", "1xx"], "is not NODESxRANKS"),
    (["--output", "/proc/nonexistent/m.json"], "/proc/nonexistent: No such file"),
])
def test_jobs_that_are_refused_say_it_once(tmp_path: Path, options: list[str], reason: str) -> None:
    done = run(2, TUNE, "--output", str(tmp_path / "m.json"), *options)
    assert done.returncode == 2 and done.stderr.count("poweraware-tune: ") == 1 and reason in done.stderr


def test_without_the_component(tmp_path: Path) -> None:
    done = run(2, TUNE, "--output", str(tmp_path / "t.json"), OMPI_MCA_coll="^poweraware")
    assert done.returncode == 2 and "has not loaded coll_poweraware" in done.stderr


def test_help_names_every_option() -> None:
    done = run(0, TUNE, "--help")
    manual = (SRC / "bench" / "tune" / "poweraware-tune.1").read_text().replace("\\-", "-")
    assert done.returncode == 0
    names = {word.strip(",") for line in done.stdout.splitlines() for word in line.split()[:2] if word.startswith("--")}
    assert len(names) == 12
    assert [name for name in names if name not in manual] == []
    assert run(0, TUNE, "--version").stdout.startswith("poweraware-tune (poweraware) ")
