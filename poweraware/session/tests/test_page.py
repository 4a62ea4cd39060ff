# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The page, its pictures and the text, also where data are missing."""
from __future__ import annotations

import base64
import copy
import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Dict, List

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from poweraware.session import energy, page, summary, tables, text, words  # noqa: E402
from poweraware.session.document import Document, from_json  # noqa: E402
from poweraware.session.tests.browser import screenshot  # noqa: E402
from poweraware.session.tests.synthetic import make_applications, make_document  # noqa: E402

Json = Dict[str, Any]


@pytest.fixture(scope="module")
def data() -> Json:
    return make_document(repetitions=2, nodes=2, ppn=4)


@pytest.fixture(scope="module")
def small() -> Json:
    """With every kind of picture once: a page is drawn in a third of the time."""
    return make_document(benchmarks=("alltoall",), schemes=("off", "throttle"), repetitions=2, nodes=2, ppn=2)


@pytest.fixture(scope="module")
def html(data: Json) -> str:
    return page.render([from_json(data, "generator")], ["a <b> & c"])


def broken(data: Json, what: str) -> Document:
    """A document in which one kind of data is missing."""
    changed = copy.deepcopy(data)
    for run in changed["runs"]:
        if what == "energy":
            for meter in run["energy"]:
                meter["samples"] = {"t_ns": [], "uj": []}
                meter.update(domains=[], total_domains=[], source=None, why_absent="no <powercap>")
        if what == "states":
            run["states"] = []
        if what == "cpu":
            run["ranks"] = []
        if what == "rows":
            run.update(rows=[], window="mpirun", failure="exit status 1", exit_status=1)
    if what == "runs":
        changed["runs"] = []
    return from_json(changed, what)


def parse(html: str) -> ElementTree.Element:
    assert html.startswith("<!DOCTYPE html>\n")
    return ElementTree.fromstring(html.split("\n", 1)[1])


def images(html: str) -> List[ElementTree.Element]:
    return list(parse(html).iter("img"))


def test_page_is_well_formed_and_every_picture_has_words(html: str) -> None:
    figures = [element for element in parse(html).iter("figure")]
    assert len(figures) == 6 + 3 + 1 + 1
    for figure in figures:
        image, caption = figure.find("img"), figure.find("figcaption")
        assert image is not None and len(image.get("alt", "")) > 40
        assert caption is not None and caption.text
        assert re.search(r"(time|power|energy|states): (measured|emulated)", caption.text)
    assert "a &lt;b&gt; &amp; c" in html


def test_conditions_are_told_as_they_were(data: Json, html: str) -> None:
    changed = copy.deepcopy(data)
    changed["cluster"]["binding"] = {"bind_to": "none", "map_by": "slot"}
    said = words.setting(from_json(changed, "generator"))
    assert "; --bind-to none --map-by slot under all schemes; " in said
    assert "commit abc, cc 12" in said
    assert "--bind-to core --map-by core under all schemes" in html


def test_nothing_is_loaded_from_anywhere(html: str) -> None:
    assert not re.search(r"https?://", html)
    for element in parse(html).iter():
        assert element.tag not in ("script", "link", "iframe", "object")
        assert element.get("src", "data:").startswith("data:")
    for image in images(html):
        svg = base64.b64decode(image.get("src", "").split(",", 1)[1])
        for element in ElementTree.fromstring(svg).iter():
            for name, value in element.items():
                if name.endswith("href"):
                    assert value.startswith(("#", "data:")), value


def test_the_same_document_gives_the_same_page(small: Json) -> None:
    first, second = (page.render([from_json(small, "generator")], ["a"]) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "what, said",
    [
        ("energy", "No picture: node 0: no &lt;powercap&gt;"),
        ("states", "No picture: no states were recorded"),
        ("cpu", "No picture: the benchmark does not tell the CPU time of each rank"),
        ("rows", "No picture: no run gave such figures"),
        ("runs", "There are no runs"),
    ],
)
def test_missing_data_is_said_not_drawn(small: Json, what: str, said: str) -> None:
    document = broken(small, what)
    html = page.render([document], [what])
    parse(html)
    assert said in html
    assert text.render(document)


def test_unequal_runs_still_draw(data: Json) -> None:
    """One scheme failed throughout, another lost a size and a rank's CPU time."""
    changed = copy.deepcopy(data)
    for run in changed["runs"]:
        if run["scheme"] == "dvfs":
            run.update(failure="exit status 205", exit_status=205, window="mpirun", rows=[], energy=[], states=[])
        if run["scheme"] == "throttle":
            run["rows"].pop()
            run["ranks"][3].update(cpu_s=None)
    document = from_json(changed, "generator")
    assert len(images(page.render([document], ["a"]))) == 6 + 3 + 1 + 1
    shown = text.render(document)
    assert "(rows)" not in shown and "have no document of their job" not in shown, "all that count have rows"
    assert "Of failed runs: from start to end of mpirun." in shown
    assert "WARNING: Run alltoall-dvfs-1 failed and is left out: exit status 205." in shown
    assert re.search(r"alltoall +dvfs +0 \(\+2 failed\)", shown)


def test_applications_have_tables_as_the_paper_s() -> None:
    """Two sessions, of 8 and of 16 ranks, on one page with one table of energies."""
    documents = [from_json(make_applications(ppn), "generator") for ppn in (4, 8)]
    html = page.render(documents, ["8", "16"])
    parse(html)
    assert html.count("Energy of applications, as tables I and II of the paper") == 1
    for head in ("ft.S, 8 ranks (J)", "is.S, 8 ranks (J)", "ft.S, 16 ranks (J)", "is.S, 16 ranks (J)"):
        assert f"<th>{head}</th>" in html
    assert "Time of applications" in html and "Latency by message size" not in html and "No picture" not in html
    shown = text.render(documents[0])
    (line,) = [line for line in shown.splitlines() if line.startswith("auto   ")]
    energies = re.findall(r"([\d.]+) ± [\d.]+ \(([-+][\d.]+) % \[", line)
    assert len(energies) == 2, line
    off, auto = (summary.cell(documents[0], "ft.S", scheme).energy_j.value for scheme in ("off", "auto"))
    assert off is not None and auto is not None
    assert float(energies[0][0]) == pytest.approx(auto.mean, rel=1e-3)
    assert float(energies[0][1]) == pytest.approx(100 * (auto.mean / off.mean - 1), abs=0.06)
    assert re.search(r"ft\.S +auto .* right$", shown, re.MULTILINE)


def rows_of(title: str, data: Json) -> List[List[str]]:
    """Rows of ft.S in a table of the text, without the benchmark."""
    shown = text.render(from_json(data, "generator")).split(f"\n{title}\n", 1)[1].split("\n\n", 1)[0]
    return [re.split(r" {2,}", line)[1:] for line in shown.splitlines() if line.startswith("ft.S")]


def test_regions_have_figures_under_each_scheme() -> None:
    data = make_applications()
    rows = rows_of("Regions of the programs", data)
    assert rows[:3] == [
        ["solve", "off", "4 ± 0", "25 ± 0", "2 ± 0", "40 ± 0"],
        ["solve", "auto", "4.400 ± 0.044", "25 ± 0", "2.200 ± 0.022", "20 ± 0"],
        ["(others)", "off", "1 ± 0", "25 ± 0", "0.5 ± 0", "-"],
    ]
    assert [row[:2] for row in rows[4:]] == [["outside of regions", "off"], ["outside of regions", "auto"]]
    process_s = [run["job"]["totals"]["process_s"] for run in data["runs"] if (run["benchmark"], run["scheme"]) == ("ft.S", "off")]
    assert float(rows[4][2].split()[0]) == pytest.approx(sum(process_s) / len(process_s) - 5.0, rel=0.01)
    html = page.render([from_json(data, "generator")], ["a"])
    assert "<h2>Regions of the programs</h2>" in html and "<h2>Ratios of regions to off</h2>" in html
    assert html.count("energy of regions: modelled, a share of") == 2
    assert "Energy of regions: modelled" in html and "Shares by time and state." in html


def test_regions_have_ratios_in_pairs_of_repetitions() -> None:
    """The interval is reckoned by hand: 4.303 is Student's t of two degrees, logarithms scatter by a hundredth."""
    low, middle, high = (math.exp(math.log(1.1 * (0.99 * 1.01) ** (1 / 3)) + sign * 4.303 * 0.01 / 3**0.5) for sign in (-1, 0, 1))
    ratio = f"{middle:.3f} [{low:.3f}, {high:.3f}]"
    rows = rows_of("Ratios of regions to off", make_applications())
    assert rows[:3] == [["solve", "off", "1", "1", "1"], ["solve", "auto", ratio, ratio, "0.500 [0.500, 0.500]"], ["(others)", "off", "1", "1", "-"]]


def test_regions_of_few_runs_claim_nothing(data: Json) -> None:
    few = make_applications()
    few["runs"] = [run for run in few["runs"] if run["repetition"] < 3]
    assert [row[2] for row in rows_of("Ratios of regions to off", few)[:2]] == ["1", "1.094 (2 runs)"]
    assert "regions" not in text.render(from_json(data, "generator")), "programs that mark nothing have a table of it"
    marks_late = make_applications()
    for run in marks_late["runs"]:
        if run["scheme"] == "off":
            run["job"]["regions"] = []
    rows = rows_of("Regions of the programs", marks_late)
    assert [row[:2] for row in rows] == [[name, "auto"] for name in ("solve", "(others)", "outside of regions")]


def test_short_runs_are_warned_of() -> None:
    data = make_applications()
    data["settings"]["interval_ms"] = 5000.0
    assert any("ft.S, is.S: there are runs shorter than 20 s" in line for line in words.warnings(from_json(data, "generator")))


def test_oversubscription_is_said(data: Json) -> None:
    document = from_json(data, "generator")
    assert "with 8 ranks on 2 CPUs: oversubscribed" in words.time_caption(document)
    assert "not comparable to real hardware" in " ".join(words.provenance(document))
    document.host.cpus = 8
    assert words.time_caption(document) == "time: measured"
    assert "not comparable" not in " ".join(words.provenance(document))


def test_the_first_sentence_tells_what_is_certain() -> None:
    document = from_json(make_document(repetitions=3), "generator")
    sentence = words.result(document)
    assert sentence.startswith("throttle: ") and "of off's; geometric mean of 3 benchmarks" in sentence
    time = summary.overall(document, "throttle", summary.run_time_s)
    assert time is not None and f"time {time.text()}" in sentence
    assert ("% more time" in sentence) == (time.differs and time.middle > 1)
    assert [line.split(":")[0] for line in words.conclusions(document)[:2]] == ["dvfs", "throttle"]
    document.runs = [run for run in document.runs if run.repetition == 1]
    assert words.result(document).startswith("throttle against off: too few repetitions for a claim (")
    document.runs = [run for run in document.runs if run.scheme == "off"]
    assert "nothing to compare" in words.result(document)


def test_latency_of_rooted_collectives_is_that_of_the_slowest_rank(data: Json) -> None:
    document = from_json(data, "generator")
    assert "Latency of bcast and reduce is that of the slowest rank" in " ".join(text.render(document).split())
    run = document.good_runs("bcast", "off")[0]
    run.rows[0].max_us = 3 * run.rows[0].avg_us
    assert summary.latency_us(run, run.rows[0]) == 3 * run.rows[0].avg_us
    run.rows[0].max_us = None
    assert summary.latency_us(run, run.rows[0]) == run.rows[0].avg_us
    document.runs = [run for run in document.runs if run.benchmark == "alltoall"]
    assert words.latency_caption(document) == ""


def test_levers_off_is_a_warning(data: Json) -> None:
    changed = copy.deepcopy(data)
    changed["runs"][0]["job"]["nodes"][0]["levers"][0]["why_off"] = "scheme is off"
    for lever in changed["runs"][1]["job"]["nodes"][0]["levers"]:
        lever["why_off"] = "not bound"
    found = words.warnings(from_json(changed, "generator"))
    assert found == ["Run alltoall-dvfs-1, 1 node: P-states, T-states off: not bound."]


def test_of_a_peer_only_its_own_levers_count(data: Json) -> None:
    changed = copy.deepcopy(data)
    changed["settings"]["preloads"] = {"dvfs": {"file": "/opt/libpeer.so", "variables": {}}}
    for run in changed["runs"]:
        if run["scheme"] == "dvfs":
            run["job"]["nodes"][0]["levers"][0]["why_off"] = "scheme is off"
    document = from_json(changed, "generator")
    assert words.warnings(document) == []
    assert not any("scheme is off" in line for line in words.conclusions(document))
    for run in document.runs:
        for cpu in (cpu for node in run.states for cpu in node.cpus):
            cpu.transitions = 0
    assert words.warnings(document) == [
        "dvfs has moved no lever: does it need a variable (--preload-env), or a right, to do so?"
    ]
    for run in document.runs:
        run.states = []
    assert words.warnings(document) == [], "where states are not known nothing is said"


def test_spread_is_rounded_together_with_its_mean() -> None:
    from poweraware.session.summary import Spread

    assert words.mean_and_deviation(Spread(7603.2, 149.7, 3)) == "7603 ± 150"
    assert words.mean_and_deviation(Spread(0.82301, 0.0162, 3)) == "0.823 ± 0.016"
    assert words.mean_and_deviation(Spread(760.0, 1e-13, 3)) == "760 ± 0"
    assert words.mean_and_deviation(Spread(1148.812, 0.0231, 3)) == "1148.8 ± 0.0"
    assert words.mean_and_deviation(Spread(0.5, 0.0, 1)) == "0.5"
    assert words.mean_and_deviation(None) == "-"


def test_text_holds_the_ratios(data: Json) -> None:
    shown = text.render(from_json(data, "generator"))
    ratios = shown.split("Ratios to off", 1)[1].splitlines()
    line = next(line for line in ratios if line.startswith("alltoall   throttle"))
    assert re.search(r"1\.120 \(2 runs\) +1\.120 \(2 runs\) +0\.4\d\d \(2 runs\)", line)


def test_share_of_what_can_be_saved(data: Json) -> None:
    """Only where the floor of what was sampled is known."""
    changed = copy.deepcopy(data)
    assert not tables.savings(from_json(changed, "generator")).rows
    changed["cluster"]["floor_w"] = 100.0
    assert not tables.savings(from_json(changed, "generator")).rows  # packages and memory are not all of a node
    for run in changed["runs"]:
        for each in run["energy"]:
            each["domains"], each["total_domains"] = ["platform", *each["domains"][1:]], ["platform"]
    document = from_json(changed, "generator")
    share = summary.share_saved(document, "alltoall", "throttle")
    first, base = (document.good_runs("alltoall", scheme)[0] for scheme in ("throttle", "off"))
    joules = [energy.run_energy_j(run, document.cluster.nodes) for run in (first, base)]
    assert share is not None and joules[0] is not None and joules[1] is not None
    exact = (joules[1] - joules[0]) / (joules[1] - 100.0 * summary.run_time_s(base))
    assert share.count == 2 and share.mean == pytest.approx(exact, rel=0.05)
    assert [row[:2] for row in tables.savings(document).rows[:1]] == [["alltoall", document.schemes()[1]]]
    assert "Share of what can be saved" in text.render(document)


def test_chromium_renders_it(html: str, tmp_path: Path) -> None:
    assert screenshot(html, tmp_path).stat().st_size > 200_000
