/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The recorder of a job on a node (pwr/record.h).
 *
 *   1. detach: no files but the socket, no signals that end a job, no parent to be waited for by;
 *   2. open the energy counters, before anybody knows what the job is;
 *   3. until the leader says farewell or is gone: read the counters, look at the processes, write a
 *      partial document now and then, learn of the job, answer what the leader asks;
 *   4. of a leader that is gone: wait a moment for its job to end, and write what is known.
 */
#include "config.h"

#include "guard/journal.h"
#include "helper/detach.h"
#include "record/record_wire.h"
#include "tools/record/document.h"
#include "tools/record/node.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "pwr/file.h"

/* Of a job that is killed, what happened after the last partial document is lost only where the
   recorder is killed with it; then at most half of its time, and at most a minute. */
enum { FIRST_PARTIAL_S = 1, LAST_PARTIAL_S = 60, DYING_S = 5, TALK_S = 20 };
enum { OWNER_BYTES = 80 };

typedef struct recorder {
    pwr_env_t env;
    char *root; /* of env */
    bool knows; /* about and node are there */
    about_t about;
    node_t node;
    energy_t energy;
    char partial[PATH_MAX]; /* "" : none is wanted */
    bool has_partial;
    uint64_t next_sample_ns;
    uint64_t partial_wait_ns; /* until the next one */
    uint64_t next_partial_ns;
    uint64_t asked_ns; /* when for the ledger, which is not sent yet; 0: it is not wanted */
} recorder_t;

/* ---- 2. ---- */

static bool begin(recorder_t *self)
{
    pwr_record_head_t head;
    void *root;
    if (pwr_record_receive(&self->env, PWR_HELPER_FD, TALK_S * (uint64_t)PWR_NS_PER_S, &head,
                           &root) != PWR_OK) {
        return false;
    }
    self->root = root;
    self->env.root = root;
    if (head.kind != PWR_RECORD_START) {
        return false;
    }
    energy_open(&self->energy, &self->env);
    self->next_sample_ns = pwr_clock_ns(CLOCK_MONOTONIC) + energy_interval_ns(&self->energy);
    return true;
}

/* ---- 3. ---- */

/* Of jobs that write to one directory: "<host>-<process>". */
static void name_owner(char owner[OWNER_BYTES])
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(owner, OWNER_BYTES, "%.*s-%d", (int)strcspn(host, "."), host,
             (int)pwr_detach_client());
}

/* "<directory>/<name>.<owner>.partial.json" */
static void name_partial(recorder_t *self)
{
    char owner[OWNER_BYTES];
    name_owner(owner);
    int length = snprintf(self->partial, sizeof self->partial, "%s/%s.%s.partial.json",
                          self->about.directory, self->about.name, owner);
    if (self->about.directory[0] == '\0' || length >= (int)sizeof self->partial) {
        self->partial[0] = '\0';
    }
}

static bool learn(recorder_t *self, const char *text)
{
    const pwr_env_t here = pwr_env_quiet(&pwr_env_real); /* the directory's name is whole */
    if (self->knows || !about_parse(text, (int)pwr_detach_client(), &self->about)) {
        return false;
    }
    self->knows = true;
    if (node_open(&self->node, &here, &self->about) != PWR_OK) {
        return false;
    }
    node_look(&self->node);
    name_partial(self);
    self->partial_wait_ns = FIRST_PARTIAL_S * (uint64_t)PWR_NS_PER_S;
    self->next_partial_ns = pwr_clock_ns(CLOCK_MONOTONIC) + self->partial_wait_ns;
    return true;
}

static void sample(recorder_t *self)
{
    energy_sample(&self->energy);
    if (self->knows) {
        node_look(&self->node);
        node_tell(&self->node, &self->energy);
    }
    self->next_sample_ns = pwr_clock_ns(CLOCK_MONOTONIC) + energy_interval_ns(&self->energy);
}

static void write_partial(recorder_t *self, const char *why)
{
    pwr_ledger_t *ledger =
        self->partial[0] == '\0' ? NULL : node_ledger(&self->node, &self->energy);
    if (!ledger) {
        return;
    }
    pwr_ledger_attribute_gpus(ledger, about_is_by_gpus, &self->about);
    json_t *document = document_make(&self->about, ledger, why);
    int err = document ? document_replace(document, self->partial) : ENOMEM;
    if (err == 0) {
        self->has_partial = true;
    } else {
        syslog(LOG_WARNING, "%s: %s", self->partial, pwr_file_why(err));
    }
    json_decref(document);
    pwr_ledger_free(ledger);
}

static void remove_partial(recorder_t *self)
{
    if (self->has_partial) {
        unlink(self->partial);
        self->has_partial = false;
    }
}

static void write_partial_in_time(recorder_t *self)
{
    if (pwr_clock_ns(CLOCK_MONOTONIC) < self->next_partial_ns) {
        return;
    }
    write_partial(self, "the job was not over when this was written");
    const uint64_t longest_ns = LAST_PARTIAL_S * (uint64_t)PWR_NS_PER_S;
    self->next_partial_ns = pwr_clock_ns(CLOCK_MONOTONIC) + self->partial_wait_ns;
    self->partial_wait_ns *= 2;
    self->partial_wait_ns = self->partial_wait_ns < longest_ns ? self->partial_wait_ns : longest_ns;
}

static bool answer(pwr_record_kind_t kind, const char *reason, const void *data, size_t bytes)
{
    pwr_record_head_t head = {.magic = PWR_RECORD_MAGIC, .kind = kind, .bytes = bytes};
    snprintf(head.reason, sizeof head.reason, "%s", reason);
    return pwr_record_send(PWR_HELPER_FD, &head, data) == PWR_OK;
}

static bool send_ledger(recorder_t *self)
{
    size_t bytes = 0;
    sample(self);
    pwr_ledger_t *ledger = node_ledger(&self->node, &self->energy);
    void *packed = ledger ? pwr_ledger_pack(ledger, &bytes) : NULL;
    self->asked_ns = 0;
    bool ok = packed && answer(PWR_RECORD_LEDGER, "", packed, bytes);
    free(packed);
    pwr_ledger_free(ledger);
    return ok;
}

static bool is_complete(const about_t *about, pwr_ledger_t *ledger, char *why, size_t why_size)
{
    const document_totals_t totals = document_totals(ledger);
    snprintf(why, why_size, "%u of %u processes are missing, %u have not ended as they should",
             about->processes - totals.reported, about->processes,
             totals.reported - totals.finished);
    return totals.finished == about->processes;
}

static void write_document(const recorder_t *self, pwr_ledger_t *ledger, const char *why_incomplete,
                           char *reason, size_t reason_size)
{
    char stem[PATH_MAX];
    char path[PATH_MAX] = "the document";
    char job[PWR_JOB_BYTES];
    char owner[PWR_JOB_BYTES + OWNER_BYTES];
    char process[OWNER_BYTES];
    if (self->about.directory[0] == '\0') {
        return;
    }
    if (snprintf(stem, sizeof stem, "%s/%s", self->about.directory, self->about.name) >=
        (int)sizeof stem) {
        snprintf(reason, reason_size, "coll_poweraware_report_dir: the name is too long");
        return;
    }
    pwr_identity_job(self->about.job, job);
    name_owner(process);
    snprintf(owner, sizeof owner, "%s-%s", job, process);
    json_t *document = document_make(&self->about, ledger, why_incomplete);
    int err = document ? document_keep(document, stem, owner, path) : ENOMEM;
    if (err != 0) {
        snprintf(reason, reason_size, "cannot write %.400s: %s", path, pwr_file_why(err));
    }
    json_decref(document);
}

static bool finish(recorder_t *self, const void *packed, size_t bytes)
{
    char why[128];
    char reason[PWR_RECORD_REASON] = "";
    char *summary = NULL;
    pwr_ledger_t *ledger = pwr_ledger_new();
    bool sound = ledger && pwr_ledger_add_packed(ledger, packed, bytes) == PWR_OK;
    if (sound) {
        pwr_ledger_align_windows(ledger);
    }
    if (sound && pwr_ledger_share_machines(ledger) == PWR_OK) {
        pwr_ledger_attribute_gpus(ledger, about_is_by_gpus, &self->about);
        const char *why_incomplete =
            is_complete(&self->about, ledger, why, sizeof why) ? NULL : why;
        write_document(self, ledger, why_incomplete, reason, sizeof reason);
        summary = summary_make(&self->about, ledger, why_incomplete);
    } else {
        snprintf(reason, sizeof reason, "the ledger of the job cannot be read");
    }
    bool ok = answer(PWR_RECORD_DOCUMENT, reason, summary, summary ? strlen(summary) : 0);
    free(summary);
    pwr_ledger_free(ledger);
    return ok;
}

typedef enum verdict { GO_ON, DISMISSED, ABANDONED } verdict_t;

static verdict_t hear(recorder_t *self)
{
    pwr_record_head_t head;
    void *data;
    if (pwr_record_receive(&self->env, PWR_HELPER_FD, TALK_S * (uint64_t)PWR_NS_PER_S, &head,
                           &data) != PWR_OK) {
        return ABANDONED;
    }
    bool ok = self->knows || head.kind == PWR_RECORD_ABOUT || head.kind == PWR_RECORD_FAREWELL;
    switch (ok ? head.kind : 0) {
    case PWR_RECORD_ABOUT:
        ok = learn(self, data);
        break;
    case PWR_RECORD_FACTS:
        ok = about_add(&self->about, data);
        break;
    case PWR_RECORD_LEDGER:
        self->asked_ns = pwr_clock_ns(CLOCK_MONOTONIC);
        node_look(&self->node); /* all pages are there by now */
        break;
    case PWR_RECORD_DOCUMENT:
        ok = finish(self, data, (size_t)head.bytes);
        break;
    case PWR_RECORD_FAREWELL:
        free(data);
        return DISMISSED;
    default:
        ok = false;
    }
    free(data);
    return ok ? GO_ON : ABANDONED;
}

/* Who is waited for in the end is looked at often at first, then less and less. */
static int milliseconds_to_wait(const recorder_t *self)
{
    enum { MOST_MS = 50, PART = 8, NS_PER_MS = 1000000 };
    uint64_t now = pwr_clock_ns(CLOCK_MONOTONIC);
    uint64_t left = now < self->next_sample_ns ? self->next_sample_ns - now : 0;
    if (self->asked_ns != 0) {
        uint64_t pause = (now - self->asked_ns) / PART;
        pause = pause < MOST_MS * (uint64_t)NS_PER_MS ? pause : MOST_MS * (uint64_t)NS_PER_MS;
        left = pause < left ? pause : left;
    }
    return (int)(left / NS_PER_MS) + 1;
}

static verdict_t serve(recorder_t *self)
{
    bool dead;
    int client = pwr_detach_watch(&dead); /* poll ignores -1 */
    for (;;) {
        struct pollfd fds[] = {{.fd = PWR_HELPER_FD, .events = POLLIN},
                               {.fd = client, .events = POLLIN}};
        node_beat(&self->node);
        int ready = dead ? 0 : poll(fds, 2, milliseconds_to_wait(self));
        if (ready > 0 && fds[0].revents != 0) {
            verdict_t verdict = hear(self);
            if (verdict != GO_ON) {
                return verdict;
            }
        } else if (dead || (ready > 0 && fds[1].revents != 0)) {
            return ABANDONED;
        }
        if (self->asked_ns != 0 && node_is_over(&self->node) && !send_ledger(self)) {
            return ABANDONED;
        }
        if (pwr_clock_ns(CLOCK_MONOTONIC) >= self->next_sample_ns) {
            sample(self);
            write_partial_in_time(self);
        }
    }
}

/* ---- 4. ---- */

static void write_what_is_known(recorder_t *self)
{
    if (!self->knows) {
        return;
    }
    uint64_t end_ns = pwr_clock_ns(CLOCK_MONOTONIC) + DYING_S * (uint64_t)PWR_NS_PER_S;
    const struct timespec moment = pwr_timespec(PWR_NS_PER_S / 20);
    while (!node_is_dead(&self->node) && pwr_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    }
    sample(self);
    write_partial(self, "the job was ended before it had finished");
}

static int record(void)
{
    static recorder_t self;
    self.env = pwr_env_quiet(&pwr_env_real);
    bool begun = begin(&self);
    if (begun && serve(&self) == DISMISSED) {
        remove_partial(&self);
    } else if (begun) {
        write_what_is_known(&self);
    }
    energy_close(&self.energy);
    node_close(&self.node);
    about_free(&self.about);
    free(self.root);
    return begun ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const char purpose[] =
    "poweraware-record keeps the record of a job on a node: it reads the energy counters,\n"
    "adds up what the processes count, and writes the job's document.  Programs that use\n"
    "the power library start it by themselves; it has no options and does nothing when\n"
    "started by hand.\n";

int main(int argc, char **argv)
{
    pwr_detach(argc, argv, argc == 1, purpose, NULL);
    openlog("poweraware-record", LOG_PID, LOG_USER);
    return record();
}
