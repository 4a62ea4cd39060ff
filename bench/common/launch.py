# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What every job with the built plug-in needs: environment, places for the ranks."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, List

# Stock OpenSHMEM: that of 4.1 crashes at the end of every program where UCX watches memory by Open MPI's hooks.
STOCK_OPENSHMEM = {"scoll": "^poweraware", "opal_common_ucx_opal_mem_hooks": "0"}

_ALLOW_ROOT = {
    f"{owner}_ALLOW_RUN_AS_ROOT{end}": "1" for owner in ("OMPI", "PRTE") for end in ("", "_CONFIRM")
}


def environment(build: Path, *plugin_dirs: Path) -> Dict[str, str]:
    """The user's, and where plug-ins and helpers are; what earlier jobs have learnt is not to matter."""
    return {
        "OMPI_MCA_coll_poweraware_knowledge": "off",
        **os.environ,
        **_ALLOW_ROOT,
        **_pmix_plugins(),
        "OMPI_MCA_mca_base_component_path": ":".join([*map(str, plugin_dirs), "SYS_DEFAULT"]),
        "OMPI_MCA_coll_poweraware_helper_dir": str(build / "opal"),
    }


def _pmix_plugins() -> Dict[str, str]:
    """Open MPI 5.0 and later look for PMIx's plug-ins where ours are unless told."""
    name = "PMIX_MCA_mca_base_component_path"
    found = [str(path) for path in Path("/usr/lib").glob("*/pmix2/lib/pmix") if path.is_dir()]
    return {} if name in os.environ or not found else {name: found[0]}


def cpus() -> int:
    """CPUs that jobs may use."""
    return len(os.sched_getaffinity(0))


def placement(ranks: int) -> List[str]:
    """mpirun's options for ranks on this machine: each bound to a core where there are enough."""
    return ["--bind-to", "core"] if ranks <= cpus() else ["--oversubscribe", "--bind-to", "none"]


def placement_on_nodes(ranks: int) -> List[str]:
    """The cluster's options for so many ranks on each emulated node, which has all CPUs of this machine: the same.
    Left alone, Linux puts the ranks of a node on one CPU or on several, and that holds for a job."""
    return ["--bind", "core" if ranks <= cpus() else "none"]
