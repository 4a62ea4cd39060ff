# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Documents of jobs in Python: read() makes objects of one; jobs(), nodes(), calls(), regions() and power() make frames of pandas.

    import poweraware
    jobs = poweraware.jobs("results")           # a document, or a folder with any number of them below it
    print(jobs.groupby("user")["joules"].sum())

poweraware.columns has name, unit, type and meaning of each column.  pandas is imported where a frame is asked for.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poweraware.documents import DocumentError as DocumentError
    from poweraware.frames import calls, jobs, nodes, power, read, regions
    from poweraware.job import Job as Job

__all__ = ["DocumentError", "Job", "calls", "jobs", "nodes", "power", "read", "regions"]

_PLACES = {"DocumentError": "documents", "Job": "job"}


def __getattr__(name: str) -> Any:
    """Parts are loaded when they are used: the commands begin without any of them."""
    if name not in __all__:
        raise AttributeError(f"module 'poweraware' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(f"poweraware.{_PLACES.get(name, 'frames')}"), name)
