# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The JSON document has the form of osu.schema.json, and says how much was moved."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "osu" / "tests"))

from osu_run import TOP, run  # noqa: E402

RANKS = 3


@pytest.mark.parametrize("operation, datatype", [("put", "MPI_BYTE"), ("accumulate", "MPI_DOUBLE")])
def test_document(operation: str, datatype: str, tmp_path: Path) -> None:
    path = tmp_path / "shift.json"
    done = run(f"../shift/shift_{operation}", RANKS, "-m", "8:32", "-i", "5", "-x", "1", "-c", "--json", str(path))
    assert done.returncode == 0, done.stderr
    document = json.loads(path.read_text())
    assert (document["benchmark"], document["datatype"], document["np"]) == (f"shift_{operation}", datatype, RANKS)
    for row, size in zip(document["rows"], (8, 16, 32), strict=True):
        operations = 5 * (RANKS - 1)
        warm = 1 * (RANKS - 1)
        assert (row["bytes"], row["iterations"], row["operations"]) == (size, operations, operations + warm)
        assert row["moved_bytes"] == size * (operations + warm) * RANKS
        assert row["validated"] is True
        # the slowest rank's operations lie between begin and end (1 us for the clocks' grain)
        assert row["max_us"] * operations <= (row["t_end_ns"] - row["t_begin_ns"]) / 1e3 + 1
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((TOP / "bench" / "osu" / "osu.schema.json").read_text())
    assert [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(document)] == []
