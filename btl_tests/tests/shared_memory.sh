#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# The shared-memory transport: vader in Open MPI 4.1, sm from 5.0 on.
. "$(dirname "$0")/transport.sh"

if has btl vader; then
    carry vader
    # Without the kernel's help (CMA) large messages are copied through the segment.
    carry vader btl_vader_single_copy_mechanism none
elif has btl sm; then
    carry sm
    carry sm smsc ^cma,knem,xpmem
else
    echo "skipped: this Open MPI has no shared-memory transport (btl vader or sm)"
    exit 77
fi
finish
