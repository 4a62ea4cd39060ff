/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Puts point-to-point and one-sided traffic on whatever transport Open MPI was told to use and
 * verifies every byte.  It needs no plug-in of ours: where it fails, the transport is to blame, not
 * us.
 */
#include "config.h"

#include "traffic.h"

#include <stdio.h>
#include <string.h>

/* Across the eager limits of vader/sm (4 KiB) and tcp (64 KiB), on them and to both sides, and the
   fragment sizes beyond; the last one is odd. */
static const size_t sizes[] = {
    0,
    1,
    3,
    8,
    64,
    1021,
    4032,
    4095,
    4096,
    4097,
    16384,
    32769,
    65472,
    65535,
    65536,
    65537,
    131072,
    262147,
    524288,
    PWR_LOAD_SIZE_MAX - 1,
    PWR_LOAD_SIZE_MAX,
    PWR_LOAD_SIZE_MAX + 13,
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void print_help(void)
{
    printf("usage: mpirun -np N transports [TRAFFIC...]\n"
           "Sends messages of 0 to %zu bytes between all ranks and verifies every byte.\n"
           "Without TRAFFIC all kinds run:\n",
           sizes[SIZES - 1]);
    for (size_t i = 0; i < pwr_traffic_count; i++) {
        printf("  %-12s %s\n", pwr_traffics[i].name, pwr_traffics[i].help);
    }
    printf("exit status: 0, 1 (something arrived wrong: one line says what), 2 (arguments)\n");
}

static bool wanted(const pwr_traffic_t *traffic, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], traffic->name) == 0) {
            return true;
        }
    }
    return argc < 2;
}

static bool is_traffic(const char *name)
{
    for (size_t i = 0; i < pwr_traffic_count; i++) {
        if (strcmp(name, pwr_traffics[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* The first argument that names no traffic, or NULL. */
static const char *unknown_argument(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!is_traffic(argv[i])) {
            return argv[i];
        }
    }
    return NULL;
}

static void open_load(pwr_load_t *load)
{
    /* The most any traffic uses: a window, one message for each rank, or blocks with gaps. */
    size_t slots = load->np > PWR_LOAD_WINDOW ? (size_t)load->np : PWR_LOAD_WINDOW;
    size_t capacity = slots * sizes[SIZES - 1];
    if (!pwr_buffer_open(&load->send, capacity) || !pwr_buffer_open(&load->recv, capacity)) {
        pwr_load_fail(load, "no memory for two buffers of %zu bytes", capacity);
    }
}

static void run_traffic(pwr_load_t *load, const pwr_traffic_t *traffic)
{
    load->traffic = traffic->name;
    for (size_t i = 0; i < SIZES; i++) {
        traffic->run(load, sizes[i]);
    }
}

static void run_wanted(pwr_load_t *load, int argc, char **argv)
{
    unsigned long checks = 0;
    open_load(load);
    for (size_t i = 0; i < pwr_traffic_count; i++) {
        if (wanted(&pwr_traffics[i], argc, argv)) {
            run_traffic(load, &pwr_traffics[i]);
        }
    }
    pwr_buffer_release(&load->send);
    pwr_buffer_release(&load->recv);
    MPI_Reduce(&load->checks, &checks, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, load->comm);
    if (load->rank == 0) {
        printf("%lu checks ok\n", checks);
    }
}

int main(int argc, char **argv)
{
    pwr_load_t load = {.comm = MPI_COMM_WORLD, .traffic = "start"};
    int status = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(load.comm, &load.np);
    MPI_Comm_rank(load.comm, &load.rank);
    const char *unknown = unknown_argument(argc, argv);
    if (unknown && (strcmp(unknown, "--help") == 0 || strcmp(unknown, "-h") == 0)) {
        if (load.rank == 0) {
            print_help();
        }
    } else if (unknown) {
        if (load.rank == 0) {
            fprintf(stderr, "transports: unknown argument \"%s\" (--help lists them)\n", unknown);
        }
        status = 2;
    } else {
        run_wanted(&load, argc, argv);
    }
    MPI_Finalize();
    return status;
}
