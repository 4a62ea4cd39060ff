/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Knowledge that lasts: what scheme auto has learnt in earlier jobs, by type of machine, layout,
 * operation and size.
 *
 * One user's knowledge is in one file (opal/policy/knowledge.schema.json).  A job loads what is
 * about its own type of machine, adds what it learns, and saves it when it ends.  It is advice:
 * whatever is wrong with the file, it is left out, and the job learns anew.
 */
#ifndef PWR_KNOWLEDGE_H
#define PWR_KNOWLEDGE_H

#include <stddef.h>
#include <stdint.h>

#include "pwr/audit.h"
#include "pwr/cpu_model.h"
#include "pwr/env.h"

enum {
    PWR_KNOWLEDGE_VERSION = 1,              /* of the format */
    PWR_KNOWLEDGE_MOST = 2048,              /* entries per type of machine */
    PWR_KNOWLEDGE_MACHINES_MOST = 16,       /* types of machines in a file */
    PWR_KNOWLEDGE_BYTES_MOST = 1024 * 1024, /* of a file */
    PWR_KNOWLEDGE_SIZE_CLASSES = 16,
    PWR_KNOWLEDGE_COUNT_MOST = 1000000000, /* of nodes, ranks, CPUs, pairs, trials */
    PWR_KNOWLEDGE_RATIO_MOST = 1000000,    /* slowdown and gain */
    PWR_KNOWLEDGE_DAY_MOST = 99999,
    PWR_KNOWLEDGE_WHY = 512 /* room for a reason with a usual path */
};
#define PWR_KNOWLEDGE_CALLS_MOST UINT64_C(1000000000000000)

/* What an entry is about.  Names are words: 1 or more of A-Z a-z 0-9 _ . + - */
typedef struct pwr_knowledge_key {
    char operation[24]; /* "allreduce" */
    char transport[16]; /* the pml: "ob1" */
    unsigned nodes;
    unsigned ranks_per_node; /* most on a node */
    unsigned size_class;     /* < PWR_KNOWLEDGE_SIZE_CLASSES */
} pwr_knowledge_key_t;

typedef struct pwr_knowledge_entry {
    pwr_knowledge_key_t key;
    char algorithm[16]; /* "stock", or one of ours, maybe of another version; a word, too */
    uint8_t depth;      /* pwr_audit_depth_t */
    unsigned pairs;     /* of stretches, behind the verdict about depth */
    unsigned trials;    /* agreed ones, behind the verdict about algorithm */
    double slowdown;    /* of depth: a ratio less 1, from -1 */
    double gain;        /* time of algorithm, and in calls between its own, over that with the next
                           best, above 0 */
    uint64_t calls;
    uint32_t day; /* of its last use, in days since 1970-01-01 */
} pwr_knowledge_entry_t;

/* Knowledge holds on machines of one type only: all but cpu.stepping is compared. */
typedef struct pwr_knowledge_machine {
    pwr_cpu_model_t cpu; /* as pwr_cpu_model_read; vendor and name may be "" */
    unsigned cpus;       /* online ones of the node */
    char mpi[24];        /* "Open MPI 4.1.4" */
} pwr_knowledge_machine_t;

/* ---- in memory ---- */

/* Entries of one type of machine, PWR_KNOWLEDGE_MOST at most.  For one thread at a time. */
typedef struct pwr_knowledge pwr_knowledge_t;

/* An empty one; NULL: out of memory. */
pwr_knowledge_t *pwr_knowledge_new(void);
/* NULL is allowed. */
void pwr_knowledge_free(pwr_knowledge_t *knowledge);

/* NULL when nothing is known.  What it returns is valid until the next pwr_knowledge_note.  A
   search by halves: quick, but not for each call. */
const pwr_knowledge_entry_t *pwr_knowledge_find(const pwr_knowledge_t *knowledge,
                                                const pwr_knowledge_key_t *key);
/* All of them, ordered by key; valid until the next pwr_knowledge_note. */
const pwr_knowledge_entry_t *pwr_knowledge_entries(const pwr_knowledge_t *knowledge,
                                                   unsigned *count);
/* Adds an entry, or replaces the one with its key.  Where there is no room, that which was used
   longest ago goes (of one day: that of the fewest calls, then the first by key).  So the same
   calls in the same order make the same of it on all ranks.  slowdown and gain are rounded to six
   digits behind the point, as the file has them.  Errors: RANGE (a value that is not allowed; the
   knowledge stays as it is), NOMEM. */
pwr_status_t pwr_knowledge_note(pwr_knowledge_t *knowledge, const pwr_knowledge_entry_t *entry);

/* FNV-1a of what ranks must know equally, whatever order it came in: the algorithms of all classes
   with layouts that so many ranks can have. */
uint64_t pwr_knowledge_checksum(const pwr_knowledge_t *knowledge, unsigned ranks);

/* For day of an entry. */
uint32_t pwr_knowledge_today(void);

/* ---- as text ---- */

/* What a file's text, or that of pwr_knowledge_format, knows of a type of machine: empty if
   nothing.  To be freed.  The text is anybody's: all of it is checked.  Errors: PARSE (not this
   format, a key missing, unknown, there twice or of the wrong type), RANGE (a value that is not
   allowed), UNSUPPORTED (of a newer version), NOMEM; why[why_size] then names the key. */
pwr_status_t pwr_knowledge_parse(const char *text, size_t size,
                                 const pwr_knowledge_machine_t *machine, char *why,
                                 unsigned why_size, pwr_knowledge_t **knowledge);
/* The reverse, for other ranks: a file's text with this type of machine alone; at most
   PWR_KNOWLEDGE_BYTES_MOST long.  The caller frees *text.  Errors: RANGE (the machine has a value
   that is not allowed), NOMEM. */
pwr_status_t pwr_knowledge_format(const pwr_knowledge_t *knowledge,
                                  const pwr_knowledge_machine_t *machine, char **text);

/* ---- the file ---- */

/* path: absolute; NULL: the user's, $XDG_CACHE_HOME/poweraware/knowledge.json or below ~/.cache.
   Both are below env->root.  A set-uid or set-gid program neither reads nor writes: UNSUPPORTED,
   and so it is where there is neither variable. why[why_size] says, with the file's name, why a
   file was not read or written, and is "" otherwise.  Neither function logs. */

/* The user's path into path[size].  Errors: UNSUPPORTED, RANGE (does not fit). */
pwr_status_t pwr_knowledge_user_path(char *path, unsigned size);

/* OK: *knowledge, to be freed, has what the file knows of the machine.  It is empty when there is
   no file, and when why says that the file is left out: it is not a regular file (a link is not
   followed), of another user than this one and root, others may write to it, it is too large, torn,
   of another version, wrong in any way.  Errors: UNSUPPORTED, ARG (not an absolute path), RANGE
   (the machine has a value that is not allowed), NOMEM. */
pwr_status_t pwr_knowledge_load(const pwr_env_t *env, const char *path,
                                const pwr_knowledge_machine_t *machine, char *why,
                                unsigned why_size, pwr_knowledge_t **knowledge);

/* Puts knowledge into the file: a new one of mode 600 takes its place at once or not at all.
   What else is in the file stays, as far as there is room: other types of machines and other
   entries; of two entries with one key that of the later day, then that of more calls, then ours.
   What was used longest ago makes room.  A file that is damaged is replaced, and why says what was
   wrong.  One that load would leave out because of its kind, owner, mode, size or newer version is
   left as it is.

   The last folder of the path and the one above are made if need be, with mode 700.  Those who save
   at the same time take turns by a lock on <path>.lock, which stays.  It waits about two seconds at
   most.  Errors: UNSUPPORTED (also: a file of a newer version), TIMEOUT (somebody does not let go
   of the lock), PERM, IO, RANGE, ARG, NOMEM; why says it for all of them. */
pwr_status_t pwr_knowledge_save(const pwr_env_t *env, const char *path,
                                const pwr_knowledge_machine_t *machine,
                                const pwr_knowledge_t *knowledge, char *why, unsigned why_size);

#endif
