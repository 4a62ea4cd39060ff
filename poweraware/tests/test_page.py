# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The page of a job."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Optional

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from poweraware import job, page  # noqa: E402
from poweraware.session.tests.browser import screenshot  # noqa: E402
from poweraware.tests.synthetic import make_decided, make_job, make_region, part_of  # noqa: E402


def parse(html: str) -> ElementTree.Element:
    assert html.startswith("<!DOCTYPE html>\n")
    return ElementTree.fromstring(html.split("\n", 1)[1])


@pytest.fixture(scope="module")
def html() -> str:
    return page.render([job.from_json(make_job(), "d")], ["a & b"])


def test_it_is_well_formed_and_every_picture_has_words(html: str) -> None:
    figures = list(parse(html).iter("figure"))
    assert len(figures) == 4
    for figure in figures:
        image, caption = figure.find("img"), figure.find("figcaption")
        assert image is not None and len(image.get("alt", "")) > 40 and image.get("src", "").startswith("data:")
        assert caption is not None and re.search("measured|emulated|modelled", caption.text or "")
    assert "a &lt;b&gt; &amp; c" in html and not re.search("https?://", html)


def test_regions_have_a_picture_and_a_table() -> None:
    document = make_job()
    document["regions"] = [make_region("solve", 40.0), make_region("solve/<halo>", 20.0)]
    html = page.render([job.from_json(document, "d")], ["regions"])
    images = [figure.find("img") for figure in parse(html).iter("figure")]
    (words,) = [image.get("alt", "") for image in images if image is not None and "one per region" in image.get("alt", "")]
    assert "solve 40 s, solve/<halo> 20 s" in words and ">solve/&lt;halo&gt;</t" in html


def test_what_auto_decided_is_a_sentence_and_a_table(html: str) -> None:
    assert "<p>What saving brought and cost is not known yet" in html and "What auto decided" not in html
    document = make_job()
    document["decisions"]["classes"] = [make_decided("alltoall", 65536, 1234)]
    found = page.render([job.from_json(document, "d")], ["decided"])
    parse(found)
    assert "<h2>What auto decided</h2>" in found and ">1234</td>" in found


def test_the_same_document_gives_the_same_page(html: str) -> None:
    assert page.render([job.from_json(make_job(), "d")], ["a & b"]) == html


@pytest.mark.parametrize("what", ["no energy", "no calls", "killed", "many nodes"])
def test_what_is_missing_is_said(what: str) -> None:
    document = make_job(nodes=20 if what == "many nodes" else 2, energy=what != "no energy")
    if what == "no calls":
        for share in document["calls"]:
            document["outside"]["joules"] += share["joules"]
        document["calls"] = []
    if what == "killed":
        document = part_of(document, 0)
    html = page.render([job.from_json(document, "d")], [what])
    parse(html)
    said = {"no energy": "No picture: No energy: no &lt;powercap&gt;", "no calls": "No picture: there were no calls",
            "killed": "is not complete", "many nodes": "of all together"}  # fmt: skip
    assert said[what] in html


def test_several_jobs_are_drawn_side_by_side() -> None:
    jobs = [job.from_json(make_job(factor=factor), "d") for factor in (1.0, 0.9, 1.1)]
    jobs[1].settings.scheme, jobs[2].settings.scheme = "off", "throttle"
    html = page.render(jobs, ["a", "b", "c"])
    assert len(list(parse(html).iter("figure"))) == 3 + 3 * 4
    assert "3 jobs side by side" in html and "alltoall ≤ 64 KiB: auto 2000, off 1800, throttle 2200" in html
    html = page.render(jobs[:1] * 2, ["a", "b"])  # the same scheme: names tell them apart
    assert "a: auto" in html and "b: auto" in html
    jobs = [job.from_json(make_job(energy=False), "d")] * 2
    assert html.count("No picture") < page.render(jobs, ["a", "b"]).count("No picture")


def test_chromium_renders_it(html: str, tmp_path: Path) -> None:
    assert screenshot(html, tmp_path).stat().st_size > 100_000


@pytest.mark.parametrize("own", [None, "2"])
def test_pictures_start_no_threads(own: Optional[str]) -> None:
    """Of numpy's OpenBLAS, which spin; and what is started afterwards finds the variable as it was."""
    program = "import os, poweraware.picture; print(len(os.listdir('/proc/self/task')), os.environ.get('OPENBLAS_NUM_THREADS'))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if own is not None:
        environment["OPENBLAS_NUM_THREADS"] = own
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", str(own)]
