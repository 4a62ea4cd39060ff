# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Every query of the Grafana dashboard is answered by a series that "poweraware export" writes."""
from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, Set

import pytest

_CONTRIB = Path(__file__).resolve().parents[1]
_TOP = _CONTRIB.parent
sys.path.insert(0, str(_TOP))

from poweraware.tests import synthetic  # noqa: E402  pylint: disable=wrong-import-position

_DASHBOARD = _CONTRIB / "grafana" / "poweraware.json"
_METRIC = re.compile(r"\bpoweraware_\w+")
_GROUPED = re.compile(r"\bby \(([^)]*)\)")
_MATCHED = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"")
_SHOWN = re.compile(r"{{\s*(\w+)\s*}}")
_OF_SCRAPES = {"exported_job"}  # Prometheus renames our label job, as it has one of that name itself


def _targets() -> Iterator[Dict[str, Any]]:
    for panel in json.loads(_DASHBOARD.read_text())["panels"]:
        yield from panel["targets"]


def _labels(text: str) -> Set[str]:
    return {name.strip() for group in _GROUPED.findall(text) for name in group.split(",")} | set(_MATCHED.findall(text))


@pytest.fixture(name="exported", scope="module")
def _exported(tmp_path_factory: pytest.TempPathFactory) -> Dict[str, Set[str]]:
    """The labels of each series."""
    document = tmp_path_factory.mktemp("job") / "job.json"
    job = synthetic.make_job()
    job["regions"] = [synthetic.make_region("solve", 20.0), synthetic.make_region(None, 60.0)]
    document.write_text(json.dumps(job))
    command = [str(_TOP / "poweraware" / "poweraware"), "export", "-f", "prometheus", str(document)]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {line.partition("{")[0]: set(_MATCHED.findall(line)) for line in lines}


def test_there_are_queries() -> None:
    assert len(list(_targets())) > 10


@pytest.mark.parametrize("target", list(_targets()), ids=lambda target: target["expr"])
def test_query_is_answered(target: Dict[str, Any], exported: Dict[str, Set[str]]) -> None:
    metrics = set(_METRIC.findall(target["expr"]))
    assert metrics and metrics <= set(exported)
    wanted = _labels(target["expr"])
    for metric in metrics:
        assert wanted <= exported[metric] | _OF_SCRAPES
    assert set(_SHOWN.findall(target["legendFormat"])) <= wanted


def test_variables_are_labels(exported: Dict[str, Set[str]]) -> None:
    for variable in json.loads(_DASHBOARD.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            found = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
            assert found and found[2] in exported[found[1]]


def test_every_series_is_shown(exported: Dict[str, Set[str]]) -> None:
    shown = {name for target in _targets() for name in _METRIC.findall(target["expr"])}
    assert shown == set(exported)
