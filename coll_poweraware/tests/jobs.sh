# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For scripts that judge MPI jobs on this machine; to be sourced.  Environment: MPIRUN, PWR_BUILDDIR, PWR_SRCDIR (all set by
# make check).  PROGRAM is what job runs (default: check_collectives), WORK a folder that goes at the end, FAILURES the verdict,
# JOB_LIMIT_S after how long a job is taken to hang (default 1800: a loaded machine is slow): then it is ended, and verdict tells
# where its processes were.
# Programs that watch waits (watched.h) have a new file for that in each job, in PWR_WATCHED.
# shellcheck shell=bash disable=SC2034 # OK and SOUND_* are for those who source this
set -u
: "${PWR_SRCDIR:?}" "${PWR_BUILDDIR:?}" "${MPIRUN:?}"

TESTS=$PWR_BUILDDIR/coll_poweraware/tests
CHECK=$TESTS/check_collectives
PROGRAM=$CHECK
WORK=$(mktemp -d) || exit 99
trap 'rm -rf "$WORK"' EXIT
FAILURES=0
touch "$WORK/began"
export PWR_WATCHED=$WORK/watched

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_mca_base_component_path=SYS_DEFAULT
for part in oshmem/scoll_poweraware osc_poweraware coll_poweraware; do
    # a folder that is not there would cost mpirun all of its plug-ins
    [ ! -d "$PWR_BUILDDIR/$part/component" ] ||
        OMPI_MCA_mca_base_component_path=$PWR_BUILDDIR/$part/component:$OMPI_MCA_mca_base_component_path
done
export OMPI_MCA_mca_base_component_path
pmix=$(pkg-config --variable=pmix_pluginsdir pmix 2>/dev/null) || pmix=
for dir in "$pmix" /usr/lib/*/pmix2/lib/pmix; do
    [ -d "$dir" ] && export PMIX_MCA_mca_base_component_path=${PMIX_MCA_mca_base_component_path:-$dir}
done
export OMPI_MCA_coll_poweraware_helper_dir=$PWR_BUILDDIR/opal
export OMPI_MCA_coll_poweraware_min_bytes=0 OMPI_MCA_mpi_yield_when_idle=1
# looking for libfabric's devices takes a second of each job of 6.0; nothing here uses them
export OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi}
# what they end up with on one node anyway, after having asked the libraries of network cards
export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}
# how long after SIGTERM mpirun of 4.1 kills the other ranks of one that failed: none is still there by then
export OMPI_MCA_odls_base_sigkill_timeout=0
# our algorithms wherever they can: scheme auto, the default, would leave many calls to others
export OMPI_MCA_coll_poweraware_scheme=throttle

# A decision table: collectives that go by an algorithm in all layouts and sizes.
table_of() { # file, then a collective and its algorithm, again and again
    local file=$1 rows=''
    shift
    while [ $# -gt 1 ]; do
        rows+=${rows:+, }$(printf '{"collective": "%s", "nodes": [1, null], "ranks_per_node": [1, null], "bytes": [0, null], "algorithm": "%s"}' "$1" "$2")
        shift 2
    done
    echo "{\"format_version\": 1, \"source\": \"a test\", \"rows\": [$rows]}" >"$file"
}

major_of_open_mpi() {
    "${OMPI_INFO:-ompi_info}" --version 2>/dev/null | sed -n 's/^Open MPI v\([0-9]*\)\..*/\1/p'
}

job() { # np, then mpirun options and program arguments separated by --
    local np=$1
    shift
    local options=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    case " $* " in *thread* | *" -t "*) options+=("${SOUND_THREADS[@]}") ;; esac
    rm -f "$PWR_WATCHED"
    truncate -s 8192 "$PWR_WATCHED"
    "$PWR_SRCDIR/harness/within" "${JOB_LIMIT_S:-1800}" "$WORK/stacks" "$MPIRUN" -np "$np" --oversubscribe "${options[@]}" "$PROGRAM" "$@" >"$WORK/out" 2>&1
}

# Of a job that was killed: its recorder writes what it knows after mpirun has ended.
wait_for_partial() { # folder of documents, what
    for _ in $(seq 600); do
        grep -q 'before it had finished' "$1"/job.*.partial.json 2>/dev/null && return
        sleep 0.1
    done
    failed "$2: nothing is left"
}

# mpirun of 4.1 blocks itself at its end now and then when a rank was killed (PMIx_server_finalize waits for a thread
# that waits for its lock).  All ranks are gone then, and it has said so.
mpirun_hangs_alone() { # exit status
    [ "$1" = 124 ] && grep -q 'noticed that process rank .* exited on signal' "$WORK/out"
}

verdict() { # what, wanted exit status (0, or "fail"), pattern the output must have
    local status=$? what=$1 wanted=$2 pattern=$3
    if [ "$wanted" = fail ] && mpirun_hangs_alone $status; then
        echo "mpirun itself hung at its end: $what"
        status=1
    fi
    if { [ "$wanted" = 0 ] && [ $status != 0 ]; } || { [ "$wanted" = fail ] && [ $status = 0 ]; } ||
        [ $status = 124 ] || ! grep -q -- "$pattern" "$WORK/out"; then
        echo "FAILED: $what (exit status $status, wanted $wanted and \"$pattern\")"
        sed 's/^/    /' "$WORK/out" | head -n 30
        [ $status != 124 ] || cat "$WORK/stacks"
        FAILURES=$((FAILURES + 1))
        return 1
    fi
    echo "ok: $what"
}

once() { # what, pattern that one line of the last job's output has
    local lines
    lines=$(grep -c -- "$2" "$WORK/out")
    if [ "$lines" != 1 ]; then
        echo "FAILED: $1 is said $lines times"
        FAILURES=$((FAILURES + 1))
    fi
}

said_by_none_twice() { # what, pattern
    if grep -- "$2" "$WORK/out" | cut -d']' -f1 | sort | uniq -d | grep -q .; then
        echo "FAILED: $1 is said by one process for each of its communicators"
        FAILURES=$((FAILURES + 1))
    fi
}

failed() { # what
    echo "FAILED: $1"
    FAILURES=$((FAILURES + 1))
}

left_segments() { # of processes that have ended; other tests may have theirs meanwhile
    local name pid
    find /dev/shm -maxdepth 1 -name "poweraware.$(id -u).*" -newer "$WORK/began" -printf '%f\n' 2>/dev/null | while read -r name; do
        pid=${name#*.*.}
        [ -d "/proc/${pid%%.*}" ] || echo "$name"
    done
}

no_segment_is_left() {
    local left
    left=$(left_segments)
    [ -z "$left" ] || failed "segments are left: $left"
}

# What jobs have started is known by its environment, which has $WORK in it.
processes_of_jobs() {
    local file
    env -i "PATH=$PATH" grep -ls -- "$WORK" /proc/[0-9]*/environ | while read -r file; do
        file=${file#/proc/}
        echo "${file%/environ}"
    done
}

# Recorders and guardians may live a moment longer than their jobs.
no_process_is_left() {
    for _ in $(seq 600); do
        [ -n "$(processes_of_jobs)" ] || return
        sleep 0.1
    done
    # shellcheck disable=SC2046 # numbers
    failed "processes are left: $(ps -o pid=,args= $(processes_of_jobs))"
    kill_what_is_left
}

kill_what_is_left() {
    # shellcheck disable=SC2046 # numbers
    kill -KILL $(processes_of_jobs) 2>/dev/null
}
OK=" 0 wrong results"

# Open MPI's own functions, kept from the algorithms that known_faults.c tells of.
SOUND_STOCK=(
    --mca coll_tuned_use_dynamic_rules 1
    --mca coll_tuned_allgatherv_algorithm 3
    --mca coll_tuned_allreduce_algorithm 3
    --mca coll_tuned_alltoall_algorithm 2
    --mca coll_tuned_bcast_algorithm 1
)

# Threads of Open MPI 6.0.0rc2 lose messages in its shared memory's fast boxes (stock alone, too: half of the jobs with 2,000 calls
# of three threads).  Added to jobs whose program says in its arguments that it has threads.
SOUND_THREADS=()
! "$MPIRUN" --version | grep -q ' 6\.0\.0rc' || SOUND_THREADS=(--mca btl_sm_fbox_max 0)
