# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For scripts that judge OpenSHMEM jobs on this machine; to be sourced.  On top of jobs.sh: job runs oshrun, with our
# component where `ours` is among its options, or stock alone.  Environment: see jobs.sh; OSHRUN (set by make check);
# PWR_SHMEM_STOCK=yes: judge stock alone, where ours is not built.
# shellcheck shell=bash disable=SC2034 # for those who source this
: "${OSHRUN:?}"
. "$(dirname "${BASH_SOURCE[0]}")/one_machine.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../coll_poweraware/tests/jobs.sh" || exit 99

MPIRUN=$OSHRUN
SHMEM_TESTS=$PWR_BUILDDIR/oshmem/tests
series=$("$OSHRUN" --version | sed -n 's/.*) \([0-9]*\.[0-9]*\).*/\1/p')
. "$(dirname "${BASH_SOURCE[0]}")/stock_failures.sh"

export UCX_TLS=tcp,self,sm
ours=(--mca scoll poweraware)
stock=("${stock_options[@]}" --mca scoll ^poweraware --mca coll ^poweraware)
if [ "${PWR_SHMEM_STOCK:-no}" = yes ]; then
    echo "skipped: all that is ours (PWR_SHMEM_STOCK): stock alone is judged"
    ours=("${stock[@]}")
elif [ ! -f "$PWR_BUILDDIR/oshmem/scoll_poweraware/component/mca_scoll_poweraware.so" ]; then
    failed "mca_scoll_poweraware.so is missing"
fi

# Sets what stock does not survive here: names for --without.  transport: empty, or messages
leave_out() { # transport
    local row of_series transport names why
    without=''
    for row in "${stock_failures[@]}"; do
        IFS='|' read -r of_series transport names why <<<"$row"
        [[ " ${of_series:-$series} " = *" $series "* ]] || continue
        [[ -z "$transport" || "$transport" = "$1" ]] || continue
        without+="${without:+,}$names"
        echo "skipped${transport:+ (over messages)}: $names: $why"
    done
}

# With ours; where that fails, stock alone: what fails then, too, is not ours to answer for, but has to be in the list.
judge() { # what, pattern, np, options of oshrun -- program's arguments
    local what=$1 pattern=$2 np=$3
    shift 3
    job "$np" "${ours[@]}" "$@"
    verdict "$what" 0 "$pattern" && return
    job "$np" "${stock[@]}" "$@"
    verdict "stock alone, which belongs into stock_failures.sh: $what" 0 "$pattern"
}
