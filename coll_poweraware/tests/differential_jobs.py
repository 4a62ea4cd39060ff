# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What jobs of the differential tester on emulated nodes have in common."""

from __future__ import annotations

import os
import re
import subprocess

from nodes import BUILD

CHECK = str(BUILD / "coll_poweraware" / "tests" / "check_collectives")

# Open MPI's own functions, kept from the algorithms that known_faults.c tells of.
SOUND_STOCK = {
    "coll_tuned_use_dynamic_rules": "1",
    "coll_tuned_allgatherv_algorithm": "3",
    "coll_tuned_allreduce_algorithm": "3",
    "coll_tuned_alltoall_algorithm": "2",
    "coll_tuned_bcast_algorithm": "1",
}
UCX = {"pml": "ucx", "osc": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"}


def info(*arguments: str) -> str:
    """What Open MPI says about itself with the component loaded."""
    path = f"{BUILD}/coll_poweraware/component:SYS_DEFAULT"
    return subprocess.run([os.environ.get("OMPI_INFO", "ompi_info"), "--parsable", *arguments],
                          env={**os.environ, "OMPI_MCA_mca_base_component_path": path},
                          capture_output=True, text=True, check=True).stdout


def algorithms() -> dict[str, list[str]]:
    """The component's algorithms of each collective but those for GPUs, and coll/basic's functions; to call coll/tuned's
    would be no other test."""
    found: dict[str, list[str]] = {}
    for collective, name in re.findall(r":coll_poweraware_(\w+)_algorithm:enumerator:value:\d+:(\w+)",
                                       info("--param", "coll", "poweraware", "--level", "9")):
        if name not in ("gpu", "tuned"):
            found.setdefault(collective, []).append(name)
    return found


ALGORITHMS = algorithms()
ROUNDS = range(max((len(names) for names in ALGORITHMS.values()), default=0))


def forced(round_: int) -> dict[str, str]:
    """Round k: every collective takes its algorithm k, and begins again behind its last."""
    return {f"coll_poweraware_{collective}_algorithm": names[round_ % len(names)]
            for collective, names in ALGORITHMS.items()}
