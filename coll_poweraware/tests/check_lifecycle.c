/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Communicators that come and go in every way MPI has.
 *
 *   mpirun -np N check_lifecycle WHAT [NUMBER [PLANT]]
 *
 *   cycles    NUMBER times: create, use, free; then memory, descriptors and mappings are
 *             what they were after a tenth of them.  PLANT: memory, descriptor or mapping,
 *             one lost per cycle
 *   pending   collectives while nonblocking ones of the same communicator are under way.
 *             (To free it then is right, too, but Open MPI crashes.)
 *   unfreed   MPI_Finalize with NUMBER communicators in use
 *   threads   NUMBER cycles in each of three threads at once
 *   spawn     a job of NUMBER more processes: intercommunicator, merged, disconnected
 */
#include <mpi.h>

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LARGE = 5000, THREADS = 3, PAGE = 4096 };

static int wrong;

/* ---- collectives, each with a result that is known ---- */

static void expect(int got, int wanted, const char *what)
{
    if (got != wanted) {
        fprintf(stderr, "check_lifecycle: %s: %d, not %d\n", what, got, wanted);
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    }
}

static void use(MPI_Comm comm, int seed)
{
    int rank;
    int size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *large = malloc(LARGE * sizeof *large);
    int *blocks = malloc((size_t)size * 2 * sizeof *blocks);
    for (int i = 0; i < LARGE; ++i) {
        large[i] = 0 == rank ? seed + i : -1;
    }
    MPI_Bcast(large, LARGE, MPI_INT, 0, comm);
    expect(large[LARGE - 1], seed + LARGE - 1, "MPI_Bcast");
    int mine = seed + rank;
    int sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    expect(sum, size * seed + size * (size - 1) / 2, "MPI_Allreduce");
    sum = -1;
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, size - 1, comm);
    expect(sum, rank == size - 1 ? size * seed + size * (size - 1) / 2 : -1, "MPI_Reduce");
    for (int i = 0; i < size; ++i) {
        blocks[i] = seed + 100 * rank + i;
    }
    MPI_Alltoall(blocks, 1, MPI_INT, blocks + size, 1, MPI_INT, comm);
    expect(blocks[2 * size - 1], seed + 100 * (size - 1) + rank, "MPI_Alltoall");
    MPI_Barrier(comm);
    free(large);
    free(blocks);
}

/* ---- what a process holds ---- */

typedef struct holdings {
    long kib;
    long descriptors;
    long mappings;
} holdings_t;

static long entries(const char *path)
{
    long number = 0;
    DIR *folder = opendir(path);
    while (NULL != folder && NULL != readdir(folder)) {
        ++number;
    }
    if (NULL != folder) {
        closedir(folder);
    }
    return number;
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (NULL == file || 1 != fscanf(file, "%*d %ld", &pages)) {
        pages = 0;
    }
    if (NULL != file) {
        fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long lines(const char *path)
{
    long number = 0;
    FILE *file = fopen(path, "re");
    for (int c; NULL != file && EOF != (c = fgetc(file));) {
        number += '\n' == c;
    }
    if (NULL != file) {
        fclose(file);
    }
    return number;
}

static holdings_t look(void)
{
    return (holdings_t){
        .kib = resident_kib(),
        .descriptors = entries("/proc/self/fd"),
        .mappings = lines("/proc/self/maps"),
    };
}

/* Open MPI's own lists grow a little, and malloc maps and unmaps now and then. */
static void compare(holdings_t before, holdings_t after, int number)
{
    enum { SPARE_KIB = 100, SPARE_BYTES_PER_CYCLE = 20, SPARE_MAPPINGS = 4 };
    long spare_kib = SPARE_KIB + (long)number * SPARE_BYTES_PER_CYCLE / 1024;
    printf("held: %ld KiB, %ld descriptors, %ld mappings; later %+ld, %+ld, %+ld\n", before.kib,
           before.descriptors, before.mappings, after.kib - before.kib,
           after.descriptors - before.descriptors, after.mappings - before.mappings);
    wrong += after.kib > before.kib + spare_kib || after.descriptors > before.descriptors ||
             after.mappings > before.mappings + SPARE_MAPPINGS;
}

static void lose(const char *plant)
{
    static char *volatile lost;
    if (0 == strcmp(plant, "memory")) {
        lost = malloc(100);
        memset(lost, 1, 100);
    } else if (0 == strcmp(plant, "descriptor") && dup(0) < 0) {
        perror("check_lifecycle: dup");
    } else if (0 == strcmp(plant, "mapping")) {
        /* neighbours of one kind would become one mapping */
        static int times;
        lost = mmap(NULL, PAGE, 0 == times++ % 2 ? PROT_READ : PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
}

/* ---- the ways ---- */

static MPI_Comm create(MPI_Comm parent, int way)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int rank;
    int size;
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    if (0 == way % 3) {
        MPI_Comm_dup(parent, &comm);
    } else if (1 == way % 3) {
        MPI_Comm_split(parent, rank % 2, -rank, &comm);
    } else {
        MPI_Group all;
        MPI_Group some;
        const int last = size - 1;
        MPI_Comm_group(parent, &all);
        MPI_Group_excl(all, size > 2, &last, &some);
        if (rank < last || size <= 2) {
            MPI_Comm_create_group(parent, some, way, &comm);
        }
        MPI_Group_free(&some);
        MPI_Group_free(&all);
    }
    return comm;
}

static void cycle(MPI_Comm parent, int number)
{
    for (int i = 0; i < number; ++i) {
        MPI_Comm comm = create(parent, i);
        if (MPI_COMM_NULL != comm) {
            use(comm, i);
            MPI_Comm_free(&comm);
        }
    }
}

static void cycles(int number, const char *plant)
{
    cycle(MPI_COMM_WORLD, number / 10);
    holdings_t before = look();
    for (int done = number / 10; done < number; ++done) {
        cycle(MPI_COMM_WORLD, 0 == done % 10 ? 10 : 0);
        lose(plant);
    }
    compare(before, look(), number);
}

static void pending(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm;
    MPI_Request requests[2];
    int one = 1;
    int sum = 0;
    int *large = calloc(LARGE, sizeof *large);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 1);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
    MPI_Ibcast(large, LARGE, MPI_INT, 0, comm, &requests[1]);
    use(comm, 2);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&comm);
    expect(sum, size, "MPI_Iallreduce under way");
    use(MPI_COMM_WORLD, 3);
    free(large);
}

static void unfreed(int number)
{
    for (int i = 0; i < number; ++i) {
        MPI_Comm comm = create(MPI_COMM_WORLD, i);
        if (MPI_COMM_NULL != comm) {
            use(comm, i);
        }
    }
}

typedef struct worker {
    pthread_t thread;
    MPI_Comm parent;
    int number;
} worker_t;

static void *work(void *arg)
{
    const worker_t *worker = arg;
    cycle(worker->parent, worker->number);
    return NULL;
}

static void threads(int number)
{
    worker_t workers[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].parent);
        workers[i].number = number;
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(workers[i].thread, NULL);
        MPI_Comm_free(&workers[i].parent);
    }
}

/* Both jobs. */
static void meet(MPI_Comm inter, bool child)
{
    int local;
    int remote;
    int here = child ? 1000 : 1;
    int there = 0;
    MPI_Comm merged;
    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    MPI_Allreduce(&here, &there, 1, MPI_INT, MPI_SUM, inter); /* the other group's sum */
    expect(there, remote * (child ? 1 : 1000), "MPI_Allreduce of an intercommunicator");
    MPI_Intercomm_merge(inter, child, &merged);
    use(merged, local + remote);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
    use(MPI_COMM_WORLD, 9);
}

static void spawn(const char *program, int number)
{
    MPI_Comm inter;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, number, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    meet(inter, false);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 100;
    int provided;
    int rank;
    MPI_Comm parent;
    bool many = 0 == strcmp(what, "threads");
    MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (MPI_COMM_NULL != parent) {
        meet(parent, true);
    } else if (0 == strcmp(what, "cycles")) {
        cycles(number, argc > 3 ? argv[3] : "nothing");
    } else if (0 == strcmp(what, "pending")) {
        pending();
    } else if (0 == strcmp(what, "unfreed")) {
        unfreed(number);
    } else if (many && MPI_THREAD_MULTIPLE == provided) {
        threads(number);
    } else if (0 == strcmp(what, "spawn")) {
        spawn(argv[0], number);
    } else {
        fprintf(stderr,
                "check_lifecycle: \"%s\" is not one of its words, or there are no threads\n", what);
        wrong = 1;
    }
    printf("check_lifecycle: rank %d: %d wrong\n", rank, wrong);
    MPI_Finalize();
    return 0 != wrong;
}
