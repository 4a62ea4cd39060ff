# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""A page as a browser shows it."""
from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars --window-size=1060,4600"
).split()


def screenshot(html: str, folder: Path) -> Path:
    """The page as a picture; an empty one of its size has 20 kB.  Skips the test without Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("chromium is not installed")
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    shot = folder / "shot.png"
    command = [chromium, *_FLAGS, f"--user-data-dir={folder / 'profile'}", f"--screenshot={shot}"]
    done = subprocess.run(
        [*command, file.as_uri()], capture_output=True, text=True, check=False
    )
    assert shot.exists(), done.stderr
    return shot
