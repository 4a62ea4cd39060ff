# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For checks of modules and recipes: what users do, and what must come of it.  WORK is theirs.
FAILURES=0
HERE=$(dirname "${BASH_SOURCE[0]}") # with late.c
# shellcheck source=packaging/jobs.sh
. "$HERE/jobs.sh"

verdict() { # text, exit status
    if [ "$2" = 0 ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1"
        FAILURES=$((FAILURES + 1))
        return 1
    fi
}

recipes() { # into $WORK/recipes
    make -s -C "$PWR_BUILDDIR/packaging" recipes recipes_dir="$WORK/recipes"
}

environment() { # without what the tools themselves keep
    env | grep -v -e '^_=' -e '^SHLVL=' -e '^_*LMOD' -e '^_*MODULES\?_' -e '^_ModuleTable' -e '^LOADEDMODULES=' -e '^_LMFILES_=' \
        -e '^SPACK_' | grep '^[A-Za-z_]*=' | sort
}

same_as() { # environment
    diff <(echo "$1") <(environment)
    verdict "unloaded, the environment is as before" $?
}

# The last of two ranks is late to collectives and a fence: the other one sleeps.
ranks_sleep() {
    mpicc -o "$WORK/late" "$HERE/late.c" &&
        mpirun -np 2 "$WORK/late" 2 >"$WORK/late.out" 2>&1 && slept "$WORK/late.out"
    verdict "a rank that waits sleeps" $?
}

job_reported() { # after ranks_sleep
    poweraware run --output "$WORK/job" -- mpirun -np 2 "$WORK/late" 1 >"$WORK/job.out" 2>&1 && [ -s "$WORK/job/job.json" ]
    verdict "poweraware run reports a job" $? || cat "$WORK/job.out"
}
