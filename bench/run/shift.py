# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""PASCoL's shift benchmark over MPI windows (../shift), under the paper's schemes."""
from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Optional

from bench.common.values import different_of
from bench.model import onesided
from bench.run.errors import DriverError
from bench.run.family import COMPONENT_PATH
from bench.run.osu import ANY, Osu, add_calls, sizes
from poweraware.session.document import Reference
from poweraware.session.energy import RESOLVED_SAMPLES

OPERATIONS = ("get", "put", "accumulate", "strided")  # in the order of the paper
WINDOWS = "mca_osc_poweraware.so"
PARAMETER = "osc_poweraware_scheme"
_UNIT = 8  # bytes, of which sizes are multiples

# Without the parameter: what coll_poweraware alone can do, on the components that Open MPI has for windows but ucx, whose
# waits it does not see.
_WITHOUT = {"poll": "off", "interrupt": "all"}


class Shift(Osu):
    """Benchmarks are called as the operations."""

    name = "shift"
    label = "PASCoL's shift over MPI windows"
    schemes = ("poll", "dvfs", "interrupt", "interrupt_dvfs", "auto")
    checked_calls = 1

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("benchmark")
        group.add_argument("--operations", dest="benchmarks", type=different_of(OPERATIONS), metavar="O,...", default=list(OPERATIONS),
                           help=f"of {', '.join(OPERATIONS)} (default: all)")  # fmt: skip
        group.add_argument("--sizes", type=sizes, metavar="MIN:MAX or O=MIN:MAX,...", default={ANY: (_UNIT, 1 << 20)},
                           help=f"message sizes in bytes, of all operations or of each (default: {_UNIT}:{1 << 20})")  # fmt: skip
        add_calls(group, 2, 1, "per size, each an operation to every other rank, and again until the energy of a size can be read")

    def _take_options(self, parser: argparse.ArgumentParser, given: argparse.Namespace, ranks: int) -> None:
        if ranks < 2:
            parser.error("a shift needs two ranks (--nodes, --ppn)")
        self._take_messages(parser, given)
        for name, (low, _) in self._sizes.items():
            if low < _UNIT or low % _UNIT:
                parser.error(f"--sizes: {name}: {low} is not a multiple of {_UNIT} bytes")
        self._has_parameter = False
        self._least_ms = RESOLVED_SAMPLES * given.interval_ms + given.interval_ms // 2
        for benchmark in self.benchmarks:
            self._find(benchmark, None, given.build / "bench" / self.name)

    def _calls(self) -> List[str]:
        return [*super()._calls(), "--least-ms", str(self._least_ms)]

    def meet(self, schemes: List[str], environment: Dict[str, str]) -> None:
        known = _known_schemes(environment)
        self._has_parameter = known is not None
        reason = f"the parameter {PARAMETER} has no such value"
        if known is None:
            known, reason = list(_WITHOUT), f"there is no parameter {PARAMETER} (of {WINDOWS}, below {environment[COMPONENT_PATH]})"
        refused = [each for each in schemes if each in self.schemes and known and each not in known]
        if refused:
            raise DriverError(f"scheme {', '.join(refused)}: {reason}; there are {','.join(known)} (--schemes)")

    def parameters(self, scheme: str) -> Dict[str, str]:
        if self._has_parameter:
            return {"osc": "poweraware", PARAMETER: scheme}
        return {"osc": "^ucx", "coll_poweraware_idle": _WITHOUT[scheme]}

    def references(self) -> List[Reference]:
        return onesided.references(self._sizes)


def _known_schemes(environment: Dict[str, str]) -> Optional[List[str]]:
    """Values of the parameter, none where ompi_info does not list them; None: there is no such parameter."""
    ompi_info = shutil.which("ompi_info")
    if ompi_info is None:
        raise DriverError("ompi_info is not in PATH: it says which schemes the component for windows has")
    done = subprocess.run(
        [ompi_info, "--param", "osc", "poweraware", "--level", "9", "--parsable"],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    if f":param:{PARAMETER}:" not in done.stdout:
        return None
    return re.findall(rf":param:{PARAMETER}:enumerator:value:\d+:(\w+)", done.stdout)
