#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Each operation at 2 and 4 ranks over all its sizes, what is refused, and that wrong data is noticed.
. "$(dirname "$0")/../../../btl_tests/tests/mpi.sh"

quick="-i 2 -x 1 -f -c --validation-calls 2"

for name in shift_accumulate shift_get shift_put shift_strided; do
    for np in 2 4; do
        run "$np" "./$name" $quick
        [ "$status" -eq 0 ] || fail "np $np, $name"
        # 18 sizes; of each a rank makes 2 runs of np - 1 operations, and one to warm up.
        wanted=$(awk -v np="$np" 'BEGIN { for (b = 8; b <= 1048576; b *= 2) printf "%d %d %d Pass,", b, 2 * (np - 1), b * 3 * (np - 1) * np }')
        got=$(awk '/^[0-9]/ { printf "%d %d %d %s,", $1, $5, $6, $7 }' "$work/out")
        [ "$got" = "$wanted" ] || fail "np $np, $name: rows $got, not $wanted"
    done
done

# refuse TEXT COMMAND...: without mpirun, one line and no results
refuse() {
    text=$1
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    [ "$status" -eq 2 ] && grep -q "^$(basename "$1"): $text" "$work/err" || fail "$*: not \"$text\""
    [ -s "$work/out" ] && fail "$*: results in spite of the error"
}
refuse 'there are 1 ranks, it needs 2 at least' ./shift_put
refuse 'call it shift_<benchmark>, as the links beside it' ./shift
refuse 'option --message-size: MIN 12 is not a multiple of 8 (MPI_DOUBLE)' ./shift_accumulate -m 12:64
refuse 'option --root: this collective has no root' ./shift_get --root 1
./shift_get --help >"$work/out"
grep -q '^Latency of MPI_Get over message sizes 8 to 1048576 bytes' "$work/out" || fail "--help"

# expect NAME SIZE FAULT TEXT: the fault is seen, and so described.  Of 3 ranks each makes two operations in a run:
# calls 0 and 1 are timed, 2 and 3 checked.
expect() {
    PWR_FAULT="$3" run 3 "./faulty/$1" -m "$2:$2" -i 1 -x 0 -c --validation-calls 1
    ended_with_error || fail "$1, $2 bytes, fault \"$3\": not noticed"
    grep -q "^$1: wrong data on rank $4" "$work/err" || fail "$1, $2 bytes, fault \"$3\": not \"$4\""
    grep -q "^$2 .* Fail\$" "$work/out" || fail "$1, $2 bytes, fault \"$3\": no row that says Fail"
}
for name in shift_accumulate shift_get shift_put shift_strided; do
    PWR_FAULT= run 3 "./faulty/$name" -m 8:64 $quick
    [ "$status" -eq 0 ] || fail "$name without a fault"
    PWR_FAULT="flip 1 1 0" run 3 "./faulty/$name" -m 8:8 -i 1 -x 0 -c
    [ "$status" -eq 0 ] || fail "$name: what a timed call does is checked"
done
expect shift_put 8 "flip 0 2 7" "1 .*: window, put by rank 0, byte 7: expected"
expect shift_put 65536 "flip 2 3 65535" "1 .*: window, put by rank 2, byte 65535: expected"
expect shift_put 64 "lost 1 2 0" "2 .*: window, put by rank 1, byte 0: expected"
expect shift_put 64 "wide 1 2 64" "2 .*: receive buffer of 64 bytes: written outside of it, at byte 64"
expect shift_get 64 "flip 1 2 9" "1 .*: got from rank 2, byte 9: expected"
expect shift_get 64 "lost 2 3 0" "2 .*: got from rank 1, byte 0: expected"
expect shift_accumulate 64 "flip 1 3 14" "0 .*: window, sum with what was added by rank 1, byte \(8\|9\|1[0-5]\): expected"
expect shift_accumulate 8 "lost 0 2 0" "1 .*: window, sum with what was added by rank 0, byte [0-7]: expected"
# blocks of 8 every 16 bytes, from 1024 bytes on of 256 every 512
expect shift_strided 64 "flip 0 2 17" "1 .*: window, blocks put by rank 0, byte 9: expected"
expect shift_strided 2048 "flip 0 3 512" "2 .*: window, blocks put by rank 0, byte 256: expected"
expect shift_strided 64 "wide 0 2 8" "1 .*: window, gaps between blocks put by rank 0, byte 8: expected"
finish
