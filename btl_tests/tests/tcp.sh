#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# The TCP transport, over the loopback interface.
. "$(dirname "$0")/transport.sh"

if ! has btl tcp; then
    echo "skipped: this Open MPI has no TCP transport (btl tcp)"
    exit 77
fi
carry tcp btl_tcp_if_include 127.0.0.0/8
finish
