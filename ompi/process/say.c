/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the user is told, and where files of a rank go.
 */
#include "pwr_ompi/process.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "opal/util/output.h"
#include "opal/util/proc.h"

static int verbose;

void pwr_set_verbose(int level)
{
    verbose = level;
}

void pwr_say(int level, const char *format, ...)
{
    if (level > verbose) {
        return;
    }
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    opal_output(0, "poweraware: %s", line);
}

int pwr_level_alike(int level)
{
    return 0 == OPAL_PROC_MY_NAME.vpid ? level : 2;
}

/* Number of this job among those that MPI_Comm_spawn has made from one mpirun; 0 for a job that was
   not spawned.  PMIx names of jobs end in @<number>, those of 4.1 are one number whose lower half
   it is. */
static unsigned long spawned_job(void)
{
    const char *space = getenv("PMIX_NAMESPACE");
    if (NULL == getenv("OMPI_PARENT_PORT") || NULL == space) {
        return 0;
    }
    const char *at = strrchr(space, '@');
    return NULL != at ? strtoul(at + 1, NULL, 10) : strtoul(space, NULL, 10) & 0xffff;
}

void pwr_job_name(char *name, size_t room)
{
    unsigned long job = spawned_job();
    snprintf(name, room, 0 == job ? "job" : "job-%lu", job);
}

bool pwr_rank_path(char *path, size_t room, const char *directory, const char *ending)
{
    unsigned long job = spawned_job();
    unsigned rank = OPAL_PROC_MY_NAME.vpid;
    int length = 0 == job
                     ? snprintf(path, room, "%s/rank-%u.%s", directory, rank, ending)
                     : snprintf(path, room, "%s/job-%lu-rank-%u.%s", directory, job, rank, ending);
    bool fits = 0 <= length && (size_t)length < room;
    if (!fits) {
        pwr_say(1, "cannot write below %.60s...: the name is too long", directory);
    }
    return fits;
}
