#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# The one call that is slow is found, on whichever rank, and told apart from those of other sizes.
. "$(dirname "$0")/../../../btl_tests/tests/mpi.sh"

run 2 ./first_calls_slow --collectives reduce,bcast --calls 10 --least 64 --most 512
[ "$status" = 0 ] || fail "status $status"
for row in "reduce 64" "reduce 512" "bcast 64" "bcast 512"; do
    [ "$(grep -c "^${row% *}  *${row#* } " "$work/out")" = 1 ] || fail "no row $row"
done
# Calls 20 to 29 are those of 256 bytes.
slowest=$(sed -n 's/^bcast  *256  *[0-9.]*  *\([0-9]*\)[0-9.]* *\(\[[0-9]*\]\).*/\1 \2/p' "$work/out")
[ "${slowest#* }" = "[2]" ] || fail "the slowest call of 256 bytes is $slowest"
[ "${slowest% *}" = 50000 ] || fail "it takes ${slowest% *} us"

./first_calls --collectives bcast,barrier >"$work/out" 2>"$work/err"
[ $? = 2 ] || fail "a collective without messages is not refused"
grep -q '^first_calls: option --collectives: there is no "barrier" with messages' "$work/err" || fail "it is not said"
finish
