/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The MCA parameters coll_poweraware_*: one table row each (manual: doc/coll_poweraware.7).
 */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "algorithms/algorithms.h"
#include "algorithms/alltoall/schedule.h"
#include "pwr/lever.h"
#include "pwr_ompi/process.h"

#include "opal/mca/base/mca_base_var_enum.h"

/* 64 KiB take 52 us at 10 Gb/s, about what the paper's transitions cost in one call
   (2 O_dvfs + 2 O_throttle, 10-15 us each): below that, moving a lever cannot pay. */
enum { DEFAULT_MIN_BYTES = 64 * 1024 };
enum { DEFAULT_SEGMENT_BYTES = 4 * 1024 * 1024, DEFAULT_SEGMENTS = 64 };
enum { DEFAULT_CHUNK_BYTES = 256 * 1024 };
enum { SMALLEST_SEGMENT_BYTES = 64 * 1024, SMALLEST_CHUNK_BYTES = 4 * 1024 };
enum { MOST_LEADERS = 64, MOST_SLOWDOWN = 1000 };
/* Longer than what is usual between two collectives, output of a large job for one, and shorter
   than people take to notice. */
enum { DEFAULT_HANG_REPORT_S = 300, LONGEST_HANG_REPORT_S = 1000000 };

typedef struct param_row {
    const char *name;
    const char *help;
    mca_base_var_type_t type;
    const mca_base_var_enum_value_t *values; /* of an INT that reads as a word */
    mca_base_var_info_lvl_t level;
    void *storage;
} param_row_t;

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

static const mca_base_var_enum_value_t idles[] = {
    {PWR_IDLE_OFF, "off"},
    {PWR_IDLE_OPERATIONS, "collectives"},
    {PWR_IDLE_ALL, "all"},
    {0, NULL},
};

enum { REPORT_OFF, REPORT_SUMMARY, REPORT_FULL };
static const mca_base_var_enum_value_t reports[] = {
    {REPORT_OFF, "off"},
    {REPORT_SUMMARY, "summary"},
    {REPORT_FULL, "full"},
    {0, NULL},
};

static const char *word_of(const mca_base_var_enum_value_t *words, int value)
{
    while (value != words->value) {
        ++words;
    }
    return words->string;
}

/* Where the MCA system keeps the values.  It frees the strings before it closes the component. */
static coll_poweraware_settings_t registered;

static const coll_poweraware_settings_t defaults = {
    .priority = -1,
    .verbose = 1,
    .scheme = COLL_POWERAWARE_AUTO,
    .tstate_scope = COLL_POWERAWARE_SCOPE_CORE,
    .tstate = 7,
    .tstate_leader = 4,
    .group = PWR_TOPO_PACKAGE,
    .alltoall_schedule = COLL_POWERAWARE_LOG,
    .idle = PWR_IDLE_OPERATIONS,
    .spin_us = -1,
    .max_slowdown = 1.0,
    .min_bytes = DEFAULT_MIN_BYTES,
    .segment_bytes = DEFAULT_SEGMENT_BYTES,
    .segments_total_bytes = (size_t)DEFAULT_SEGMENTS * DEFAULT_SEGMENT_BYTES,
    .chunk_bytes = DEFAULT_CHUNK_BYTES,
    .leaders = 1,
    .hang_report = DEFAULT_HANG_REPORT_S,
    .pstates = true,
    .tstates = true,
    .single_copy = true,
    .wait_monitor = true,
};

/* field: the parameter, and where its value goes. */
#define ROW(field, type, words, level, help)                                                       \
    {                                                                                              \
        .name = #field, help, MCA_BASE_VAR_TYPE_##type, words, OPAL_INFO_LVL_##level,              \
        &registered.field                                                                          \
    }
static const param_row_t rows[] = {
    ROW(priority, INT, NULL, 3,
        "Priority against the other coll components. -1: 77 when named in --mca coll, else not "
        "used. Above 78, buffers on a GPU reach us unstaged and are not supported"),
    ROW(verbose, INT, NULL, 3,
        "0: silent, 1: what the user must know, once per job, 2: every rank's reasons"),
    ROW(scheme, INT, schemes, 2,
        "off: stock algorithms, counted if a report is wanted; dvfs: stock algorithms at the "
        "lowest frequency; throttle: power-aware algorithms with frequency and clock throttling; "
        "auto: the same, but each only where the decision table says that it pays"),
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
    ROW(idle, INT, idles, 3,
        "Where waiting ranks give the CPU back: collectives (in blocking ones, ours and stock), "
        "all (in all blocking calls of MPI) or off (nowhere: ranks poll)"),
    ROW(max_slowdown, DOUBLE, NULL, 3,
        "By how many percent saving may slow the application down, with scheme auto. A class of "
        "calls that is found to exceed it saves less from then on. 0: nobody looks"),
    ROW(spin_us, INT, NULL, 5,
        "Longest spin before a waiting rank sleeps, microseconds. -1: as long as sleeping and "
        "waking costs according to the calibration"),
    ROW(wait_monitor, BOOL, NULL, 5,
        "Whether a waiting rank, once it has spun for a moment, may rest on a cache line before "
        "it sleeps, by umwait, mwaitx or WFE where the processor offers one"),
    ROW(calibration, STRING, NULL, 5,
        "Table of poweraware-calibrate, absolute path (empty: the user's, else the site's, else "
        "built-in figures)"),
    ROW(decision_table, STRING, NULL, 4,
        "Table of poweraware decide for scheme auto, absolute path, the same on all nodes (empty: "
        "the built-in one)"),
    ROW(min_bytes, SIZE_T, NULL, 4,
        "Calls in which a rank moves fewer bytes move no lever and, with scheme throttle, stay "
        "with the stock function"),
    ROW(segment_bytes, SIZE_T, NULL, 5, "Shared memory per node and communicator, bytes"),
    ROW(segments_total_bytes, SIZE_T, NULL, 5,
        "Shared memory of all communicators of which this process is the lowest rank of its node, "
        "bytes; what would exceed it stays with the stock functions"),
    ROW(chunk_bytes, SIZE_T, NULL, 5,
        "How much of a large message moves at once, bytes; at most an eighth of the segment"),
    ROW(leaders, INT, NULL, 5,
        "Ranks of each node that talk to other nodes in reductions, each for a part of the "
        "message; at most as many as the smallest node has"),
    ROW(hang_report, INT, NULL, 3,
        "A rank that has waited this long in a collective, seconds, says who has not arrived, and "
        "sleeps longer at a time. 0: never"),
    ROW(ucx_min_bytes, SIZE_T, NULL, 5,
        "With pml ucx: messages of our algorithms of at least so many bytes go over a UCP worker "
        "of our own, on which ranks that wait for them sleep. 0: none do"),
    ROW(single_copy, BOOL, NULL, 5,
        "Whether ranks of a node may copy from each other's memory, where the kernel allows it"),
    ROW(pstates, BOOL, NULL, 4, "Whether P-states (frequency) may be moved"),
    ROW(tstates, BOOL, NULL, 4, "Whether T-states (clock throttling) may be moved"),
    ROW(uncore, BOOL, NULL, 4,
        "Whether the uncore frequency of packages whose CPUs are all ranks' may be moved"),
    ROW(helper_dir, STRING, NULL, 6,
        "Folder of poweraware-guard and other helpers (empty: the installed ones)"),
    ROW(run_dir, STRING, NULL, 6,
        "Folder of claimed CPUs and journals (empty: /dev/shm/poweraware.<uid>)"),
    ROW(root, STRING, NULL, 9, "Prefix of /sys and /dev paths, for tests and containers"),
    ROW(report, INT, reports, 2,
        "What rank 0 prints of the job when it ends: off, summary (time, energy, the classes of "
        "calls that took most time) or full (all of them)"),
    ROW(report_dir, STRING, NULL, 3,
        "Folder into which the job's document goes at MPI_Finalize: job.json or, where there is "
        "one, "
        "job-<job>-<host>-<process>.json; of a job that was killed what is known, "
        "job.<host>-<process>.partial.json"),
    ROW(ranks_dir, STRING, NULL, 6,
        "Folder into which every rank writes rank-<N>.json at MPI_Finalize"),
    ROW(trace_dir, STRING, NULL, 6,
        "Folder into which every rank writes rank-<N>.events.csv at MPI_Finalize, and "
        "rank-<N>.json unless ranks_dir says where"),
};

const char *coll_poweraware_word(const char *parameter, int value)
{
    const param_row_t *row = rows;
    while (0 != strcmp(parameter, row->name)) {
        ++row;
    }
    return word_of(row->values, value);
}

/* A value that does not parse must not cost the user the job: the MCA system has named it, the
   default stays. */
static int register_row(const mca_base_component_t *component, const param_row_t *row)
{
    mca_base_var_enum_t *words = NULL;
    int fallback = 0;
    if (NULL != row->values) {
        fallback = *(int *)row->storage;
        int rc = mca_base_var_enum_create(row->name, row->values, &words);
        if (OPAL_SUCCESS != rc) {
            return rc;
        }
    }
    int index =
        mca_base_component_var_register(component, row->name, row->help, row->type, words, 0, 0,
                                        row->level, MCA_BASE_VAR_SCOPE_ALL_EQ, row->storage);
    if (NULL != words) {
        if (index < 0) {
            *(int *)row->storage = fallback;
            pwr_say(pwr_level_alike(0), "coll_poweraware_%s keeps its default: %s", row->name,
                    word_of(row->values, fallback));
            index = 0;
        }
        OBJ_RELEASE(words);
    }
    return index < 0 ? index : OMPI_SUCCESS;
}

/* coll_poweraware_<collective>_algorithm for every collective that we have algorithms for. */
static int register_algorithms(const mca_base_component_t *component)
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
        const param_row_t row = {
            name, help, MCA_BASE_VAR_TYPE_INT, words, OPAL_INFO_LVL_5, &registered.algorithm[c]};
        int rc = register_row(component, &row);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

static int clamp(const char *name, int value, int low, int high)
{
    int kept = value < low ? low : value > high ? high : value;
    if (kept != value) {
        pwr_say(pwr_level_alike(0), "coll_poweraware_%s %d is outside %d..%d: using %d", name,
                value, low, high, kept);
    }
    return kept;
}

static size_t at_least(const char *name, size_t value, size_t smallest)
{
    if (value < smallest) {
        pwr_say(pwr_level_alike(0), "coll_poweraware_%s %zu is too small: using %zu", name, value,
                smallest);
        return smallest;
    }
    return value;
}

static void check_ranges(coll_poweraware_settings_t *p)
{
    p->tstate = clamp("tstate", p->tstate, 1, PWR_TSTATE_DEEPEST);
    p->tstate_leader = clamp("tstate_leader", p->tstate_leader, 0, PWR_TSTATE_DEEPEST);
    p->leaders = clamp("leaders", p->leaders, 1, MOST_LEADERS);
    p->spin_us = clamp("spin_us", p->spin_us, -1, 1000000);
    if (!(p->max_slowdown >= 0.0 && p->max_slowdown <= MOST_SLOWDOWN)) { /* no number, too */
        pwr_say(pwr_level_alike(0), "coll_poweraware_max_slowdown %g is outside 0..%d: using 1",
                p->max_slowdown, MOST_SLOWDOWN);
        p->max_slowdown = 1.0;
    }
    p->hang_report = clamp("hang_report", p->hang_report, 0, LONGEST_HANG_REPORT_S);
    p->segment_bytes = at_least("segment_bytes", p->segment_bytes, SMALLEST_SEGMENT_BYTES);
    p->chunk_bytes = at_least("chunk_bytes", p->chunk_bytes, SMALLEST_CHUNK_BYTES);
    if (COLL_POWERAWARE_SCOPE_PACKAGE == p->tstate_scope && PWR_TOPO_PACKAGE != p->group) {
        pwr_say(pwr_level_alike(0),
                "coll_poweraware_group %s: using package, because T-states act on "
                "packages (coll_poweraware_tstate_scope)",
                word_of(groups, p->group));
        p->group = PWR_TOPO_PACKAGE;
    }
}

static int register_rows(const mca_base_component_t *component)
{
    registered = defaults;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        int rc = register_row(component, &rows[i]);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return OMPI_SUCCESS;
}

/* A set-uid program has its owner's rights, and its parameters are the caller's: files that they
   name are neither written nor read.  The rank still takes part, because all have to. */
static char *copy(const char *name, const char *text)
{
    if (NULL == text || '\0' == text[0]) {
        return NULL;
    }
    if (0 != getauxval(AT_SECURE)) {
        pwr_say(1,
                "coll_poweraware_%s is ignored: this program is set-uid, set-gid or "
                "has file capabilities",
                name);
        return NULL;
    }
    return strdup(text);
}

void coll_poweraware_settings_free(coll_poweraware_settings_t *params)
{
    char **const strings[] = {&params->calibration, &params->decision_table, &params->helper_dir,
                              &params->run_dir,     &params->root,           &params->report_dir,
                              &params->ranks_dir,   &params->trace_dir};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; ++i) {
        free(*strings[i]);
        *strings[i] = NULL;
    }
}

int coll_poweraware_settings_register(coll_poweraware_settings_t *params,
                                      const mca_base_component_t *component)
{
    int rc = register_rows(component);
    rc = OMPI_SUCCESS == rc ? register_algorithms(component) : rc;
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    coll_poweraware_settings_free(params);
    *params = registered;
    pwr_set_verbose(params->verbose);
    /* whoever starts a set-uid program could lend its ranks' rights to a rank of their own */
    params->single_copy = registered.single_copy && 0 == getauxval(AT_SECURE);
    /* nor is a helper to be started, or a file to be made, for the caller's pleasure */
    params->report = 0 == getauxval(AT_SECURE) ? registered.report : REPORT_OFF;
    params->calibration = copy("calibration", registered.calibration);
    params->decision_table = copy("decision_table", registered.decision_table);
    params->helper_dir = copy("helper_dir", registered.helper_dir);
    params->run_dir = copy("run_dir", registered.run_dir);
    params->root = copy("root", registered.root);
    params->report_dir = copy("report_dir", registered.report_dir);
    params->ranks_dir = copy("ranks_dir", registered.ranks_dir);
    params->trace_dir = copy("trace_dir", registered.trace_dir);
    check_ranges(params);
    return OMPI_SUCCESS;
}
