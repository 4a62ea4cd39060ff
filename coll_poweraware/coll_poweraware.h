/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The coll component: its parameters, its module per communicator, and the way of a call.
 *
 *   MPI_Bcast -> coll_poweraware_bcast (coll_poweraware_calls.c)
 *                 | coll_poweraware_choose: from what all ranks know equally
 *                 +- a row of algorithms/algorithms.c, or
 *                 +- the saved function of whoever was selected before us;
 *                 low power before, full power after it, where levers are used
 */
#ifndef COLL_POWERAWARE_H
#define COLL_POWERAWARE_H

#include "pwr_ompi/compat.h"

#include "pwr/account.h"
#include "pwr/audit.h"
#include "pwr/history.h"
#include "pwr/meter.h"
#include "pwr/power.h"
#include "pwr/record.h"
#include "pwr/ticks.h"
#include "pwr/wait.h"
#include "pwr_ompi/hierarchy.h"
#include "pwr_ompi/idle.h"
#include "pwr_ompi/segment.h"

#include "collectives.h"
#include "coll_poweraware_decision.h"

typedef struct coll_poweraware_algorithm coll_poweraware_algorithm_t; /* algorithms/algorithms.h */

/* The schemes of ICPP 2010, section VII, and ours. */
typedef enum coll_poweraware_scheme {
    COLL_POWERAWARE_OFF,      /* the paper's default: stock algorithm, counted only */
    COLL_POWERAWARE_DVFS,     /* freq-scaling: stock algorithm between DVFS down and up */
    COLL_POWERAWARE_THROTTLE, /* proposed: DVFS and our algorithms with throttling */
    COLL_POWERAWARE_AUTO      /* the same levers, algorithms from a decision table */
} coll_poweraware_scheme_t;

typedef enum coll_poweraware_scope {
    COLL_POWERAWARE_SCOPE_CORE,   /* T-states act on the core they are written on */
    COLL_POWERAWARE_SCOPE_PACKAGE /* T-states act on the whole package (Nehalem) */
} coll_poweraware_scope_t;

/* Where waiting ranks give the CPU back. */
typedef enum coll_poweraware_idle {
    COLL_POWERAWARE_IDLE_OFF,         /* nowhere: poll as the paper's ranks do */
    COLL_POWERAWARE_IDLE_COLLECTIVES, /* in blocking collectives, ours or stock */
    COLL_POWERAWARE_IDLE_ALL          /* in all blocking calls of MPI (pwr_ompi/idle.h) */
} coll_poweraware_idle_t;

/* What rank 0 prints when the job ends. */
typedef enum coll_poweraware_report {
    COLL_POWERAWARE_REPORT_OFF,
    COLL_POWERAWARE_REPORT_SUMMARY,
    COLL_POWERAWARE_REPORT_FULL
} coll_poweraware_report_t;

/* Values of coll_poweraware_<collective>_algorithm that are not an index of an algorithm. */
enum { COLL_POWERAWARE_CHOOSE = -2, COLL_POWERAWARE_STOCK = -1 };

typedef struct coll_poweraware_params {
    int priority;
    int verbose;
    int scheme;            /* coll_poweraware_scheme_t */
    int tstate_scope;      /* coll_poweraware_scope_t */
    int tstate;            /* level of throttled ranks, 1..7 */
    int tstate_leader;     /* level of a leader's package, 0..7, when the scope is the package */
    int group;             /* pwr_topo_level_t: what the ranks of a group share */
    int alltoall_schedule; /* index of coll_poweraware_schedules */
    int idle;              /* coll_poweraware_idle_t */
    int report;            /* coll_poweraware_report_t */
    int spin_us;           /* -1: from the calibration */
    double max_slowdown;   /* percent; 0: not audited */
    size_t min_bytes;      /* smaller calls stay with the stock function */
    size_t segment_bytes;  /* of one node's segment */
    size_t segments_total_bytes; /* of all segments that one process creates */
    size_t chunk_bytes;          /* of a message that move at once */
    int leaders;                 /* of each node in reductions */
    int hang_report;             /* seconds after which a wait is spoken about; 0: never */
    int algorithm[COLL_POWERAWARE_NUM_COLLECTIVES];
    bool pstates;
    bool tstates;
    size_t ucx_min_bytes; /* 0: none */
    bool single_copy;
    bool wait_monitor;    /* a waiting rank may rest on a cache line */
    char *calibration;    /* NULL: where pwr_policy_load looks */
    char *decision_table; /* NULL: the built-in one */
    char *helper_dir;
    char *run_dir;
    char *root;
    char *report_dir;
    char *ranks_dir;
    char *trace_dir;
} coll_poweraware_params_t;

typedef struct coll_poweraware_counters {
    uint64_t calls;
    uint64_t handled; /* by our algorithm or with levers moved */
} coll_poweraware_counters_t;

/* A decision table; all NULL: there is none. */
typedef struct coll_poweraware_table {
    coll_poweraware_decision_t *decision;
    coll_poweraware_choices_t *any; /* of any layout: what is stock here is so everywhere */
} coll_poweraware_table_t;

/* What became of the audit of one class of calls on a communicator that is gone. */
typedef struct coll_poweraware_audited {
    coll_poweraware_collective_t collective;
    int class;
    pwr_audit_result_t result;
} coll_poweraware_audited_t;
enum { COLL_POWERAWARE_KEPT_AUDITS = 128 };

typedef struct mca_coll_poweraware_component {
    mca_coll_base_component_t super;
    coll_poweraware_params_t params;
    pwr_env_t env;
    pwr_power_t *power; /* NULL: no levers (scheme off, several threads) */
    const char *no_power_why;
    const char *no_ucx_why; /* the worker of ucx_min_bytes */
    pwr_meter_t *meter;     /* NULL: this rank reads no energy */
    pwr_record_t *record;   /* NULL: nobody wants a report */
    pwr_account_t *account; /* of record; NULL: nobody wants one */
    bool account_in_threads;
    pwr_ticks_t ticks; /* by which calls are accounted for */
    /* of communicators that are gone: */
    pwr_wait_stats_t wait_stats;
    coll_poweraware_counters_t totals[COLL_POWERAWARE_NUM_COLLECTIVES];
    uint64_t counted[COLL_POWERAWARE_NUM_COUNTED];
    unsigned long long handled; /* calls by algorithms of ours, see the MPI_T variable */
    unsigned num_audited;       /* may exceed what is kept */
    coll_poweraware_audited_t audited[COLL_POWERAWARE_KEPT_AUDITS];
    uint64_t start_ns;
    coll_poweraware_table_t builtin_table; /* with scheme auto */
    coll_poweraware_table_t users_table;   /* with scheme auto, if one is named and right */
    pwr_wait_policy_t wait_policy;         /* before MPI_Init tells whether ranks share CPUs */
    pwr_wait_stats_t idle_stats;           /* of waits outside of our algorithms; at the end */
    bool watched;                          /* somebody wants a report or a trace */
    bool running;                          /* between init_query and close in an MPI process */
    _Atomic bool armed;                    /* it is decided whether levers are used */
} mca_coll_poweraware_component_t;

extern mca_coll_poweraware_component_t mca_coll_poweraware_component;

struct coll_poweraware_call; /* coll_poweraware_words.h */

typedef struct coll_poweraware_message {
    ompi_request_t *request;
    int peer;
    bool receives;
    bool bytes_due; /* if received, it must not come out empty */
    bool by_ucx;    /* not through the PML */
} coll_poweraware_message_t;

/* The first waits of a call, each with what is known of it. */
enum { COLL_POWERAWARE_KNOWN_WAITS = 8 };
typedef struct coll_poweraware_sites {
    pwr_history_t history[COLL_POWERAWARE_KNOWN_WAITS];
    int next; /* of this call */
} coll_poweraware_sites_t;

/* Calls of one collective and size on one communicator (coll_poweraware_classes.c). */
enum { COLL_POWERAWARE_NUM_CLASSES = 16 };
typedef struct coll_poweraware_class {
    coll_poweraware_sites_t sites;
    pwr_audit_t audit;        /* if audited */
    pwr_account_cell_t *cell; /* NULL: none so far; of the latest call, ... */
    int cell_algorithm;       /* ... which took this one */
    bool known;
    bool audited;
} coll_poweraware_class_t;

typedef enum coll_poweraware_shared {
    COLL_POWERAWARE_NOT_TRIED,
    COLL_POWERAWARE_SHARED,
    COLL_POWERAWARE_NOT_SHARED /* no room, no right: for ever */
} coll_poweraware_shared_t;

/* Built by the first call that needs it, collectively.  One thread at a time uses a communicator,
   so nothing in here is locked. */
typedef struct coll_poweraware_state {
    pwr_wait_policy_t wait_policy;
    pwr_wait_stats_t wait_stats;
    pwr_hierarchy_t *hierarchy;
    pwr_segment_t *segment;
    coll_poweraware_shared_t shared[PWR_SEGMENT_PARTS]; /* the same on all ranks */
    size_t spent_bytes;                                 /* of my budget */
    int leader_pid;                                     /* of my node's lowest rank, ... */
    int leader_serial;                                  /* ... who creates the segment */
    coll_poweraware_choices_t *choices;                 /* with scheme auto */
    struct coll_poweraware_call *call;                  /* the one that is under way */
    uint64_t word; /* by which others recognise this process; only while the state is built */
} coll_poweraware_state_t;

/* A call of a saved function (coll_poweraware_stock.c). */
struct coll_poweraware_patience; /* coll_poweraware_hang.h */
typedef struct coll_poweraware_stock {
    coll_poweraware_class_t *class; /* of one that is passed on */
    pwr_wait_policy_t policy;
    pwr_idle_within_t within;
    pwr_idle_within_t *outer;                  /* of the call around it */
    struct coll_poweraware_patience *patience; /* NULL: no wait has lasted too long */
} coll_poweraware_stock_t;

/* What a call is accounted for, while it is under way (coll_poweraware_account.c). */
typedef struct coll_poweraware_bill {
    uint64_t start_ticks;
    uint64_t cpu_ns; /* when it started; 0: not measured in this call */
    pwr_power_counters_t levers;
    pwr_wait_stats_t waits; /* in algorithms of ours */
} coll_poweraware_bill_t;

typedef struct mca_coll_poweraware_module {
    mca_coll_base_module_t super;
    struct ompi_communicator_t *comm;
    mca_coll_base_comm_coll_t saved; /* what was selected before us, for all that we do not do */
    coll_poweraware_state_t *state;
    int algorithm[COLL_POWERAWARE_NUM_COLLECTIVES];
    size_t
        from_bytes[COLL_POWERAWARE_NUM_COLLECTIVES]; /* smaller calls are stock, no lever moves */
    const coll_poweraware_table_t *table; /* with scheme auto; NULL until all ranks agreed on one */
    bool state_tried; /* state NULL then means: this communicator stays with stock functions */
    int what;         /* the outermost call under way: COLL_POWERAWARE_WHAT, ... */
    size_t bytes;     /* ... what this rank moves in it, if it is handled */
    coll_poweraware_bill_t bill;
    unsigned account_comm;
    bool account_comm_known;
    int depth;  /* calls under way, those of saved functions in turn included */
    bool spoke; /* this rank has said that a call may be hung */
    bool ended; /* revoked, or with a process that failed: stock functions from then on */
    coll_poweraware_stock_t stock;
    coll_poweraware_class_t *classes[COLL_POWERAWARE_NUM_COLLECTIVES]; /* [NUM_CLASSES] or NULL */
    coll_poweraware_counters_t counters[COLL_POWERAWARE_NUM_COLLECTIVES];
    uint64_t counted[COLL_POWERAWARE_NUM_COUNTED]; /* calls */
} mca_coll_poweraware_module_t;

OBJ_CLASS_DECLARATION(mca_coll_poweraware_module_t);

/* coll_poweraware_params.c: *params is a copy of our own, valid until freed. */
int coll_poweraware_params_register(coll_poweraware_params_t *params,
                                    const mca_base_component_t *component);
void coll_poweraware_params_free(coll_poweraware_params_t *params);
/* The words of the parameters. */
const char *coll_poweraware_scheme_name(int scheme);
const char *coll_poweraware_idle_name(int idle);
const char *coll_poweraware_report_word(int report);
/* Index of an algorithm by its name, or COLL_POWERAWARE_DECISION_UNKNOWN. */
int coll_poweraware_algorithm_index(int collective, const char *name);

/* coll_poweraware_pvars.c */
int coll_poweraware_pvars_register(const mca_base_component_t *component);

/* coll_poweraware_module.c */
mca_coll_base_module_t *coll_poweraware_comm_query(struct ompi_communicator_t *comm, int *priority);

/* Of the node's ranks; NULL: there is none, on no rank. */
static inline pwr_roll_t *coll_poweraware_roll(const mca_coll_poweraware_module_t *module)
{
    return NULL != module->state && module->state->segment->roll.entered
               ? &module->state->segment->roll
               : NULL;
}
/* A call of which the roll does not know what it is. */
enum { COLL_POWERAWARE_ROLL_OTHER = COLL_POWERAWARE_NUM_COLLECTIVES };
_Static_assert((int)COLL_POWERAWARE_ROLL_OTHER < (int)PWR_ROLL_KINDS, "a kind for each collective");

/* The most messages of lane 0 that an algorithm has outstanding: a window with all ranks of two
   nodes, one to and from every node, or one to each child in a tree of nodes. */
static inline int coll_poweraware_max_requests(const pwr_hierarchy_t *hierarchy)
{
    enum { TREE_CHILDREN = 32 };
    int window =
        hierarchy->max_local > hierarchy->num_nodes ? hierarchy->max_local : hierarchy->num_nodes;
    return 2 * window + TREE_CHILDREN;
}

/* Further lanes: sets of messages that are completed apart from the others. */
enum { COLL_POWERAWARE_LANES = 1 + PWR_SEGMENT_SLOTS, COLL_POWERAWARE_LANE_MESSAGES = 32 };

static inline int coll_poweraware_first_message(const pwr_hierarchy_t *hierarchy, int lane)
{
    return 0 == lane ? 0
                     : coll_poweraware_max_requests(hierarchy) +
                           (lane - 1) * COLL_POWERAWARE_LANE_MESSAGES;
}

/* Counts and displacements that an algorithm works out of what the application passed. */
static inline size_t coll_poweraware_max_numbers(const pwr_hierarchy_t *hierarchy)
{
    enum { ARRAYS = 4 };
    return ARRAYS * ((size_t)hierarchy->size + 1);
}

/* coll_poweraware_state.c: once per communicator; returns NULL when it cannot have one; the same on
   every rank.  Collective.  The segment is there, but nothing of it is mapped. */
coll_poweraware_state_t *coll_poweraware_state_build(mca_coll_poweraware_module_t *module,
                                                     struct ompi_communicator_t *comm);
void coll_poweraware_state_free(coll_poweraware_state_t *state);
/* How ranks wait in a call, ours or stock.  Known only after MPI_Init, which sets the yield flag
   last. */
pwr_wait_policy_t coll_poweraware_wait_policy(void);
/* With the saved functions, so it needs no state.  True on all ranks or on none: everybody's mine
   is true and nothing failed. */
bool coll_poweraware_all_agree(const mca_coll_poweraware_module_t *module,
                               struct ompi_communicator_t *comm, bool mine);
/* The same for numbers: the least of all, 0 if something failed. */
int coll_poweraware_least_of_all(const mca_coll_poweraware_module_t *module,
                                 struct ompi_communicator_t *comm, int mine);
/* Everybody's mine[ints] in all[size * ints]; false after an error of the saved function. */
bool coll_poweraware_all_tell(const mca_coll_poweraware_module_t *module,
                              struct ompi_communicator_t *comm, const void *mine, void *all,
                              int ints);

/* coll_poweraware_share.c: maps a part of the state's segment; the same answer on every rank.
   Collective on the first call for a part. */
bool coll_poweraware_share(mca_coll_poweraware_module_t *module, struct ompi_communicator_t *comm,
                           pwr_segment_part_t part);
void coll_poweraware_unshare(coll_poweraware_state_t *state);
int coll_poweraware_next_serial(void);

/* coll_poweraware_table.c: for scheme auto.  A table that is wrong is named, and none of it used.
 */
void coll_poweraware_tables_load(void);
void coll_poweraware_tables_free(void);
/* The table all ranks of the communicator use, NULL without scheme auto; collective on the first
   call. */
const coll_poweraware_table_t *coll_poweraware_table_of(mca_coll_poweraware_module_t *module,
                                                        struct ompi_communicator_t *comm);

/* For one layout; without a table *choices stays NULL.  False when out of memory. */
bool coll_poweraware_table_compile(const coll_poweraware_table_t *table,
                                   const pwr_hierarchy_t *hierarchy,
                                   coll_poweraware_choices_t **choices);

/* coll_poweraware_choose.c */
/* What calls of this communicator may take, from parameters and the communicator's info.  False:
   it is to be left alone. */
bool coll_poweraware_prepare(mca_coll_poweraware_module_t *module,
                             struct ompi_communicator_t *comm);
/* Sets from_bytes. */
void coll_poweraware_find_thresholds(mca_coll_poweraware_module_t *module);
const char *coll_poweraware_collective_name(coll_poweraware_collective_t collective);
/* One that is handled, or that is counted, as a number; and its name in small letters. */
#define COLL_POWERAWARE_WHAT(collective) ((int)(collective))
#define COLL_POWERAWARE_WHAT_COUNTED(counted) (COLL_POWERAWARE_NUM_COLLECTIVES + (int)(counted))
const char *coll_poweraware_what_name(int what);
/* Returns NULL for the stock function, else the communicator has a state; the same on every rank.
 */
const coll_poweraware_algorithm_t *coll_poweraware_choose(mca_coll_poweraware_module_t *module,
                                                          struct ompi_communicator_t *comm,
                                                          coll_poweraware_collective_t collective,
                                                          const coll_poweraware_args_t *args,
                                                          size_t bytes);

/* coll_poweraware_classes.c: of calls whose ranks know bytes, or COLL_POWERAWARE_BYTES_UNKNOWN;
   NULL when nothing is ever saved, or out of memory.  Every rank asks for the same classes in the
   same order. */
coll_poweraware_class_t *coll_poweraware_class_of(mca_coll_poweraware_module_t *module,
                                                  coll_poweraware_collective_t collective,
                                                  size_t bytes);
void coll_poweraware_classes_free(mca_coll_poweraware_module_t *module);
/* The meter from which the audit knows energy; after the levers were opened, before they close. */
enum { COLL_POWERAWARE_METER_DOMAINS = 64 };
void coll_poweraware_meter_open(void);
void coll_poweraware_meter_close(void);
/* The largest call of a class, bytes. */
size_t coll_poweraware_class_bytes(int index);
/* Around a call; class may be NULL.  begin makes of the usual policy that of the call, and returns
   what is known of its waits, or NULL where they are not to be shortened. */
bool coll_poweraware_class_may_move_levers(const coll_poweraware_class_t *class);
coll_poweraware_sites_t *coll_poweraware_class_begin(coll_poweraware_class_t *class,
                                                     pwr_wait_policy_t *policy);
void coll_poweraware_class_end(coll_poweraware_class_t *class);

/* coll_poweraware_ended.c: runs an algorithm; returns its OMPI_* code, also when the communicator
   ends meanwhile. */
int coll_poweraware_run(mca_coll_poweraware_module_t *module,
                        const coll_poweraware_algorithm_t *algorithm,
                        struct coll_poweraware_call *call, const coll_poweraware_args_t *args);

/* coll_poweraware_job.c, the report of the whole job: in open_component, in init_query, where
   MPI_COMM_SELF is selected, and in close_component; of no effect where nobody wants one. */
bool coll_poweraware_job_is_wanted(void);
void coll_poweraware_job_publish(void);
void coll_poweraware_job_open(void);
void coll_poweraware_job_begin(void);
void coll_poweraware_job_close(void);
pwr_account_t *coll_poweraware_job_account(void);

/* coll_poweraware_account.c */
void coll_poweraware_account_open(bool mpi_threads);
/* Around an outermost call; class may be NULL; algorithm is NULL for a stock function. */
void coll_poweraware_bill_open(mca_coll_poweraware_module_t *module,
                               const coll_poweraware_class_t *class);
void coll_poweraware_bill_close(mca_coll_poweraware_module_t *module,
                                coll_poweraware_class_t *class,
                                const coll_poweraware_algorithm_t *algorithm);

/* coll_poweraware_calls.c: finds out once which levers there are, and says why there are none. */
void coll_poweraware_arm_levers(void);

/* The functions a communicator's table points to. */
#define COLL_POWERAWARE_DECLARE(constant, name)                                                    \
    extern __typeof__(*((mca_coll_base_comm_coll_t *)0)->coll_##name) coll_poweraware_##name;
COLL_POWERAWARE_HANDLED(COLL_POWERAWARE_DECLARE)
#undef COLL_POWERAWARE_DECLARE

/* coll_poweraware_counted.c: offers a function for each of COLL_POWERAWARE_COUNTED that blocks, or
   for all of them. */
void coll_poweraware_offer_counted(mca_coll_poweraware_module_t *module, bool all);
const char *coll_poweraware_counted_name(coll_poweraware_counted_t counted);

/* coll_poweraware_report.c */
void coll_poweraware_report_write(const char *path, int rank);
/* "job", or "job-<J>" when MPI_Comm_spawn has made it. */
void coll_poweraware_report_job_name(char *name, size_t room);
/* Where a rank writes: <directory>/rank-<N>.<ending>, or job-<J>-rank-<N>.<ending> when
   MPI_Comm_spawn has made it.  False, and said, when it does not fit. */
bool coll_poweraware_report_path(char *path, size_t room, const char *directory, int rank,
                                 const char *ending);

/* One line to the user (or the verbose stream), prefixed with our name. */
void coll_poweraware_say(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The level of what every rank has to say alike: rank 0 says it at this one, the others to whoever
   asked for every rank's reasons. */
int coll_poweraware_level_alike(int level);

#endif
