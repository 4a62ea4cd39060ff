#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Validation must notice every kind of wrong data: benchmarks linked with tests/fault.c, one fault
# per run.  Each must end with status 1 and name rank, peer and byte.
. "$(dirname "$0")/../../../btl_tests/tests/mpi.sh"

# -i 1 -x 0: call 0 is the timed one, calls 1, 2, 3 are checked.
quick="-i 1 -x 0 -c --validation-calls 3"

# expect BENCHMARK SIZE FAULT TEXT [OPTION...]: the fault is seen, and so described
expect() {
    benchmark=$1 size=$2 fault=$3 text=$4
    shift 4
    PWR_FAULT="$fault" run 3 "./faulty/$benchmark" -m "$size:$size" $quick "$@"
    name="$benchmark, $size bytes, fault \"$fault\""
    ended_with_error || fail "$name: not noticed"
    grep -q "^osu_.*: wrong data on rank .*: $text" "$work/err" || fail "$name: not \"$text\""
    grep -q "^$size .* Fail\$" "$work/out" || fail "$name: no row that says Fail"
}

# Without a fault the same programs pass, for every size, root and call.
for benchmark in osu_allgather osu_allgatherv osu_allreduce osu_alltoall osu_alltoallv osu_alltoallw \
    osu_bcast osu_exscan osu_gather osu_reduce osu_reduce_scatter osu_reduce_scatter_block osu_scan osu_scatter; do
    PWR_FAULT= run 3 "./faulty/$benchmark" -m 4:65536 $quick
    [ "$status" -eq 0 ] || fail "$benchmark without a fault"
    grep -q 'Fail' "$work/out" && fail "$benchmark without a fault: a row says Fail"
    [ "$(grep -c 'Pass$' "$work/out")" -eq 15 ] || fail "$benchmark without a fault: not 15 rows"
done

PWR_FAULT= run 3 ./faulty/osu_barrier -i 20 -x 0 -c --validation-calls 7
[ "$status" -eq 0 ] && [ "$(grep -c 'Pass$' "$work/out")" -eq 1 ] || fail "osu_barrier without a fault"

# One bit of one byte, of each kind of data: first, last, inner bytes; own block; each rank; each checked call.
expect osu_alltoall 1 "flip 0 1 0" "block received from rank 0, byte 0:"
expect osu_alltoall 64 "flip 1 3 97" "block received from rank 1, byte 33:"
expect osu_alltoall 65536 "flip 0 2 196607" "block received from rank 2, byte 65535:"
expect osu_gather 64 "flip 0 1 100" "block received from rank 1, byte 36:"
expect osu_gather 64 "flip 1 1 100" "receive buffer of a rank that is not root 0, byte 100:"
expect osu_gather 64 "flip 0 2 0" "receive buffer of a rank that is not root 1, byte 0:" --root rotate
expect osu_scatter 64 "flip 2 1 9" "block received from rank 0, byte 9:"
expect osu_bcast 64 "flip 0 3 31" "message from root 0, byte 31:"
expect osu_bcast 65536 "flip 1 1 65535" "message from root 0, byte 65535:"
expect osu_bcast 64 "flip 0 2 5" "message from root 1, byte 5:" --root rotate
expect osu_reduce 64 "flip 0 2 33" "sum at root 0, byte 33:"
expect osu_reduce 64 "flip 2 3 63" "sum at root 2, byte 63:" --root 2
expect osu_reduce 64 "flip 1 1 7" "receive buffer where no result belongs, rank 1, byte 7:"
expect osu_allreduce 65536 "flip 2 1 65535" "sum at rank 2, byte 65535:"
expect osu_scan 64 "flip 1 1 19" "sum at rank 1, byte 19:"
expect osu_exscan 64 "flip 2 1 19" "sum at rank 2, byte 19:"
expect osu_exscan 64 "flip 0 1 19" "receive buffer where no result belongs, rank 0, byte 19:"
expect osu_reduce_scatter 64 "flip 1 1 19" "sum at rank 1, byte 19:"
expect osu_reduce_scatter 64 "flip 1 1 20" "receive buffer where no result belongs, rank 1, byte 20:"
expect osu_reduce_scatter_block 64 "flip 1 1 19" "sum at rank 1, byte 19:"

# A result that is nobody's, of each collective; the last call's, or somebody else's, of each kind of data.
for benchmark in osu_allgather osu_allgatherv osu_alltoall osu_alltoallv osu_alltoallw osu_bcast osu_gather osu_scatter; do
    expect "$benchmark" 64 "skip 0 3 0" ".*byte 0:"
done
expect osu_reduce 64 "skip 0 3 0" "sum at root 0, byte 0:"
for benchmark in osu_allreduce osu_reduce_scatter osu_reduce_scatter_block; do
    expect "$benchmark" 64 "skip 0 3 0" "sum at rank 0, byte 0:"
done
for benchmark in osu_alltoall osu_bcast; do
    expect "$benchmark" 1 "stale 1 2 0" ".*byte 0:"
done
expect osu_reduce 64 "stale 0 2 0" "sum at root 0, byte"
expect osu_alltoall 64 "swap 0 1 64" "block received from rank 0, byte 0:"
expect osu_reduce 64 "drop 2 1 0" "sum at root 0, byte"
expect osu_reduce_scatter 64 "drop 0 1 0" "sum at rank 0, byte"
expect osu_scan 64 "drop 0 1 0" "sum at rank [0-2], byte"
expect osu_exscan 64 "drop 1 1 0" "sum at rank 2, byte"

# Writing where nothing may be written.
expect osu_alltoall 64 "send 1 1 70" "own send buffer, block for rank 1, byte 6:"
expect osu_gather 64 "send 1 1 5" "own send buffer of rank 1, byte 5:"
expect osu_scatter 64 "send 1 1 5" "send buffer of a rank that is not root 0, byte 5:"
expect osu_reduce 64 "send 1 1 5" "own send buffer of rank 1, byte 5:"
outside="bytes: written outside of it, at byte"
expect osu_alltoall 64 "flip 0 1 192" "receive buffer of 192 $outside 192"
expect osu_bcast 64 "flip 1 1 -1" "receive buffer of 64 $outside -1"
expect osu_reduce_scatter_block 64 "flip 0 1 20" "receive buffer of 20 $outside 20"
expect osu_alltoall 64 "send 2 1 -4096" "send buffer of 192 $outside -4096"

# A barrier that lets ranks pass: the first checked call is barrier 3 (one before the timed call, that
# call, one after it), the only one, as a late rank that hears of nobody waits long.
PWR_FAULT="open 0 3 0" run 3 ./faulty/osu_barrier -i 1 -x 0 -c --validation-calls 1
ended_with_error || fail "osu_barrier: an open barrier was not noticed"
grep -q '^osu_barrier: wrong data on rank 1 .*: left before this rank entered: rank [02]$' "$work/err" ||
    fail "osu_barrier: not \"left before this rank entered\""

PWR_FAULT="flip 0 2 5" run 1 ./faulty/osu_bcast -m 64:64 $quick
[ "$status" -eq 1 ] || fail "the status of wrong data is not 1"

# Overruns in the timed call are seen too.
expect osu_bcast 64 "flip 2 0 64" "receive buffer of 64 $outside 64"

finish
