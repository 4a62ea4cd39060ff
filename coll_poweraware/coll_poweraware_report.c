/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What this rank did, as one JSON file (coll_poweraware_report_dir).
 */
#include "coll_poweraware.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SELF (&mca_coll_poweraware_component)

static double cpu_seconds(void)
{
    struct rusage usage;
    if (0 != getrusage(RUSAGE_SELF, &usage)) {
        return 0.0;
    }
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* JSON string: quotes, backslashes and control characters escaped. */
static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; '\0' != *c; ++c) {
        if ('"' == *c || '\\' == *c) {
            fprintf(file, "\\%c", *c);
        } else if (*c < 0x20) {
            fprintf(file, "\\u%04x", *c);
        } else {
            fputc(*c, file);
        }
    }
    fputc('"', file);
}

static void write_identity(FILE *file, int rank)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const pwr_topo_t *topo = NULL == SELF->power ? NULL : pwr_power_topo(SELF->power);
    int cpu = NULL != topo && pwr_topo_num_my_cpus(topo) == 1 ? (int)pwr_topo_my_cpu(topo, 0) : -1;
    fprintf(file, "{\"rank\": %d, \"host\": ", rank);
    write_string(file, host);
    fprintf(file, ", \"pid\": %d, \"cpu\": %d, \"package\": %d,\n", (int)getpid(), cpu,
            NULL == topo ? -1 : pwr_topo_my_package(topo));
    fprintf(file, " \"scheme\": \"%s\", \"cpu_s\": %.6f, \"wall_s\": %.6f,\n",
            coll_poweraware_scheme_name(SELF->params.scheme), cpu_seconds(),
            1e-9 * (double)(pwr_env_now_ns(&SELF->env) - SELF->start_ns));
}

static void write_collectives(FILE *file)
{
    fprintf(file, " \"collectives\": {");
    for (int i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        const coll_poweraware_counters_t *total = &SELF->totals[i];
        fprintf(file, "%s\"%s\": {\"calls\": %llu, \"handled\": %llu, \"seconds\": %.9f}",
                0 == i ? "\n  " : ",\n  ", coll_poweraware_collective_name(i),
                (unsigned long long)total->calls, (unsigned long long)total->handled,
                1e-9 * (double)total->ns);
    }
    fprintf(file, "},\n");
}

/* Those that were called. */
static void write_counted(FILE *file)
{
    const char *separator = "";
    fprintf(file, " \"counted\": {");
    for (int i = 0; i < COLL_POWERAWARE_NUM_COUNTED; ++i) {
        if (0 != SELF->counted[i]) {
            fprintf(file, "%s\"%s\": %llu", separator, coll_poweraware_counted_name(i),
                    (unsigned long long)SELF->counted[i]);
            separator = ", ";
        }
    }
    fprintf(file, "},\n");
}

static void write_power(FILE *file)
{
    pwr_power_counters_t counters = {0};
    const char *why = SELF->no_power_why;
    const char *pstates = NULL;
    const char *tstates = NULL;
    if (NULL != SELF->power) {
        pstates = pwr_power_pstate_backend(SELF->power);
        tstates = pwr_power_tstate_backend(SELF->power);
        counters = pwr_power_counters(SELF->power);
        why = pwr_power_why_off(SELF->power);
    }
    const pwr_wait_stats_t *wait = &SELF->wait_stats;
    fprintf(file,
            " \"pstate_writes\": %llu, \"tstate_writes\": %llu, \"skipped\": %llu, "
            "\"errors\": %llu, \"adopted\": %llu, \"yielded\": %llu, \"withdrawn\": %llu,\n",
            (unsigned long long)counters.pstate_writes, (unsigned long long)counters.tstate_writes,
            (unsigned long long)counters.skipped, (unsigned long long)counters.errors,
            (unsigned long long)counters.adopted, (unsigned long long)counters.yielded,
            (unsigned long long)counters.withdrawn);
    fprintf(
        file,
        " \"wait\": {\"waits\": %llu, \"sleeps\": %llu, \"spin_s\": %.9f, \"sleep_s\": %.9f},\n",
        (unsigned long long)wait->waits, (unsigned long long)wait->sleeps,
        1e-9 * (double)wait->spin_ns, 1e-9 * (double)wait->sleep_ns);
    fprintf(file, " \"pstates\": ");
    write_string(file, NULL == pstates ? "off" : pstates);
    fprintf(file, ", \"tstates\": ");
    write_string(file, NULL == tstates ? "off" : tstates);
    fprintf(file, ",\n \"why_off\": ");
    write_string(file, NULL == why ? "" : why);
    fprintf(file, "}\n");
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

bool coll_poweraware_report_path(char *path, size_t room, const char *directory, int rank,
                                 const char *ending)
{
    unsigned long job = spawned_job();
    int length = 0 == job
                     ? snprintf(path, room, "%s/rank-%d.%s", directory, rank, ending)
                     : snprintf(path, room, "%s/job-%lu-rank-%d.%s", directory, job, rank, ending);
    bool fits = 0 <= length && (size_t)length < room;
    if (!fits) {
        coll_poweraware_say(1, "cannot write below %.60s...: the name is too long", directory);
    }
    return fits;
}

void coll_poweraware_report_write(const char *path, int rank)
{
    FILE *file = fopen(path, "we");
    bool ok = NULL != file;
    if (ok) {
        write_identity(file, rank);
        write_collectives(file);
        write_counted(file);
        write_power(file);
        ok = !ferror(file);
        ok = 0 == fclose(file) && ok;
    }
    if (!ok) {
        coll_poweraware_say(1, "cannot write %s: %s", path, strerror(errno));
    }
}
