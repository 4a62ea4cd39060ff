# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The command line's words."""

import pytest

from bench.testbed.cluster.options import parse


def test_program_is_what_follows_the_first_dashes() -> None:
    options = parse(["run", "--ppn", "2", "--", "prog", "--name", "x", "--", "y"])
    assert options.program == ["prog", "--name", "x", "--", "y"]
    assert options.name == "default"
    assert options.ppn == 2


def test_run_options() -> None:
    options = parse(
        "run --name a --layout 3,2,1 --map-by node --bind core --timeout 1.5"
        " --mca coll poweraware --mca btl self --env A=1 --env B -- p".split()
    )
    assert options.layout == [3, 2, 1]
    assert options.mca == [["coll", "poweraware"], ["btl", "self"]]
    assert options.env == ["A=1", "B"]
    assert options.timeout == 1.5


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run", "give the program after --"),
        ("run --", "give the program after --"),
        ("exec n0", "give the program after --"),
        ("exec -- p", "one node, or --all"),
        ("exec n0 --all -- p", "one node, or --all"),
        ("status -- p", "takes no program"),
        ("up", "N"),
        ("up two", "invalid int value"),
        ("run --ppn 0 -- p", "whole number from 1"),
        ("run --timeout -1 -- p", "above 0"),
        ("run --layout 1,x -- p", "ranks per node"),
        ("run --bind socket -- p", "invalid choice"),
        ("status --name ../x", "cluster name"),
        ("", "COMMAND"),
    ],
)
def test_mistakes_are_named(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(line.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("command", ["", "up", "run", "exec", "status", "down", "check"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse([*command.split(), "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "usage: cluster" in shown
    assert "--base" not in shown and "--attach" not in shown
