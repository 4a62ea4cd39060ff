/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A job in power-aware collectives, one rank of which ends at some moment in the way it is told.
 *
 *   mpirun -np N victim WAY RANK DELAY_US
 *
 * All ranks make Alltoalls until RANK ends, DELAY_US after the first one.  Ways:
 *
 *   finalize         as a program should; the delay does not matter
 *   exit             exit() without MPI_Finalize
 *   abort            MPI_Abort
 *   segv term kill   by that signal, at any instruction
 *   launcher         SIGKILL of the launcher's process on this node, then of nobody
 *   guardian-first   SIGKILL of all guardians of this node, DELAY_US later of the rank
 *   guardian-after   SIGKILL of the rank, then at once of all guardians of this node
 */
#include <mpi.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { BLOCK = 20000, CALLS_BEFORE_FINALIZE = 20 };

static const char *way;
static volatile sig_atomic_t due;

/* ---- guardians ---- */

static bool is_guardian(const char *pid)
{
    char path[64];
    char name[32] = "";
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *file = fopen(path, "re");
    if (NULL != file) {
        if (NULL == fgets(name, sizeof name, file)) {
            name[0] = '\0';
        }
        fclose(file);
    }
    return 0 == strncmp(name, "poweraware-guar", 15); /* the kernel keeps 15 bytes */
}

static void kill_guardians(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (NULL != proc && NULL != (entry = readdir(proc))) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_guardian(entry->d_name)) {
            kill((pid_t)atol(entry->d_name), SIGKILL);
        }
    }
    if (NULL != proc) {
        closedir(proc);
    }
}

/* A process that outlives us, and kills the guardians as soon as we are dead. */
static void leave_an_avenger(void)
{
    int alive[2];
    if (0 != pipe(alive)) {
        perror("victim: pipe");
        exit(2);
    }
    pid_t child = fork();
    if (0 == child) {
        char byte;
        setsid();
        close(alive[1]);
        while (read(alive[0], &byte, 1) < 0 && EINTR == errno) {
        }
        kill_guardians();
        _exit(0);
    }
    close(alive[0]); /* the other end closes with our death */
}

/* ---- the end ---- */

static int signal_of(const char *name)
{
    static const struct {
        const char *way;
        int signal;
    } signals[] = {{"segv", SIGSEGV},
                   {"term", SIGTERM},
                   {"kill", SIGKILL},
                   {"guardian-first", SIGKILL},
                   {"guardian-after", SIGKILL}};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        if (0 == strcmp(name, signals[i].way)) {
            return signals[i].signal;
        }
    }
    return 0;
}

/* Wherever the rank is: in a system call that moves a lever, or between two of them. */
static void on_time(int number)
{
    (void)number;
    int signal = signal_of(way);
    if (0 != signal) {
        kill(getpid(), signal);
    } else if (0 == strcmp(way, "launcher")) {
        kill(getppid(), SIGKILL);
    } else {
        due = 1;
    }
}

static void start_clock(long delay_us)
{
    struct itimerval delay = {
        .it_value = {.tv_sec = delay_us / 1000000, .tv_usec = delay_us % 1000000 + 1}};
    signal(SIGALRM, on_time);
    if (0 == strcmp(way, "guardian-first")) {
        kill_guardians();
    } else if (0 == strcmp(way, "guardian-after")) {
        leave_an_avenger();
    }
    setitimer(ITIMER_REAL, &delay, NULL);
}

int main(int argc, char **argv)
{
    int rank;
    int size;
    if (argc != 4) {
        fprintf(stderr, "usage: victim WAY RANK DELAY_US\n");
        return 2;
    }
    way = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bool finalize = 0 == strcmp(way, "finalize");
    bool mine = !finalize && rank == atoi(argv[2]);
    char *sbuf = calloc((size_t)size, BLOCK);
    char *rbuf = calloc((size_t)size, BLOCK);
    if (NULL == sbuf || NULL == rbuf) {
        fprintf(stderr, "victim: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (long call = 0; !finalize || call < CALLS_BEFORE_FINALIZE; ++call) {
        MPI_Alltoall(sbuf, BLOCK, MPI_BYTE, rbuf, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
        if (mine && 0 == call) {
            start_clock(atol(argv[3]));
        }
        if (mine && due) {
            if (0 == strcmp(way, "abort")) {
                MPI_Abort(MPI_COMM_WORLD, 3);
            }
            exit(4);
        }
    }
    free(sbuf);
    free(rbuf);
    MPI_Finalize();
    return 0;
}
