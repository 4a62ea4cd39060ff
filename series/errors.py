# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Why a series is not checked here: no fault of the code under test."""


class Unavailable(Exception):
    """Its text is for the user: lower case, the exact cause, what to do."""
