/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What this rank did, as one JSON file (coll_poweraware_ranks_dir).
 */
#include "coll_poweraware_hang.h"

#include "algorithms/algorithms.h"
#include "pwr/clock.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/ucx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SELF (&mca_coll_poweraware_component)

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
    fprintf(file, " \"realtime_offset_ns\": %lld,\n",
            (long long)(pwr_clock_ns(CLOCK_REALTIME) - pwr_clock_ns(CLOCK_MONOTONIC)));
    fprintf(file, " \"scheme\": \"%s\", \"cpu_s\": %.6f, \"wall_s\": %.6f,\n",
            coll_poweraware_scheme_name(SELF->params.scheme),
            1e-9 * (double)pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID),
            1e-9 * (double)(pwr_env_now_ns(&SELF->env) - SELF->start_ns));
}

static double seconds_of(unsigned what)
{
    uint64_t ns = 0;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    while (NULL != SELF->account && NULL != (cell = pwr_account_next(SELF->account, &index))) {
        ns += what == pwr_account_kind(cell).what ? cell->sums.ns : 0;
    }
    return 1e-9 * (double)ns;
}

static void write_collectives(FILE *file)
{
    fprintf(file, " \"collectives\": {");
    for (int i = 0; i < COLL_POWERAWARE_NUM_COLLECTIVES; ++i) {
        const coll_poweraware_counters_t *total = &SELF->totals[i];
        fprintf(file, "%s\"%s\": {\"calls\": %llu, \"handled\": %llu, \"seconds\": %.9f}",
                0 == i ? "\n  " : ",\n  ", coll_poweraware_collective_name(i),
                (unsigned long long)total->calls, (unsigned long long)total->handled,
                seconds_of((unsigned)i));
    }
    fprintf(file, "},\n");
}

static void write_sums(FILE *file, const pwr_account_sums_t *sums)
{
    fprintf(file,
            "\"calls\": %llu, \"bytes\": %llu, \"seconds\": %.9f, \"longest_s\": %.9f, "
            "\"spin_s\": %.9f, \"monitor_s\": %.9f, \"sleep_s\": %.9f, \"cpu_s\": %.9f, "
            "\"low_frequency_s\": %.9f, \"throttled_s\": %.9f, \"transitions\": %llu}",
            (unsigned long long)sums->calls, (unsigned long long)sums->bytes,
            1e-9 * (double)sums->ns, 1e-9 * (double)sums->longest_ns, 1e-9 * (double)sums->spin_ns,
            1e-9 * (double)sums->monitor_ns, 1e-9 * (double)sums->sleep_ns,
            1e-9 * pwr_account_cpu_ns(sums), 1e-9 * (double)sums->low_ns,
            1e-9 * (double)sums->throttled_ns, (unsigned long long)sums->transitions);
}

static void write_cell(FILE *file, const pwr_account_cell_t *cell)
{
    const pwr_account_kind_t kind = pwr_account_kind(cell);
    const pwr_account_comm_t *comm = &SELF->account->comms[kind.comm];
    size_t bytes = coll_poweraware_class_bytes((int)kind.size_class);
    fprintf(file, "{\"communicator\": ");
    write_string(file, PWR_ACCOUNT_OTHERS == kind.comm ? "others" : comm->name);
    fprintf(file, ", \"size\": %llu, \"collective\": \"%s\", \"algorithm\": \"%s\"",
            (unsigned long long)comm->size, coll_poweraware_what_name((int)kind.what),
            kind.algorithm < 0 ? "stock" : coll_poweraware_algorithms[kind.algorithm].name);
    if (COLL_POWERAWARE_BYTES_UNKNOWN != bytes) {
        fprintf(file, ", \"up_to_bytes\": %zu", bytes);
    }
    fprintf(file, ", ");
    write_sums(file, &cell->sums);
}

static void write_accounts(FILE *file)
{
    const char *separator = "\n  ";
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    fprintf(file, " \"accounts\": [");
    while (NULL != SELF->account && NULL != (cell = pwr_account_next(SELF->account, &index))) {
        fprintf(file, "%s", separator);
        write_cell(file, cell);
        separator = ",\n  ";
    }
    fprintf(file, "],\n");
    if (NULL != SELF->account) {
        fprintf(file, " \"accounts_rest\": {");
        write_sums(file, &SELF->account->rest.sums);
        fprintf(file, ",\n");
    }
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

static void write_waits(FILE *file, const char *name, const pwr_wait_stats_t *waits)
{
    fprintf(file,
            " \"%s\": {\"waits\": %llu, \"sleeps\": %llu, \"spin_s\": %.9f, "
            "\"monitor_s\": %.9f, \"sleep_s\": %.9f},\n",
            name, (unsigned long long)waits->waits, (unsigned long long)waits->sleeps,
            1e-9 * (double)waits->spin_ns, 1e-9 * (double)waits->monitor_ns,
            1e-9 * (double)waits->sleep_ns);
}

/* JSON has no infinity. */
static void write_bound(FILE *file, const char *name, double value)
{
    if (isfinite(value)) {
        fprintf(file, ", \"%s\": %.6g", name, value);
    } else {
        fprintf(file, ", \"%s\": null", name);
    }
}

static void write_estimate(FILE *file, const char *name, pwr_audit_estimate_t estimate)
{
    fprintf(file, ", \"%s\": {\"middle\": %.6g", name, estimate.middle);
    write_bound(file, "low", estimate.low);
    write_bound(file, "high", estimate.high);
    fprintf(file, "}");
}

static void write_change(FILE *file, const pwr_audit_change_t *change)
{
    fprintf(file, ", \"last_change\": {\"call\": %llu, \"from\": \"%s\", \"to\": \"%s\"",
            (unsigned long long)change->call, pwr_audit_depth_name(change->from),
            pwr_audit_depth_name(change->to));
    write_estimate(file, "slowdown", change->slowdown);
    fprintf(file, "}");
}

static void write_audited(FILE *file, const coll_poweraware_audited_t *audited)
{
    const pwr_audit_result_t *result = &audited->result;
    size_t bytes = coll_poweraware_class_bytes(audited->class);
    fprintf(file, "{\"collective\": \"%s\"", coll_poweraware_collective_name(audited->collective));
    if (COLL_POWERAWARE_BYTES_UNKNOWN != bytes) {
        fprintf(file, ", \"up_to_bytes\": %zu", bytes);
    }
    fprintf(file, ", \"calls\": %llu, \"pairs\": %u, \"depth\": \"%s\"",
            (unsigned long long)result->calls, result->pairs, pwr_audit_depth_name(result->depth));
    write_estimate(file, "slowdown", result->slowdown);
    write_estimate(file, "cpu", result->cpu);
    if (result->energy_samples > 0.0) {
        write_estimate(file, "energy", result->energy);
    }
    fprintf(file, ", \"changes\": %u", result->changes);
    if (0 != result->changes) {
        write_change(file, &result->last);
    }
    fprintf(file, "}");
}

static void write_audits(FILE *file)
{
    unsigned kept = SELF->num_audited < COLL_POWERAWARE_KEPT_AUDITS ? SELF->num_audited
                                                                    : COLL_POWERAWARE_KEPT_AUDITS;
    fprintf(file,
            " \"max_slowdown\": %.6g, \"energy_source\": ", SELF->params.max_slowdown / 100.0);
    write_string(file, NULL == SELF->meter ? "" : pwr_meter_backend(SELF->meter));
    fprintf(file, ", \"audits_lost\": %u, \"audits\": [", SELF->num_audited - kept);
    for (unsigned i = 0; i < kept; ++i) {
        fprintf(file, 0 == i ? "\n  " : ",\n  ");
        write_audited(file, &SELF->audited[i]);
    }
    fprintf(file, "],\n");
}

/* ", " before all but the first number. */
static void write_ranks(FILE *file, const coll_poweraware_ranks_t *ranks, bool *first)
{
    for (int i = 0; i < ranks->num && i < COLL_POWERAWARE_NAMED; ++i) {
        fprintf(file, "%s%d", *first ? "" : ", ", ranks->rank[i]);
        *first = false;
    }
}

static void write_list(FILE *file, const char *name, const coll_poweraware_ranks_t *ranks)
{
    bool first = true;
    fprintf(file, ", \"%s\": [", name);
    write_ranks(file, ranks, &first);
    fprintf(file, "]");
}

/* missing: those who are known to be it. */
static void write_hang(FILE *file, const coll_poweraware_hang_t *hang)
{
    bool first = true;
    fprintf(file, "\n  {\"collective\": \"%s\", \"communicator\": ",
            coll_poweraware_what_name(hang->what));
    write_string(file, hang->comm);
    fprintf(file, ", \"cid\": %u, \"seconds\": %.3f, \"num_missing\": %d, \"missing\": [",
            hang->cid, 1e-9 * (double)hang->waited_ns,
            hang->absent.num + hang->behind.num + hang->elsewhere.num);
    write_ranks(file, &hang->absent, &first);
    write_ranks(file, &hang->behind, &first);
    write_ranks(file, &hang->elsewhere, &first);
    fprintf(file, "]");
    write_list(file, "working", &hang->working);
    write_list(file, "senders", &hang->senders);
    write_list(file, "receivers", &hang->receivers);
    fprintf(file, "}");
}

static void write_hangs(FILE *file)
{
    const coll_poweraware_hang_t *hangs;
    int num = coll_poweraware_hangs(&hangs);
    fprintf(file, " \"num_hangs\": %d, \"hangs\": [", num);
    for (int i = 0; i < num && i < COLL_POWERAWARE_HANGS_KEPT; ++i) {
        fprintf(file, 0 == i ? "" : ",");
        write_hang(file, &hangs[i]);
    }
    fprintf(file, "],\n");
}

/* What wakes sleepers. */
static void write_wakers(FILE *file)
{
    const pwr_doorbell_counts_t bells = pwr_doorbell_counts();
    fprintf(file, " \"bells\": {\"heard\": %llu, \"rung\": %llu}, \"ucx_messages\": %lu,\n",
            (unsigned long long)bells.heard, (unsigned long long)bells.rung, pwr_ucx_messages());
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
    fprintf(file,
            " \"pstate_writes\": %llu, \"tstate_writes\": %llu, \"skipped\": %llu, "
            "\"errors\": %llu, \"adopted\": %llu, \"yielded\": %llu, \"withdrawn\": %llu,\n",
            (unsigned long long)counters.pstate_writes, (unsigned long long)counters.tstate_writes,
            (unsigned long long)counters.skipped, (unsigned long long)counters.errors,
            (unsigned long long)counters.adopted, (unsigned long long)counters.yielded,
            (unsigned long long)counters.withdrawn);
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

void coll_poweraware_report_job_name(char *name, size_t room)
{
    unsigned long job = spawned_job();
    snprintf(name, room, 0 == job ? "job" : "job-%lu", job);
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
        write_accounts(file);
        write_waits(file, "wait", &SELF->wait_stats);
        write_waits(file, "idle", &SELF->idle_stats);
        write_audits(file);
        write_hangs(file);
        write_wakers(file);
        write_power(file);
        ok = !ferror(file);
        ok = 0 == fclose(file) && ok;
    }
    if (!ok) {
        coll_poweraware_say(1, "cannot write %s: %s", path, strerror(errno));
    }
}
