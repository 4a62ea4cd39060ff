/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A run of programs, and the kinds of steps that programs have.
 */
#ifndef RSH_RUN_H
#define RSH_RUN_H

#include <shmem.h>

#include "memory.h"
#include "options.h"

enum { RSH_LOCKS = 4 };

typedef struct rsh_run {
    const rsh_options_t *options;
    int pe;
    int pes;
    rsh_memory_t memory;
    long *locks;  /* symmetric, as are those that follow */
    long *syncs;  /* a pSync for each step of an epoch */
    long *failed; /* [pes] */
    diff_limits_t limits;
    rsh_program_t program; /* that runs now */
    rsh_epoch_t epoch;
    uint64_t index;
    int number; /* of the epoch */
    bool has_context;
    shmem_ctx_t context;
    bool quiet; /* while looking for the smallest program */
    int told;   /* failures this PE has printed */
    uint64_t calls;
    uint64_t failures;
    uint64_t all_failures;
} rsh_run_t;

struct rsh_kind {
    rsh_name_t first; /* names of its calls: [first, end) */
    rsh_name_t end;
    unsigned weight;
    /* The step's name is drawn; returns false where there is no such step. */
    bool (*draw)(rsh_draw_t *d, rsh_step_t *step);
    /* How many calls of all PEs it is. */
    uint64_t (*calls)(const rsh_step_t *step);
    /* What this PE has in its memory at the beginning other than random bytes; may be NULL. */
    void (*begin)(rsh_memory_t *memory, const rsh_step_t *step);
    /* What is in this PE's memory at the end. */
    void (*expect)(rsh_memory_t *memory, const rsh_step_t *step);
    void (*run)(rsh_run_t *run, const rsh_step_t *step);
    /* At the end of the epoch: looks at what the seed does not decide, takes it over; may be
       NULL. */
    void (*settle)(rsh_run_t *run, const rsh_step_t *step);
    void (*describe)(const rsh_step_t *step, char *text, size_t size);
};

extern const rsh_kind_t rsh_transfers, rsh_atomics, rsh_contests, rsh_chains, rsh_fans, rsh_locks,
    rsh_fences, rsh_barriers, rsh_collectives, rsh_reductions;
/* All of them, NULL at the end. */
extern const rsh_kind_t *const rsh_kinds[];

/* Collective. */
void rsh_run_open(rsh_run_t *run, const rsh_options_t *options);
void rsh_run_close(rsh_run_t *run);

/* Programs up to the first that fails, which is then made small. */
void rsh_run_all(rsh_run_t *run);
uint64_t rsh_run_seed(const rsh_run_t *run, uint64_t index);
/* Runs a program; all PEs learn how many failures it had. */
uint64_t rsh_run_program(rsh_run_t *run, uint64_t index, const diff_limits_t *limits);

/* A program in one line. */
void rsh_run_describe(uint64_t seed, const diff_limits_t *limits, char *text, size_t size);
/* The same behind the epoch and the step that this PE is in; from any thread. */
void rsh_run_describe_place(uint64_t seed, const diff_limits_t *limits, char *text, size_t size);

/* shrink.c: collective; prints the smallest form of a program that failed, and the command that
   repeats it. */
void rsh_shrink(rsh_run_t *run, uint64_t index);

/* ---- for steps ---- */

/* Something was wrong in a step. */
void rsh_fail(rsh_run_t *run, const rsh_step_t *step, const char *text);
/* Says so where a place does not have what it must have in the end; returns whether it has. */
bool rsh_check(rsh_run_t *run, const rsh_step_t *step, const rsh_place_t *place);
/* A PE comes late now and then: up to 2 ms. */
void rsh_be_late(const rsh_run_t *run, const rsh_step_t *step, unsigned percent, int salt);
/* Whether a loop that looks whether something has come looks once more.  turns: how often it has,
   0 at first. */
bool rsh_loops_on(const rsh_run_t *run, int *turns);
/* The context of a step; NULL: the default one, by functions without one. */
const shmem_ctx_t *rsh_context(const rsh_run_t *run, const rsh_step_t *step);
/* Whether a fault was asked for that loses this PE's calls of that name. */
bool rsh_is_lost(const rsh_run_t *run, rsh_name_t name);
void rsh_quiet(const shmem_ctx_t *context);
void rsh_fence(const shmem_ctx_t *context);
bool rsh_left_out(const rsh_run_t *run, rsh_name_t name);
long *rsh_sync_array(const rsh_run_t *run, const rsh_step_t *step);

#endif
