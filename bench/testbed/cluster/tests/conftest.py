# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Fixtures of the tests that make clusters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.testbed.cluster.tests.support import Commands, temporary_commands


@pytest.fixture(name="cluster")
def _cluster() -> Iterator[Commands]:
    yield from temporary_commands()
