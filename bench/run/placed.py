# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Families that run stock Open MPI in several places of their own, and leave a document, a text and a page of their own."""
from __future__ import annotations

import argparse
import json
from abc import abstractmethod
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from bench.common.launch import STOCK_OPENSHMEM
from bench.common.values import different_of
from bench.run.family import Family, Outcome
from poweraware.session.document import NodeEnergy

RESULT = "result.json"  # which the program leaves in its folder

STOCK = {"coll": "^poweraware", **STOCK_OPENSHMEM}
LAYOUTS_ARE_THEIRS = "nodes and ranks are those of the places: --nodes, --ppn and --layout are not used"


class PlacedFamily(Family):
    """What a session (placed_session.py) has to know."""

    schemes = ("off",)
    document_name: str  # of its file
    benchmark_noun: str  # what rows call a benchmark
    layouts: Dict[str, List[int]]  # place -> processes per node
    places: List[str]
    has_energy = False  # whether rows are given energy: samplers would disturb those that are not

    @abstractmethod
    def settings(self) -> Dict[str, Any]:
        """Entries of the document; they are the same in all its runs."""

    def mca(self, place: str, benchmark: str) -> Dict[str, str]:
        """Open MPI's parameters."""
        return STOCK

    @abstractmethod
    def variables(self, place: str) -> List[str]:
        """Of the program's environment."""

    @abstractmethod
    def fault(self, row: Dict[str, Any]) -> str:
        """What is wrong with a row that is not validated."""

    def energy(self, energies: List[NodeEnergy], row: Dict[str, Any], interval_ms: float) -> Dict[str, Optional[float]]:
        """More entries of a row."""
        return {}

    @abstractmethod
    def text(self, document: Dict[str, Any]) -> str:
        """The summary."""

    @abstractmethod
    def page(self, document: Dict[str, Any], name: str) -> str:
        """The page; needs matplotlib."""

    def read(self, benchmark: str, folder: Path) -> Outcome:
        return Outcome(failure=None if read_rows(folder) else "the benchmark left no results")


def add_places(group: "argparse._ArgumentGroup", layouts: Dict[str, List[int]], words: str) -> None:
    """The option --places."""
    known: Sequence[str] = tuple(layouts)
    group.add_argument("--places", type=different_of(known), metavar="P,...", default=list(known), help=f"{words} (default: all)")


def read_rows(folder: Path) -> List[Dict[str, Any]]:
    """What the program has measured; nothing where it was cut off."""
    try:
        rows = json.loads((folder / RESULT).read_text(encoding="utf-8"))["rows"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
