# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""First on a benchmark's PYTHONPATH in tests that are not about its page: to draw that takes seconds."""
raise ImportError("no matplotlib in this test")
