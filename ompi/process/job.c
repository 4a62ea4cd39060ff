/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The report of the whole job (pwr/record.h): every rank has a page, the lowest rank of a node
 * leads it, and in MPI_Finalize all ledgers are added up along a tree to rank 0's.
 *
 *   1. MPI_Init: the first thing that we do at all is to make the page and to start the recorder,
 *      so that whatever we cost is in the report.  Ranks tell each other that they take part, for
 *      parameters and installations may differ; an attribute of MPI_COMM_SELF is set, which
 *      MPI_Finalize deletes first of all, while everything still works, and after what the program
 *      itself has put there.  Without memory for it, the rank looks for its going.
 *   2. A rank that gets there finishes its page.  A leader asks its recorder for the node's ledger,
 *      which is there when all ranks of the node have come.
 *   3. A binomial tree over MPI_COMM_WORLD: a rank receives from its children that take part, adds
 *      up, and sends to its parent if that takes part.  What comes from leaders is a few KB, from
 *      others nothing.  Whoever is missing is missing in the document, which then says so.
 *   4. Rank 0 hands over the sum and what it has decided, and prints what comes back.
 *
 * Waiting for ranks that are late costs nothing, as MPI_Finalize would wait for them anyway, and
 * the CPU is given back meanwhile.
 */
#include "process_private.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pwr/json.h"
#include "pwr/ledger.h"
#include "pwr_ompi/doorbell.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/modex.h"
#include "pwr_ompi/size_class.h"

#include "ompi/attribute/attribute.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/proc.h"

/* A rank that is here has called all of its collectives, and messages of one sender and tag arrive
   in their order: those of a Gather that others are still in come first. */
#define TAG MCA_COLL_BASE_TAG_GATHER

static const char takes_part[] = "record";

static bool recorder_runs; /* this rank's, who leads its node */
static atomic_bool end_is_late;
static json_t *(*decisions_of_job)(void);

/* ---- 1. ---- */

static void start_recorder(void)
{
    pwr_status_t status = pwr_record_start(pwr_process.record);
    recorder_runs = PWR_OK == status;
    if (!recorder_runs) {
        pwr_say(pwr_level_alike(1),
                "no report of the job: cannot start poweraware-record (%s); "
                "coll_poweraware_helper_dir says where it is",
                pwr_status_text(status));
    }
}

void pwr_job_publish(void)
{
    char room[32];
    const pwr_record_config_t config = {
        .run_directory = pwr_process.settings.run_dir,
        .job = pwr_job_id(room, sizeof room),
        .process = (unsigned)OPAL_PROC_MY_NAME.vpid,
    };
    if (!pwr_process_wants_report()) {
        return;
    }
    if (PWR_OK != pwr_record_open(&pwr_process.env, &config, &pwr_process.record)) {
        pwr_process.record = NULL;
        pwr_say(1, "no memory to account for calls: the report has none");
    } else if (0 == opal_process_info.my_local_rank) {
        start_recorder();
    }
    pwr_modex_send(takes_part, PWR_MODEX_JOB, "", 1);
}

void pwr_job_open(void)
{
    if (NULL != pwr_process.record) {
        pwr_process.account = pwr_record_account(pwr_process.record);
        pwr_process.ticks = pwr_ticks_open("");
    }
}

/* ---- 1., of a leader: what the recorder has to know ---- */

static const char *absolute(const char *directory, char path[PATH_MAX])
{
    char here[PATH_MAX];
    if (NULL == directory || '/' == directory[0] || NULL == getcwd(here, sizeof here)) {
        return directory;
    }
    int length = snprintf(path, PATH_MAX, "%s/%s", here, directory);
    return length < PATH_MAX ? path : directory;
}

static json_t *class_bytes(void)
{
    json_t *array = json_array();
    for (int i = 0; i < PWR_SIZE_CLASSES; ++i) {
        size_t bytes = pwr_size_class_bytes(i);
        json_array_append_new(array, PWR_BYTES_UNKNOWN == bytes ? json_null()
                                                                : json_integer((json_int_t)bytes));
    }
    return array;
}

static json_t *facts(void)
{
    char room[32];
    return json_pack(
        "{s:{s:o}, s:{s:o}, s:{s:s, s:s, s:f}}", "software", "open_mpi",
        json_sprintf("%d.%d.%d", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
        "job", "id", pwr_json_text(pwr_job_id(room, sizeof room), PATH_MAX), "settings", "scheme",
        pwr_process.scheme.name, "idle", pwr_settings_idle(), "max_slowdown_percent",
        pwr_process.settings.max_slowdown);
}

static json_t *about(void)
{
    char path[PATH_MAX];
    char name[32];
    const char *directory = absolute(pwr_process.settings.report_dir, path);
    pwr_job_name(name, sizeof name);
    return json_pack("{s:o, s:s, s:s, s:i, s:i, s:o, s:o, s:o, s:o}", "directory",
                     pwr_json_text(NULL == directory ? "" : directory, PATH_MAX), "name", name,
                     "summary", pwr_settings_summary(), "processes", ompi_comm_size(MPI_COMM_WORLD),
                     "node_processes", (int)opal_process_info.num_local_peers + 1, "collectives",
                     pwr_process_names(PWR_OPERATION), "algorithms",
                     pwr_process_names(PWR_ALGORITHM), "class_bytes", class_bytes(), "facts",
                     facts());
}

/* ---- waiting ---- */

static void wait_until(bool (*over)(void *arg), void *arg, bool woken)
{
    const pwr_wait_policy_t policy = {
        .spin_ns = 50000,
        .sleep_min_ns = 100000,
        .sleep_max_ns = 16000000,
        .oversubscribed = pwr_idle_is_crowded(),
    };
    pwr_wait_stats_t stats = {0};
    (void)pwr_idle_wait(over, arg, woken, NULL, &policy, &stats);
}

static bool recorder_has_answered(void *arg)
{
    (void)arg;
    return pwr_record_is_answered(pwr_process.record);
}

static bool request_is_over(void *arg)
{
    return pwr_ompi_request_is_over(arg);
}

/* The result of a message to or from a rank of MPI_COMM_WORLD; rc: of its start. */
static int end_of(int rc, ompi_request_t *request, int peer)
{
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    wait_until(request_is_over, request, pwr_idle_is_woken_by(MPI_COMM_WORLD, peer));
    ompi_status_public_t status;
    return ompi_request_wait(&request, &status);
}

/* ---- 2. ---- */

static void finish_page(void)
{
    pwr_record_end_t end = {.setup_ns = pwr_process.setup_ns};
    pwr_regions_end();
    if (NULL != pwr_process.power) {
        pwr_power_levers(pwr_process.power, end.levers);
    } else {
        pwr_lever_why_off(end.levers, pwr_process.no_power_why);
    }
    pwr_record_finish(pwr_process.record, &end);
}

static void add_my_node(pwr_ledger_t *ledger)
{
    void *packed;
    size_t bytes;
    pwr_status_t status = pwr_record_ask_ledger(pwr_process.record);
    if (PWR_OK == status) {
        wait_until(recorder_has_answered, NULL, false);
        status = pwr_record_ledger(pwr_process.record, &packed, &bytes);
    }
    if (PWR_OK != status) {
        pwr_say(1, "this node is missing in the job's report: poweraware-record %s",
                PWR_ERR_TIMEOUT == status ? "does not answer" : "is gone");
        return;
    }
    (void)pwr_ledger_add_packed(ledger, packed, bytes);
    free(packed);
}

/* ---- 3. ---- */

static bool rank_takes_part(int rank)
{
    size_t bytes;
    const ompi_proc_t *proc = ompi_comm_peer_lookup(MPI_COMM_WORLD, rank);
    void *data = pwr_modex_receive(takes_part, &proc->super.proc_name, &bytes);
    free(data);
    return NULL != data;
}

static int receive(void *buffer, size_t bytes, int from)
{
    ompi_request_t *request;
    int rc = MCA_PML_CALL(irecv(buffer, bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request));
    return end_of(rc, request, from);
}

static int send_to(const void *buffer, size_t bytes, int to)
{
    ompi_request_t *request;
    bool before = pwr_doorbell_ring(true);
    int rc = MCA_PML_CALL(isend(buffer, bytes, MPI_BYTE, to, TAG, MCA_PML_BASE_SEND_STANDARD,
                                MPI_COMM_WORLD, &request));
    pwr_doorbell_ring(before);
    return end_of(rc, request, to);
}

/* Ledgers travel in pieces, so that one for which there is no memory can be received and thrown
   away: its sender waits until it is. */
enum { PIECE_BYTES = 65536 };

static size_t piece_of(uint64_t bytes, uint64_t done)
{
    return bytes - done < PIECE_BYTES ? (size_t)(bytes - done) : PIECE_BYTES;
}

static int receive_all(char *buffer, uint64_t bytes, int from)
{
    static char nowhere[PIECE_BYTES];
    int rc = OMPI_SUCCESS;
    for (uint64_t done = 0; OMPI_SUCCESS == rc && done < bytes; done += PIECE_BYTES) {
        rc = receive(NULL == buffer ? nowhere : buffer + done, piece_of(bytes, done), from);
    }
    return rc;
}

static void add_child(pwr_ledger_t *ledger, int child)
{
    uint64_t bytes = 0;
    if (!rank_takes_part(child) || OMPI_SUCCESS != receive(&bytes, sizeof bytes, child) ||
        0 == bytes) {
        return;
    }
    char *packed = malloc((size_t)bytes);
    int rc = receive_all(packed, bytes, child);
    if (NULL == packed || NULL == ledger) {
        pwr_say(1, "out of memory: some nodes are missing in the job's report");
    } else if (OMPI_SUCCESS == rc) {
        (void)pwr_ledger_add_packed(ledger, packed, (size_t)bytes);
    }
    free(packed);
}

/* Of a ledger without nodes only the length, 0. */
static void send_to_parent(const pwr_ledger_t *ledger, int parent)
{
    size_t bytes = 0;
    char *packed =
        NULL == ledger || 0 == ledger->num_nodes ? NULL : pwr_ledger_pack(ledger, &bytes);
    uint64_t length = NULL == packed ? 0 : bytes;
    int rc = rank_takes_part(parent) ? send_to(&length, sizeof length, parent) : OMPI_ERROR;
    for (uint64_t done = 0; OMPI_SUCCESS == rc && done < length; done += PIECE_BYTES) {
        rc = send_to(packed + done, piece_of(length, done), parent);
    }
    free(packed);
}

static void gather(pwr_ledger_t *ledger)
{
    int rank = ompi_comm_rank(MPI_COMM_WORLD);
    int size = ompi_comm_size(MPI_COMM_WORLD);
    for (int bit = 1; bit < size; bit *= 2) {
        if (0 != (rank & bit)) {
            send_to_parent(ledger, rank - bit);
            return;
        }
        if (rank + bit < size) {
            add_child(ledger, rank + bit);
        }
    }
}

/* ---- 4. ---- */

/* Without them the document is as good as ever.  A recorder that is gone is found out below. */
static void tell_decisions(void)
{
    (void)pwr_record_add_facts(pwr_process.record,
                               json_pack("{s:o}", "decisions", decisions_of_job()));
}

static void publish(const pwr_ledger_t *ledger)
{
    char why[512] = "";
    char *summary = NULL;
    size_t bytes;
    void *packed = pwr_ledger_pack(ledger, &bytes);
    tell_decisions();
    pwr_status_t status =
        NULL == packed ? PWR_ERR_NOMEM : pwr_record_ask_document(pwr_process.record, packed, bytes);
    free(packed);
    if (PWR_OK == status) {
        wait_until(recorder_has_answered, NULL, false);
        status = pwr_record_summary(pwr_process.record, &summary, why, sizeof why);
    }
    if (PWR_OK != status) {
        pwr_say(1, "no report of the job: %s", pwr_status_text(status));
    } else if ('\0' != why[0]) {
        pwr_say(1, "no report of the job: %s", why);
    }
    if (NULL != summary) {
        fputs(summary, stderr);
    }
    free(summary);
}

static void at_the_end(void)
{
    pwr_ledger_t *ledger = pwr_ledger_new(); /* NULL: others' go past */
    if (NULL != pwr_process.record) {
        finish_page();
    }
    if (recorder_runs && NULL != ledger) {
        add_my_node(ledger);
    }
    gather(ledger);
    if (0 == ompi_comm_rank(MPI_COMM_WORLD) && recorder_runs && NULL != ledger) {
        publish(ledger);
    }
    pwr_ledger_free(ledger);
}

static int comm_self_goes(ompi_communicator_t *comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    at_the_end();
    return MPI_SUCCESS;
}

/* Where MPI_COMM_SELF takes no attribute.  Those who wait for this rank are not yet where all ranks
   meet in MPI_Finalize: there it makes progress until they come. */
static int comm_self_has_gone(void)
{
    if (ompi_mpi_state >= OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT) {
        pwr_process_world_ends();
    }
    return 0;
}

/* If all others have come before, it makes none there. */
void pwr_process_world_ends(void)
{
    if (atomic_exchange(&end_is_late, false)) {
        at_the_end();
    }
}

static bool call_at_the_end(void)
{
    /* communicators made of MPI_COMM_SELF have nothing to report */
    ompi_attribute_fn_ptr_union_t copy = {.attr_communicator_copy_fn = PWR_OMPI_NOT_COPIED};
    ompi_attribute_fn_ptr_union_t end = {.attr_communicator_delete_fn = comm_self_goes};
    int key = MPI_KEYVAL_INVALID;
    int rc = ompi_attr_create_keyval(COMM_ATTR, copy, end, &key, NULL, 0, NULL);
    if (OMPI_SUCCESS == rc) {
        rc = ompi_attr_set_c(COMM_ATTR, MPI_COMM_SELF, &MPI_COMM_SELF->c_keyhash, key, NULL, false);
    }
    bool set = OMPI_SUCCESS == rc;
    atomic_store(&end_is_late, !set);
    return set || OMPI_SUCCESS == opal_progress_register(comm_self_has_gone);
}

static void name_operations(void)
{
    unsigned num = NULL == pwr_process.record ? 0 : pwr_process_num_names(PWR_OPERATION);
    for (unsigned i = 0; i < num; ++i) {
        pwr_record_name(pwr_process.record, i, pwr_process_name(PWR_OPERATION, (int)i));
    }
}

void pwr_process_tell_names(void)
{
    name_operations();
    if (recorder_runs) {
        (void)pwr_record_add_facts(
            pwr_process.record, json_pack("{s:o}", "collectives", pwr_process_names(PWR_OPERATION)));
    }
}

void pwr_job_begin(json_t *(*decisions)(void))
{
    decisions_of_job = decisions;
    if (!pwr_process_wants_report()) {
        return;
    }
    if (!call_at_the_end()) {
        pwr_say(1, "no report of the job, and others wait for it: out of memory");
        return;
    }
    name_operations();
    if (recorder_runs) {
        pwr_status_t status = pwr_record_tell(pwr_process.record, about());
        recorder_runs = PWR_OK == status;
        if (!recorder_runs) {
            pwr_say(pwr_level_alike(1), "no report of the job: poweraware-record: %s",
                    pwr_status_text(status));
        }
    }
}

void pwr_job_close(void)
{
    pwr_record_close(pwr_process.record);
    pwr_process.record = NULL;
    recorder_runs = false;
    opal_progress_unregister(comm_self_has_gone);
}
