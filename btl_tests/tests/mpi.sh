# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For the shell tests: how to start MPI programs and how to say what went wrong.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# what jobs on one node end up with anyway, after having asked the libraries of network cards
export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}
# how long after SIGTERM mpirun of 4.1 kills the other ranks of one that failed: none is still there by then
export OMPI_MCA_odls_base_sigkill_timeout=0
: "${MPIRUN:=mpirun}"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# run NP COMMAND...: standard output and error to $work/out and $work/err, exit status to $status.
# Ranks write errors themselves: mpirun of 5.0 sometimes passes the first part of a line on to the
# wrong one of its two outputs.
run() {
    np=$1
    shift
    : >"$work/err"
    # shellcheck disable=SC2016 # for the ranks' shell
    "$MPIRUN" --oversubscribe -np "$np" sh -c 'exec "$@" 2>>"$0"' "$work/err" "$@" \
        >"$work/out" 2>>"$work/err" </dev/null
    status=$?
}

# ended_with_error: whether the last run, of several ranks, found something wrong and said so by status 1.  Open MPI 4.1 sometimes
# crashes ranks that are about to end then, in its event thread, and mpirun's status is theirs.
ended_with_error() {
    [ "$status" -eq 1 ] || { [ "$status" -eq 139 ] && grep -q 'event_base_loop' "$work/err"; }
}

# fail TEXT: counts a failure and shows what the last run printed
fail() {
    failures=$((failures + 1))
    echo "FAIL: $1 (exit status $status)"
    sed 's/^/    out: /' "$work/out"
    sed 's/^/    err: /' "$work/err"
}

finish() {
    echo "$failures failures"
    [ "$failures" -eq 0 ]
    exit
}
