/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-pages: what the processes of this user are in now, for poweraware top.
 *
 *   poweraware-pages RUN_DIRECTORY     "": the default
 *
 * Prints one JSON array, an object per process that has a page (record/page.h) and lives.  It only
 * reads.  Sums are those of operations that have ended.
 */
#include "config.h"

#include "record/page.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr/clock.h"
#include "pwr/json.h"
#include "pwr/meter.h"

enum { EXIT_USAGE = 2 };

/* "calls.<job>.<process>" */
static json_t *job_of(const char *name)
{
    const char *begin = strchr(name, '.') + 1;
    const char *end = strrchr(name, '.');
    return pwr_json_text(begin, end > begin ? (size_t)(end - begin) : 0);
}

static pwr_account_sums_t sums_of(const pwr_account_t *account)
{
    pwr_account_sums_t sums = account->rest.sums;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    while ((cell = pwr_account_next(account, &index)) != NULL) {
        pwr_account_add_plainly(&sums, &cell->sums);
    }
    return sums;
}

/* null: it is in none. */
static json_t *call_of(const pwr_page_t *page)
{
    uint64_t call = atomic_load_explicit(&page->account.now.call, memory_order_relaxed);
    unsigned comm = pwr_account_call_comm(call);
    unsigned operation = pwr_account_call_operation(call);
    if (call == 0 || comm >= PWR_ACCOUNT_COMMS || operation >= PWR_RECORD_NAMES) {
        return json_null();
    }
    return json_pack(
        "{s:o, s:o, s:o, s:I}", "id", json_sprintf("%016llx", (unsigned long long)call),
        "operation", pwr_json_text_or_null(page->operations[operation], PWR_RECORD_NAME),
        "communicator", pwr_json_text_or_null(page->account.comms[comm].name, PWR_ACCOUNT_NAME),
        "size", (json_int_t)page->account.comms[comm].size);
}

static json_t *region_of(const pwr_account_t *account)
{
    uint32_t region = atomic_load_explicit(&account->now.region, memory_order_relaxed);
    bool open = region > 0 && region <= PWR_ACCOUNT_REGIONS;
    return open ? pwr_json_text_or_null(account->regions[region - 1].name, PWR_ACCOUNT_NAME)
                : json_null();
}

/* NULL: there is none. */
static const char *energy_of(const pwr_page_t *page)
{
    uint32_t kind = atomic_load_explicit(&page->node_energy, memory_order_relaxed);
    return kind > 0 && kind <= PWR_METER_MODELLED + 1
               ? pwr_meter_provenance_text((pwr_meter_provenance_t)(kind - 1))
               : NULL;
}

static json_t *process_of(const char *name, const pwr_page_t *page)
{
    const pwr_account_sums_t sums = sums_of(&page->account);
    uint64_t now_ns = pwr_clock_ns(CLOCK_REALTIME);
    uint64_t uj = atomic_load_explicit(&page->node_uj, memory_order_relaxed);
    bool finished = atomic_load_explicit(&page->finished, memory_order_acquire) != 0;
    return json_pack("{s:o, s:I, s:i, s:b, s:o, s:o, s:o, s:I, s:o, s:o, s:s*}", "job",
                     job_of(name), "process", (json_int_t)page->process, "pid", (int)page->pid,
                     "finished", finished, "seconds",
                     pwr_json_seconds(now_ns > page->begin_ns ? now_ns - page->begin_ns : 0),
                     "call", call_of(page), "region", region_of(&page->account), "calls",
                     (json_int_t)sums.calls, "in_calls_s", pwr_json_seconds(sums.ns), "node_j",
                     json_real(1e-6 * (double)uj), "energy", energy_of(page));
}

static void add(const pwr_rundir_t *rundir, const char *name, json_t *processes)
{
    pwr_mapped_page_t mapped;
    if (!pwr_page_is_name(name, NULL) || pwr_page_open(rundir, name, false, &mapped) != PWR_OK) {
        return;
    }
    if (pwr_page_is_alive(&mapped)) {
        json_array_append_new(processes, process_of(name, mapped.page));
    }
    pwr_page_close(&mapped);
}

static json_t *processes_of(const pwr_rundir_t *rundir)
{
    json_t *processes = json_array();
    DIR *directory = opendir(pwr_rundir_name(rundir));
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)) != NULL) {
        add(rundir, entry->d_name, processes);
    }
    if (directory) {
        closedir(directory);
    }
    return processes;
}

int main(int argc, char **argv)
{
    pwr_rundir_t *rundir = NULL;
    if (argc != 2) {
        fputs("poweraware-pages is started by poweraware top\n", stderr);
        return EXIT_USAGE;
    }
    const char *directory = argv[1][0] != '\0' ? argv[1] : NULL;
    pwr_status_t status = pwr_rundir_open(&pwr_env_real, directory, PWR_RUNDIR_EXISTING, &rundir);
    if (status != PWR_OK && (status != PWR_ERR_UNSUPPORTED || directory)) {
        fprintf(stderr, "poweraware-pages: %s: %s\n", argv[1],
                status == PWR_ERR_UNSUPPORTED ? "is not there" : pwr_status_text(status));
        return EXIT_FAILURE;
    }
    json_t *processes = rundir ? processes_of(rundir) : json_array();
    bool printed = json_dumpf(processes, stdout, 0) == 0 && fflush(stdout) == 0;
    json_decref(processes);
    pwr_rundir_close(rundir);
    return printed ? EXIT_SUCCESS : EXIT_FAILURE;
}
