/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What this rank did, as one JSON file (coll_poweraware_ranks_dir), and its trace
 * (coll_poweraware_trace_dir).
 */
#include "pwr_ompi/process.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hang.h"
#include "pwr/clock.h"
#include "pwr/file.h"
#include "pwr/json.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/events.h"
#include "pwr_ompi/operation.h"
#include "pwr_ompi/ucx.h"

#include "opal/util/proc.h"

static double seconds(uint64_t ns)
{
    return 1e-9 * (double)ns;
}

static json_t *text(const char *value)
{
    return pwr_json_text(NULL == value ? "" : value, PATH_MAX);
}

/* JSON has no infinity. */
static json_t *bound(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *identity(void)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const pwr_topo_t *topo = NULL == pwr_process.power ? NULL : pwr_power_topo(pwr_process.power);
    int cpu = NULL != topo && pwr_topo_num_my_cpus(topo) == 1 ? (int)pwr_topo_my_cpu(topo, 0) : -1;
    json_int_t offset_ns = (json_int_t)pwr_clock_ns(CLOCK_REALTIME) - (json_int_t)pwr_now_ns();
    return json_pack("{s:i, s:o, s:i, s:i, s:i, s:I, s:f, s:f}", "rank",
                     (int)OPAL_PROC_MY_NAME.vpid, "host", text(host), "pid", (int)getpid(), "cpu",
                     cpu, "package", NULL == topo ? -1 : pwr_topo_my_package(topo),
                     "realtime_offset_ns", offset_ns, "cpu_s",
                     seconds(pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID)), "wall_s",
                     seconds(pwr_env_now_ns(&pwr_process.env) - pwr_process.start_ns));
}

/* ---- accounts ---- */

static void set_size(json_t *object, int size_class)
{
    size_t bytes = pwr_size_class_bytes(size_class);
    if (PWR_BYTES_UNKNOWN != bytes) {
        json_object_set_new(object, "up_to_bytes", json_integer((json_int_t)bytes));
    }
}

static json_t *cell_of(const pwr_account_t *account, const pwr_account_cell_t *cell)
{
    const pwr_account_kind_t kind = pwr_account_kind(cell);
    const pwr_account_comm_t *comm = &account->comms[kind.comm];
    json_t *json = json_pack("{s:o, s:I, s:s, s:s}", "communicator",
                             text(PWR_ACCOUNT_OTHERS == kind.comm ? "others" : comm->name), "size",
                             (json_int_t)comm->size, "collective",
                             pwr_process_name(PWR_OPERATION, (int)kind.operation), "algorithm",
                             pwr_process_name(PWR_ALGORITHM, kind.algorithm));
    set_size(json, (int)kind.size_class);
    pwr_json_take(json, pwr_json_sums(&cell->sums));
    return json;
}

static void add_accounts(json_t *report)
{
    const pwr_account_t *account = pwr_process.account;
    json_t *cells = json_array();
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    while (NULL != account && NULL != (cell = pwr_account_next(account, &index))) {
        json_array_append_new(cells, cell_of(account, cell));
    }
    json_object_set_new(report, "accounts", cells);
    if (NULL != account) {
        json_object_set_new(report, "accounts_rest", pwr_json_sums(&account->rest.sums));
    }
}

/* ---- waits ---- */

static json_t *waits_of(const pwr_wait_stats_t *waits)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f}", "waits", (json_int_t)waits->waits, "sleeps",
                     (json_int_t)waits->sleeps, "spin_s", seconds(waits->spin_ns), "monitor_s",
                     seconds(waits->monitor_ns), "sleep_s", seconds(waits->sleep_ns));
}

static json_t *waits(void)
{
    const pwr_doorbell_counts_t bells = pwr_doorbell_counts();
    return json_pack("{s:o, s:o, s:{s:I, s:I}, s:I}", "wait", waits_of(&pwr_process.wait_stats),
                     "idle", waits_of(&pwr_process.idle_stats), "bells", "heard",
                     (json_int_t)bells.heard, "rung", (json_int_t)bells.rung, "ucx_messages",
                     (json_int_t)pwr_ucx_messages());
}

/* ---- what was decided ---- */

static json_t *estimate(const pwr_audit_estimate_t *estimate)
{
    return json_pack("{s:f, s:o, s:o}", "middle", estimate->middle, "low", bound(estimate->low),
                     "high", bound(estimate->high));
}

static json_t *choice_of(const pwr_choice_t *choice)
{
    return NULL == choice->algorithm
               ? json_null()
               : json_pack("{s:s, s:i, s:i, s:f, s:f}", "algorithm", choice->algorithm, "trials",
                           (int)choice->trials, "take_overs", (int)choice->take_overs, "gain",
                           choice->gain, "lost_s", seconds(choice->lost_ns));
}

static json_t *class_of(const pwr_decided_t *decided)
{
    const pwr_audit_result_t *audit = &decided->audit;
    json_t *json =
        json_pack("{s:s}", "collective", pwr_process_name(PWR_OPERATION, (int)decided->operation));
    set_size(json, decided->size_class);
    pwr_json_take(json,
                  json_pack("{s:I, s:i, s:s, s:o, s:o, s:i, s:i, s:i, s:o}", "calls",
                            (json_int_t)audit->calls, "pairs", (int)audit->pairs, "depth",
                            pwr_audit_depth_name(audit->depth), "slowdown",
                            estimate(&audit->slowdown), "cpu", estimate(&audit->cpu), "changes",
                            (int)audit->changes, "nodes", decided->nodes, "ranks_per_node",
                            decided->ranks_per_node, "choice", choice_of(&decided->choice)));
    if (audit->energy_samples > 0.0) {
        json_object_set_new(json, "energy", estimate(&audit->energy));
    }
    if (0 != audit->changes) {
        const pwr_audit_change_t *change = &audit->last;
        json_object_set_new(json, "last_change",
                            json_pack("{s:I, s:s, s:s, s:o}", "call", (json_int_t)change->call,
                                      "from", pwr_audit_depth_name(change->from), "to",
                                      pwr_audit_depth_name(change->to), "slowdown",
                                      estimate(&change->slowdown)));
    }
    return json;
}

static void add_decided(void *to, const pwr_decided_t *decided)
{
    json_array_append_new(to, class_of(decided));
}

static const char *energy_source(void)
{
    return NULL == pwr_process.meter ? "" : pwr_meter_backend(pwr_process.meter);
}

json_t *pwr_decisions(void)
{
    json_t *audits = json_array();
    unsigned lost = pwr_decided(add_decided, audits);
    return json_pack("{s:f, s:s, s:i, s:o}", "max_slowdown",
                     pwr_process.settings.max_slowdown / 100.0, "energy_source", energy_source(),
                     "audits_lost", (int)lost, "audits", audits);
}

/* ---- the same for the job's document ---- */

/* The communicator of a class with most calls, and how many there are. */
typedef struct decided_class {
    pwr_decided_t most;
    unsigned communicators;
    uint64_t lost_ns; /* of all of them */
} decided_class_t;

enum { CLASSES_OF_JOB = 64 };
typedef struct decided_job {
    decided_class_t classes[CLASSES_OF_JOB];
    unsigned num, left_out;
} decided_job_t;

static bool is_alike(const pwr_decided_t *a, const pwr_decided_t *b)
{
    return a->operation == b->operation && a->size_class == b->size_class && a->nodes == b->nodes &&
           a->ranks_per_node == b->ranks_per_node;
}

/* That of decided; else a new one, in the end in place of the one with fewest calls; NULL: it has
   fewer. */
static decided_class_t *find_class(decided_job_t *job, const pwr_decided_t *decided)
{
    decided_class_t *fewest = &job->classes[0];
    for (unsigned i = 0; i < job->num; ++i) {
        decided_class_t *class = &job->classes[i];
        if (is_alike(&class->most, decided)) {
            return class;
        }
        fewest = class->most.audit.calls < fewest->most.audit.calls ? class : fewest;
    }
    if (job->num < CLASSES_OF_JOB) {
        fewest = &job->classes[job->num++];
    } else if (decided->audit.calls <= fewest->most.audit.calls) {
        job->left_out++;
        return NULL;
    }
    job->left_out += fewest->communicators;
    *fewest = (decided_class_t){.communicators = 0};
    return fewest;
}

static void add_to_job(void *to, const pwr_decided_t *decided)
{
    decided_class_t *class = find_class(to, decided);
    if (NULL == class) {
        return;
    }
    if (0 == class->communicators++ || decided->audit.calls > class->most.audit.calls) {
        class->most = *decided;
    }
    class->lost_ns += decided->choice.lost_ns;
}

static json_t *class_of_job(const decided_class_t *class)
{
    json_t *json = class_of(&class->most);
    pwr_json_take(json, json_pack("{s:i, s:f}", "communicators", (int)class->communicators,
                                  "lost_s", seconds(class->lost_ns)));
    return json;
}

static json_t *energy_provenance(void)
{
    const pwr_meter_t *meter = pwr_process.meter;
    return NULL == meter
               ? json_null()
               : json_string(pwr_meter_provenance_text(pwr_meter_domain(meter, 0)->provenance));
}

json_t *pwr_decisions_of_job(void)
{
    decided_job_t *job = calloc(1, sizeof *job);
    json_t *classes = json_array();
    if (NULL != job) {
        job->left_out += pwr_decided(add_to_job, job);
        for (unsigned i = 0; i < job->num; ++i) {
            json_array_append_new(classes, class_of_job(&job->classes[i]));
        }
    }
    json_t *json = json_pack("{s:o, s:i, s:o}", "energy_provenance", energy_provenance(),
                             "left_out", NULL == job ? 0 : (int)job->left_out, "classes", classes);
    free(job);
    return json;
}

/* ---- hangs ---- */

static void add_ranks(json_t *list, const pwr_hang_ranks_t *ranks)
{
    for (int i = 0; i < ranks->num && i < PWR_HANG_NAMED; ++i) {
        json_array_append_new(list, json_integer(ranks->rank[i]));
    }
}

static json_t *ranks_of(const pwr_hang_t *hang, pwr_hang_sort_t sort)
{
    json_t *list = json_array();
    add_ranks(list, &hang->ranks[sort]);
    return list;
}

/* missing: those who are known to be it. */
static json_t *hang_of(const pwr_hang_t *hang)
{
    json_t *missing = json_array();
    int num_missing = 0;
    for (pwr_hang_sort_t sort = PWR_HANG_ABSENT; sort <= PWR_HANG_ELSEWHERE; ++sort) {
        num_missing += hang->ranks[sort].num;
        add_ranks(missing, &hang->ranks[sort]);
    }
    return json_pack("{s:s, s:o, s:i, s:f, s:i, s:o, s:o, s:o, s:o}", "collective",
                     pwr_process_name(PWR_OPERATION, (int)hang->operation), "communicator",
                     text(hang->comm), "cid", (int)hang->cid, "seconds", seconds(hang->waited_ns),
                     "num_missing", num_missing, "missing", missing, "working",
                     ranks_of(hang, PWR_HANG_WORKING), "senders", ranks_of(hang, PWR_HANG_SENDERS),
                     "receivers", ranks_of(hang, PWR_HANG_RECEIVERS));
}

static json_t *hangs(void)
{
    const pwr_hang_t *first;
    int num = pwr_hangs(&first);
    json_t *hangs = json_array();
    for (int i = 0; i < num && i < PWR_HANGS_KEPT; ++i) {
        json_array_append_new(hangs, hang_of(&first[i]));
    }
    return json_pack("{s:i, s:o}", "num_hangs", num, "hangs", hangs);
}

/* ---- levers ---- */

static json_t *power(void)
{
    pwr_lever_use_t uses[PWR_NUM_LEVERS] = {0};
    uint64_t withdrawn = 0;
    const char *why = pwr_process.no_power_why;
    if (NULL != pwr_process.power) {
        pwr_power_levers(pwr_process.power, uses);
        withdrawn = pwr_power_counters(pwr_process.power).withdrawn;
        why = pwr_power_why_off(pwr_process.power);
    }
    return json_pack("{s:I, s:o, s:o}", "withdrawn", (json_int_t)withdrawn, "levers",
                     pwr_json_levers(uses), "why_off", text(why));
}

static bool dump(FILE *file, const void *report)
{
    return 0 == json_dumpf(report, file, JSON_REAL_PRECISION(12));
}

/* Each component writes the file anew when it ends; the reason is said once. */
static void complain(const char *path, int error, bool *said)
{
    if (!*said) {
        pwr_say(1, "cannot write %s: %s", path, pwr_file_why(error));
    }
    *said = true;
}

/* Out of memory: members are missing. */
static void write_report(const char *path)
{
    json_t *report = identity();
    json_object_update(report, pwr_process.of_components);
    /* by whose numbers traces name operations */
    json_object_set_new(report, "operations", pwr_process_names(PWR_OPERATION));
    add_accounts(report);
    pwr_json_take(report, waits());
    pwr_json_take(report, pwr_decisions());
    pwr_json_take(report, hangs());
    pwr_json_take(report, power());
    int error = pwr_file_write(path, dump, report);
    if (0 != error) {
        static bool said;
        complain(path, error, &said);
    }
    json_decref(report);
}

static void write_trace(const char *path)
{
    int error = pwr_events_write(path);
    if (0 != error) {
        static bool said;
        complain(path, error, &said);
    }
}

void pwr_rank_write(json_t *more)
{
    const char *traces = pwr_process.settings.trace_dir;
    char path[4096];
    if (NULL == pwr_process.of_components) {
        pwr_process.of_components = json_object();
    }
    pwr_json_take(pwr_process.of_components, more);
    if (pwr_rank_path(path, sizeof path, pwr_process_ranks_dir(), "json")) {
        write_report(path);
    }
    if (NULL != traces && pwr_rank_path(path, sizeof path, traces, "events.csv")) {
        write_trace(path);
    }
}
