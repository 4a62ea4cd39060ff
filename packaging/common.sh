# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# For checks of modules and recipes: what users do, and what must come of it.  WORK is theirs.
FAILURES=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

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

# One of two ranks is two seconds late to an Allreduce and a fence: the other one sleeps.
ranks_sleep() {
    cat >"$WORK/late.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
    int rank, sum;
    MPI_Win win;
    void *base;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int fence = 0; fence < 2; fence++) {
        clock_t begin = clock();
        if (0 == rank) {
            sleep(2);
        }
        fence ? MPI_Win_fence(0, win) : MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        double share = (double)(clock() - begin) / CLOCKS_PER_SEC / 2;
        if (1 == rank) {
            printf("%s %s: %.3f of a CPU\n", share < 0.05 ? "slept" : "spun", fence ? "fence" : "allreduce", share);
        }
    }
    MPI_Win_free(&win);
    MPI_Finalize();
}
EOF
    mpicc -o "$WORK/late" "$WORK/late.c" && mpirun -np 2 --oversubscribe "$WORK/late" >"$WORK/late.out" 2>&1
    [ "$(grep -c ^slept "$WORK/late.out")" = 2 ]
    verdict "a rank that waits sleeps: $(grep -e ^slept -e ^spun "$WORK/late.out" | tr '\n' ';')" $? || cat "$WORK/late.out"
}
