/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Long messages on one node while the kernel comes to refuse single copies.
 *
 * check_refused undumpable: every second rank is so (PR_SET_DUMPABLE) from the second round on; all
 * of them without CAP_SYS_PTRACE, which would allow what is refused to ordinary users.
 * check_refused secret: the last rank's buffers are memory that only it can reach (memfd_secret).
 *
 * Errors are fatal, as they are by default.  Each collective has a communicator of its own, so that
 * each of them meets the first refusal.  In the last round nobody may ask the kernel any more.
 * Needs single_copy_watch in front of the C library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum { BLOCK = 10000, ROUNDS = 6, MAX_RANKS = 64, SKIPPED = 77 };

static int rank;
static int size;
static MPI_Comm comm;  /* of the collective that is called: all ranks in their order */
static unsigned *send; /* [size * BLOCK] */
static unsigned *recv; /* [size * BLOCK] */
static int counts[MAX_RANKS];
static int displs[MAX_RANKS];
static int byte_displs[MAX_RANKS];
static MPI_Datatype types[MAX_RANKS];

/* ---- the collectives: block b of rank r is made of word(r, b, i) ---- */

static unsigned word(int from, int block, int i)
{
    return (unsigned)from * 1000003u + (unsigned)block * 7919u + (unsigned)i * 31u;
}

static unsigned sum(int block, int i)
{
    unsigned all = 0;
    for (int from = 0; from < size; ++from) {
        all += word(from, block, i);
    }
    return all;
}

typedef unsigned (*wanted_fn_t)(int root, int block, int i);

static unsigned roots_first(int root, int block, int i)
{
    (void)block;
    return word(root, 0, i);
}
static unsigned roots_for_me(int root, int block, int i)
{
    (void)block;
    return word(root, rank, i);
}
static unsigned first_of_each(int root, int block, int i)
{
    (void)root;
    return word(block, 0, i);
}
static unsigned for_me_of_each(int root, int block, int i)
{
    (void)root;
    return word(block, rank, i);
}
static unsigned sum_of_firsts(int root, int block, int i)
{
    (void)root;
    (void)block;
    return sum(0, i);
}
static unsigned sum_for_me(int root, int block, int i)
{
    (void)root;
    (void)block;
    return sum(rank, i);
}

#define W MPI_UNSIGNED
static void bcast(int root)
{
    MPI_Bcast(rank == root ? send : recv, BLOCK, W, root, comm);
}
static void scatter(int root)
{
    MPI_Scatter(send, BLOCK, W, recv, BLOCK, W, root, comm);
}
static void gather(int root)
{
    MPI_Gather(send, BLOCK, W, recv, BLOCK, W, root, comm);
}
static void reduce(int root)
{
    MPI_Reduce(send, recv, BLOCK, W, MPI_SUM, root, comm);
}
static void allgather(int root)
{
    (void)root;
    MPI_Allgather(send, BLOCK, W, recv, BLOCK, W, comm);
}
static void allgatherv(int root)
{
    (void)root;
    MPI_Allgatherv(send, BLOCK, W, recv, counts, displs, W, comm);
}
static void allreduce(int root)
{
    (void)root;
    MPI_Allreduce(send, recv, BLOCK, W, MPI_SUM, comm);
}
static void allreduce_in_place(int root)
{
    (void)root;
    memcpy(recv, send, BLOCK * sizeof *recv);
    MPI_Allreduce(MPI_IN_PLACE, recv, BLOCK, W, MPI_SUM, comm);
}
static void reduce_scatter(int root)
{
    (void)root;
    MPI_Reduce_scatter(send, recv, counts, W, MPI_SUM, comm);
}
static void reduce_scatter_block(int root)
{
    (void)root;
    MPI_Reduce_scatter_block(send, recv, BLOCK, W, MPI_SUM, comm);
}
static void alltoall(int root)
{
    (void)root;
    MPI_Alltoall(send, BLOCK, W, recv, BLOCK, W, comm);
}
static void alltoall_in_place(int root)
{
    (void)root;
    memcpy(recv, send, (size_t)size * BLOCK * sizeof *recv);
    MPI_Alltoall(MPI_IN_PLACE, BLOCK, W, recv, BLOCK, W, comm);
}
static void alltoallv(int root)
{
    (void)root;
    MPI_Alltoallv(send, counts, displs, W, recv, counts, displs, W, comm);
}
static void alltoallw(int root)
{
    (void)root;
    MPI_Alltoallw(send, counts, byte_displs, types, recv, counts, byte_displs, types, comm);
}

enum whose { EVERYBODY, THE_ROOT, THE_OTHERS };
static const struct collective {
    const char *name;
    void (*call)(int root);
    wanted_fn_t wanted;
    enum whose whose; /* is there a result */
    bool all_blocks;
} collectives[] = {
    {"alltoall", alltoall, for_me_of_each, EVERYBODY, true},
    {"alltoall in place", alltoall_in_place, for_me_of_each, EVERYBODY, true},
    {"alltoallv", alltoallv, for_me_of_each, EVERYBODY, true},
    {"alltoallw", alltoallw, for_me_of_each, EVERYBODY, true},
    {"bcast", bcast, roots_first, THE_OTHERS, false},
    {"scatter", scatter, roots_for_me, EVERYBODY, false},
    {"gather", gather, first_of_each, THE_ROOT, true},
    {"allgather", allgather, first_of_each, EVERYBODY, true},
    {"allgatherv", allgatherv, first_of_each, EVERYBODY, true},
    {"reduce", reduce, sum_of_firsts, THE_ROOT, false},
    {"allreduce", allreduce, sum_of_firsts, EVERYBODY, false},
    {"allreduce in place", allreduce_in_place, sum_of_firsts, EVERYBODY, false},
    {"reduce_scatter", reduce_scatter, sum_for_me, EVERYBODY, false},
    {"reduce_scatter_block", reduce_scatter_block, sum_for_me, EVERYBODY, false},
};
enum { NUM_COLLECTIVES = sizeof collectives / sizeof collectives[0] };

static bool has_result(const struct collective *c, int root)
{
    return EVERYBODY == c->whose || (THE_ROOT == c->whose) == (rank == root);
}

/* Returns whether every word is right. */
static bool check(const struct collective *c, int root)
{
    memset(recv, 0xA5, (size_t)size * BLOCK * sizeof *recv);
    c->call(root);
    for (int block = 0; has_result(c, root) && block < (c->all_blocks ? size : 1); ++block) {
        for (int i = 0; i < BLOCK; ++i) {
            if (recv[block * BLOCK + i] != c->wanted(root, block, i)) {
                fprintf(stderr, "check_refused: %s wrong: rank %d, root %d, word %d of block %d\n",
                        c->name, rank, root, i, block);
                return false;
            }
        }
    }
    return true;
}

/* ---- what the kernel refuses ---- */

/* Before threads are started: it is this thread's. */
static void become_ordinary(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    const unsigned ptrace = 1u << CAP_SYS_PTRACE;
    if (0 == syscall(SYS_capget, &head, sets)) {
        sets[0].effective &= ~ptrace;
        sets[0].permitted &= ~ptrace;
        syscall(SYS_capset, &head, sets);
    }
}

static void *secret_memory(size_t bytes)
{
    int fd = (int)syscall(SYS_memfd_secret, 0);
    if (fd < 0 || 0 != ftruncate(fd, (off_t)bytes)) {
        return NULL;
    }
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return MAP_FAILED == memory ? NULL : memory;
}

static bool make_buffers(bool secret)
{
    size_t bytes = (size_t)size * BLOCK * sizeof *send;
    send = secret ? secret_memory(bytes) : malloc(bytes);
    recv = secret ? secret_memory(bytes) : malloc(bytes);
    int mine = NULL != send && NULL != recv;
    int all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!mine) {
        printf("skipped: no memory that only its owner can reach: %s\n", strerror(errno));
    }
    return all;
}

static void fill(void)
{
    for (int block = 0; block < size; ++block) {
        counts[block] = BLOCK;
        displs[block] = block * BLOCK;
        byte_displs[block] = displs[block] * (int)sizeof *send;
        types[block] = MPI_UNSIGNED;
        for (int i = 0; i < BLOCK; ++i) {
            send[block * BLOCK + i] = word(rank, block, i);
        }
    }
}

static long of_all(const char *counter)
{
    const long *mine = dlsym(RTLD_DEFAULT, counter);
    long all = NULL == mine ? -MAX_RANKS : *mine;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* Every collective, the root changes. */
static bool run(bool undumpable)
{
    MPI_Comm comms[NUM_COLLECTIVES];
    for (int c = 0; c < NUM_COLLECTIVES; ++c) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
    }
    long before = 0;
    bool right = true;
    for (int round = 0; round < ROUNDS; ++round) {
        if (undumpable && 1 == round && 1 == rank % 2) {
            prctl(PR_SET_DUMPABLE, 0);
        }
        before = of_all("single_copies_asked");
        for (int c = 0; c < NUM_COLLECTIVES; ++c) {
            comm = comms[c];
            right = check(&collectives[c], (round + c) % size) && right;
        }
    }
    for (int c = 0; c < NUM_COLLECTIVES; ++c) {
        MPI_Comm_free(&comms[c]);
    }
    long asked = of_all("single_copies_asked");
    long refused = of_all("single_copies_refused");
    if (0 == rank) {
        printf("check_refused: %s, %ld copies, %ld in the last round\n",
               refused > 0 ? "some refused" : "none refused", asked, asked - before);
    }
    return right && refused > 0 && asked == before;
}

int main(int argc, char **argv)
{
    bool secret = argc > 1 && 0 == strcmp("secret", argv[1]);
    become_ordinary();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!make_buffers(secret && rank == size - 1)) {
        MPI_Finalize();
        return SKIPPED;
    }
    fill();
    int wrong = !run(!secret);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("check_refused: %d ranks with wrong results\n", wrong);
    }
    MPI_Finalize();
    return 0 == wrong ? 0 : 1;
}
