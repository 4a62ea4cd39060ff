# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""import poweraware: objects, and frames of pandas."""
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import poweraware
from poweraware import columns, export, folders
from poweraware.tests import make_fleet
from poweraware.tests.synthetic import make_job, make_region


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_fleet.make(tmp_path / "jobs", 5)
    marked = make_job(energy=False)
    marked["regions"] = [make_region("solve", 40.0)]
    (tmp_path / "jobs" / "job.json").write_text(json.dumps(marked))
    return tmp_path / "jobs"


def test_a_document_as_objects(folder: Path) -> None:
    job: poweraware.Job = poweraware.read(str(folder / "job.json"))
    assert job.processes == 8
    with pytest.raises(poweraware.DocumentError, match="No such file"):
        poweraware.read(folder / "none.json")
    with pytest.raises(AttributeError):
        getattr(poweraware, "frame")


def test_nothing_is_loaded_before_it_is_used() -> None:
    """The command tells where jsonschema is missing, and needs no pandas."""
    wrong = "import sys, poweraware, poweraware.{}; sys.exit(str([name for name in {!r} if name in sys.modules]) if {} else 0)"
    for module, names in (("interpreter", ["jsonschema", "pandas"]), ("main", ["pandas", "matplotlib"])):
        code = wrong.format(module, names, f"any(name in sys.modules for name in {names!r})")
        assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(poweraware.__file__).parents[1]).returncode == 0


def test_frames_have_the_columns_of_exports(folder: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    jobs = poweraware.jobs(folder)
    assert list(jobs.columns) == ["document", "begin", *(column.name for column in columns.JOB)] and len(jobs) == 6
    assert str(jobs["begin"].dtype) == "datetime64[ns, UTC]" and jobs["complete"].dtype == bool and str(jobs["nodes"].dtype) == "Int64"
    own = jobs[jobs["document"] == str(folder / "job.json")].iloc[0]
    assert pandas.isna(own["joules"]) and own["begin"] == pandas.Timestamp("2026-11-22T12:00:00Z")
    text = export.prometheus([export.Exported(folders.load(folder / "job.json"))])
    for name in ("seconds", "cpu_seconds", "collective_seconds", "asleep_seconds"):
        assert float(own[name]) == pytest.approx(float(text.split(f"\npoweraware_job_{name}{{")[1].split("} ")[1].split("\n")[0]))
    assert list(poweraware.regions(folder)["region"]) == ["solve"]
    assert len(poweraware.nodes(folder)) == 12 and set(poweraware.nodes(folder)["document"]) == set(jobs["document"])
    assert poweraware.calls(folder / "job.json")["up_to_bytes"].isna().sum() == 1
    power = poweraware.power(next(folder.glob("0*/*.json")))
    assert {"host", "time_seconds", "seconds", "watts"} < set(power.columns) and (power["watts"] >= 0).all() and len(power) > 2
    again = poweraware.jobs(folder, index=tmp_path / "i.sqlite").sort_values("document", ignore_index=True)
    assert again.equals(jobs.sort_values("document", ignore_index=True)), "an index has other figures"


def test_what_is_wrong_is_left_out_with_a_warning(folder: Path) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    (folder / "job-torn-h-1.json").write_text("{")
    with pytest.warns(UserWarning, match="1 documents are left out, such as .*job-torn-h-1.json: "):
        assert len(poweraware.jobs(folder)) == 6
    assert poweraware.jobs(folder / "01").dtypes.equals(poweraware.jobs(folder / "02").dtypes)
    (folder / "none").mkdir()
    assert poweraware.jobs(folder / "none").empty
