/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every call of OpenSHMEM that waits (late.h), with the last PE late: is the result right, and did
 * those who waited give their CPU back?
 *
 *   oshrun -np N check_late [-l MILLISECONDS] [-t] [KIND...]
 *
 * -l: nobody is watched; the last PE is late by that.  -t: with SHMEM_THREAD_MULTIPLE.
 * The last PE prints for each kind, or those that are named, what the others did while it was late:
 *
 *     wait-until: 1 sleep, 0 poll, 0 are gone
 *
 * Where a call need not wait for the last PE, the others are gone.  The last line counts wrong
 * results.  What waiting costs measures bench/waits.
 */
#include "late.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

enum { HANG_S = 1500 };

static bool is_last, watches;
static int late_ms;
static watched_t found;

static void come_late(void)
{
    if (is_last && watches && watched_leads()) {
        found = watched_find(watched_usual);
        watched_come();
    } else if (is_last && !watches) {
        const struct timespec time = {.tv_sec = late_ms / 1000,
                                      .tv_nsec = late_ms % 1000 * 1000000l};
        nanosleep(&time, NULL);
    }
}

static void run(const late_kind_t *kind)
{
    shmem_barrier_all();
    if (!is_last) {
        watched_begin();
    }
    kind->run();
    if (!is_last) {
        watched_end();
    } else {
        printf("%s: %d sleep, %d poll, %d are gone\n", kind->name, found.sleep, found.poll,
               found.gone);
    }
    fflush(stdout);
    shmem_barrier_all();
}

static bool is_named(const late_kind_t *kind, int argc, char **argv)
{
    for (int i = optind; i < argc; ++i) {
        if (0 == strcmp(kind->name, argv[i])) {
            return true;
        }
    }
    return optind == argc;
}

int main(int argc, char **argv)
{
    int option, level = SHMEM_THREAD_SINGLE;
    while (-1 != (option = getopt(argc, argv, "l:t"))) {
        switch (option) {
        case 'l':
            late_ms = atoi(optarg);
            break;
        case 't':
            level = SHMEM_THREAD_MULTIPLE;
            break;
        default:
            return 2;
        }
    }
    alarm(HANG_S);
    shmem_init_thread(level, &level);
    is_last = shmem_n_pes() - 1 == shmem_my_pe();
    late_begin(come_late);
    watches = 0 == late_ms && watched_open(is_last, 1);
    for (const late_kind_t *kind = late_kinds; NULL != kind->name; ++kind) {
        if (is_named(kind, argc, argv)) {
            run(kind);
        }
    }
    long total = late_all_wrong();
    if (0 == shmem_my_pe()) {
        printf("check_late: %ld wrong results\n", total);
    }
    shmem_finalize();
    return 0 == total ? 0 : 1;
}
