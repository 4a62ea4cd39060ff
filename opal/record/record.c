/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The process's side of a record (pwr/record.h).
 */
#include "config.h"

#include "pwr/record.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "helper/helper.h"
#include "pwr/clock.h"
#include "pwr/json.h"
#include "record/page.h"
#include "record/record_wire.h"

static const uint64_t usual_timeout_ns = UINT64_C(20000000000);

struct pwr_record {
    const pwr_env_t *env;
    uint64_t timeout_ns;
    pwr_rundir_t *rundir; /* NULL: the page is no file, because of ... */
    pwr_status_t page_status;
    pwr_mapped_page_t page; /* without rundir its memory is this process's own */
    uint64_t begin_ns;      /* of env */
    int fd;                 /* of a leader's recorder; -1: there is none */
    char job[PWR_PAGE_NAME];
    uint32_t looks; /* of the recorder, when it was last seen to move */
    pwr_helper_watch_t watch;
};

static pwr_status_t make_page(pwr_record_t *record, const pwr_record_config_t *config)
{
    enum { DESCRIPTORS = 3 }; /* directory, page, socket of the recorder */
    char why[512];
    if (!pwr_env_may_keep(record->env, DESCRIPTORS)) {
        return PWR_ERR_DESCRIPTORS;
    }
    pwr_status_t status =
        pwr_rundir_open(record->env, config->run_directory, PWR_RUNDIR_CREATE, &record->rundir);
    if (status != PWR_OK) {
        record->rundir = NULL; /* said by the library */
        return status;
    }
    status = pwr_page_create(record->rundir, config->job, config->process, why, sizeof why,
                             &record->page);
    if (status != PWR_OK) {
        pwr_env_log(record->env, PWR_LOG_WARN,
                    "the calls of a process will be missing in the "
                    "job's report: %s",
                    why);
        pwr_rundir_close(record->rundir);
        record->rundir = NULL;
    }
    return status;
}

pwr_status_t pwr_record_open(const pwr_env_t *env, const pwr_record_config_t *config,
                             pwr_record_t **record)
{
    pwr_record_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = env;
    made->fd = -1;
    made->timeout_ns = config->timeout_ns == 0 ? usual_timeout_ns : config->timeout_ns;
    snprintf(made->job, sizeof made->job, "%s", config->job);
    made->page_status = make_page(made, config);
    if (made->page_status != PWR_OK) {
        made->page.page = calloc(1, sizeof *made->page.page);
        if (!made->page.page) {
            free(made);
            return PWR_ERR_NOMEM;
        }
    }
    made->page.page->begin_ns = pwr_clock_ns(CLOCK_REALTIME);
    made->page.page->begin_cpu_ns = pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    made->begin_ns = pwr_env_now_ns(env);
    *record = made;
    return PWR_OK;
}

pwr_account_t *pwr_record_account(pwr_record_t *record)
{
    return &record->page.page->account;
}

void pwr_record_name(pwr_record_t *record, unsigned operation, const char *name)
{
    if (operation < PWR_RECORD_NAMES) {
        snprintf(record->page.page->operations[operation], PWR_RECORD_NAME, "%s", name);
    }
}

void pwr_record_finish(pwr_record_t *record, const pwr_record_end_t *end)
{
    pwr_page_t *page = record->page.page;
    page->wall_ns = pwr_env_now_ns(record->env) - record->begin_ns;
    page->cpu_ns = pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - page->begin_cpu_ns;
    page->end = *end;
    atomic_store_explicit(&page->finished, 1, memory_order_release);
}

uint64_t pwr_record_node_uj(const pwr_record_t *record)
{
    return atomic_load_explicit(&record->page.page->node_uj, memory_order_relaxed);
}

static pwr_status_t tell(const pwr_record_t *record, pwr_record_kind_t kind, const void *data,
                         size_t bytes)
{
    const pwr_record_head_t head = {.magic = PWR_RECORD_MAGIC, .kind = kind, .bytes = bytes};
    return record->fd < 0 ? PWR_ERR_IO : pwr_record_send(record->fd, &head, data);
}

void pwr_record_close(pwr_record_t *record)
{
    if (!record) {
        return;
    }
    if (record->fd >= 0) {
        (void)tell(record, PWR_RECORD_FAREWELL, NULL, 0);
        close(record->fd);
    }
    if (record->rundir) {
        pwr_page_remove(record->rundir, &record->page);
        pwr_page_close(&record->page);
        pwr_rundir_close(record->rundir);
    } else {
        free(record->page.page);
    }
    free(record);
}

/* ---- the leader of a node ---- */

/* A recorder that hangs must not hang the job. */
static void bound_sends(const pwr_record_t *record)
{
    const struct timeval longest = {
        .tv_sec = (time_t)(record->timeout_ns / PWR_NS_PER_S),
        .tv_usec = (suseconds_t)(record->timeout_ns % PWR_NS_PER_S / 1000),
    };
    (void)setsockopt(record->fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

pwr_status_t pwr_record_start(pwr_record_t *record)
{
    if (!record->rundir) {
        return record->page_status;
    }
    pwr_status_t status = pwr_helper_start(record->env, "poweraware-record", NULL, &record->fd);
    if (status == PWR_OK) {
        bound_sends(record);
        status = tell(record, PWR_RECORD_START, record->env->root, strlen(record->env->root));
    } else {
        record->fd = -1;
    }
    return status;
}

/* As JSON, which is taken over. */
static pwr_status_t tell_json(const pwr_record_t *record, pwr_record_kind_t kind, json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    pwr_status_t status = text ? tell(record, kind, text, strlen(text)) : PWR_ERR_NOMEM;
    json_decref(json);
    free(text);
    return status;
}

pwr_status_t pwr_record_tell(pwr_record_t *record, json_t *about)
{
    /* what only the library knows */
    const char *run_directory = record->rundir ? pwr_rundir_name(record->rundir) : "";
    pwr_json_take(about,
                  json_pack("{s:o, s:o}", "run_directory", pwr_json_text(run_directory, PATH_MAX),
                            "job", pwr_json_text(record->job, sizeof record->job)));
    return tell_json(record, PWR_RECORD_ABOUT, about);
}

pwr_status_t pwr_record_add_facts(pwr_record_t *record, json_t *facts)
{
    return tell_json(record, PWR_RECORD_FACTS, facts);
}

pwr_status_t pwr_record_ask_ledger(pwr_record_t *record)
{
    pwr_helper_watch(record->env, &record->watch);
    return tell(record, PWR_RECORD_LEDGER, NULL, 0);
}

/* It looks at the pages again and again, also while it waits for them to be finished. */
static bool has_stalled(pwr_record_t *record)
{
    uint32_t looks = atomic_load_explicit(&record->page.page->looks, memory_order_relaxed);
    if (looks != record->looks) {
        record->looks = looks;
        pwr_helper_watch(record->env, &record->watch);
    }
    return pwr_helper_has_stalled(record->env, &record->watch, record->timeout_ns);
}

static bool has_answer(const pwr_record_t *record)
{
    struct pollfd socket = {.fd = record->fd, .events = POLLIN};
    return record->fd < 0 || poll(&socket, 1, 0) > 0;
}

bool pwr_record_is_answered(pwr_record_t *record)
{
    return has_answer(record) || has_stalled(record);
}

static pwr_status_t hear(pwr_record_t *record, pwr_record_kind_t kind, pwr_record_head_t *head,
                         void **data)
{
    if (record->fd < 0) {
        return PWR_ERR_IO;
    }
    if (!has_answer(record)) {
        return PWR_ERR_TIMEOUT;
    }
    pwr_status_t status =
        pwr_record_receive(record->env, record->fd, record->timeout_ns, head, data);
    if (status == PWR_OK && head->kind != (uint32_t)kind) {
        free(*data);
        status = PWR_ERR_IO;
    }
    return status;
}

pwr_status_t pwr_record_ledger(pwr_record_t *record, void **packed, size_t *bytes)
{
    pwr_record_head_t head;
    pwr_status_t status = hear(record, PWR_RECORD_LEDGER, &head, packed);
    if (status == PWR_OK) {
        *bytes = (size_t)head.bytes;
    }
    return status;
}

pwr_status_t pwr_record_ask_document(pwr_record_t *record, const void *packed, size_t bytes)
{
    pwr_helper_watch(record->env, &record->watch);
    return tell(record, PWR_RECORD_DOCUMENT, packed, bytes);
}

pwr_status_t pwr_record_summary(pwr_record_t *record, char **summary, char *why, size_t why_size)
{
    pwr_record_head_t head;
    void *data;
    pwr_status_t status = hear(record, PWR_RECORD_DOCUMENT, &head, &data);
    if (status == PWR_OK) {
        snprintf(why, why_size, "%s", head.reason);
        *summary = data;
    }
    return status;
}
