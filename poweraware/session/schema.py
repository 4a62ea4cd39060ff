# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Checks a JSON value against the part of JSON Schema 2020-12 that schema.json uses.

A validator of our own because the report must run where only Python and matplotlib are installed,
and because a user needs the JSON path of a mistake rather than a quotation of the schema.
"""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

Schema = Dict[str, Any]
Problem = Tuple[str, str]

SCHEMA_FILE = Path(__file__).resolve().parent / "schema.json"

_PYTHON_TYPES: Dict[str, Tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def load_schema() -> Schema:
    """The schema of a benchmark document."""
    schema: Schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


def problems(value: Any, schema: Schema, root: Schema, path: str = "$") -> Iterator[Problem]:
    """Yields (JSON path, what is wrong there) for every violation, in document order."""
    if "$ref" in schema:
        schema = _resolve(schema["$ref"], root)
    allowed = schema.get("type")
    if allowed is not None:
        names = [allowed] if isinstance(allowed, str) else allowed
        if not any(_is_type(value, name) for name in names):
            yield path, f"is {_show(value)}, must be {' or '.join(names)}"
            return
    yield from _value_problems(value, schema, path)
    if isinstance(value, dict):
        yield from _object_problems(value, schema, root, path)
    elif isinstance(value, list):
        yield from _array_problems(value, schema, root, path)


def _resolve(reference: str, root: Schema) -> Schema:
    target: Schema = root
    for part in reference[len("#/") :].split("/"):
        target = target[part]
    return target


def _is_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):  # a bool is an int in Python, not in JSON
        return name == "boolean"
    return isinstance(value, _PYTHON_TYPES[name])


def _show(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _value_problems(value: Any, schema: Schema, path: str) -> Iterator[Problem]:
    if "const" in schema and value != schema["const"]:
        yield path, f"is {_show(value)}, must be {_show(schema['const'])}"
    if "enum" in schema and value not in schema["enum"]:
        yield path, f"is {_show(value)}, must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            yield path, "must not be empty"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield path, f"is {_show(value)}, must match {schema['pattern']}"
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            yield path, f"is {_show(value)}, must be at least {schema['minimum']}"
        if "maximum" in schema and value > schema["maximum"]:
            yield path, f"is {_show(value)}, must be at most {schema['maximum']}"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield path, f"is {_show(value)}, must be above {schema['exclusiveMinimum']}"


def _object_problems(
    value: Dict[str, Any], schema: Schema, root: Schema, path: str
) -> Iterator[Problem]:
    properties = schema.get("properties", {})
    extra = schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            yield f"{path}.{name}", "is missing"
    for name, member in value.items():
        inner = f"{path}.{name}"
        if name in properties:
            yield from problems(member, properties[name], root, inner)
        elif extra is False:
            yield inner, "is not a field of this format"
        elif isinstance(extra, dict):
            yield from problems(member, extra, root, inner)


def _array_problems(
    value: List[Any], schema: Schema, root: Schema, path: str
) -> Iterator[Problem]:
    if len(value) < schema.get("minItems", 0):
        yield path, f"has {len(value)} items, must have at least {schema['minItems']}"
    if "items" in schema:
        for index, item in enumerate(value):
            yield from problems(item, schema["items"], root, f"{path}[{index}]")
