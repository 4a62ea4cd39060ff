# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a session needs to know of a family of benchmarks: as osu, npb or cpmd."""
from __future__ import annotations

import argparse
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Tuple

from poweraware.session import document as doc

COMPONENT_PATH = "OMPI_MCA_mca_base_component_path"
OURS, GIVEN, PACKAGED = "ours", "given", "packaged"


@dataclass(frozen=True)
class Program:
    """What runs as a benchmark, who made it (OURS, GIVEN or PACKAGED), and what to call it."""

    path: Path
    origin: str
    label: str


@dataclass
class Outcome:
    """What a run's output says."""

    rows: List[doc.Row] = field(default_factory=list)
    ranks: List[doc.Rank] = field(default_factory=list)
    result: Optional[doc.Result] = None
    failure: Optional[str] = None


class Family(ABC):
    """Benchmarks that are started, read and shown alike."""

    name: str
    schemes: Tuple[str, ...] = ("off", "dvfs", "throttle", "auto")  # the baseline first
    benchmarks: List[str]
    programs: Dict[str, Program]
    missing: List[str]  # what was not found, for people ..
    lacks_ours: bool  # .. and whether some of it is made by this project
    messages: Optional[doc.Messages] = None

    @staticmethod
    @abstractmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        """Options of its own."""

    def __init__(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        self.programs = {}
        self.missing = []
        self.lacks_ours = False
        self._take_options(parser, given, ranks)

    @abstractmethod
    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        """Takes its options, ends the program when they are wrong, and looks for the programs."""

    def _take_program(self, benchmark: str, path: Optional[Path], origin: str, label: str, missing: str) -> None:
        """What runs as a benchmark; missing: what to say where there is no path."""
        if path is None:
            self.missing.append(missing)
            self.lacks_ours |= origin == OURS
        else:
            self.programs[benchmark] = Program(path, origin, label)

    def meet(self, schemes: List[str], environment: Dict[str, str]) -> None:
        """Raises a DriverError where the components that programs find with the environment do not know a scheme."""

    def parameters(self, scheme: str) -> Dict[str, str]:
        """MCA parameters of a scheme."""
        return {"coll_poweraware_scheme": scheme}

    def references(self) -> List[doc.Reference]:
        """Figures of others for the document."""
        return []

    @abstractmethod
    def prepare(self, benchmark: str, folder: Path) -> List[str]:
        """Puts what the program reads into its working folder; returns the command line."""

    @abstractmethod
    def read(self, benchmark: str, folder: Path) -> Outcome:
        """What the program left there: output.txt has its standard output."""

    def compare(self, runs: List[doc.Run], first: str) -> None:
        """Marks runs as failed whose results differ from those of their benchmark's first good run of the scheme first."""


def executable(candidates: Iterable[Path]) -> Optional[Path]:
    """The first of them that can be run."""
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return Path(os.path.abspath(path))  # a link may say what its program is to do
    return None


def output_of(folder: Path) -> str:
    """A run's standard output."""
    return (folder / "output.txt").read_text(encoding="utf-8", errors="replace")
