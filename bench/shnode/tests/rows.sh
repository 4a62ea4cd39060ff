#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# The benchmark has all its rows, compares results, and names wrong options.  Environment: OSHRUN, PWR_SRCDIR, PWR_BUILDDIR.
set -u
: "${OSHRUN:?}" "${PWR_SRCDIR:?}" "${PWR_BUILDDIR:?}"
export BUILD=$PWR_BUILDDIR OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
fail() {
    echo "FAILED: $1"
    exit 1
}
out=$("$PWR_SRCDIR/bench/shnode/shnode" -n "2 3" -r 3 -b 0.1 -m 8192) || fail "exit status"
for n in 2 3; do
    rows=$(grep -cE "^[a-z0-9_]+ +$n +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ \[[0-9.]+, [0-9.]+\]$" <<<"$out")
    [ "$rows" = 28 ] || fail "$rows rows instead of 28 for $n PEs: $out"
done
! "$PWR_BUILDDIR/bench/shnode/shnode_bench" -r 0 2>/dev/null || fail "no rounds are accepted"
echo ok
