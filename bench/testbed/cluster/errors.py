# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The one error this package raises for what a user can mend."""


class ClusterError(Exception):
    """Its text is for the user: lower case, the exact cause, what to do."""
