/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Are our CPUs still ours, and is nobody of this process computing while we hold levers (private to
 * the library)?
 *
 * Both may change while a job runs: a cpuset shrinks, somebody binds us anew, a CPU goes offline,
 * the application starts threads.  These checks are cheap enough to repeat, every 100 ms say.
 */
#ifndef PWR_WATCH_H
#define PWR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pwr/env.h"
#include "topo/topo_private.h"

/* What is asked of the kernel; arg is env->arg. */
typedef struct pwr_watch_kernel {
    uint64_t (*process_cpu_ns)(void *arg); /* CPU time of all threads of this process */
    uint64_t (*thread_cpu_ns)(void *arg);  /* of the calling one */
    bool (*affinity)(void *arg, pwr_cpuset_t *set);
} pwr_watch_kernel_t;

typedef struct pwr_watch {
    const pwr_env_t *env;
    const pwr_watch_kernel_t *kernel;
    const pwr_topo_sets_t *sets;
    /* pwr_watch_begin and _end: */
    bool held;
    uint64_t begin_ns;
    uint64_t begin_others_ns;
    uint64_t window_held_ns; /* sums over the phases of this window */
    uint64_t window_others_ns;
} pwr_watch_t;

/* Watches the calling thread, which must be the one that opened topo, against topo's own CPUs; env,
   topo and kernel (NULL: the real one) must outlive it.  The calls below come from this thread,
   allocate nothing and open no file except where said. */
pwr_watch_t pwr_watch_init(const pwr_env_t *env, const pwr_topo_t *topo,
                           const pwr_watch_kernel_t *kernel);

/* ---- binding ---- */

typedef enum pwr_binding {
    PWR_BINDING_SAME,
    PWR_BINDING_SHRUNK, /* only CPUs of ours, but not all: one is no longer ours, levers included */
    PWR_BINDING_MOVED,  /* a CPU that topo does not count as ours */
    PWR_BINDING_UNKNOWN /* the kernel does not tell (seccomp) */
} pwr_binding_t;

/* Compares the affinity mask with topo; one system call.  *cpu (may be NULL) is the lowest CPU that
   was lost or came on; written only for SHRUNK and MOVED.

   What Linux does: a CPU that goes offline is left out of the answer at once, and is in it again
   when it comes back.  A thread whose last CPU goes is moved to others, and may stay there.  A
   cpuset that shrinks takes CPUs out of the mask; when it grows again, recent kernels give back
   what the thread had asked for, older ones give it all of the cpuset.  So every answer but SAME
   means "hands off", SAME may follow it later, and each is about this moment only.
   Sources: sched_setaffinity(2), cpuset(7), Linux' cgroup-v2.rst. */
pwr_binding_t pwr_watch_binding(const pwr_watch_t *watch, unsigned *cpu);

/* What happened, for messages: one line into text[size]; "" for SAME.  Opens one file. */
void pwr_watch_describe(const pwr_watch_t *watch, pwr_binding_t binding, unsigned cpu, char *text,
                        unsigned size);

/* ---- threads ---- */

/* Brackets a phase in which levers are held: two system calls each.  end returns true when other
   threads of this process computed meanwhile: levers slow them down.  *others (may be NULL) is
   then the CPU time they got per time held.

   Judged is not the phase alone but the phases of up to a second, because the kernel accounts for
   threads that run on other CPUs only once per tick: less than one tick (10 ms) proves nothing.  Of
   more than that, 5 % is too much.  Threads that spin while they wait for work compute, too, as far
   as anybody can tell. */
void pwr_watch_begin(pwr_watch_t *watch);
bool pwr_watch_end(pwr_watch_t *watch, double *others);

#endif
