/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Every kind of call that waits, with the last rank late: is the result right, and did those who
 * waited give their CPU back?
 *
 *   mpirun -np N check_waits [-c] [-l MILLISECONDS] [-t] [-u] [KIND...]
 *
 * -l: how late (default 100), where ranks cannot be watched (watched.h).
 * -c: nobody is watched; instead of that, says how much of a CPU the call took of who waited (the
 * most of any rank; doc/waits.md).
 * -t: with MPI_THREAD_MULTIPLE.  -u: nobody may look into these processes, as if they were set-uid.
 * The last rank prints for each kind, or those that are named, what the others did while it was
 * late:
 *
 *     recv: 1 sleep, 0 poll, 0 are gone
 *
 * Some run only where they are named: win-many-locks, in which nobody is late, and many-allreduces,
 * in which the others wait only briefly each time.  The last line counts wrong results.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "watched.h"

enum { LONG = 300000, SHORT = 5, TAG = 7, HANG_S = 1500 };

static int rank, size, last, wrong;
static MPI_Comm fresh; /* that has made no call yet */
static int late_ms = 100;
static bool watches;
static bool costs; /* are measured */
static watched_t found;
static int in[LONG], out[LONG];
static MPI_Win window;
static int has_window, has_file;
static int *exposed;
static char path[256];

static void check(bool right, const char *what)
{
    if (!right) {
        printf("rank %d: wrong: %s\n", rank, what);
        ++wrong;
    }
}

static void fill(int seed)
{
    for (int i = 0; i < LONG; ++i) {
        out[i] = seed * 1000003 + i;
        in[i] = -1;
    }
}

static bool is_from(int seed, int count)
{
    for (int i = 0; i < count; ++i) {
        if (in[i] != seed * 1000003 + i) {
            return false;
        }
    }
    return true;
}

static void rest_late_ms(void)
{
    const struct timespec time = {.tv_sec = late_ms / 1000, .tv_nsec = late_ms % 1000 * 1000000l};
    nanosleep(&time, NULL);
}

static void come_late_by(watched_rule_t rule)
{
    if (rank != last) {
        return;
    }
    if (!watches) {
        rest_late_ms();
    } else if (watched_leads()) {
        found = watched_find(rule);
        watched_come();
    }
}

static void come_late(void)
{
    come_late_by(watched_usual);
}

/* Waits without a request are guessed from looks that follow each other within microseconds.  Where
   a hypervisor takes the CPU between two of them, the guess begins anew with polling: such a wait
   may poll for long before it is called a poller. */
static void come_late_to_guessed(void)
{
    watched_rule_t rule = watched_usual;
    rule.cpu_us *= 10;
    come_late_by(rule);
}

/* ---- messages: everybody waits for the last one ---- */

static void send_to_all(int count)
{
    for (int peer = 0; peer < last; ++peer) {
        MPI_Send(out, count, MPI_INT, peer, TAG, MPI_COMM_WORLD);
    }
}

static void recv_short(void)
{
    if (rank == last) {
        send_to_all(SHORT);
    } else {
        MPI_Status status;
        int count;
        MPI_Recv(in, LONG, MPI_INT, last, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        check(is_from(last, SHORT) && SHORT == count && last == status.MPI_SOURCE, "recv");
    }
}

static void recv_long_from_anybody(void)
{
    if (rank == last) {
        send_to_all(LONG);
    } else {
        MPI_Recv(in, LONG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(is_from(last, LONG), "recv from anybody");
    }
}

static void recv_truncated(void)
{
    if (rank == last) {
        send_to_all(LONG);
    } else {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int rc = MPI_Recv(in, SHORT, MPI_INT, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        int class = MPI_SUCCESS;
        MPI_Error_class(rc, &class);
        check(MPI_ERR_TRUNCATE == class, "recv of too much");
    }
}

static void receive_from_all(void)
{
    for (int peer = 0; peer < last; ++peer) {
        MPI_Recv(in, LONG, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(is_from(peer, LONG), "what was sent");
    }
}

static void send_long(void)
{
    if (rank == last) {
        receive_from_all();
    } else {
        MPI_Send(out, LONG, MPI_INT, last, TAG, MPI_COMM_WORLD);
    }
}

static void ssend(void)
{
    if (rank == last) {
        receive_from_all();
    } else {
        MPI_Ssend(out, LONG, MPI_INT, last, TAG, MPI_COMM_WORLD);
    }
}

static void sendrecv(void)
{
    int to = (rank + 1) % size;
    int from = (rank + size - 1) % size;
    MPI_Sendrecv(out, LONG, MPI_INT, to, TAG, in, LONG, MPI_INT, from, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(is_from(from, LONG), "sendrecv");
}

static void probe(void)
{
    if (rank == last) {
        send_to_all(LONG);
    } else {
        MPI_Status status;
        int count;
        MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        check(LONG == count, "probe");
        MPI_Recv(in, LONG, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(is_from(last, LONG), "recv after probe");
    }
}

static void mprobe(void)
{
    if (rank == last) {
        send_to_all(LONG);
    } else {
        MPI_Message message;
        MPI_Mprobe(last, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, LONG, MPI_INT, &message, MPI_STATUS_IGNORE);
        check(is_from(last, LONG) && MPI_MESSAGE_NULL == message, "mrecv");
    }
}

/* Data with gaps travel in fragments, for which the sender waits. */
static void send_strided(void)
{
    enum { RUN = 3, STEP = 4, RUNS = LONG / STEP };
    MPI_Datatype strided;
    MPI_Type_vector(RUNS, RUN, STEP, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    if (rank != last) {
        MPI_Send(out, 1, strided, last, TAG, MPI_COMM_WORLD);
    }
    for (int peer = 0; rank == last && peer < last; ++peer) {
        fill(peer);
        MPI_Recv(in, 1, strided, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < LONG; ++i) {
            check(in[i] == (i % STEP < RUN ? out[i] : -1), "strided");
        }
    }
    MPI_Type_free(&strided);
}

/* More than the receiver's queue holds. */
static void flood(void)
{
    enum { MANY = 2000 };
    if (rank != last) {
        for (int i = 0; i < MANY; ++i) {
            MPI_Send(out + i, SHORT, MPI_INT, last, TAG, MPI_COMM_WORLD);
        }
        MPI_Ssend(out, 0, MPI_INT, last, TAG, MPI_COMM_WORLD);
        return;
    }
    for (int peer = 0; peer < last; ++peer) {
        for (int i = 0; i < MANY; ++i) {
            MPI_Recv(in + i, SHORT, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Recv(in, 0, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(is_from(peer, MANY), "flood");
    }
}

/* ---- requests ---- */

static void wait_one(void)
{
    MPI_Request request;
    if (rank == last) {
        send_to_all(LONG);
    } else {
        MPI_Irecv(in, LONG, MPI_INT, last, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(is_from(last, LONG) && MPI_REQUEST_NULL == request, "wait");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Requests that are over, empty, or not yet, in one array. */
enum { ALL = 4, FIRST = 1, SECOND = 3 };

static void post_two(MPI_Request requests[ALL])
{
    for (int i = 0; i < ALL; ++i) {
        requests[i] = MPI_REQUEST_NULL;
    }
    MPI_Irecv(in, LONG / 2, MPI_INT, last, TAG, MPI_COMM_WORLD, &requests[FIRST]);
    MPI_Irecv(in + LONG / 2, LONG / 2, MPI_INT, last, TAG, MPI_COMM_WORLD, &requests[SECOND]);
}

static void send_two_to_all(void)
{
    for (int peer = 0; peer < last; ++peer) {
        MPI_Send(out, LONG / 2, MPI_INT, peer, TAG, MPI_COMM_WORLD);
        MPI_Send(out + LONG / 2, LONG / 2, MPI_INT, peer, TAG, MPI_COMM_WORLD);
    }
}

static void wait_all(void)
{
    MPI_Request requests[ALL];
    MPI_Status statuses[ALL];
    if (rank == last) {
        send_two_to_all();
        return;
    }
    post_two(requests);
    MPI_Waitall(ALL, requests, statuses);
    check(is_from(last, LONG) && last == statuses[SECOND].MPI_SOURCE, "waitall");
    MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE);
    MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
}

static void wait_any(void)
{
    MPI_Request requests[ALL];
    int index, seen = 0;
    if (rank == last) {
        send_two_to_all();
        return;
    }
    post_two(requests);
    for (int i = 0; i < 2; ++i) {
        MPI_Waitany(ALL, requests, &index, MPI_STATUS_IGNORE);
        seen |= 1 << index;
    }
    check(is_from(last, LONG) && (1 << FIRST | 1 << SECOND) == seen, "waitany");
    MPI_Waitany(ALL, requests, &index, MPI_STATUS_IGNORE);
    check(MPI_UNDEFINED == index, "waitany of nothing");
}

static void wait_some(void)
{
    MPI_Request requests[ALL];
    int done, indices[ALL], all = 0;
    if (rank == last) {
        send_two_to_all();
        return;
    }
    post_two(requests);
    while (all < 2) {
        MPI_Waitsome(ALL, requests, &done, indices, MPI_STATUSES_IGNORE);
        check(0 < done && done <= 2, "waitsome");
        all += done;
    }
    check(is_from(last, LONG), "data of waitsome");
    MPI_Waitsome(ALL, requests, &done, indices, MPI_STATUSES_IGNORE);
    check(MPI_UNDEFINED == done, "waitsome of nothing");
}

static void persistent(void)
{
    MPI_Request request;
    if (rank == last) {
        send_to_all(LONG);
        send_to_all(LONG);
        return;
    }
    MPI_Recv_init(in, LONG, MPI_INT, last, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* not active */
    for (int i = 0; i < 2; ++i) {
        memset(in, 0, sizeof in);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(is_from(last, LONG), "persistent recv");
    }
    MPI_Request_free(&request);
}

/* Completed by another thread of the same process, not by a message. */
static int no_status(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int no_free(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void *complete_late(void *arg)
{
    rest_late_ms();
    MPI_Grequest_complete(*(MPI_Request *)arg);
    return NULL;
}

static void generalized(void)
{
    int level;
    MPI_Request request;
    pthread_t thread;
    MPI_Query_thread(&level);
    if (MPI_THREAD_MULTIPLE == level && rank != last) {
        MPI_Grequest_start(no_status, no_free, no_cancel, NULL, &request);
        pthread_create(&thread, NULL, complete_late, &request);
        MPI_Request waited = request;
        MPI_Wait(&waited, MPI_STATUS_IGNORE);
        check(MPI_REQUEST_NULL == waited, "generalized request");
        pthread_join(thread, NULL);
    }
}

/* ---- collectives ---- */

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    memcpy(in, out, sizeof in);
    MPI_Bcast(in, LONG, MPI_INT, last, MPI_COMM_WORLD);
    check(is_from(last, LONG), "bcast");
}

/* Calls like the one before take a shorter way (coll_poweraware/repeat.h): the last one of some. */
static void repeated(void)
{
    enum { CALLS = 12 };
    for (int i = 0; i < CALLS; ++i) {
        memcpy(in, out, SHORT * sizeof *in);
        if (CALLS - 1 == i) {
            come_late();
        }
        MPI_Bcast(in, SHORT, MPI_INT, last, MPI_COMM_WORLD);
        check(is_from(last, SHORT), "repeated");
    }
}

/* The first call of a communicator sets up what algorithms need. */
static void first_call(void)
{
    memcpy(in, out, sizeof in);
    MPI_Bcast(in, LONG, MPI_INT, last, fresh);
    check(is_from(last, LONG), "first-call");
}

static void allreduce(void)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(size == sum, "allreduce");
}

/* Of 8 bytes, the last rank late each time: no longer than until the others are seen to wait. */
static void many_allreduces(void)
{
    enum { MANY = 200 };
    static const watched_rule_t waits = {.blocks = 1, .cpu_us = 100};
    for (int i = 0; i < MANY; ++i) {
        double one = 1, sum = 0;
        come_late_by(waits);
        if (rank != last) {
            watched_begin();
        }
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank != last) {
            watched_end();
        }
        check(size == (int)sum, "allreduce, one of many");
    }
}

/* None of ours, on any communicator. */
static void scatterv(void)
{
    enum { MOST = 64 };
    int counts[MOST], displs[MOST];
    for (int i = 0; i < size && i < MOST; ++i) {
        counts[i] = SHORT;
        displs[i] = i * SHORT;
    }
    MPI_Scatterv(out, counts, displs, MPI_INT, in, SHORT, MPI_INT, last, MPI_COMM_WORLD);
    for (int i = 0; i < SHORT; ++i) {
        check(in[i] == last * 1000003 + rank * SHORT + i, "scatterv");
    }
}

static void ibcast(void)
{
    MPI_Request request;
    memcpy(in, out, sizeof in);
    MPI_Ibcast(in, LONG, MPI_INT, last, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(is_from(last, LONG), "ibcast");
}

static void comm_dup(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

/* ---- one-sided ---- */

static void fence(void)
{
    MPI_Win_fence(0, window);
    if (rank == last) {
        for (int peer = 0; peer < last; ++peer) {
            MPI_Put(out, SHORT, MPI_INT, peer, 0, SHORT, MPI_INT, window);
        }
    }
    MPI_Win_fence(0, window);
    memcpy(in, exposed, SHORT * sizeof *in);
    check(rank == last || is_from(last, SHORT), "put and fence");
}

static void post_wait(void)
{
    MPI_Group all, others;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (rank == last) {
        MPI_Group_excl(all, 1, &last, &others);
        MPI_Win_start(others, 0, window);
        for (int peer = 0; peer < last; ++peer) {
            MPI_Put(out, SHORT, MPI_INT, peer, 0, SHORT, MPI_INT, window);
        }
        MPI_Win_complete(window);
    } else {
        MPI_Group_incl(all, 1, &last, &others);
        MPI_Win_post(others, 0, window);
        MPI_Win_wait(window);
        memcpy(in, exposed, SHORT * sizeof *in);
        check(is_from(last, SHORT), "put, post and wait");
    }
    MPI_Group_free(&others);
    MPI_Group_free(&all);
}

/* The last rank is late to let go of the lock. */
static void lock(void)
{
    if (rank == last) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last) {
        come_late();
        MPI_Win_unlock(0, window);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Put(out, SHORT, MPI_INT, 0, SHORT, SHORT, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Nobody waits for long, but all do again and again. */
static void many_locks(void)
{
    enum { MANY = 20000 };
    const int one = 1;
    if (0 == rank) {
        *exposed = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; ++i) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check(0 != rank || MANY * size == *exposed, "accumulate within locks");
}

/* ---- files ---- */

static void file(void)
{
    MPI_File handle;
    MPI_Offset offset = (MPI_Offset)rank * SHORT * (MPI_Offset)sizeof(int);
    int rc = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &handle);
    check(MPI_SUCCESS == rc, "file open");
    if (MPI_SUCCESS == rc) {
        MPI_File_write_at_all(handle, offset, out, SHORT, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at_all(handle, offset, in, SHORT, MPI_INT, MPI_STATUS_IGNORE);
        check(is_from(rank, SHORT), "file");
        MPI_File_close(&handle);
    }
}

/* ---- all of them ---- */

/* When the last rank is late. */
typedef enum late {
    BEFORE,
    BEFORE_A_GUESS, /* the same, and there is no request to wait for */
    INSIDE,
    NOBODY
} late_t;

typedef struct kind {
    const char *name;
    void (*run)(void);
    late_t late;
    bool asked_for;   /* runs only where it is named */
    const int *needs; /* is this what it takes? NULL: nothing */
} kind_t;

static const kind_t kinds[] = {
    {"recv", recv_short, BEFORE, false, NULL},
    {"recv-any", recv_long_from_anybody, BEFORE, false, NULL},
    {"recv-truncated", recv_truncated, BEFORE, false, NULL},
    {"send", send_long, BEFORE, false, NULL},
    {"ssend", ssend, BEFORE, false, NULL},
    {"send-strided", send_strided, BEFORE, false, NULL},
    {"flood", flood, BEFORE, false, NULL},
    {"sendrecv", sendrecv, BEFORE, false, NULL},
    {"probe", probe, BEFORE, false, NULL},
    {"mprobe", mprobe, BEFORE, false, NULL},
    {"wait", wait_one, BEFORE, false, NULL},
    {"waitall", wait_all, BEFORE, false, NULL},
    {"waitany", wait_any, BEFORE, false, NULL},
    {"waitsome", wait_some, BEFORE, false, NULL},
    {"persistent", persistent, BEFORE, false, NULL},
    {"generalized", generalized, NOBODY, false, NULL},
    {"barrier", barrier, BEFORE, false, NULL},
    {"bcast", bcast, BEFORE, false, NULL},
    {"repeated", repeated, INSIDE, false, NULL},
    {"first-call", first_call, BEFORE, false, NULL},
    {"allreduce", allreduce, BEFORE, false, NULL},
    {"many-allreduces", many_allreduces, NOBODY, true, NULL},
    {"scatterv", scatterv, BEFORE, false, NULL},
    {"ibcast", ibcast, BEFORE, false, NULL},
    {"comm-dup", comm_dup, BEFORE_A_GUESS, false, NULL},
    {"win-fence", fence, BEFORE, false, &has_window},
    {"win-post-wait", post_wait, BEFORE, false, &has_window},
    {"win-lock", lock, INSIDE, false, &has_window},
    {"win-many-locks", many_locks, NOBODY, true, &has_window},
    {"file", file, BEFORE_A_GUESS, false, &has_file},
};

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run_and_measure(const kind_t *kind)
{
    double began_s = MPI_Wtime(), used_s = cpu_s(), most = 0.0;
    kind->run();
    double share = (cpu_s() - used_s) / (MPI_Wtime() - began_s);
    share = rank == last ? 0.0 : share;
    MPI_Reduce(&share, &most, 1, MPI_DOUBLE, MPI_MAX, last, MPI_COMM_WORLD);
    if (rank == last) {
        printf("%s: %.1f %% of a CPU\n", kind->name, 100.0 * most);
        fflush(stdout);
    }
}

static void run(const kind_t *kind)
{
    bool watched = watches && NOBODY != kind->late;
    fill(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (BEFORE_A_GUESS == kind->late) {
        come_late_to_guessed();
    } else if (BEFORE == kind->late) {
        come_late();
    }
    if (watched && rank != last) {
        watched_begin();
    }
    if (costs) {
        run_and_measure(kind);
    } else {
        kind->run();
    }
    if (watched && rank != last) {
        watched_end();
    } else if (watched) {
        printf("%s: %d sleep, %d poll, %d are gone\n", kind->name, found.sleep, found.poll,
               found.gone);
        fflush(stdout);
    }
}

/* Not every combination of transports has one-sided communication. */
static void make_window(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Win_allocate(2 * SHORT * sizeof *exposed, sizeof *exposed, MPI_INFO_NULL,
                              MPI_COMM_WORLD, &exposed, &window);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    int mine = MPI_SUCCESS == rc;
    MPI_Allreduce(&mine, &has_window, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (0 == rank && !has_window) {
        printf("skipped: windows: this Open MPI cannot make one here\n");
    }
}

/* Ranks on several nodes need not have a folder in common. */
static void share_file(void)
{
    snprintf(path, sizeof path, "%s/check_waits.%ld",
             NULL == getenv("TMPDIR") ? "/tmp" : getenv("TMPDIR"), (long)getpid());
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    FILE *made = 0 == rank ? fopen(path, "w") : NULL;
    if (NULL != made) {
        fclose(made);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int mine = 0 == access(path, W_OK);
    MPI_Allreduce(&mine, &has_file, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (0 == rank && !has_file) {
        printf("skipped: file: no folder that all ranks have\n");
    }
}

static bool is_named(const kind_t *kind, int argc, char **argv)
{
    for (int i = optind; i < argc; ++i) {
        if (0 == strcmp(kind->name, argv[i])) {
            return true;
        }
    }
    return optind == argc && !kind->asked_for;
}

static bool is_wanted(const int *needed, int argc, char **argv)
{
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        if (needed == kinds[k].needs && is_named(&kinds[k], argc, argv)) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    int option, total = 0, level = MPI_THREAD_SINGLE;
    while (-1 != (option = getopt(argc, argv, "cl:tu"))) {
        switch (option) {
        case 'c':
            costs = true;
            break;
        case 'l':
            late_ms = atoi(optarg);
            break;
        case 't':
            level = MPI_THREAD_MULTIPLE;
            break;
        case 'u':
            prctl(PR_SET_DUMPABLE, 0);
            break;
        default:
            return 2;
        }
    }
    alarm(HANG_S);
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    last = size - 1;
    watches = !costs && watched_open(rank == last, 1);
    share_file();
    if (is_wanted(&has_window, argc, argv)) {
        make_window();
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        const kind_t *kind = &kinds[k];
        if (is_named(kind, argc, argv) && (NULL == kind->needs || *kind->needs)) {
            run(kind);
        }
    }
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (has_window) {
        MPI_Win_free(&window);
    }
    if (0 == rank) {
        unlink(path);
        printf("check_waits: %d wrong results\n", total);
    }
    MPI_Comm_free(&fresh);
    MPI_Finalize();
    return 0 == total ? 0 : 1;
}
