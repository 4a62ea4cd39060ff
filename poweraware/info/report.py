# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The report: what was gathered, and what follows from it; poweraware-info.schema.json says what each field means."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from poweraware.info import remedies

Report = Dict[str, Any]
Part = Dict[str, Any]  # a lever, or the energy meter

VERSION = 2


def complete(gathered: Report) -> Report:
    """What poweraware-inspect has gathered, with what is best and what is missing, worth and remedies."""
    vendor = (gathered["machine"]["processor"] or {}).get("vendor") or ""
    levers = [_complete(lever, lever["name"], vendor) for lever in gathered["levers"]]
    return {
        "format": "poweraware-info",
        "version": VERSION,
        # sleeping instead of spinning needs nobody's permission
        "saves_by": ", ".join(["waits", *_names(lever for lever in levers if lever["used"])]),
        "would_save_by": ", ".join(_names(lever for lever in levers if lever["best"] and not lever["used"])) or None,
        **gathered,
        "levers": levers,
        "energy": _complete(gathered["energy"], "energy", vendor),
    }


def _names(levers: Any) -> List[str]:
    return [f"{lever['title']} ({lever['best']})" for lever in levers]


def _complete(part: Part, name: str, vendor: str) -> Part:
    for each in part["backends"]:
        each["remedies"] = remedies.find(vendor, name, each["name"], each["refusal"], each["reason"] or "")
    best = best_of(part)
    modelled = any(domain["provenance"] == "modelled" for domain in part.get("domains", [])[:1])
    return {
        **part,
        "missing": best is None or modelled,
        "used": best["name"] if best and best["state"] == "used" else None,
        "best": best["name"] if best else None,
        "worth": remedies.WORTH[name],
    }


def best_of(part: Part) -> Optional[Dict[str, Any]]:
    """The first back end that is not refused."""
    return next((each for each in part["backends"] if each["state"] != "refused"), None)
