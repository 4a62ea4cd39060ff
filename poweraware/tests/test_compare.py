# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Comparisons: equal groups are equal, differences are found with as many runs as were asked for, unlike runs are
refused."""
from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest

from poweraware import compare, job, main, student
from poweraware.compare import Group
from poweraware.documents import DocumentError, convert
from poweraware.job import Region
from poweraware.tests.synthetic import make_job, make_region

Json = Dict[str, Any]


BASE = job.from_json(make_job(), "base")


def group(name: str, runs: int, chance: random.Random, factor: float = 1.0) -> Group:
    """Runs whose time and energy scatter by 1 %."""
    made = []
    for number in range(runs):
        scale = factor * (1.0 + chance.gauss(0.0, 0.01))
        totals = BASE.totals
        assert totals.joules is not None
        changed = replace(totals, seconds=scale * totals.seconds, joules=scale * totals.joules, cpu_s=scale * totals.cpu_s)
        made.append(replace(BASE, totals=changed, begin_ns=BASE.begin_ns + number * 60_000_000_000))
    return compare.group(name, made)


@pytest.mark.parametrize(
    "probability, freedom, known",
    [(0.975, 1, 12.7062), (0.975, 2, 4.30265), (0.995, 3, 5.84091), (0.9995, 5, 6.86883), (0.99, 30, 2.45726),
     (0.05, 10, -1.81246), (0.975, 100000, 1.95996)],
)  # fmt: skip
def test_quantiles_are_those_of_tables(probability: float, freedom: float, known: float) -> None:
    assert student.quantile(probability, freedom) == pytest.approx(known, rel=1e-5)


def test_equal_groups_are_equal() -> None:
    """In at least 95 of 100 comparisons."""
    chance = random.Random(1)
    same = sum(not compare.compare([group("a", 5, chance), group("b", 5, chance)], 0.03).differs() for _ in range(100))
    assert same >= 95


def test_a_difference_of_3_percent_is_found_with_what_was_asked_for() -> None:
    chance = random.Random(2)
    found = 0
    for _ in range(100):
        first = compare.compare([group("a", 3, chance), group("b", 3, chance, 1.03)], 0.03)
        asked = max(ratio.repetitions for ratio in first.ratios[0])
        assert 3 <= asked <= 200
        again = compare.compare([group("a", asked, chance), group("b", asked, chance, 1.03)], 0.03)
        ratio = next(each for each in again.ratios[0] if each.figure.name == "energy")
        found += ratio.ratio.differs and (ratio.ratio.low or 0.0) < 1.03 * 1.01
    assert found >= 95


def test_intervals_hold_what_they_should() -> None:
    chance = random.Random(3)
    covered = 0
    for _ in range(200):
        result = compare.compare([group("a", 4, chance), group("b", 7, chance, 1.1)], 0.03)
        ratio = result.ratios[0][0].ratio
        assert ratio.low is not None and ratio.high is not None
        covered += ratio.low <= 1.1 <= ratio.high
    assert covered >= 194


def test_runs_without_scatter_differ_by_what_they_do() -> None:
    same = [job.from_json(make_job(), "a")] * 3
    more = [job.from_json(make_job(factor=1.001), "b")] * 3
    result = compare.compare([compare.group("a", same), compare.group("b", more)], 0.03)
    assert result.differs() and result.ratios[0][0].repetitions == 3
    assert not compare.compare([compare.group("a", same), compare.group("b", same)], 0.03).differs()


def marked(name: str, chance: random.Random, factor: float = 1.0, also: str = "rest") -> Group:
    """Six runs that differ by chance, but for what they do in one region."""
    runs = []
    for run in group(name, 6, chance).runs:
        regions = [make_region("solve", 2.0 * factor * (1.0 + chance.gauss(0.0, 0.01))), make_region(also, 1.0 + chance.gauss(0.0, 0.01))]
        runs.append(replace(run, regions=convert(List[Region], regions)))
    return compare.group(name, runs)


def test_regions_are_compared_beside_whole_jobs() -> None:
    chance = random.Random(5)
    first, same, other = marked("a", chance), marked("b", chance), marked("c", chance, 1.2)
    result = compare.compare([first, same, other], 0.03)
    text = compare.as_text(result)
    assert result.differs() and "Difference: time of solve, energy of solve, CPU time of solve." in text
    assert re.search(r"solve +time +2\.0\d* s +2\.[34]\d* s +1\.(19|20|21)\d \[1\.", text)
    assert "Energy of regions: modelled." in " ".join(text.split())
    assert [each.figure.title for each in result.regions[0]][:4] == ["time of solve", "energy of solve", "CPU time of solve", "time of rest"]
    assert not compare.compare([first, same], 0.03).differs()
    bare = [compare.group(each.name, [replace(run, regions=[]) for run in each.runs]) for each in (first, same, other)]
    assert compare.compare(bare, 0.03).ratios == result.ratios, "marks change what is known of whole jobs"
    assert "Regions" not in compare.as_text(compare.compare(bare, 0.03))


def test_a_region_that_not_all_runs_were_in_is_named() -> None:
    chance = random.Random(6)
    result = compare.compare([marked("a", chance), marked("b", chance, also="more")], 0.03)
    assert {each.figure.region for each in result.regions[0]} == {"solve"}
    text = compare.as_text(result)
    assert "region rest: not all runs were in it." in text and "region more: not all runs were in it." in text


UNLIKE: Dict[str, Callable[[Json], Any]] = {
    "the command differs: a <b> & c -x in a, a <b> & c -y in b": lambda d: d["job"].update(command=["./a", "-y"]),
    "the version of Open MPI differs: 4.1.4 in a, 5.0.7 in b": lambda d: d["software"].update(open_mpi="5.0.7"),
    "where energy comes from differs: emulated in a, measured in b": lambda d: d["provenance"]["energy"].update(kind="measured"),
    "CPUs per node differs": lambda d: d["nodes"][0].update(cpus=2),
    "b: a run is not complete": lambda d: d.update(complete=False, why_incomplete="killed"),
}


@pytest.mark.parametrize("what", UNLIKE)
def test_unlike_runs_are_refused(what: str) -> None:
    document = make_job()
    UNLIKE[what](document)
    like, unlike = job.from_json(make_job(), "a"), job.from_json(document, "b")
    with pytest.raises(DocumentError) as caught:
        compare.compare([compare.group("a", 3 * [like]), compare.group("b", 3 * [unlike])], 0.03)
    assert what in str(caught.value)


def test_groups_must_be_groups() -> None:
    first, other = job.from_json(make_job(), "a"), make_job()
    other["settings"]["scheme"] = "dvfs"
    mixed = [first, job.from_json(other, "b")]
    with pytest.raises(DocumentError, match="no repetitions"):
        compare.compare([compare.group("a", 3 * [first]), compare.group("b", mixed)], 0.03)
    with pytest.raises(DocumentError, match="b: 2 runs do not show how much runs scatter: make at least 3"):
        compare.compare([compare.group("a", 3 * [first]), compare.group("b", 2 * [first])], 0.03)


def save(folder: Path, runs: int, chance: random.Random, factor: float, minute: int) -> None:
    for number in range(runs):
        document = make_job(factor=factor, seed=chance.randrange(1 << 30))
        document["begin_ns"] += (2 * number + minute) * 60_000_000_000
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "job.json").write_text(json.dumps(document))


def run_main(arguments: List[str], capsys: pytest.CaptureFixture[str]) -> "tuple[int, str, str]":
    status = main.main(arguments)
    said = capsys.readouterr()
    return status, said.out, said.err


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(4)
    for name, factor, minute in (("one", 1.0, 0), ("same", 1.0, 1), ("more", 1.3, 1), ("later", 1.0, 1000)):
        save(tmp_path / name, 6, chance, factor, minute)
    one, same, more, later = (str(tmp_path / name) for name in ("one", "same", "more", "later"))
    status, text, _ = run_main(["compare", one, same], capsys)
    assert status == 0 and "No difference." in text and "in turns" not in text
    status, text, _ = run_main(["compare", one, same, more], capsys)
    assert status == 1 and "Difference: time, energy, CPU time." in text and re.search(r"(2[789]|3[0123])\.. % more", text)
    status, text, _ = run_main(["compare", one, later], capsys)
    assert status == 0 and "not in turns" in text
    status, text, _ = run_main(["compare", one, same, "--difference", "0.5"], capsys)
    assert "runs of each would find 0.5 %" in text
    for wrong, said in (([one], "two groups"), ([one, str(tmp_path / "no")], "no such file"), ([one, same, "--difference", "0"], "--difference 0"),
                        ([one, str(tmp_path)], "there are no runs")):  # fmt: skip
        status, _, errors = run_main(["compare", *wrong], capsys)
        assert status == 2 and said in errors
