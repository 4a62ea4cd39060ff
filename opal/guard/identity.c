/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who a journal belongs to.
 *
 * Source: proc(5), and the manuals of Slurm, PBS, LSF and Flux for the names of their variables.
 */
#include "config.h"

#include "guard/journal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *job_of_environment(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                                        "PMIX_NAMESPACE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *job = getenv(names[i]);
        if (job && job[0] != '\0') {
            return job;
        }
    }
    return "none";
}

void pwr_identity_job(const char *name, char job[PWR_JOB_BYTES])
{
    snprintf(job, PWR_JOB_BYTES, "%s", name ? name : job_of_environment());
    for (char *byte = job; *byte != '\0'; byte++) {
        bool plain = (unsigned char)*byte < 0x80 && isalnum((unsigned char)*byte);
        *byte = plain || strchr("._-", *byte) ? *byte : '_';
    }
}

enum { STAT_BYTES = 1024 };

/* The second field of its stat file is the program's name in parentheses, which may itself have
   spaces and parentheses.  Points to where it ends, or is NULL. */
static const char *stat_of(pid_t pid, char text[STAT_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    bool known = pwr_env_read_text(&pwr_env_real, path, text, STAT_BYTES) == PWR_OK;
    return known ? strrchr(text, ')') : NULL;
}

static uint64_t start_of(pid_t pid)
{
    enum { START_FIELD = 22 };
    char text[STAT_BYTES];
    const char *at = stat_of(pid, text);
    for (int field = 2; at && field < START_FIELD; field++) {
        at = strchr(at + 1, ' ');
    }
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

bool pwr_identity_is_stopped(pid_t pid)
{
    char text[STAT_BYTES];
    const char *at = stat_of(pid, text);
    return at && strncmp(at, ") T ", 4) == 0;
}

void pwr_identity_describe(pid_t pid, pwr_journal_header_t *header)
{
    memset(header, 0, sizeof *header);
    if (gethostname(header->host, sizeof header->host - 1) != 0) {
        header->host[0] = '\0';
    }
    (void)pwr_env_read_text(&pwr_env_real, "/proc/sys/kernel/random/boot_id", header->boot,
                            sizeof header->boot);
    header->uid = geteuid();
    header->pid = pid;
    header->start = start_of(pid);
}
