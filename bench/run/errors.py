# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""The errors that end a session."""


class DriverError(Exception):
    """Cannot go on; the text says what is wrong and what to do."""


class Stopped(Exception):
    """A signal asked for the end."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(f"stopped by signal {signal_number}")
        self.signal_number = signal_number
