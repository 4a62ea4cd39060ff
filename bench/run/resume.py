# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What a session may keep of an earlier one in the same folder."""
from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Optional

from bench.run import facts
from bench.run.errors import DriverError
from bench.run.options import Options
from poweraware.documents import DocumentError
from poweraware.session import document as doc


def earlier(options: Options, path: Path) -> Optional[doc.Document]:
    """The session to be resumed, None where there is none; a DriverError where its runs cannot stand beside new ones."""
    if not (options.resume and path.exists()):
        return None
    try:
        found = doc.load(path)
    except DocumentError as error:
        raise DriverError(f"--resume: {error}") from error
    was, now = _conditions(found.host, found.cluster, found.settings), _conditions(facts.host(), facts.cluster(options), facts.settings(options))
    for what, value in was.items():
        if value != now[what]:
            raise DriverError(f"--resume: {path} is of another {what} ({value}, now {now[what]}): take the same options, or another --output")
    return found


def _conditions(host: doc.Host, cluster: doc.Cluster, settings: doc.Settings) -> Dict[str, Any]:
    """What must be the same for runs to be compared."""
    return {"host": host.name, "cluster": cluster, "family": settings.family, "choice of messages": settings.messages,
            "sampling interval": settings.interval_ms}  # fmt: skip
