/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The parts of poweraware-info: everything is gathered into one plain structure first, which is
 * then printed as text or as JSON.
 */
#ifndef PWR_INFO_H
#define PWR_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pwr/cpu_model.h"
#include "pwr/env.h"
#include "pwr/guard.h"
#include "pwr/lever.h"
#include "pwr/meter.h"
#include "pwr/topo.h"

enum {
    INFO_REASON_BYTES = 1024,
    INFO_LIST_BYTES = 4096,
    INFO_NAME_BYTES = 64,
    INFO_BACKENDS = 24, /* of one part */
    INFO_DOMAINS = 128,
    INFO_COMMANDS = 8, /* of one remedy */
    INFO_REMEDIES = 3  /* of one refusal */
};

/* A lever, or the energy meter. */
typedef unsigned info_subject_t; /* pwr_lever_id_t, or ... */
enum { INFO_ENERGY = PWR_NUM_LEVERS, INFO_SUBJECTS };

/* ---- info/remedies.c: what grants what is missing, and what it is worth ---- */

/* What an administrator can do. */
typedef struct info_remedy {
    const char *text;                    /* one sentence */
    const char *commands[INFO_COMMANDS]; /* to be typed by root, verbatim; NULL behind the last */
    const char *caution;                 /* NULL: none */
} info_remedy_t;

/* Fills remedies[INFO_REMEDIES] with those for a back end that was refused for this reason on a
   processor of this vendor ("": unknown); returns how many there are.  They live as long as the
   program. */
unsigned info_remedies_find(const char *vendor, info_subject_t subject, const char *backend,
                            pwr_status_t status, const char *reason,
                            const info_remedy_t **remedies);
/* The reason of a back end that gave none. */
const char *info_reason_otherwise(const char *backend, pwr_status_t status);

/* What is lost without a part: a figure of a paper, never one of this machine. */
typedef struct info_loss {
    const char *text;
    const char *source;
} info_loss_t;
const info_loss_t *info_loss(info_subject_t subject);
const char *info_title(info_subject_t subject); /* "P-states" */
/* NULL for the meter. */
const pwr_lever_type_t *info_lever(info_subject_t subject);

/* ---- what is gathered ---- */

/* Quartiles in microseconds. */
typedef struct info_spread {
    double low_us;
    double median_us;
    double high_us;
} info_spread_t;

/* What the software pays for a transition (or for a reading of all domains); how long the hardware
   takes to follow is not seen. */
typedef struct info_cost {
    unsigned rounds; /* 0: not measured, because ... */
    char why_not[INFO_NAME_BYTES * 2];
    unsigned cpus;      /* moved by one transition */
    info_spread_t down; /* of a meter: one reading */
    info_spread_t up;
} info_cost_t;

typedef enum info_state {
    INFO_REFUSED,
    INFO_LOOKS_USABLE, /* could be opened and read; writing was not tried */
    INFO_WORKS,        /* took what was read from it */
    INFO_USED          /* this is what a process with this binding gets */
} info_state_t;
const char *info_state_word(info_state_t state);

typedef struct info_backend {
    const char *name;
    info_state_t state;
    pwr_status_t status;            /* of an attempt to open it */
    char reason[INFO_REASON_BYTES]; /* of a refusal; never empty then */
    uint32_t lowest;                /* of a lever, in its unit */
    uint32_t full;
    const info_remedy_t *remedies[INFO_REMEDIES];
    unsigned num_remedies;
} info_backend_t;

/* A lever, or the energy meter. */
typedef struct info_part {
    info_subject_t subject;
    const char *vendor;                     /* of the processor; "": unknown */
    info_backend_t backends[INFO_BACKENDS]; /* in the order in which they are tried */
    unsigned num_backends;
    int best; /* the first that is not refused; -1: none */
    info_cost_t cost;
    pwr_meter_domain_t domains[INFO_DOMAINS]; /* of the meter */
    unsigned num_domains;
} info_part_t;

/* What the kernel's cpufreq says about the first own CPU. */
typedef struct info_cpufreq {
    const char *why_not; /* NULL: known */
    char driver[INFO_NAME_BYTES];
    char governor[INFO_NAME_BYTES];
    char governors[INFO_NAME_BYTES * 2]; /* that could be chosen */
    unsigned long min_khz;               /* of the hardware */
    unsigned long max_khz;
    unsigned num_frequencies; /* listed; 0: none are */
    unsigned long boost_khz;  /* highest listed boost frequency; 0: none are */
    unsigned long latency_ns; /* of a transition, as the driver says; 0: it does not */
} info_cpufreq_t;

typedef struct info_machine {
    char host[256];
    char kernel[128];
    bool has_cpu; /* cpu is known */
    pwr_cpu_model_t cpu;
    unsigned packages;
    unsigned cores;
    unsigned cpus;
    const char *monitor; /* by which a core rests while it waits: "umwait"; NULL: none */
    info_cpufreq_t cpufreq;
    bool plugin_installed;
} info_machine_t;
/* Of this build. */
extern const char info_version[];
extern const char info_mpi_version[];
extern const char info_plugin_path[];

typedef enum info_answer { INFO_NO, INFO_YES, INFO_NOT_ASKED } info_answer_t;

typedef struct info_binding {
    char own[INFO_LIST_BYTES]; /* CPUs, "0-3,8" */
    char reached[INFO_LIST_BYTES];
    bool bound;
    info_answer_t exclusive;         /* no other process of this user claims one of them */
    unsigned shared_cpu;             /* INFO_NO: the first that is claimed twice */
    char neighbour[256];             /* who else is bound to them; "" when nobody was seen */
    bool levers_allowed;             /* bound, alone and guarded: the rest is up to the hardware */
    char why_off[INFO_REASON_BYTES]; /* of levers that stay off; "" */
} info_binding_t;

typedef struct info_report {
    info_machine_t machine;
    info_binding_t binding;
    info_part_t parts[INFO_SUBJECTS];
} info_report_t;

/* ---- info/gather.c and its parts ---- */

typedef struct info_request {
    const pwr_env_t *env;
    const char *cpus;          /* bind to these first; NULL: stay as we are */
    const char *run_directory; /* NULL: the default */
    bool probe;                /* false: write nothing, anywhere */
} info_request_t;

/* Errors: those of the topology, and ARG for a list of CPUs that cannot be bound to; said on
   standard error. */
pwr_status_t info_gather(const info_request_t *request, info_report_t *report);

/* "0-3,8"; one that does not fit ends in "...". */
typedef unsigned (*info_cpu_at_t)(const pwr_topo_t *topo, unsigned index);
void info_format_cpus(const pwr_topo_t *topo, info_cpu_at_t at, unsigned count, char *text,
                      unsigned size);

/* info/machine.c */
void info_gather_machine(const pwr_env_t *env, const pwr_topo_t *topo, info_machine_t *machine);

/* info/discover.c: what libcpupower finds out. */
void info_discover_cpufreq(const pwr_env_t *env, unsigned cpu, info_cpufreq_t *cpufreq);

/* info/levers.c.  Without guard they only look.  used: a process gets what works.  False: something
   could not be restored and must be left to the guardian. */
bool info_gather_lever(const info_request_t *request, const pwr_topo_t *topo, pwr_guard_t *guard,
                       bool used, info_part_t *part);
/* The row of the next back end, to be filled. */
info_backend_t *info_part_add(info_part_t *part, const char *name);
/* Enters the outcome of an attempt, with reasons and remedies. */
void info_part_enter(info_part_t *part, info_backend_t *backend, pwr_status_t status,
                     info_state_t state_if_ok);

/* info/meters.c */
void info_gather_meters(const info_request_t *request, const pwr_topo_t *topo, info_part_t *part);

/* info/cost.c: quartiles of values[count] (nanoseconds; sorted on return). */
info_spread_t info_spread_of(uint64_t *values, unsigned count);
/* Times pairs of move(object, true) and move(object, false).  Ends at the first failure, which is
   returned; the cost is then not measured, and says why. */
typedef pwr_status_t (*info_move_t)(void *object, bool down);
pwr_status_t info_cost_measure(const pwr_env_t *env, info_move_t move, void *object,
                               info_cost_t *cost);

/* info/progress.c: says on standard error what takes so long, once it has taken five seconds. */
void info_progress_begin(void);
void info_progress_at(const char *what); /* must stay valid */
void info_progress_end(void);

/* ---- printing: false when writing failed ---- */

/* Nothing but a model, or not even that. */
bool info_part_is_missing(const info_part_t *part);
/* "waits, P-states (cpufreq)": what this process would save by. */
void info_summary(const info_report_t *report, char *text, unsigned size);
/* The levers that are there but for why_off; "" if none. */
void info_prospect(const info_report_t *report, char *text, unsigned size);
/* info/text.c.  all: remedies also for what is not needed. */
bool info_print_text(FILE *out, const info_report_t *report, unsigned width, bool all);
/* Prints text broken at blanks: from column, which is where the line stands, up to width; further
   lines are indented by column too.  Words longer than that stick out. */
void info_print_wrapped(FILE *out, const char *text, unsigned column, unsigned width);
/* info/json.c */
bool info_print_json(FILE *out, const info_report_t *report);

#endif
