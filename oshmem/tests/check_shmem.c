/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What random_shmem cannot show: how jobs end, and waits for stores that no function of OpenSHMEM
 * makes.
 *
 *   oshrun -np N check_shmem stores             PEs store into others' memory through shmem_ptr
 *   oshrun -np N check_shmem exit STATUS        the last PE calls shmem_global_exit, the others
 * wait oshrun -np N check_shmem return STATUS      all PEs return that after shmem_finalize oshrun
 * -np N check_shmem killed CALL        the last PE kills itself while the others are in CALL:
 * wait-until, barrier, sum, lock, or get
 *
 * The last line counts wrong results.
 */
#include <shmem.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20, WORDS = 512, LATE_MS = 30, DEATH_MS = 300 };

static int me, size, last;
static int wrong;
/* symmetric */
static long *flag, *data, *lock, *total, *sync_words, *work;

static void be_late(int ms)
{
    const struct timespec time = {.tv_nsec = ms * 1000000l};
    nanosleep(&time, NULL);
}

static void open_memory(void)
{
    me = shmem_my_pe();
    size = shmem_n_pes();
    last = size - 1;
    flag = shmem_calloc(1, sizeof *flag);
    data = shmem_calloc(WORDS, sizeof *data);
    lock = shmem_calloc(1, sizeof *lock);
    total = shmem_calloc(2, sizeof *total);
    work = shmem_calloc(SHMEM_REDUCE_MIN_WRKDATA_SIZE, sizeof *work);
    sync_words = shmem_calloc(SHMEM_REDUCE_SYNC_SIZE, sizeof *sync_words);
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) {
        sync_words[i] = SHMEM_SYNC_VALUE;
    }
    shmem_barrier_all();
}

/* ---- stores ---- */

/* Data, then the flag: nothing but instructions of this PE. */
static void store(int round, int pe)
{
    long *there = shmem_ptr(data, pe);
    for (int i = 0; i < WORDS; ++i) {
        there[i] = 1000l * round + i;
    }
    atomic_store_explicit((_Atomic(long) *)shmem_ptr(flag, pe), round, memory_order_release);
}

static void check_data(int round)
{
    for (int i = 0; i < WORDS; ++i) {
        wrong += 1000l * round + i != data[i];
    }
}

/* A token goes round: who has it is late every fourth time, so that the others sleep. */
static int check_stores(void)
{
    int next = (me + 1) % size;
    if (NULL == shmem_ptr(flag, next)) {
        printf("check_shmem: skipped: PEs cannot store into each other's memory here\n");
        return 77;
    }
    for (int round = 1; round <= ROUNDS; ++round) {
        if (0 != me) {
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
            check_data(round);
        }
        if (0 == round % 4) {
            be_late(LATE_MS);
        }
        store(round, next);
        if (0 == me) {
            shmem_long_wait_until(flag, SHMEM_CMP_GE, round);
            check_data(round);
        }
    }
    return 0;
}

/* ---- one PE dies ---- */

static void wait_forever(const char *call)
{
    if (0 == strcmp("barrier", call)) {
        shmem_barrier_all();
    } else if (0 == strcmp("sum", call)) {
        shmem_long_sum_to_all(&total[0], &total[1], 1, 0, 0, size, work, sync_words);
    } else if (0 == strcmp("lock", call)) {
        shmem_set_lock(lock);
    } else if (0 == strcmp("get", call)) {
        while (0 == shmem_long_g(flag, last)) {
            be_late(1);
        }
    } else {
        shmem_long_wait_until(flag, SHMEM_CMP_NE, 0);
    }
}

static void be_killed(const char *call)
{
    if (me == last && 0 == strcmp("lock", call)) {
        shmem_set_lock(lock);
    }
    shmem_barrier_all();
    if (me == last) {
        be_late(DEATH_MS);
        raise(SIGKILL);
    }
    wait_forever(call);
}

static void leave(int status)
{
    if (me == last) {
        be_late(DEATH_MS);
        shmem_global_exit(status);
    }
    wait_forever("wait-until");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "stores";
    const char *argument = argc > 2 ? argv[2] : "0";
    int status = 0;
    shmem_init();
    open_memory();
    if (0 == strcmp("stores", what)) {
        status = check_stores();
    } else if (0 == strcmp("exit", what)) {
        leave(atoi(argument));
    } else if (0 == strcmp("killed", what)) {
        be_killed(argument);
    } else {
        status = atoi(argument);
    }
    if (wrong > 0) {
        fprintf(stderr, "check_shmem: PE %d: %d words are wrong\n", me, wrong);
        status = 1;
    }
    shmem_barrier_all();
    if (0 == me) {
        printf("check_shmem: %d wrong results\n", wrong);
    }
    shmem_finalize();
    return status;
}
