# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What the document says about machine, software and origin of figures."""
from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Optional

from bench.common.options import TOP
from bench.run import machine
from bench.run.options import Options
from poweraware.session import document as doc


def host() -> doc.Host:
    """The real machine."""
    return doc.Host(
        name=platform.node(),
        cpus=len(os.sched_getaffinity(0)),
        cpu_model=_cpu_model(),
        kernel=platform.release(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        governor=_line_of(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        kernel_parameters=_line_of(Path("/proc/cmdline")),
    )


def software(build: Path) -> doc.Software:
    """Versions of Open MPI and of this package, and what that was built from and by."""
    return doc.Software(
        open_mpi=_open_mpi_version(),
        poweraware=_own_version(build),
        commit=_first_line("git", "-C", str(TOP), "describe", "--always", "--dirty"),
        compiler=_compiler(build),
    )


def cluster(options: Options) -> doc.Cluster:
    """The cluster as asked for; its nodes are name spaces of this host."""
    floor_w = None if options.machine is None else machine.floor_w(options.machine)
    return doc.Cluster(
        nodes=len(options.layout),
        layout=options.layout,
        ranks=sum(options.layout),
        binding=machine.binding(options.machine),
        virtual=True,
        machine=options.machine.stem if options.machine is not None else None,
        link=doc.Link(options.rate_mbit, options.latency_us),
        floor_w=None if floor_w is None else floor_w * len(options.layout),
    )


def settings(options: Options) -> doc.Settings:
    """What was asked for."""
    return doc.Settings(
        family=options.family.name,
        benchmarks=options.family.benchmarks,
        programs=[
            doc.Program(benchmark, program.origin, program.label)
            for benchmark, program in options.family.programs.items()
        ],
        schemes=options.schemes,
        preloads=options.preloads,
        messages=options.family.messages,
        repetitions=options.repetitions,
        seed=options.seed,
        interval_ms=options.interval_ms,
    )


def provenance(options: Options, runs: List[doc.Run]) -> doc.Provenance:
    """Origin of the figures that the runs hold."""
    time = doc.Origin("measured", "Clocks of the host around real communication of real processes.")
    return doc.Provenance(time, _energy_origin(options, runs), _states_origin(options, runs))


def _energy_origin(options: Options, runs: List[doc.Run]) -> doc.Origin:
    meters = [meter for run in runs for meter in run.energy]
    sources = sorted({meter.source for meter in meters if meter.source is not None})
    if not sources:
        reasons = [meter.why_absent for meter in meters if meter.why_absent is not None]
        return doc.Origin("absent", f"Not sampled: {reasons[0] if reasons else 'no run yet'}.")
    read = f"read by poweraware-sample through {', '.join(sources)}"
    if options.machine is not None:
        return doc.Origin(
            "emulated",
            f"Counters of {options.machine.name}, {read}: its power model, driven by what each "
            "process did and by the controls that were really written. No joule of the host.",
        )
    kind = "modelled" if sources == ["model"] else "measured"
    return doc.Origin(kind, f"Counters of the host, which all nodes share, {read}.")


def _states_origin(options: Options, runs: List[doc.Run]) -> doc.Origin:
    if options.machine is None:
        return doc.Origin("absent", "Only emulated power hardware traces who wrote what and when.")
    if not any(run.states for run in runs):
        return doc.Origin("absent", "The emulated nodes left no trace.")
    return doc.Origin(
        "emulated",
        f"Every write to a control of {options.machine.name} with its time: what each CPU was "
        "asked for, before the machine's rules for CPUs that share a clock.",
    )


def packages(lscpu: Optional[str]) -> Dict[int, int]:
    """CPU -> package from the output of `lscpu -p=CPU,SOCKET`."""
    found: Dict[int, int] = {}
    for line in (lscpu or "").splitlines():
        cells = line.split(",")
        if len(cells) == 2 and cells[0].isdigit() and cells[1].isdigit():
            found[int(cells[0])] = int(cells[1])
    return found


def _line_of(path: Path) -> Optional[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _first_line(*command: str) -> Optional[str]:
    """Of a command's output; None where it cannot be run or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return None
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else None


def _compiler(build: Path) -> Optional[str]:
    found = re.search(r"^CC = (.+)$", _line_of(build / "Makefile") or "", re.MULTILINE)
    return _first_line(*found.group(1).split(), "--version") if found else None


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else platform.machine()


def _open_mpi_version() -> str:
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if mpirun is None:
        return "unknown"
    done = subprocess.run(
        [mpirun, "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    match = re.search(r"\((?:Open MPI|OpenRTE)\) (\S+)", done.stdout)
    return match.group(1) if match else "unknown"


def _own_version(build: Path) -> str:
    for path, pattern in (
        (build / "config.h", r'#define PACKAGE_VERSION "([^"]+)"'),
        (TOP / "configure.ac", r"AC_INIT\(\[poweraware\], \[([^\]]+)\]"),
    ):
        try:
            match = re.search(pattern, path.read_text(encoding="utf-8"))
        except OSError:
            continue
        if match:
            return match.group(1)
    return "unknown"
