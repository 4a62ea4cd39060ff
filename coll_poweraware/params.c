/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The MCA parameters of collectives: one table row each (manual: doc/coll_poweraware.7).  Those of
 * the process are in ompi/process/settings.c.
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "algorithms/algorithms.h"
#include "algorithms/alltoall/schedule.h"
#include "pwr/lever.h"
#include "pwr_ompi/params.h"
#include "pwr_ompi/process.h"

enum { DEFAULT_SEGMENT_BYTES = 4 * 1024 * 1024, DEFAULT_SEGMENTS = 64 };
enum { DEFAULT_CHUNK_BYTES = 256 * 1024 };
enum { SMALLEST_SEGMENT_BYTES = 64 * 1024, SMALLEST_CHUNK_BYTES = 4 * 1024 };
enum { MOST_LEADERS = 64 };
static const mca_base_var_enum_value_t schemes[] = {
    {COLL_POWERAWARE_OFF, "off"},
    {COLL_POWERAWARE_DVFS, "dvfs"},
    {COLL_POWERAWARE_THROTTLE, "throttle"},
    {COLL_POWERAWARE_AUTO, "auto"},
    {0, NULL},
};

static const mca_base_var_enum_value_t scopes[] = {
    {COLL_POWERAWARE_SCOPE_CORE, "core"},
    {COLL_POWERAWARE_SCOPE_PACKAGE, "package"},
    {0, NULL},
};

static const mca_base_var_enum_value_t groups[] = {
    {PWR_TOPO_PACKAGE, "package"},
    {PWR_TOPO_NUMA, "numa"},
    {PWR_TOPO_L3, "l3"},
    {0, NULL},
};

static const mca_base_var_enum_value_t alltoall_schedules[] = {
    {COLL_POWERAWARE_PAPER, "paper"},
    {COLL_POWERAWARE_LOG, "log"},
    {0, NULL},
};

/* Where the MCA system keeps the values.  It frees the string before it closes the component. */
static coll_poweraware_settings_t registered;

static const coll_poweraware_settings_t defaults = {
    .priority = PWR_DEFAULT_PRIORITY,
    .scheme = COLL_POWERAWARE_AUTO,
    .tstate_scope = COLL_POWERAWARE_SCOPE_CORE,
    .tstate = 7,
    .tstate_leader = 4,
    .group = PWR_TOPO_PACKAGE,
    .alltoall_schedule = COLL_POWERAWARE_LOG,
    .segment_bytes = DEFAULT_SEGMENT_BYTES,
    .segments_total_bytes = (size_t)DEFAULT_SEGMENTS * DEFAULT_SEGMENT_BYTES,
    .chunk_bytes = DEFAULT_CHUNK_BYTES,
    .leaders = 1,
    .single_copy = true,
    .explore = true,
};

#define ROW(field, type, words, level, help) PWR_PARAM(&registered, field, type, words, level, help)
static const pwr_param_t rows[] = {
    ROW(priority, INT, NULL, 3,
        "Priority against the other coll components. -1: 77 when named in --mca coll, else not "
        "used. Above 78, buffers on a GPU reach us unstaged and are not supported"),
    ROW(scheme, INT, schemes, 2,
        "off: stock algorithms, counted if a report is wanted; dvfs: stock algorithms at the "
        "lowest frequency; throttle: power-aware algorithms with frequency and clock throttling; "
        "auto: the same, but each only where it pays, by a table and by what is measured"),
    ROW(tstate_scope, INT, scopes, 4, "What a T-state acts on in this hardware: core or package"),
    ROW(group, INT, groups, 4,
        "What the ranks of a group share, of which one per node is active at a time in an "
        "Alltoall: package, numa or l3"),
    ROW(alltoall_schedule, INT, alltoall_schedules, 5,
        "Order in which nodes meet in an Alltoall: log (a rank changes its state about 2 "
        "log2(nodes) times) or paper (about 2 nodes times)"),
    ROW(tstate, INT, NULL, 4, "T-state of throttled ranks, 1..7 (7: 12.5% duty)"),
    ROW(tstate_leader, INT, NULL, 4,
        "T-state of a leader's package in the network phase when the scope is package, 0..7"),
    ROW(decision_table, STRING, NULL, 4,
        "Table of poweraware decide for scheme auto, absolute path, the same on all nodes (empty: "
        "the built-in one)"),
    ROW(explore, BOOL, NULL, 4,
        "Whether scheme auto looks for faster algorithms while the program runs, the same on all "
        "ranks. false: the decision table decides"),
    ROW(segment_bytes, SIZE_T, NULL, 5, "Shared memory per node and communicator, bytes"),
    ROW(segments_total_bytes, SIZE_T, NULL, 5,
        "Shared memory of all communicators of which this process is the lowest rank of its node, "
        "bytes; what would exceed it stays with the stock functions"),
    ROW(chunk_bytes, SIZE_T, NULL, 5,
        "How much of a large message moves at once, bytes; at most an eighth of the segment"),
    ROW(leaders, INT, NULL, 5,
        "Ranks of each node that talk to other nodes in reductions, each for a part of the "
        "message; at most as many as the smallest node has"),
    ROW(ucx_min_bytes, SIZE_T, NULL, 5,
        "With pml ucx: messages of our algorithms of at least so many bytes go over a UCP worker "
        "of our own, on which ranks that wait for them sleep. 0: none do"),
    ROW(single_copy, BOOL, NULL, 5,
        "Whether ranks of a node may copy from each other's memory, where the kernel allows it"),
};

const char *coll_poweraware_scheme_name(int scheme)
{
    return pwr_param_word(schemes, scheme);
}

/* coll_poweraware_<collective>_algorithm for every collective that we have algorithms for. */
static int register_algorithms(void)
{
    enum { MOST = 16 };
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        mca_base_var_enum_value_t words[MOST + 3] = {{COLL_POWERAWARE_CHOOSE, "choose"},
                                                     {COLL_POWERAWARE_STOCK, "stock"}};
        int num = 2;
        for (int i = 0; i < coll_poweraware_num_algorithms && num < MOST + 2; ++i) {
            if (c == (int)coll_poweraware_algorithms[i].collective) {
                words[num++] = (mca_base_var_enum_value_t){i, coll_poweraware_algorithms[i].name};
            }
        }
        char name[64];
        char help[128];
        const char *collective = coll_poweraware_names[c];
        snprintf(name, sizeof name, "%s_algorithm", collective);
        snprintf(help, sizeof help,
                 "Algorithm of MPI_%c%s: choose (by scheme), stock, or one of ours",
                 collective[0] - 'a' + 'A', collective + 1);
        registered.algorithm[c] = COLL_POWERAWARE_CHOOSE;
        const pwr_param_t row = {
            name, help, MCA_BASE_VAR_TYPE_INT, words, OPAL_INFO_LVL_5, &registered.algorithm[c]};
        int rc = pwr_params_register("coll", &row, 1);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

static void check_ranges(coll_poweraware_settings_t *p)
{
    p->tstate = pwr_param_clamp("tstate", p->tstate, 1, PWR_TSTATE_DEEPEST);
    p->tstate_leader = pwr_param_clamp("tstate_leader", p->tstate_leader, 0, PWR_TSTATE_DEEPEST);
    p->leaders = pwr_param_clamp("leaders", p->leaders, 1, MOST_LEADERS);
    p->segment_bytes =
        pwr_param_at_least("segment_bytes", p->segment_bytes, SMALLEST_SEGMENT_BYTES);
    p->chunk_bytes = pwr_param_at_least("chunk_bytes", p->chunk_bytes, SMALLEST_CHUNK_BYTES);
    if (COLL_POWERAWARE_SCOPE_PACKAGE == p->tstate_scope && PWR_TOPO_PACKAGE != p->group) {
        pwr_say(pwr_level_alike(0),
                "coll_poweraware_group %s: using package, because T-states act on "
                "packages (coll_poweraware_tstate_scope)",
                pwr_param_word(groups, p->group));
        p->group = PWR_TOPO_PACKAGE;
    }
}

void coll_poweraware_settings_free(coll_poweraware_settings_t *settings)
{
    free(settings->decision_table);
    settings->decision_table = NULL;
}

int coll_poweraware_settings_register(coll_poweraware_settings_t *settings)
{
    registered = defaults;
    int rc = pwr_params_register("coll", rows, sizeof rows / sizeof rows[0]);
    rc = OMPI_SUCCESS == rc ? register_algorithms() : rc;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    coll_poweraware_settings_free(settings);
    *settings = registered;
    /* whoever starts a set-uid program could lend its ranks' rights to a rank of their own */
    settings->single_copy = registered.single_copy && !pwr_params_are_foreign();
    settings->decision_table = pwr_param_file("decision_table", registered.decision_table);
    check_ranges(settings);
    return OMPI_SUCCESS;
}
