# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""What documents of jobs and of sessions have in common: reading, checking, Python objects."""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Optional, Tuple, Union, get_type_hints

if TYPE_CHECKING:
    import jsonschema

Schema = Dict[str, Any]
Problem = Tuple[str, str]  # JSON path, what is wrong there

_HERE = Path(__file__).resolve().parent
_SHOWN_PROBLEMS = 5
_LONGEST = 120  # letters of what is wrong: it may quote half the document


class DocumentError(Exception):
    """A document that cannot be used; the text names the file and the JSON path."""


_KIND_WORDS = {
    "measured": "read from real hardware or real clocks",
    "emulated": "accounted by emulated power hardware while the real code ran",
    "modelled": "computed from equations, nothing was read",
    "absent": "there are no such figures",
}


@dataclass
class Origin:
    """Where one kind of figure comes from."""

    kind: str
    note: str

    def sentence(self, name: str) -> str:
        """The same in a sentence or two; name: of the figures."""
        return f"{name}: {self.kind} - {_KIND_WORDS[self.kind]}. {self.note}"


@lru_cache(maxsize=None)
def load_schema(part: str, name: str) -> Schema:
    """One of ours: in a part of the source tree, beside us in a wheel, or two folders up where it is installed."""
    places = [_HERE.parent / part / name, _HERE / name, _HERE.parents[1] / name]
    schema: Schema = read_json(next((place for place in places if place.exists()), places[-1]))
    return schema


def check(data: Any, schema: Schema, origin: str) -> None:
    """Raises a DocumentError that names the first violations of the schema, if there are any."""
    import jsonschema  # here: it takes longer to load than all else of most commands

    validator = jsonschema.validators.validator_for(schema)(schema)
    refuse((_problem(error) for error in validator.iter_errors(data)), origin)


def check_fast(data: Any, part: str, name: str, origin: str) -> None:
    """The same with the schema of that name, for a large document or one of many: compiled code says in a twentieth of the
    time which ones are right, and the others are checked again for what is wrong with them."""
    validate = _compiled(part, name)
    try:
        passes = validate is not None and validate(data) is not None
    except ValueError:  # and the exceptions of fastjsonschema, which are such
        passes = False
    if not passes:
        check(data, load_schema(part, name), origin)


@lru_cache(maxsize=None)
def _compiled(part: str, name: str) -> Optional[Callable[[Any], Any]]:
    try:
        import fastjsonschema
    except ImportError:
        return None
    found: Callable[[Any], Any] = fastjsonschema.compile(load_schema(part, name))
    return found


def _problem(error: jsonschema.ValidationError) -> Problem:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    return "$" + path, error.message if len(error.message) <= _LONGEST else f"...{error.message[-_LONGEST:]}"


def refuse(problems: Iterable[Problem], origin: str) -> None:
    """Raises a DocumentError that names the first problems, if there are any."""
    found = list(problems)
    if found:
        lines = [f"{origin}: {path}: {what}" for path, what in found[:_SHOWN_PROBLEMS]]
        if len(found) > _SHOWN_PROBLEMS:
            lines.append(f"{origin}: and {len(found) - _SHOWN_PROBLEMS} more")
        raise DocumentError("\n".join(lines))


def read_json(path: Path) -> Any:
    """A file's content; a DocumentError says what keeps it from being read."""
    try:
        return parse_json(path.read_bytes(), path)
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from error


def parse_json(content: bytes, path: Path) -> Any:
    """The same of what was read already; numbers that JSON does not know, and nesting without end, are refused."""
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: is not UTF-8 text: {error.reason}") from error
    except json.JSONDecodeError as error:
        raise DocumentError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{path}: not JSON: {error}") from error


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def replace(path: Path, content: Union[str, bytes]) -> None:
    """Writes a file as a whole: nobody ever sees a part of it, and after an error, which names it, it is as it was."""
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error


@lru_cache(maxsize=None)
def _hints(hint: Any) -> Dict[str, Any]:
    """They take longer than all the rest."""
    return get_type_hints(hint)


def convert(hint: Any, value: Any) -> Any:
    """A checked JSON value as the dataclass, list or plain value that hint asks for."""
    if value is None:
        return None
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = _hints(hint)
        return hint(**{name: convert(hints[name], member) for name, member in value.items()})
    origin = getattr(hint, "__origin__", None)
    if origin is Union:  # Optional[X]
        return convert(hint.__args__[0], value)
    if origin is list:
        return [convert(hint.__args__[0], item) for item in value]
    if origin is dict:
        return {name: convert(hint.__args__[1], member) for name, member in value.items()}
    return value
