/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What a job, its files and those of its ranks are called.
 */
#include "pwr_ompi/process.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opal/util/proc.h"

/* PMIx's name of this job; NULL when it was started without mpirun. */
static const char *job_space(void)
{
    return getenv("PMIX_NAMESPACE");
}

const char *pwr_job_id(char *room, size_t size)
{
    const char *space = job_space();
    if (NULL == space) {
        snprintf(room, size, "process-%d", (int)getpid());
        space = room;
    }
    return space;
}

/* Number of this job among those that MPI_Comm_spawn has made from one mpirun; 0 for a job that was
   not spawned.  PMIx names of jobs end in @<number>, those of 4.1 are one number whose lower half
   it is. */
static unsigned long spawned_job(void)
{
    const char *space = job_space();
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

/* What all jobs of one mpirun have in common: their names without the number. */
static void name_of_mpirun(char *name, size_t room)
{
    const char *space = job_space();
    if (NULL == space || isdigit((unsigned char)space[0])) {
        snprintf(name, room, "%lu", (unsigned long)OPAL_PROC_MY_NAME.jobid >> 16);
    } else {
        snprintf(name, room, "%.*s", (int)strcspn(space, "@"), space);
    }
    for (char *c = name; '\0' != *c; ++c) {
        *c = '/' == *c ? '_' : *c;
    }
}

/* The first mpirun whose ranks write to a directory has it: a link there says which.  Those of
   another one, later or at the same time, write below it.  False: a name is too long. */
static bool own_directory(char *path, size_t room, const char *directory)
{
    char mine[256];
    char owner[256];
    name_of_mpirun(mine, sizeof mine);
    if (snprintf(path, room, "%s/.mpirun", directory) >= (int)room) {
        return false;
    }
    bool exists = 0 != symlink(mine, path) && EEXIST == errno;
    ssize_t length = exists ? readlink(path, owner, sizeof owner - 1) : -1;
    owner[0 < length ? length : 0] = '\0';
    if ('\0' == owner[0] || 0 == strcmp(owner, mine)) {
        return snprintf(path, room, "%s", directory) < (int)room;
    }
    int used = snprintf(path, room, "%s/%s", directory, mine);
    (void)mkdir(path, 0777); /* whoever opens a file there says why it cannot */
    return used < (int)room;
}

bool pwr_rank_path(char *path, size_t room, const char *directory, const char *ending)
{
    char job[32];
    bool fits = own_directory(path, room, directory);
    size_t used = fits ? strlen(path) : 0;
    pwr_job_name(job, sizeof job);
    bool spawned = 0 != strcmp(job, "job");
    fits =
        fits && snprintf(path + used, room - used, "/%s%srank-%u.%s", spawned ? job : "",
                         spawned ? "-" : "", OPAL_PROC_MY_NAME.vpid, ending) < (int)(room - used);
    if (!fits) {
        pwr_say(1, "cannot write below %.60s...: the name is too long", directory);
    }
    return fits;
}
