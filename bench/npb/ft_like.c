/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * FT's communication: a partial differential equation solved by three-dimensional FFTs, whose
 * transposes are one MPI_Alltoall each.
 *
 * The grid is u[z][y][x].  In space each rank has some y and all of x and z, as [y][z][x]; after
 * the transpose some x and all of y and z, as [x][z][y], where the transform along y is done, too.
 * 1. The transform of random numbers.  2. Per iteration: the factors of one more time step, the
 * transform back, and the sum of 1024 points of it, which is compared with what NPB publishes.
 * Its phases are regions: initialize, transform, transpose, evolve, checksum.
 */
#include "config.h"

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "../../regions/poweraware.h"

typedef double _Complex value_t;

static const pwr_npb_class_t classes[] = {
    {'S', 6, {64, 64, 64}},     {'W', 6, {128, 128, 32}},   {'A', 6, {256, 256, 128}},
    {'B', 20, {512, 256, 256}}, {'C', 20, {512, 512, 512}}, {0, 0, {0}},
};

/* The sums after the first and the last iteration, over the number of points (NPB 3.4, FT). */
static const struct {
    char class;
    double first[2];
    double last[2];
} published[] = {
    {'S', {554.6087004964, 484.5363331978}, {554.2683411902, 493.2597244941}},
    {'W', {567.3612178944, 529.3246849175}, {550.4159734538, 523.9212247086}},
    {'A', {504.6735008193, 511.4047905510}, {509.1487099959, 510.7917842803}},
    {'B', {517.7643571579, 507.7803458597}, {512.4146770029, 511.5744692211}},
    {'C', {519.5078707457, 514.9019699238}, {512.9714421109, 512.3465164008}},
};

typedef struct grid {
    int n[3];
    int np;
    int rank;
    int ys; /* that this rank has, in space */
    int xs; /* that it has, transposed */
    size_t points;
    value_t *space;      /* [ys][z][x] */
    value_t *transposed; /* [xs][z][y] */
    value_t *out;
    value_t *in;
    fftw_plan along[3][2]; /* one line of x, one plane of z, all lines of y; forward, backward */
} grid_t;

enum { X, Y, Z };
enum { FORWARD, BACKWARD };

static grid_t make_grid(const pwr_npb_run_t *run)
{
    grid_t g = {.np = run->np, .rank = run->rank};
    memcpy(g.n, run->class->size, sizeof g.n);
    if (g.n[X] % g.np != 0 || g.n[Y] % g.np != 0) {
        pwr_npb_refuse(run,
                       "%d processes do not divide %d x %d lines: take a power of two up to %d",
                       g.np, g.n[X], g.n[Y], g.n[X] < g.n[Y] ? g.n[X] : g.n[Y]);
    }
    g.ys = g.n[Y] / g.np;
    g.xs = g.n[X] / g.np;
    g.points = (size_t)g.n[X] * (size_t)g.n[Z] * (size_t)g.ys;
    value_t **parts[] = {&g.space, &g.transposed, &g.out, &g.in};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i] = pwr_npb_allocate(g.points * sizeof(value_t));
    }
    for (int back = 0; back < 2; back++) {
        int sign = back == FORWARD ? FFTW_FORWARD : FFTW_BACKWARD;
        unsigned how = FFTW_ESTIMATE | FFTW_UNALIGNED;
        int nx = g.n[X];
        int ny = g.n[Y];
        int nz = g.n[Z];
        g.along[X][back] =
            fftw_plan_many_dft(1, &nx, nz, g.space, NULL, 1, nx, g.space, NULL, 1, nx, sign, how);
        g.along[Z][back] =
            fftw_plan_many_dft(1, &nz, nx, g.space, NULL, nx, 1, g.space, NULL, nx, 1, sign, how);
        g.along[Y][back] = fftw_plan_many_dft(1, &ny, nz * g.xs, g.transposed, NULL, 1, ny,
                                              g.transposed, NULL, 1, ny, sign, how);
    }
    return g;
}

static void free_grid(grid_t *g)
{
    for (int i = 0; i < 3; i++) {
        fftw_destroy_plan(g->along[i][FORWARD]);
        fftw_destroy_plan(g->along[i][BACKWARD]);
    }
    fftw_cleanup();
    free(g->space);
    free(g->transposed);
    free(g->out);
    free(g->in);
}

/* ---- transposes ---- */

static size_t in_space(const grid_t *g, int y, int z, int x)
{
    return ((size_t)y * (size_t)g->n[Z] + (size_t)z) * (size_t)g->n[X] + (size_t)x;
}

static size_t in_transposed(const grid_t *g, int x, int z, int y)
{
    return ((size_t)x * (size_t)g->n[Z] + (size_t)z) * (size_t)g->n[Y] + (size_t)y;
}

/* Blocks are [peer][y of one rank][z][x of one rank], whoever sends. */
static size_t in_block(const grid_t *g, int peer, int y, int z, int x)
{
    return (((size_t)peer * (size_t)g->ys + (size_t)y) * (size_t)g->n[Z] + (size_t)z) *
               (size_t)g->xs +
           (size_t)x;
}

static void exchange(grid_t *g, pwr_npb_run_t *run)
{
    int count = (int)(2 * g->points / (size_t)g->np);
    double begin = MPI_Wtime();
    MPI_Alltoall(g->out, count, MPI_DOUBLE, g->in, count, MPI_DOUBLE, MPI_COMM_WORLD);
    run->inside_s += MPI_Wtime() - begin;
}

#define EACH_OF_BLOCKS(g, peer, y, z, x)                                                           \
    for (int peer = 0; peer < (g)->np; peer++)                                                     \
        for (int y = 0; y < (g)->ys; y++)                                                          \
            for (int z = 0; z < (g)->n[Z]; z++)                                                    \
                for (int x = 0; x < (g)->xs; x++)

static void to_transposed(grid_t *g, pwr_npb_run_t *run)
{
    poweraware_region_begin("transpose");
    EACH_OF_BLOCKS(g, peer, y, z, x)
    {
        g->out[in_block(g, peer, y, z, x)] = g->space[in_space(g, y, z, peer * g->xs + x)];
    }
    exchange(g, run);
    EACH_OF_BLOCKS(g, peer, y, z, x)
    {
        g->transposed[in_transposed(g, x, z, peer * g->ys + y)] = g->in[in_block(g, peer, y, z, x)];
    }
    poweraware_region_end("transpose");
}

static void to_space(grid_t *g, pwr_npb_run_t *run)
{
    poweraware_region_begin("transpose");
    EACH_OF_BLOCKS(g, peer, y, z, x)
    {
        g->out[in_block(g, peer, y, z, x)] =
            g->transposed[in_transposed(g, x, z, peer * g->ys + y)];
    }
    exchange(g, run);
    EACH_OF_BLOCKS(g, peer, y, z, x)
    {
        g->space[in_space(g, y, z, peer * g->xs + x)] = g->in[in_block(g, peer, y, z, x)];
    }
    poweraware_region_end("transpose");
}

/* ---- transforms ---- */

static void transform_planes(grid_t *g, int direction)
{
    poweraware_region_begin("transform");
    for (int y = 0; y < g->ys; y++) {
        value_t *plane = g->space + in_space(g, y, 0, 0);
        fftw_execute_dft(g->along[X][direction], plane, plane);
        fftw_execute_dft(g->along[Z][direction], plane, plane);
    }
    poweraware_region_end("transform");
}

static void transform_lines(grid_t *g, int direction)
{
    poweraware_region_begin("transform");
    fftw_execute(g->along[Y][direction]);
    poweraware_region_end("transform");
}

static void forward(grid_t *g, pwr_npb_run_t *run)
{
    transform_planes(g, FORWARD);
    to_transposed(g, run);
    transform_lines(g, FORWARD);
}

static void backward(grid_t *g, pwr_npb_run_t *run)
{
    transform_lines(g, BACKWARD);
    to_space(g, run);
    transform_planes(g, BACKWARD);
}

/* ---- the equation ---- */

/* Real and imaginary parts in turns; x moves fastest, then y, then z. */
static void set_initial(grid_t *g)
{
    for (int y = 0; y < g->ys; y++) {
        for (int z = 0; z < g->n[Z]; z++) {
            uint64_t line = (uint64_t)z * (uint64_t)g->n[Y] + (uint64_t)(g->rank * g->ys + y);
            pwr_npb_random_t random = pwr_npb_random_at(2 * line * (uint64_t)g->n[X]);
            value_t *to = g->space + in_space(g, y, z, 0);
            for (int x = 0; x < g->n[X]; x++) {
                double real = pwr_npb_random(&random);
                to[x] = real + pwr_npb_random(&random) * I;
            }
        }
    }
}

static double squared_frequency(int k, int n)
{
    int signed_k = k < n / 2 ? k : k - n;
    return (double)signed_k * signed_k;
}

static const double alpha = 1e-6;
static const double pi = 3.14159265358979323846;

/* What each frequency decays by in one step. */
static void set_decay(const grid_t *g, double *decay)
{
    for (int x = 0; x < g->xs; x++) {
        for (int z = 0; z < g->n[Z]; z++) {
            for (int y = 0; y < g->n[Y]; y++) {
                double k2 = squared_frequency(g->rank * g->xs + x, g->n[X]) +
                            squared_frequency(y, g->n[Y]) + squared_frequency(z, g->n[Z]);
                decay[in_transposed(g, x, z, y)] = exp(-4 * alpha * pi * pi * k2);
            }
        }
    }
}

static void step(grid_t *g, value_t *frequencies, const double *decay)
{
    poweraware_region_begin("evolve");
    for (size_t i = 0; i < g->points; i++) {
        frequencies[i] *= decay[i];
        g->transposed[i] = frequencies[i];
    }
    poweraware_region_end("evolve");
}

/* Of the points (j mod nx, 3j mod ny, 5j mod nz), j = 1 .. 1024. */
static value_t sum_of_points(const grid_t *g)
{
    enum { POINTS = 1024 };
    poweraware_region_begin("checksum");
    value_t mine = 0;
    for (int j = 1; j <= POINTS; j++) {
        int y = 3 * j % g->n[Y] - g->rank * g->ys;
        if (y >= 0 && y < g->ys) {
            mine += g->space[in_space(g, y, 5 * j % g->n[Z], j % g->n[X])];
        }
    }
    value_t sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    poweraware_region_end("checksum");
    return sum / ((double)g->n[X] * g->n[Y] * g->n[Z]);
}

/* ---- verification ---- */

static bool is_published(const pwr_npb_run_t *run, int iteration, value_t sum)
{
    const double tolerance = 1e-12;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        if (published[i].class == run->class->name) {
            const double *wanted = iteration == 1 ? published[i].first : published[i].last;
            value_t expected = wanted[0] + wanted[1] * I;
            return cabs(sum - expected) <= tolerance * cabs(expected);
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    pwr_npb_run_t run = pwr_npb_start("FT", classes, argc, argv);
    grid_t g = make_grid(&run);
    value_t *frequencies = pwr_npb_allocate(g.points * sizeof *frequencies);
    double *decay = pwr_npb_allocate(g.points * sizeof *decay);

    pwr_npb_begin(&run);
    poweraware_region_begin("initialize");
    set_initial(&g);
    set_decay(&g, decay);
    poweraware_region_end("initialize");
    forward(&g, &run);
    memcpy(frequencies, g.transposed, g.points * sizeof *frequencies);
    bool right = true;
    for (int iteration = 1; iteration <= run.class->iterations; iteration++) {
        step(&g, frequencies, decay);
        backward(&g, &run);
        value_t sum = sum_of_points(&g);
        if (run.rank == 0) {
            printf("T = %2d  checksum = %.12e %.12e\n", iteration, creal(sum), cimag(sum));
        }
        if (iteration == 1 || iteration == run.class->iterations) {
            right = is_published(&run, iteration, sum) && right;
        }
    }
    pwr_npb_end(&run);

    int status = pwr_npb_report(&run, right);
    free(frequencies);
    free(decay);
    free_grid(&g);
    MPI_Finalize();
    return status;
}
