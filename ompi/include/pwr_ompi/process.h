/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What belongs to the process, however many components of ours it has loaded: levers, the wait
 * policy, the meter, the record of the job, and the names of operations.
 *
 * Two components with levers of their own would be wrong: the second one would take a ceiling that
 * the first one has lowered for full speed.  So this is a shared library with one object, opened by
 * every component and closed by the last.  Its parameters are its own (pwr_process_settings_t).
 */
#ifndef PWR_OMPI_PROCESS_H
#define PWR_OMPI_PROCESS_H

#include "pwr_ompi/compat.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/account.h"
#include "pwr/env.h"
#include "pwr/knowledge.h"
#include "pwr/meter.h"
#include "pwr/power.h"
#include "pwr/record.h"
#include "pwr/ticks.h"
#include "pwr/wait.h"

/* Where waiting ranks give the CPU back. */
typedef enum pwr_idle_where {
    PWR_IDLE_OFF,        /* nowhere: poll as the paper's ranks do */
    PWR_IDLE_OPERATIONS, /* in operations (pwr_ompi/operation.h), by algorithms of ours or stock */
    PWR_IDLE_ALL         /* in all blocking calls of MPI (pwr_ompi/idle.h) */
} pwr_idle_where_t;

/* What rank 0 prints of the job when it ends. */
typedef enum pwr_summary { PWR_SUMMARY_OFF, PWR_SUMMARY_SHORT, PWR_SUMMARY_FULL } pwr_summary_t;

struct pwr_choice; /* operation.h */

/* What the user has set for the process (ompi/process/settings.c, doc/coll_poweraware.7). */
typedef struct pwr_process_settings {
    int verbose;
    int idle;            /* pwr_idle_where_t */
    double max_slowdown; /* percent by which saving may slow the application down; 0: not audited */
    size_t min_bytes;    /* operations of fewer bytes move no lever */
    int hang_report;     /* seconds; waits that last so long are spoken about; 0: none */
    int spin_us;         /* longest spin before a sleep; -1: from the calibration */
    int report;          /* pwr_summary_t */
    bool wait_monitor;   /* between spin and sleep, rest on the cache line, where that can be */
    bool pstates;
    bool tstates;
    bool uncore;
    char *knowledge;   /* NULL: where pwr_knowledge_load looks; "off": none */
    char *calibration; /* NULL: where pwr_policy_load looks */
    char *helper_dir;
    char *run_dir;
    char *root;
    char *report_dir; /* of the job's document; NULL: none */
    char *ranks_dir;  /* of each rank's report; NULL: none */
    char *trace_dir;  /* of each rank's trace, and report; NULL: none */
} pwr_process_settings_t;

/* How the operations of a component save power.  Valid until the component closes the process. */
typedef struct pwr_scheme {
    const char *name;   /* for documents */
    bool saves;         /* ranks save power; false: they are only watched */
    bool throttles;     /* T-states may be moved */
    bool audits;        /* what saving costs is measured */
    bool weighs_levers; /* levers move only where that is expected to outlast their break-even */
} pwr_scheme_t;

typedef struct pwr_process {
    /* What each operation asks: a cache line. */
    _Alignas(PWR_CACHE_LINE) pwr_wait_policy_t waits; /* before MPI_Init tells whether ranks share
                                                         CPUs */
    bool mpi_threads;                                 /* MPI_THREAD_MULTIPLE */

    pwr_process_settings_t settings;
    pwr_scheme_t scheme; /* what that of any component does; the name is the first one's */
    pwr_env_t env;
    pwr_power_t *power; /* NULL: no levers */
    const char *no_power_why;
    bool unasked; /* coll/poweraware is used as configured: its user need not know of it */
    pwr_meter_t *meter;          /* NULL: this rank reads no energy */
    pwr_record_t *record;        /* NULL: nobody wants a report */
    pwr_account_t *account;      /* of record; NULL: nobody wants one */
    _Atomic int served_windows;  /* others wait for this process's progress in them */
    pwr_ticks_t ticks;           /* by which operations are accounted for */
    uint64_t start_ns;           /* env's clock, in the first open hook */
    _Atomic uint64_t setup_ns;   /* since then, in hooks of components */
    pwr_wait_stats_t wait_stats; /* of algorithms of ours, on communicators that are gone */
    pwr_wait_stats_t idle_stats; /* of other waits that gave the CPU back */
    _Atomic bool armed;          /* it is decided whether levers are used */
    json_t *of_components;       /* what they have added to the rank's report; NULL: nothing yet */
} pwr_process_t;

/* Written by files of ompi/process; of_components by ompi/operation/report.c. */
extern pwr_process_t pwr_process;

typedef enum pwr_named { PWR_OPERATION, PWR_ALGORITHM, PWR_NAMED } pwr_named_t;

/* In a component's register hook: the names of its operations or algorithms.  Returns the number of
   the first one; the others follow.  A process has room for PWR_PROCESS_NAMES of each; those beyond
   are "other". */
enum { PWR_PROCESS_NAMES = 128 };
unsigned pwr_process_add_names(pwr_named_t what, const char *const *names, unsigned num);
/* Where names of operations are added after MPI_Init: reports have them, too, from now on. */
void pwr_process_tell_names(void);
unsigned pwr_process_num_names(pwr_named_t what);
const char *pwr_process_name(pwr_named_t what, int number); /* "stock" for a negative one */
/* All of them, for documents: a new array, in the order of their numbers. */
json_t *pwr_process_names(pwr_named_t what);

/* In a component's register hook: the parameters of the process.  Returns OMPI_SUCCESS or an error
   of the MCA system. */
int pwr_process_register(void);
/* In a component's open hook, as its first line: the report of the job counts from here.  And the
   only time at which processes can be told something before they talk.  scheme: NULL when the
   component is not going to be used. */
void pwr_process_publish(const pwr_scheme_t *scheme);
/* In MPI_Init, once the pml is selected; each publish is closed once. */
void pwr_process_open(bool mpi_threads);
/* Once MPI_COMM_SELF is there: the report of the whole job begins.  decisions: tells at its end,
   for the job's document, what rank 0 has decided. */
void pwr_process_begin_job(json_t *(*decisions)(void));
/* Before MPI_COMM_WORLD goes: the last time at which ranks can talk. */
void pwr_process_world_ends(void);
void pwr_process_close(void);
/* At the end of a component's hook that began at since_ns (env's clock): reports say what we cost.
 */
void pwr_process_add_setup(uint64_t since_ns);

/* Somebody wants a report of the job. */
bool pwr_process_wants_report(void);
/* Somebody wants a report of the job or of ranks, or a trace. */
bool pwr_process_is_watched(void);
/* Where reports of ranks go; NULL: nobody wants them. */
const char *pwr_process_ranks_dir(void);
/* Ranks wait by the ladder in operations of this scheme. */
bool pwr_process_idles(const pwr_scheme_t *scheme);
/* What saving costs is measured in operations of this scheme. */
bool pwr_process_audits(const pwr_scheme_t *scheme);
/* The policy of waits that begin now: only after MPI_Init it is known whether ranks share CPUs. */
pwr_wait_policy_t pwr_process_wait_policy(void);
/* Decides once which levers there are, and says why there are none. */
void pwr_process_arm_levers(void);

/* One more.  Without threads counts are plain additions: an atomic one takes 1 to 2 ns more. */
static inline void pwr_process_count(uint64_t *counter)
{
    if (pwr_process.mpi_threads) {
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    } else {
        ++*counter;
    }
}

/* One line to the user, prefixed with our name. */
void pwr_say(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The level of what every rank has to say alike: rank 0 says it at this one, the others to whoever
   asked for every rank's reasons. */
int pwr_level_alike(int level);
/* What is said: 0 as good as nothing, 1 what the user must know, 2 every rank's reasons. */
void pwr_set_verbose(int verbose);

/* What mpirun calls this job; "process-<pid>", in room, when it was started without. */
const char *pwr_job_id(char *room, size_t size);
/* "job", or "job-<J>" when MPI_Comm_spawn has made it. */
void pwr_job_name(char *name, size_t room);
/* Where a rank writes: <directory>/rank-<N>.<ending>, or job-<J>-rank-<N>.<ending> when
   MPI_Comm_spawn has made it.  Of a directory that has files of another mpirun, in a folder below
   it, which is made.  False, and said, when it does not fit. */
bool pwr_rank_path(char *path, size_t room, const char *directory, const char *ending);

/* What earlier jobs have learnt of operations, as far as it has reached this process.  The checksum
   is equal on ranks that know the same; 0: nothing.  NULL: nothing of this class. */
uint64_t pwr_known_checksum(void);
const pwr_knowledge_entry_t *pwr_known(unsigned operation, int nodes, int ranks_per_node,
                                       int size_class);

/* What this process has learnt so far about algorithms, on other communicators: told to a new one.
   Ranks may use it whose checksums for the size of theirs are equal; 0: nothing.  No thread learns
   meanwhile: with MPI_THREAD_MULTIPLE nothing is told. */
void pwr_learnt(unsigned operation, int nodes, int ranks_per_node, int size_class,
                const struct pwr_choice *choice);
uint64_t pwr_learnt_checksum(int ranks);
/* tell: with each class of this layout, of the operation that has this name. */
void pwr_learnt_tell(int nodes, int ranks_per_node,
                     void (*tell)(void *to, const pwr_knowledge_entry_t *entry), void *to);

/* What this rank has decided so far, by class of operations: an object, with "audits", an array. */
json_t *pwr_decisions(void);
/* The same for the job's document: "classes", those with most calls.  Of several communicators with
   the same layout, the one with most calls speaks for a class. */
json_t *pwr_decisions_of_job(void);
/* Where pwr_process_ranks_dir says, before a component closes the process: what this rank did, as
   one JSON file, and its trace if one is wanted.  more: what the component adds, an object that is
   taken over; what other components have added stays. */
void pwr_rank_write(json_t *more);

#endif
