/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The schedules of Alltoall, Bcast and Reduce, to be run on a simulated cluster (SimGrid's SMPI):
 * the network and its contention are simulated, the power of cores is priced here.
 *
 * SMPI's waiting ranks are idle.  Real ones poll, so a core is priced by the state that its rank is
 * in, waiting or not: full speed, lowest frequency, lowest frequency and throttled, as much as a
 * leader's package is or as deeply as it goes; with "asleep" what a rank waits costs what a
 * sleeping core does.  A rank may stand for several cores of a package that do the same: its
 * messages are theirs together.
 *
 *   schedules COLLECTIVE SCHEME BYTES NODES RANKS_PER_NODE CORES_PER_RANK O_DVFS_US O_THROTTLE_US
 *             COPY_BYTES_PER_S T_STATES_PER_CORE
 *
 * Ranks of a node are consecutive, the first half of them is group A (package 0).  Prints one line:
 * seconds, then the core-seconds in each state, then the changes of state of the busiest rank.
 *
 * Source: ICPP 2010, V-A (phases 1-4), V-B; the log schedule as in alltoall_schedule_log.c.
 */
#include <mpi.h>
#include <smpi/smpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FULL, LOW, LEADING, THROTTLED, ASLEEP, STATES };

static struct {
    int rank, size, node, local; /* local: among the ranks of the node */
    int nodes, per_node, half;
    size_t block; /* bytes between two ranks */
    size_t message;
    double o_dvfs_us, o_throttle_us, copy_bytes_s;
    bool levers, throttles, sleeps, per_core;
    MPI_Comm on_node, leaders;
    char *buffer, *other;
} me;

static double spent[STATES];
static double since;
static int state;
static int changes;

/* ---- states ---- */

static void enter(int next)
{
    double now = MPI_Wtime();
    spent[state] += now - since;
    since = now;
    state = next;
}

static void change(int next, double us)
{
    if (state != next) {
        usleep((useconds_t)(us + 0.5)); /* simulated */
        enter(next);
        changes++;
    }
}

static void set_speed(int next)
{
    if (me.levers) {
        change(next, me.o_dvfs_us);
    }
}

static void throttle_to(int next)
{
    if (me.throttles) {
        change(next, me.o_throttle_us);
    }
}

static void throttle(bool on)
{
    throttle_to(on ? THROTTLED : LOW);
}

/* Whatever waits for messages. */
static void begin_wait(void)
{
    if (me.sleeps) {
        enter(ASLEEP);
    }
}

static void end_wait(void)
{
    if (me.sleeps) {
        enter(FULL);
    }
}

/* ---- words ---- */

static int group(void)
{
    return me.local / me.half;
}

static int rank_of(int node, int local)
{
    return node * me.per_node + local;
}

static void exchange(int to, int from)
{
    begin_wait();
    MPI_Sendrecv(me.buffer, (int)me.block, MPI_BYTE, to, 0, me.other, (int)me.block, MPI_BYTE, from,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end_wait();
}

static void meet_on_node(void)
{
    begin_wait();
    MPI_Barrier(me.on_node);
    end_wait();
}

/* ---- Alltoall ---- */

static void pairwise(void)
{
    for (int i = 1; i < me.size; i++) {
        exchange((me.rank + i) % me.size, (me.rank - i + me.size) % me.size);
    }
}

/* With the ranks of a group: to those of one node, from those of another. */
static void exchange_with(int to, int from, int of_group)
{
    int first = of_group * me.half;
    for (int k = 0; k < me.half; k++) {
        int peer = (me.local % me.half + k) % me.half;
        int back = (me.local % me.half - k + me.half) % me.half;
        exchange(rank_of(to, first + peer), rank_of(from, first + back));
    }
}

static void within_nodes(void)
{
    for (int i = 1; i < me.per_node; i++) {
        exchange(rank_of(me.node, (me.local + i) % me.per_node),
                 rank_of(me.node, (me.local - i + me.per_node) % me.per_node));
    }
}

/* Phases 2 and 3: the ranks of one group, everywhere. */
static void same_group(int active)
{
    bool mine = group() == active;
    throttle(!mine);
    for (int d = 1; mine && d < me.nodes; d++) {
        exchange_with((me.node + d) % me.nodes, (me.node - d + me.nodes) % me.nodes, active);
    }
    meet_on_node();
}

/* Phase 4, a step: on nodes of the one side A is active, on those of the other B. */
static void half_step(const int *partners, int num, bool lower)
{
    for (int turn = 0; turn < 2; turn++) {
        int active = lower == (0 == turn) ? 0 : 1;
        bool mine = group() == active;
        throttle(!mine);
        for (int i = 0; mine && i < num; i++) {
            exchange_with(partners[i], partners[i], 1 - active);
        }
        meet_on_node();
    }
}

/* Nodes meet in rounds of pairs, whose number is a power of two here. */
static void pairs_paper(void)
{
    for (int bits = 1; bits < me.nodes; bits++) {
        int partner = me.node ^ bits;
        half_step(&partner, 1, me.node < partner);
    }
}

/* Round k: all pairs of nodes whose numbers first differ in bit k. */
static void pairs_log(void)
{
    int *partners = malloc((size_t)me.nodes * sizeof *partners);
    for (int bit = 1; bit < me.nodes; bit *= 2) {
        int num = 0;
        for (int high = 0; high < me.nodes; high += 2 * bit) {
            partners[num++] =
                (me.node ^ bit) % (2 * bit) + (me.node / (2 * bit) * (2 * bit) ^ high);
        }
        half_step(partners, num, 0 == (me.node & bit));
    }
    free(partners);
}

static void alltoall(const char *scheme)
{
    set_speed(LOW);
    if (!me.throttles) {
        pairwise();
    } else {
        within_nodes();
        meet_on_node();
        same_group(0);
        same_group(1);
        if (0 == strcmp(scheme, "throttle-paper")) {
            pairs_paper();
        } else {
            pairs_log();
        }
    }
    throttle(false);
    set_speed(FULL);
}

/* ---- Bcast and Reduce: shared memory, and leaders among themselves ---- */

/* The network phase: where T-states are a package's, a leader shares one that is throttled less. */
static void throttle_for_leaders(void)
{
    if (me.per_core) {
        throttle(me.local != 0);
    } else {
        throttle_to(0 == group() ? LEADING : THROTTLED);
    }
}

/* What one leader has of each piece goes once around. */
static void ring(int piece)
{
    int leader, size;
    MPI_Comm_rank(me.leaders, &leader);
    MPI_Comm_size(me.leaders, &size);
    for (int i = 1; i < size; i++) {
        MPI_Sendrecv(me.buffer, piece, MPI_BYTE, (leader + 1) % size, 1, me.other, piece, MPI_BYTE,
                     (leader - 1 + size) % size, 1, me.leaders, MPI_STATUS_IGNORE);
    }
}

/* Everybody's message once through the node's memory. */
static void copy(void)
{
    usleep((useconds_t)(1e6 * (double)me.message / me.copy_bytes_s + 0.5));
}

/* Leaders scatter and go around; who throttled waits for them, then copies. */
static void bcast(void)
{
    int piece = (int)(me.message / (size_t)me.nodes);
    set_speed(LOW);
    throttle_for_leaders();
    if (0 == me.local) {
        begin_wait();
        MPI_Scatter(me.buffer, piece, MPI_BYTE, me.other, piece, MPI_BYTE, 0, me.leaders);
        ring(piece);
        end_wait();
    }
    meet_on_node();
    throttle(false);
    copy();
    set_speed(FULL);
}

/* The other way round: each rank combines its part of all ranks' messages, leaders go around, then
   gather. */
static void reduce(void)
{
    int piece = (int)(me.message / (size_t)me.nodes);
    set_speed(LOW);
    copy();
    meet_on_node();
    throttle_for_leaders();
    if (0 == me.local) {
        begin_wait();
        ring(piece);
        MPI_Gather(me.buffer, piece, MPI_BYTE, me.other, piece, MPI_BYTE, 0, me.leaders);
        end_wait();
    }
    meet_on_node();
    throttle(false);
    set_speed(FULL);
}

/* ---- all of it ---- */

static void set_up(char **argv)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me.size);
    me.nodes = atoi(argv[4]);
    me.per_node = atoi(argv[5]);
    me.half = me.per_node / 2;
    double cores = atof(argv[6]);
    me.node = me.rank / me.per_node;
    me.local = me.rank % me.per_node;
    me.message = (size_t)atof(argv[3]);
    me.block = (size_t)(atof(argv[3]) * cores * cores);
    me.o_dvfs_us = atof(argv[7]);
    me.o_throttle_us = atof(argv[8]);
    me.copy_bytes_s = atof(argv[9]) / ((double)me.per_node * cores);
    me.per_core = 0 != atoi(argv[10]);
    me.throttles = 0 == strncmp(argv[2], "throttle", 8);
    me.levers = me.throttles || 0 == strcmp(argv[2], "dvfs");
    me.sleeps = 0 == strcmp(argv[2], "asleep");
    size_t room = me.block > me.message ? me.block : me.message;
    me.buffer = SMPI_SHARED_MALLOC(room); /* no data is moved between them */
    me.other = SMPI_SHARED_MALLOC(room);
    MPI_Comm_split(MPI_COMM_WORLD, me.node, me.local, &me.on_node);
    MPI_Comm_split(MPI_COMM_WORLD, me.local, me.node, &me.leaders);
}

static void print(const char *collective, double seconds)
{
    double sums[STATES], longest;
    int most;
    MPI_Reduce(spent, sums, STATES, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&changes, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (0 == me.rank) {
        printf("%s %.9g %.9g %.9g %.9g %.9g %.9g %d\n", collective, longest, sums[FULL], sums[LOW],
               sums[LEADING], sums[THROTTLED], sums[ASLEEP], most);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 11) {
        fprintf(stderr, "schedules: wrong number of arguments, see schedules.c\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    set_up(argv);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    since = begin;
    if (0 == strcmp(argv[1], "alltoall")) {
        alltoall(argv[2]);
    } else if (0 == strcmp(argv[1], "bcast")) {
        bcast();
    } else {
        reduce();
    }
    begin_wait();
    MPI_Barrier(MPI_COMM_WORLD); /* who is through polls until all are */
    end_wait();
    enter(state);
    print(argv[1], MPI_Wtime() - begin);
    MPI_Finalize();
    return 0;
}
