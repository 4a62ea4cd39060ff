/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The MCA parameters of what belongs to the process: one table row each (manual:
 * doc/coll_poweraware.7).
 */
#include "process_private.h"

#include <stdlib.h>

#include "pwr_ompi/params.h"

/* 64 KiB take 52 us at 10 Gb/s, about what the paper's transitions cost in one call
   (2 O_dvfs + 2 O_throttle, 10-15 us each): below that, moving a lever cannot pay. */
enum { DEFAULT_MIN_BYTES = 64 * 1024 };
enum { MOST_SLOWDOWN = 1000, LONGEST_SPIN_US = 1000000 };
/* Longer than what is usual between two collectives, output of a large job for one, and shorter
   than people take to notice. */
enum { DEFAULT_HANG_REPORT_S = 300, LONGEST_HANG_REPORT_S = 1000000 };

static const mca_base_var_enum_value_t idles[] = {
    {PWR_IDLE_OFF, "off"},
    {PWR_IDLE_OPERATIONS, "collectives"},
    {PWR_IDLE_ALL, "all"},
    {0, NULL},
};

static const mca_base_var_enum_value_t reports[] = {
    {PWR_SUMMARY_OFF, "off"},
    {PWR_SUMMARY_SHORT, "summary"},
    {PWR_SUMMARY_FULL, "full"},
    {0, NULL},
};

/* Where the MCA system keeps the values.  It frees the strings before it closes a component. */
static pwr_process_settings_t registered;

static const pwr_process_settings_t defaults = {
    .verbose = 1,
    .idle = PWR_IDLE_OPERATIONS,
    .max_slowdown = 1.0,
    .spin_us = -1,
    .min_bytes = DEFAULT_MIN_BYTES,
    .hang_report = DEFAULT_HANG_REPORT_S,
    .pstates = true,
    .tstates = true,
    .wait_monitor = true,
};

#define ROW(field, type, words, level, help) PWR_PARAM(&registered, field, type, words, level, help)
static const pwr_param_t rows[] = {
    ROW(verbose, INT, NULL, 3,
        "0: silent, 1: what the user must know, once per job, 2: every rank's reasons"),
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
    ROW(knowledge, STRING, NULL, 4,
        "File in which scheme auto keeps what it learns for later jobs, absolute path (empty: "
        "poweraware/knowledge.json in $XDG_CACHE_HOME or ~/.cache; off: none)"),
    ROW(min_bytes, SIZE_T, NULL, 4,
        "Calls in which a rank moves fewer bytes move no lever and, with scheme throttle, stay "
        "with the stock function"),
    ROW(hang_report, INT, NULL, 3,
        "A rank that has waited this long in a collective, seconds, says who has not arrived, and "
        "sleeps longer at a time. 0: never"),
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

static void check_ranges(pwr_process_settings_t *s)
{
    s->spin_us = pwr_param_clamp("spin_us", s->spin_us, -1, LONGEST_SPIN_US);
    if (!(s->max_slowdown >= 0.0 && s->max_slowdown <= MOST_SLOWDOWN)) { /* no number, too */
        pwr_say(pwr_level_alike(0), "coll_poweraware_max_slowdown %g is outside 0..%d: using 1",
                s->max_slowdown, MOST_SLOWDOWN);
        s->max_slowdown = 1.0;
    }
    s->hang_report = pwr_param_clamp("hang_report", s->hang_report, 0, LONGEST_HANG_REPORT_S);
}

/* Of each the name and where it is. */
typedef struct file_setting {
    const char *name;
    size_t offset;
} file_setting_t;

#define FILE_SETTING(field)                                                                        \
    {                                                                                              \
#field, offsetof(pwr_process_settings_t, field)                                            \
    }
static const file_setting_t files[] = {
    FILE_SETTING(knowledge), FILE_SETTING(calibration), FILE_SETTING(helper_dir),
    FILE_SETTING(run_dir),   FILE_SETTING(root),        FILE_SETTING(report_dir),
    FILE_SETTING(ranks_dir), FILE_SETTING(trace_dir),
};
enum { NUM_FILES = sizeof files / sizeof files[0] };

static char **file_of(pwr_process_settings_t *s, const file_setting_t *file)
{
    return (char **)((char *)s + file->offset);
}

void pwr_settings_drop(void)
{
    for (int i = 0; i < NUM_FILES; ++i) {
        char **file = file_of(&pwr_process.settings, &files[i]);
        free(*file);
        *file = NULL;
    }
}

void pwr_settings_take(void)
{
    pwr_process_settings_t *s = &pwr_process.settings;
    pwr_settings_drop();
    *s = registered;
    pwr_set_verbose(s->verbose);
    for (int i = 0; i < NUM_FILES; ++i) {
        char **file = file_of(s, &files[i]);
        *file = pwr_param_file(files[i].name, *file);
    }
    /* nor is a helper to be started for the pleasure of a set-uid program's caller */
    s->report = pwr_params_are_foreign() ? PWR_SUMMARY_OFF : s->report;
    check_ranges(s);
}

int pwr_settings_register(void)
{
    registered = defaults;
    return pwr_params_register("coll", rows, sizeof rows / sizeof rows[0]);
}

const char *pwr_settings_summary(void)
{
    return pwr_param_word(reports, pwr_process.settings.report);
}

const char *pwr_settings_idle(void)
{
    return pwr_param_word(idles, pwr_process.settings.idle);
}
