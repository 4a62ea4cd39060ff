#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# A row per collective and size, with a ratio in its interval; what there is none of is refused.
. "$(dirname "$0")/../../../btl_tests/tests/mpi.sh"

run 2 ./learning --collectives reduce,alltoall --before 10 --calls 5 --rounds 3 --most 64
[ "$status" = 0 ] || fail "status $status"
for row in "reduce 8" "reduce 64" "alltoall 8" "alltoall 64"; do
    [ "$(grep -c "^${row% *}  *${row#* } " "$work/out")" = 1 ] || fail "no row $row"
done
awk '/\[/ { n = NF; low = substr($(n - 1), 2) + 0; if (!(low <= $(n - 2) && $(n - 2) <= $n + 0)) exit 1 }' "$work/out" ||
    fail "a ratio is not in its interval"
grep -q "^geometric mean of 4 points: [0-9.]*$" "$work/out" || fail "no mean of all"

./learning --collectives bcast,barrier >"$work/out" 2>"$work/err"
[ $? = 2 ] || fail "a collective without messages is not refused"
grep -q '^learning: option --collectives: there is no "barrier" with messages' "$work/err" || fail "it is not said"
finish
