#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Every kind of traffic must notice wrong data: transports linked with tests/fault.c, one fault per
# run, which must be named exactly.
. "$(dirname "$0")/mpi.sh"

# expect TRAFFIC FAULT TEXT
expect() {
    PWR_FAULT="$2" run 2 ./transports_fault "$1"
    [ "$status" -ne 0 ] || fail "$1, fault \"$2\": not noticed"
    grep -q "^transports: $1: $3" "$work/err" || fail "$1, fault \"$2\": not \"$3\""
    grep -q 'checks ok' "$work/out" && fail "$1, fault \"$2\": ends with ok"
}

PWR_FAULT= run 2 ./transports_fault
[ "$status" -eq 0 ] || fail "without a fault"

run 2 ./transports_fault nonsense
[ "$status" -eq 2 ] || fail "unknown traffic: status is not 2"
grep -q '^transports: unknown argument "nonsense"' "$work/err" || fail "unknown traffic: not said"

# At 2 ranks and in every kind of traffic, a rank's calls go: size by size (0, 1, 3, 8, 64, 1021,
# 4032, 4095, 4096, ...), for each size step 0 (to itself) and step 1 (to the other).
message="message [0-9]* from rank"
expect shift "send 0 3 0" "rank 1: $message 0, 1 bytes: byte 0: expected"
expect shift "send 1 11 1020" "rank 0: $message 1, 1021 bytes: byte 1020: expected"
expect shift "send 1 42 1048600" "rank 1: something was written outside .* at byte 1048600"
expect shift "send 0 43 1048588" "rank 1: $message 0, 1048589 bytes: byte 1048588: expected"
expect shift "recv 0 4 1" "rank 0: $message 0, 3 bytes: byte 1: expected"
expect shift "recv 1 9 64" "rank 1: something was written outside of .* 64 bytes, at byte 64"
expect shift "recv 1 9 -1" "rank 1: something was written outside of .* 64 bytes, at byte -1"
# Windows are 8 sends per step: calls 16 * (index of the size) + 8 * step + message.
expect window "send 0 31 0" "rank 1: $message 0, 1 bytes: byte 0: expected"
expect window "send 1 129 4094" "rank 1: $message 1, 4096 bytes: byte 4094: expected"
expect unexpected "send 1 24 0" "rank 0: $message 1, 1 bytes: byte 0: expected"
expect unexpected "send 0 238 65535" "rank 1: $message 0, 65536 bytes: byte 65535: expected"
# (only 4 of the 8 through MPI_Isend, which "short" counts)
expect window "short 0 12 0" "rank 1: $message 0, 1 bytes: status says rank 0, tag [0-9]*, 0 bytes"
# from_any sends one message to each rank, itself first.
expect from_any "send 0 3 0" "rank 1: $message 0, 1 bytes: byte 0: expected"
expect from_any "short 1 19 0" "rank 0: $message 1, 4097 bytes: status says rank 1, .* 4096 bytes"
# probe sends 4 messages per step, each a byte shorter than the one before.
expect probe "send 1 28 0" "rank 0: $message 1, 8 bytes: byte 0: expected"
expect probe "send 1 31 4" "rank 0: $message 1, 5 bytes: byte 4: expected"
expect probe "short 0 29 0" "rank 1: $message 0, 7 bytes: status says rank 0, .* 6 bytes"
# strided: contiguous to strided, then strided to contiguous, in each step; blocks of 7 at 16.
expect strided "send 0 6 6" "rank 1: $message 0, 7 bytes: byte 6: expected"
expect strided "send 0 7 6" "rank 1: $message 0, 7 bytes: byte 6: expected"
expect strided "send 1 15 16" "rank 0: $message 1, 14 bytes: byte 7: expected"
expect strided "recv 1 14 23" "rank 1: $message 0, 14 bytes: gap at buffer byte 23: expected"
expect strided "recv 1 14 31" "rank 1: $message 0, 14 bytes: gap at buffer byte 31: expected"
# Puts and gets are 8 per step, as windows; of accumulates 4 have no request.
expect put "send 0 31 0" "rank 1: $message 0, 1 bytes: byte 0: expected"
expect put "send 1 129 4094" "rank 1: $message 1, 4096 bytes: byte 4094: expected"
expect get "recv 1 72 63" "rank 1: $message 0, 64 bytes: byte 63: expected"
expect get "recv 0 64 -1" "rank 0: something was written outside of .* at byte -1"
expect accumulate "send 0 15 0" "rank 1: $message 0, 1 bytes: byte 0: expected"
expect accumulate "send 1 71 4095" "rank 0: $message 1, 4096 bytes: byte 4095: expected"
finish
