# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Which calls take an algorithm of ours: scheme auto with tables right, wrong and unequal, and the
info key of a communicator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SRC = Path(os.environ["PWR_SRCDIR"]) / "coll_poweraware"
BUILD = Path(os.environ["PWR_BUILDDIR"])
MPIRUN = os.environ.get("MPIRUN", "mpirun")
BCASTS = str(BUILD / "coll_poweraware" / "tests" / "bcasts")
RANKS = 3
BCASTS_EACH = 3


def environment(parameters: dict[str, str]) -> dict[str, str]:
    ours = {"priority": "95", "helper_dir": str(BUILD / "opal"), "verbose": "2", **parameters}
    allow = {f"{owner}_ALLOW_RUN_AS_ROOT{end}": "1" for owner in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    return {**os.environ, **allow,
            "OMPI_MCA_mca_base_component_path": f"{BUILD}/coll_poweraware/component:SYS_DEFAULT",
            "OMPI_MCA_mpi_yield_when_idle": "1",
            # libraries of network cards take up to a second of each job; nothing here uses them
            "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^ofi",
            **pmix_plugins(),
            **{f"OMPI_MCA_coll_poweraware_{key}": value for key, value in ours.items()}}


def pmix_plugins() -> dict[str, str]:
    """Open MPI 5.0 and later look for PMIx's plug-ins where ours are unless told."""
    done = subprocess.run(["pkg-config", "--variable=pmix_pluginsdir", "pmix"], capture_output=True, text=True,
                          check=False)
    folders = [*done.stdout.split(), *map(str, Path("/usr/lib").glob("*/pmix2/lib/pmix"))]
    found = [folder for folder in folders if Path(folder).is_dir()]
    return {"PMIX_MCA_mca_base_component_path": found[0]} if found else {}


@dataclass
class Outcome:
    """What a job said and what its ranks counted."""

    text: str
    reports: list[dict[str, Any]]

    @property
    def handled(self) -> int:
        """Sizes that took an algorithm of ours, each in all of its Bcasts, but for two calls that set the communicator
        up; the same on every rank."""
        counts = {report["collectives"]["bcast"]["handled"] for report in self.reports}
        assert len(self.reports) == RANKS and len(counts) == 1, self.reports
        return (counts.pop() + 2) // BCASTS_EACH

    @property
    def chose(self) -> bool:
        """Whether some communicator got a state."""
        return "chooses" in self.text


def run(folder: Path, word: str, *sizes: str, apart: dict[str, str] | None = None, **parameters: str) -> Outcome:
    """Runs bcasts, each size BCASTS_EACH times; apart: parameters of rank 0 alone."""
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    # min_bytes: a call that moves levers counts as handled, too
    parameters = {"ranks_dir": str(reports), "min_bytes": str(1 << 30), **parameters}
    command = [MPIRUN, "--oversubscribe", "-np", str(RANKS)]
    if apart is not None:
        words = " ".join(f"OMPI_MCA_coll_poweraware_{key}={value}" for key, value in apart.items())
        command += ["sh", "-c", f'[ "$OMPI_COMM_WORLD_RANK" != 0 ] || export {words}; exec "$@"', "sh"]
    command += [BCASTS, word, *(size for size in sizes for _ in range(BCASTS_EACH))]
    done = subprocess.run(command, env=environment(parameters), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout
    return Outcome(done.stdout, [json.loads(path.read_text()) for path in sorted(reports.glob("rank-*.json"))])


def row(**changes: Any) -> dict[str, Any]:
    return {"collective": "bcast", "nodes": [1, None], "ranks_per_node": [1, None], "bytes": [1000, 2000],
            "algorithm": "box", **changes}


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text(json.dumps({"format_version": 1, "source": "test", "rows": rows}))
    return str(path)


def test_a_row_decides(tmp_path: Path) -> None:
    table = write(tmp_path / "table.json", row())
    outside = run(tmp_path, "-", "0", "999", "2001", decision_table=table)
    assert outside.handled == 0 and not outside.chose
    inside = run(tmp_path, "-", "999", "1000", "1500", "2000", "2001", decision_table=table)
    assert inside.handled == 3 and inside.chose


def test_auto_is_the_default_and_other_schemes_use_no_table(tmp_path: Path) -> None:
    table = write(tmp_path / "table.json", row())
    assert run(tmp_path, "-", "1500", decision_table=table, scheme="auto").handled == 1
    assert run(tmp_path, "-", "1500", decision_table=table, scheme="throttle").handled == 0
    assert run(tmp_path, "-", "1500", decision_table=table, scheme="throttle", min_bytes="0").handled == 1
    assert run(tmp_path, "-", "1500", decision_table=table, scheme="off").handled == 0


def test_rows_of_other_layouts_do_not_count(tmp_path: Path) -> None:
    for other in ({"nodes": [2, None]}, {"ranks_per_node": [1, RANKS - 1]}, {"ranks_per_node": [RANKS + 1, None]}):
        table = write(tmp_path / "table.json", row(**other))
        assert run(tmp_path, "-", "1500", decision_table=table).handled == 0, other
    both = write(tmp_path / "table.json", row(nodes=[1, 1], ranks_per_node=[RANKS, RANKS]))
    assert run(tmp_path, "-", "1500", decision_table=both).handled == 1


def test_a_forced_algorithm_wins(tmp_path: Path) -> None:
    table = write(tmp_path / "table.json", row())
    assert run(tmp_path, "-", "1500", decision_table=table, bcast_algorithm="stock").handled == 0
    assert run(tmp_path, "-", "5", decision_table=table, bcast_algorithm="leader").handled == 1


def test_functions_of_components_that_are_not_selected(tmp_path: Path) -> None:
    assert run(tmp_path, "-", "5", bcast_algorithm="basic").handled == 1
    assert run(tmp_path, "-", "1500", decision_table=write(tmp_path / "table.json", row(algorithm="basic"))).handled == 1
    assert run(tmp_path, "basic", "5").handled == 1


@pytest.mark.parametrize("name", ["basic", "tuned"])
def test_functions_of_the_selected_component_and_of_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("OMPI_MCA_coll", "poweraware,basic,libnbc,self,inter")
    assert run(tmp_path, "-", "5", bcast_algorithm=name).handled == 0


@pytest.mark.parametrize("text, reason", [
    ('{"format_version": 1, "source": "", "rows": [}', "line 1"),
    (json.dumps({"format_version": 1, "source": "", "rows": [row(), row(algorithm="bogus")]}),
     'row 2: there is no algorithm "bogus" of bcast'),
    (None, "no such file"),
])
def test_a_wrong_table_is_named_and_not_used(tmp_path: Path, text: str | None, reason: str) -> None:
    path = tmp_path / "table.json"
    if text is not None:
        path.write_text(text)
    outcome = run(tmp_path, "-", "1500", decision_table=str(path), verbose="1")
    lines = [line for line in outcome.text.splitlines() if "decision_table" in line]
    assert len(lines) == 1 and f"{path} is not used: {reason}" in lines[0], outcome.text
    assert outcome.handled == run(tmp_path, "-", "1500").handled


def test_ranks_with_unequal_tables_all_use_the_built_in_one(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.json", row())
    other = write(tmp_path / "other.json", row(bytes=[1000, 2001]))
    same = write(tmp_path / "same.json", row())
    builtin = run(tmp_path, "-", "1500").handled
    for name in (other, "/nonexistent/table.json"):
        outcome = run(tmp_path, "-", "1500", "1500", decision_table=mine, apart={"decision_table": name},
                      verbose="1")
        assert outcome.handled == 2 * builtin
        assert outcome.text.count("is not the same on all ranks") == 1, outcome.text
    assert run(tmp_path, "-", "1500", decision_table=mine, apart={"decision_table": same}).handled == 1


def test_the_info_key_of_a_communicator(tmp_path: Path) -> None:
    table = write(tmp_path / "table.json", row())
    assert run(tmp_path, "leader", "7", "1500", decision_table=table).handled == 2
    assert run(tmp_path, "stock", "1500", decision_table=table).handled == 0
    assert run(tmp_path, "bogus", "1500", decision_table=table).handled == 0
    assert run(tmp_path, "choose", "7", "1500", decision_table=table).handled == 1
    left_alone = run(tmp_path, "off", "1500", decision_table=table)
    assert left_alone.handled == 0 and left_alone.reports[0]["collectives"]["bcast"]["calls"] == 0


def test_the_built_in_table_follows_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SRC / "decision.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    assert [e.message for e in validator.iter_errors(json.loads((SRC / "decision.json").read_text()))] == []
    for wrong in (row(bytes=[0]), row(nodes=[0, 1]), row(collective="scatterv"), {"collective": "bcast"}):
        assert list(validator.iter_errors({"format_version": 1, "source": "", "rows": [wrong]}))


def test_the_built_in_table_is_right(tmp_path: Path) -> None:
    """The component reads its own table, and the file it was made from, without a word."""
    assert "decision" not in run(tmp_path, "-", "1").text
    assert "decision" not in run(tmp_path, "-", "1", decision_table=str(SRC / "decision.json")).text
