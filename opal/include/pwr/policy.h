/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The break-even table: what entering and leaving each wait rung and each lever costs on this CPU
 * model and kernel, and the questions that follow from it.
 *
 * poweraware-calibrate writes the table as calibration.json (opal/policy/calibration.schema.json).
 * Without one that fits, built-in rows with their sources are used, and a row that a table lacks
 * is the built-in one too (opal/policy/policy_builtin.c).
 */
#ifndef PWR_POLICY_H
#define PWR_POLICY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/break_even.h"
#include "pwr/cpu_model.h"
#include "pwr/env.h"
#include "pwr/lever.h"

enum { PWR_POLICY_VERSION = 1 }; /* of the format; others are refused */

/* A transition that takes longer than this is a damaged table, not a slow machine. */
#define PWR_POLICY_NS_MAX UINT64_C(10000000000)
/* Stands for null: a time that could not be observed. */
#define PWR_POLICY_NS_UNKNOWN UINT64_MAX
/* Stands for null: no meter.  Known power is never negative. */
#define PWR_POLICY_W_UNKNOWN (-1.0)

typedef enum pwr_policy_row_id {
    PWR_POLICY_SPIN,           /* look at the flag as fast as possible */
    PWR_POLICY_PAUSE,          /* the same with the CPU's pause instruction between looks */
    PWR_POLICY_MONITOR,        /* umwait, mwaitx or WFE on the flag's cache line */
    PWR_POLICY_YIELD,          /* sched_yield between looks; the signaller is on the same CPU */
    PWR_POLICY_FUTEX,          /* futex sleep, woken from another core */
    PWR_POLICY_FUTEX_SAME_CPU, /* futex sleep, woken from the same CPU */
    PWR_POLICY_FUTEX_CROWDED,  /* futex sleep on a CPU that a computing thread keeps busy */
    PWR_POLICY_EPOLL,          /* an event loop: epoll_wait, woken from another core */
    PWR_POLICY_LEVERS,         /* here and behind: one per lever, from full to lowest and back */
    PWR_POLICY_NUM_ROWS = PWR_POLICY_LEVERS + PWR_NUM_LEVERS
} pwr_policy_row_id_t;
#define PWR_POLICY_LEVER(lever) ((pwr_policy_row_id_t)(PWR_POLICY_LEVERS + (lever)))

typedef enum pwr_policy_origin {
    PWR_POLICY_ABSENT, /* the table has no such row */
    PWR_POLICY_MEASURED,
    PWR_POLICY_BUILTIN
} pwr_policy_origin_t;

/* Times are medians in nanoseconds, spreads interquartile ranges.
   A rung: entry_ns is the CPU time that going to rest and coming back takes from the waiter,
   exit_ns the time from the signal until the waiter runs on. A lever: entry_ns and exit_ns are the
   calls that lower and raise; the settle times are how long the hardware takes to obey after the
   call has returned, PWR_POLICY_NS_UNKNOWN where the CPU did not run measurably slower (virtual or
   emulated hardware). */
typedef struct pwr_policy_row {
    pwr_policy_origin_t origin;
    unsigned samples; /* behind each median; 0 in built-in rows */
    uint64_t entry_ns;
    uint64_t exit_ns;
    uint64_t entry_spread_ns;
    uint64_t exit_spread_ns;
    uint64_t entry_settle_ns; /* 0 in rungs */
    uint64_t exit_settle_ns;
    double power_w;     /* of the package, while one core of it is in this state */
    char citation[200]; /* of built-in rows, else "" */
} pwr_policy_row_t;

/* A calibration.json, as it is. */
typedef struct pwr_policy_table {
    char tool[64]; /* program and version that wrote it */
    char date[24]; /* 2026-01-31T12:00:00Z */
    char host[72];
    char kernel[72];     /* release */
    char meter[32];      /* back end that the watts come from, "" for none */
    pwr_cpu_model_t cpu; /* without its stepping */
    pwr_policy_row_t rows[PWR_POLICY_NUM_ROWS];
} pwr_policy_table_t;

/* "futex" and so on: the name in the JSON, never NULL. */
const char *pwr_policy_row_name(pwr_policy_row_id_t id);
bool pwr_policy_row_is_lever(pwr_policy_row_id_t id);

/* ---- the format ---- */

/* Reads a table; touches nothing but its arguments.  Errors: PARSE (not this format, a key missing,
   unknown or of the wrong type), RANGE (a value that no machine has), NOMEM; why[why_size] then
   names the key and its value. */
pwr_status_t pwr_policy_parse(const char *text, size_t size, char *why, unsigned why_size,
                              pwr_policy_table_t *table);
/* The reverse, with a newline at the end; the caller frees *text.  Errors: NOMEM, ARG (a string
   that is not UTF-8). */
pwr_status_t pwr_policy_format(const pwr_policy_table_t *table, char **text);
/* Sets cpu, kernel and host to this machine's.  Errors: those of pwr_cpu_model_read and of reading
   /proc/sys/kernel/osrelease. */
pwr_status_t pwr_policy_identify(const pwr_env_t *env, pwr_policy_table_t *table);
/* Where poweraware-calibrate writes and pwr_policy_load looks for an ordinary user's table:
   $XDG_CONFIG_HOME/poweraware/calibration.json, or below ~/.config.  UNSUPPORTED without either
   variable, RANGE when it does not fit. */
pwr_status_t pwr_policy_user_path(char *path, unsigned size);

/* ---- the policy ---- */

enum { PWR_POLICY_WHY = 2048 };

typedef struct pwr_policy {
    /* Never absent.  A measured lever whose settle time is unknown has the built-in one. */
    pwr_policy_row_t rows[PWR_POLICY_NUM_ROWS];
    char source[PATH_MAX]; /* the file in use, or "built-in" */
    /* Why files that were asked for, or are there, are not in use, one reason per file; "" when
       there is nothing to say.  Also logged once at PWR_LOG_INFO. */
    char why[PWR_POLICY_WHY];
} pwr_policy_t;

/* Loads the first table that can be read, is valid and was measured on this CPU model and kernel:
   path alone if it is not NULL (absolute), else the user's, then sysconfdir/poweraware/
   calibration.json.  Without one the built-in rows are used: that is PWR_OK too, and why says
   why.  Files are below env->root and never changed.  To be freed.  Errors: NOMEM. */
pwr_status_t pwr_policy_load(const pwr_env_t *env, const char *path, pwr_policy_t **policy);

/* The built-in row for a processor; cpu NULL: one that is not known. */
void pwr_policy_builtin(const pwr_cpu_model_t *cpu, pwr_policy_row_id_t id, pwr_policy_row_t *row);

/* How long to pause before the futex rung, one second at most: as long as entering and leaving that
   takes, and PWR_POLICY_ON_TIME_FACTOR times as long as leaving.  The first is ski-rental: whoever
   pays at most the price of the next rung on this one never pays more than twice what knowing the
   future would have cost (Karlin, Manasse, McGeoch, Owicki: Competitive randomized algorithms for
   non-uniform problems, SODA 1990).  It counts CPU time; the second keeps a wait that ends in a
   sleep from lasting over 1 / PWR_POLICY_ON_TIME_FACTOR longer than by spinning. */
enum { PWR_POLICY_ON_TIME_FACTOR = 5 };
uint32_t pwr_policy_spin_ns(const pwr_policy_t *policy);
/* How long to rest on the flag's cache line before the futex rung: as long as pwr_policy_spin_ns,
   and because resting draws less power than pausing, where both were measured up to four times as
   long. 0 where resting is no use: it takes as long as sleeping (a hypervisor traps the
   instruction) or draws as much as pausing. */
uint32_t pwr_policy_monitor_ns(const pwr_policy_t *policy);

/* From which length of a phase on lowering a lever saves energy.  full and low are the power of the
   package while one of its cores polls, and polls with the lever lowered, where both were measured;
   else low is power_left of full (pwr/lever.h). */
pwr_break_even_t pwr_policy_break_even(const pwr_policy_t *policy, pwr_lever_id_t lever);

#endif
