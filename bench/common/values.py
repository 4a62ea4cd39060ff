# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Values of options."""
from __future__ import annotations

import argparse
from typing import Callable, List, Sequence


def count(text: str) -> int:
    """A whole number from 0 on."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 0 on")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def layout(text: str) -> List[int]:
    """Ranks of each node, with commas between them."""
    ranks = [count(part) for part in text.split(",")]
    if sum(ranks) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' has no ranks")
    return ranks


def different(text: str) -> List[str]:
    """Different words, with commas between them."""
    words = text.split(",")
    if not all(words) or len(set(words)) != len(words):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of different names")
    return words


def different_of(known: Sequence[str], noun: str = "") -> Callable[[str], List[str]]:
    """Different ones of those that are known; noun: what to call them."""

    def parse(text: str) -> List[str]:
        words = different(text)
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(f"{noun}'{word}' is not of {', '.join(known)}")
        return words

    return parse


def names(text: str) -> List[str]:
    """Different names that a program could have."""
    words = different(text)
    if not all(word.isidentifier() for word in words):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of different names")
    return words
