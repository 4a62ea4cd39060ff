# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Makes `bench` importable wherever pytest is started, and a World for each test that wants one."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.run.tests import world as worlds  # noqa: E402


@pytest.fixture
def world(tmp_path: Path) -> worlds.World:
    return worlds.make(tmp_path)
