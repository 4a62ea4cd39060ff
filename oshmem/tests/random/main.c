/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random programs of OpenSHMEM 1.4, every byte compared with what the seed says: steps of all PEs,
 * active sets, types and operations are drawn from it.
 *
 *   oshrun -np N random_shmem [options]        (options.c says which)
 *
 *   names.c      what programs are made of        transfers.c    puts and gets
 *   program.c    what is drawn of all steps       atomics.c      chains and contests
 *   memory.c     what must come out               signals.c      wait_until, test
 *   run.c        one program after the other      locks.c        set_lock, test_lock
 *   shrink.c     the smallest one that fails      barriers.c     and sync, quiet, fence
 *                                                 collectives.c, reductions.c
 *
 * Random numbers and the watch are those of the tester of collectives,
 * coll_poweraware/tests/differential.
 */
#include <inttypes.h>
#include <stdio.h>

#include "run.h"
#include "watch.h"

static const diff_watched_t watched = {"random_shmem", "program", rsh_run_describe_place};

int main(int argc, char **argv)
{
    static rsh_options_t options;
    static rsh_run_t run;
    setvbuf(stderr, NULL, _IOLBF, 0); /* a line at once: ranks tell at the same time */
    if (!rsh_options_parse(&options, argc, argv, true)) {
        return 2;
    }
    if (options.help) {
        rsh_options_help(stdout);
        return 0;
    }
    shmem_init();
    rsh_run_open(&run, &options);
    diff_watch_start(&watched, run.pe, 1, options.limit_s);
    rsh_run_all(&run);
    diff_watch_stop();
    if (0 == run.pe) {
        printf("random_shmem: %" PRIu64 " calls, %" PRIu64 " wrong results\n", run.calls,
               run.all_failures);
    }
    bool failed = run.all_failures > 0;
    rsh_run_close(&run);
    shmem_finalize();
    return failed ? 1 : 0;
}
