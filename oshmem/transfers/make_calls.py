#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Writes the functions of OpenSHMEM that stand before the library's own.

    cc -E -P pshmem.h | make_calls.py SYMBOLS >calls.c

The library's functions have a second name, pshmem_..., for such layers.  Puts without waiting go to
pwr_coalesce_put, queries stay as they are, and all others first send what is held.  SYMBOLS: what the library
defines, by nm; headers of Open MPI 5.0 declare more.
"""
from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple, Optional, Set

PROTOTYPE = re.compile(r"^(?P<result>[\w ]+?[ *]+)p(?P<name>sh\w+)\((?P<parameters>[^()]*)\);", re.M)
PUT = re.compile(r"shmem_(?P<ctx>ctx_)?(put(?P<what>mem|\d+)|\w+_put)_nbi")
QUERY = re.compile(r"shmemx?_(init|init_thread|query_thread|my_pe|n_pes|ptr|pe_accessible|addr_accessible"
                   r"|info_\w+|team_my_pe|team_n_pes|team_get_config|team_translate_pe|ctx_get_team)")  # fmt: skip


class Call(NamedTuple):
    """A function of OpenSHMEM; parameters: their declarations."""

    result: str
    name: str
    parameters: List[str]


def calls_of(header: str) -> Iterator[Call]:
    """The functions that a preprocessed pshmem.h declares; shmem_pcontrol, with a list without end, is a query."""
    for found in PROTOTYPE.finditer(header):
        parameters = [each.strip() for each in found["parameters"].split(",")]
        if "..." in parameters:
            continue
        yield Call(found["result"].replace("extern ", "").strip(), found["name"], parameters)


def name_of(parameter: str) -> str:
    """`const int *source` -> `source`; the word void stands for no parameter."""
    found = re.search(r"(\w+)(\[\w*\])?$", parameter)
    assert found is not None, parameter
    return "" if found[1] == "void" else found[1]


def _bytes_of(put: "re.Match[str]", dest: str, count: str) -> str:
    if put["what"] == "mem":
        return count
    return f"{count} * " + (f"sizeof *{dest}" if put["what"] is None else str(int(put["what"]) // 8))


def _body_of(call: Call) -> Optional[str]:
    names = [name_of(each) for each in call.parameters]
    put = PUT.fullmatch(call.name)
    if put is not None:
        if put["ctx"] is None:
            names.insert(0, "SHMEM_CTX_DEFAULT")
        ctx, dest, source, count, pe = names
        return f"    pwr_coalesce_put({ctx}, {dest}, {source}, {_bytes_of(put, dest, count)}, {pe});\n"
    if QUERY.fullmatch(call.name):
        return None
    value = "" if call.result == "void" else "return "
    return f"    pwr_coalesce_send();\n    {value}p{call.name}({', '.join(names)});\n"


def source_of(header: str, defined: Set[str]) -> str:
    """The C source of all functions, for a preprocessed pshmem.h and the symbols of the library."""
    lines = ['/* Made by make_calls.py.  Extensions have their prototypes elsewhere. */\n#include "coalesce.h"\n'
             '#pragma GCC diagnostic ignored "-Wmissing-prototypes"\n']  # fmt: skip
    wanted = {name[1:] for name in defined if name.startswith("psh")}
    for call in calls_of(header):
        body = _body_of(call)
        if body is not None and call.name in wanted:
            wanted.remove(call.name)  # some are declared twice
            lines.append(f"{call.result} ({call.name})({', '.join(call.parameters)})\n{{\n{body}}}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    names = {line.split()[-1] for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines() if line.strip()}
    sys.stdout.write(source_of(sys.stdin.read(), names))
