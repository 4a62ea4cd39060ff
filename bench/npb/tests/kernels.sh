#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# The kernels' results are right on any number of processes, a wrong byte is noticed, and reports are per phase.
. "$(dirname "$0")/../../../btl_tests/tests/mpi.sh"

# right KERNEL CLASS NP...
right() {
    kernel=$1 class=$2
    shift 2
    for np; do
        run "$np" "./$kernel" "$class"
        [ "$status" -eq 0 ] || fail "$kernel $class, $np processes"
        grep -q '^Verification     = SUCCESSFUL$' "$work/out" || fail "$kernel $class, $np processes: not verified"
        grep -Eq '^Time in seconds  = [0-9.]+$' "$work/out" || fail "$kernel $class, $np processes: no time"
    done
}

# noticed KERNEL NP FAULT: one bit of what an exchange delivers; IS has two exchanges in each of its 10 iterations
noticed() {
    PWR_FAULT=$3 run "$2" "./$1_fault" S
    [ "$status" -eq 1 ] || fail "$1, fault \"$3\": not noticed"
    grep -q '^Verification     = UNSUCCESSFUL$' "$work/out" || fail "$1, fault \"$3\": no UNSUCCESSFUL"
}

# refused TEXT STATUS NP COMMAND...
refused() {
    text=$1 wanted=$2
    shift 2
    run "$@"
    [ "$status" -eq "$wanted" ] || fail "$*: not refused"
    grep -q "$text" "$work/err" || fail "$*: not \"$text\""
}

# marked KERNEL REGION...: the job's document has the kernel's phases
marked() {
    kernel=$1
    shift
    "${PYTHON:-python3}" "$PWR_SRCDIR/poweraware/poweraware" run --build "$PWR_BUILDDIR" -o "$work/$kernel" -- \
        "$MPIRUN" --oversubscribe -np 2 "./$kernel" S >"$work/out" 2>"$work/err"
    status=$?
    for region; do
        grep -q "\"name\": \"$region\"" "$work/$kernel/job.json" || fail "$kernel: no region \"$region\""
    done
}

right is_like S 1 2 3 7
right is_like W 4
PWR_FAULT="" run 3 ./is_like_fault S
[ "$status" -eq 0 ] || fail "is_like without a fault"
noticed is_like 3 "flip 0 19 0"
noticed is_like 3 "flip 2 19 40001"
noticed is_like 2 "flip 1 19 3"
refused "usage:" 2 2 ./is_like X
refused "usage:" 2 1 ./is_like
marked is_like count exchange rank
run 1 ./is_like --help
grep -q "Classes: S W A B C" "$work/out" || fail "is_like --help"

if [ -x ./ft_like ]; then
    right ft_like S 1 2 4 8
    right ft_like W 4
    PWR_FAULT="" run 2 ./ft_like_fault S
    [ "$status" -eq 0 ] || fail "ft_like without a fault"
    noticed ft_like 2 "flip 0 0 7"
    noticed ft_like 4 "flip 3 1 70006"
    marked ft_like initialize transform transpose evolve checksum
    refused "3 processes do not divide 64 x 64 lines: take a power of two up to 64" 1 3 ./ft_like S
else
    echo "SKIP: ft_like is not built: needs fftw3"
fi
finish
