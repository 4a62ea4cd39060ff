# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For scripts that judge jobs of OpenSHMEM on this machine; to be sourced.  Environment: OSHRUN, PWR_BUILDDIR and
# PWR_SRCDIR (all set by make check).  WORK is a folder that goes at the end, FAILURES the verdict.
# shellcheck shell=bash disable=SC2034 # for those who source this
set -u
: "${PWR_SRCDIR:?}" "${PWR_BUILDDIR:?}" "${OSHRUN:?}"
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/one_machine.sh"

TRANSFERS=$PWR_BUILDDIR/oshmem/transfers
JOB_LIMIT_S=1800
OK=" 0 wrong results"
WORK=$(mktemp -d) || exit 99
trap 'rm -rf "$WORK"' EXIT
FAILURES=0

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1
# Open MPI 4.1.4 crashes in each shmem_finalize where UCX watches memory by Open MPI's hooks.
export OMPI_MCA_opal_common_ucx_opal_mem_hooks=0

# Transports of UCX: with shared memory PEs can store into each other's memory, by TCP alone they cannot.
# Where a program has made a context of its own, shmem_finalize of Open MPI 4.1.4 hangs over TCP: stock, too.
declare -A transports=([shm]=self,sm [tcp]=self,tcp)
declare -A contexts=([shm]=2 [tcp]=1)

job() { # PEs, transport, environment (NAME=VALUE) -- program's arguments
    local pes=$1 transport=$2 variables=()
    shift 2
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    local exported=(-x "UCX_TLS=${transports[$transport]}") each
    for each in "${variables[@]}"; do
        exported+=(-x "$each")
    done
    "$PWR_SRCDIR/harness/within" "$JOB_LIMIT_S" "$WORK/stacks" "$OSHRUN" -np "$pes" --oversubscribe "${exported[@]}" "$@" >"$WORK/out" 2>&1
}

verdict() { # what, pattern the output must have; the status is that of the job before
    local status=$?
    if [ $status = 0 ] && grep -q -- "$2" "$WORK/out"; then
        echo "ok: $1"
        return
    fi
    echo "FAILED: $1 (exit status $status, wanted 0 and \"$2\")"
    sed 's/^/    /' "$WORK/out" | head -n 30
    [ $status != 124 ] || cat "$WORK/stacks"
    FAILURES=$((FAILURES + 1))
}
