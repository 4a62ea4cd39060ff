# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# OpenSHMEM of Open MPI 6.0 wants its heap at one address in all PEs, which address spaces laid out at random deny it now and then
# ("Failed to negotiate base segment address"): there, the script that sources this runs again with the layouts all alike.
# Environment: OSHRUN.
# shellcheck shell=bash
if [ -z "${PWR_SAME_ADDRESSES:-}" ] && "$OSHRUN" --version | grep -q ' 6\.' && setarch -R true 2>/dev/null; then
    PWR_SAME_ADDRESSES=1 exec setarch -R "$0" "$@"
fi
