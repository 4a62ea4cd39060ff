/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random Alltoall, Alltoallv and Alltoallw, in place too, against bytes computed without MPI.
 *
 * The bytes that rank i sends to rank j are a function of the call's seed, i, j and the position in
 * the packed block.  Blocks are described by different datatypes of one signature, lie in random
 * order with holes between them, and are now and then longer than a call's temporary memory.
 * Whatever is not data must stay as it was, in the send buffer everything.
 */
#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 4, MAX_RANKS = 64, FILL = 0xA5, ROOM = 64 };

/* ---- datatypes: the same basic items in different places ---- */
typedef struct layout {
    int signature;
    int items;
    int offsets[MAX_ITEMS];
    int extent;
} layout_t;

/* 0: one byte; 1: two ints; 2: char, double, short, double complex */
static const layout_t layouts[] = {
    {0, 1, {0}, 1},
    {0, 1, {2}, 3},
    {1, 2, {0, 4}, 8},
    {1, 2, {0, 12}, 16},
    {1, 2, {-8, 4}, 24},
    {1, 2, {12, 0}, 16},
    {2, 4, {0, 8, 16, 32}, 48},
    {2, 4, {40, 32, 28, 0}, 64},
    {2, 4, {-16, 8, 0, 16}, 96},
};
enum { NUM_LAYOUTS = sizeof layouts / sizeof layouts[0], NUM_SIGNATURES = 3 };
static MPI_Datatype types[NUM_LAYOUTS];
static const int first_layout[NUM_SIGNATURES + 1] = {0, 2, 6, 9};

static MPI_Datatype item_type(int signature, int item)
{
    const MPI_Datatype mixed[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_C_DOUBLE_COMPLEX};
    return 0 == signature ? MPI_BYTE : 1 == signature ? MPI_INT : mixed[item];
}

static int item_size(int signature, int item)
{
    static const int mixed[] = {1, 8, 2, 16};
    return 0 == signature ? 1 : 1 == signature ? 4 : mixed[item];
}

static int element_size(int signature)
{
    return 0 == signature ? 1 : 1 == signature ? 8 : 27;
}

static void make_types(void)
{
    for (int i = 0; i < NUM_LAYOUTS; ++i) {
        const layout_t *l = &layouts[i];
        MPI_Aint displs[MAX_ITEMS];
        MPI_Datatype items[MAX_ITEMS];
        int ones[MAX_ITEMS];
        for (int k = 0; k < l->items; ++k) {
            displs[k] = l->offsets[k];
            items[k] = item_type(l->signature, k);
            ones[k] = 1;
        }
        MPI_Datatype plain;
        MPI_Type_create_struct(l->items, ones, displs, items, &plain);
        MPI_Type_create_resized(plain, 0, l->extent, &types[i]);
        MPI_Type_commit(&types[i]);
        MPI_Type_free(&plain);
    }
}

/* ---- random numbers, the same on every rank ---- */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = mix(*state);
    return (unsigned)(*state >> 33) % below;
}

static unsigned of_pair(uint64_t seed, int what, int i, int j, unsigned below)
{
    uint64_t state = seed ^ ((uint64_t)what << 48) ^ ((uint64_t)i << 24) ^ (uint64_t)j;
    return draw(&state, below);
}

/* ---- one call ---- */
enum kind { ALLTOALL, ALLTOALLV, ALLTOALLW, NUM_KINDS };
static const char *const kind_names[NUM_KINDS] = {"alltoall", "alltoallv", "alltoallw"};

typedef struct call {
    uint64_t seed;
    enum kind kind;
    bool in_place;
    unsigned most; /* bytes of a block, about */
    MPI_Comm comm;
    int rank;
    int size;
} call_t;

static int signature_of(const call_t *c, int i, int j)
{
    bool per_pair = ALLTOALLW == c->kind;
    int low = per_pair ? (i < j ? i : j) : 0;
    int high = per_pair ? (i < j ? j : i) : 0;
    return (int)of_pair(c->seed, 1, low, high, NUM_SIGNATURES);
}

static int count_of(const call_t *c, int from, int to)
{
    int i = from;
    int j = to;
    if (ALLTOALL == c->kind) {
        i = j = 0;
    } else if (c->in_place && i > j) {
        i = to;
        j = from;
    }
    unsigned most = c->most / (unsigned)element_size(signature_of(c, from, to));
    unsigned shape = of_pair(c->seed, 2, i, j, 5);
    unsigned count = of_pair(c->seed, 3, i, j, 0 == shape ? most + 1 : most / 16 + 3);
    return 1 == shape ? 0 : (int)count;
}

/* Which of the signature's layouts owner uses for the blocks of peer in its buffer (0 send, 1
 * receive). */
static int layout_of(const call_t *c, int buffer, int owner, int peer)
{
    int signature = signature_of(c, owner, peer);
    unsigned choices = (unsigned)(first_layout[signature + 1] - first_layout[signature]);
    bool all_alike = ALLTOALL == c->kind && c->in_place; /* MPI wants one type there */
    int i = all_alike ? 0 : owner;
    int j = ALLTOALLW == c->kind ? peer : 0;
    return first_layout[signature] + (int)of_pair(c->seed, 4 + buffer, i, j, choices);
}

typedef struct buffer {
    unsigned char *base;
    unsigned char *data;
    size_t size;
    int counts[MAX_RANKS];
    int displs[MAX_RANKS];
    int layout[MAX_RANKS];
    MPI_Datatype datatypes[MAX_RANKS];
} buffer_t;

static size_t bytes_between(const call_t *c, const layout_t *l, uint64_t *random)
{
    size_t extent = (size_t)l->extent;
    size_t holes = ALLTOALL == c->kind ? 0 : draw(random, 3);
    return holes * (ALLTOALLW == c->kind ? 1 : extent);
}

/* Blocks in an order of their own; displacements as MPI wants them. */
static void place(const call_t *c, int which, buffer_t *b)
{
    uint64_t random = mix(c->seed ^ (uint64_t)(which * 1000 + c->rank));
    unsigned start = ALLTOALL == c->kind ? 0 : draw(&random, (unsigned)c->size);
    size_t at = 0;
    for (int k = 0; k < c->size; ++k) {
        int peer = (int)((start + (unsigned)k) % (unsigned)c->size);
        b->layout[peer] = layout_of(c, which, c->rank, peer);
        const layout_t *l = &layouts[b->layout[peer]];
        b->datatypes[peer] = types[b->layout[peer]];
        b->counts[peer] = 0 == which ? count_of(c, c->rank, peer) : count_of(c, peer, c->rank);
        at += bytes_between(c, l, &random);
        if (ALLTOALLW == c->kind) {
            at += ROOM; /* elements begin before and end behind their extent */
        }
        b->displs[peer] = (int)(ALLTOALLW == c->kind ? at : at / (size_t)l->extent);
        at += (size_t)b->counts[peer] * (size_t)l->extent + (ALLTOALLW == c->kind ? ROOM : 0);
    }
    b->size = at + 4 * ROOM;
    b->base = malloc(b->size);
    if (NULL == b->base) {
        fprintf(stderr, "check_alltoall: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    memset(b->base, FILL, b->size);
    b->data = b->base + 2 * ROOM;
}

static void fill_block(const call_t *c, const buffer_t *b, int peer, int from, int to)
{
    const layout_t *l = &layouts[b->layout[peer]];
    ptrdiff_t unit = ALLTOALLW == c->kind ? 1 : l->extent;
    unsigned char *element = b->data + b->displs[peer] * unit;
    uint64_t key = mix(c->seed ^ ((uint64_t)from << 40) ^ ((uint64_t)to << 20));
    uint64_t index = 0;
    for (int e = 0; e < b->counts[peer]; ++e, element += l->extent) {
        for (int k = 0; k < l->items; ++k) {
            for (int n = 0; n < item_size(l->signature, k); ++n, ++index) {
                element[l->offsets[k] + n] = (unsigned char)((key >> (index % 7 * 8)) + index * 31);
            }
        }
    }
}

static void fill(const call_t *c, const buffer_t *b, bool sent)
{
    for (int peer = 0; peer < c->size; ++peer) {
        fill_block(c, b, peer, sent ? c->rank : peer, sent ? peer : c->rank);
    }
}

static void run(const call_t *c, const buffer_t *s, const buffer_t *r)
{
    const void *sbuf = c->in_place ? MPI_IN_PLACE : s->data;
    if (ALLTOALL == c->kind) {
        MPI_Alltoall(sbuf, s->counts[0], s->datatypes[0], r->data, r->counts[0], r->datatypes[0],
                     c->comm);
    } else if (ALLTOALLV == c->kind) {
        MPI_Alltoallv(sbuf, s->counts, s->displs, s->datatypes[0], r->data, r->counts, r->displs,
                      r->datatypes[0], c->comm);
    } else {
        MPI_Alltoallw(sbuf, s->counts, s->displs, s->datatypes, r->data, r->counts, r->displs,
                      r->datatypes, c->comm);
    }
}

static long differs(const call_t *c, const char *what, const buffer_t *got, const buffer_t *want)
{
    if (0 == memcmp(got->base, want->base, got->size)) {
        return 0;
    }
    size_t i = 0;
    while (got->base[i] == want->base[i]) {
        ++i;
    }
    fprintf(stderr,
            "check_alltoall: %s%s wrong: call seed 0x%llx, rank %d of %d: byte %td of the %s "
            "buffer is 0x%02x, expected 0x%02x\n",
            kind_names[c->kind], c->in_place ? " in place" : "", (unsigned long long)c->seed,
            c->rank, c->size, (ptrdiff_t)i - 2 * ROOM, what, got->base[i], want->base[i]);
    return 1;
}

static long check(const call_t *c, bool fault)
{
    buffer_t send;
    buffer_t sent;
    buffer_t recv;
    buffer_t want;
    place(c, 0, &send);
    place(c, 0, &sent);
    place(c, 1, &recv);
    place(c, 1, &want);
    fill(c, &send, true);
    fill(c, &sent, true);
    fill(c, &want, false);
    if (c->in_place) {
        fill(c, &recv, true);
    }
    run(c, &send, &recv);
    if (fault) {
        recv.base[(c->seed >> 8) % recv.size] ^= 0x40;
    }
    long wrong = differs(c, "receive", &recv, &want) + differs(c, "send", &send, &sent);
    free(send.base);
    free(sent.base);
    free(recv.base);
    free(want.base);
    return wrong;
}

typedef struct options {
    uint64_t seed;
    long calls;
    unsigned most;
    bool fault;
} options_t;

static long check_calls(const options_t *options)
{
    call_t c = {.most = options->most};
    MPI_Comm comms[2];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 1, -rank, &comms[1]);
    uint64_t random = mix(options->seed);
    long wrong = 0;
    for (long i = 0; i < options->calls; ++i) {
        c.comm = comms[draw(&random, 3) == 0];
        c.kind = (enum kind)draw(&random, NUM_KINDS);
        c.in_place = 0 == draw(&random, 2);
        c.seed = random;
        MPI_Comm_rank(c.comm, &c.rank);
        MPI_Comm_size(c.comm, &c.size);
        if (c.size < 2) {
            continue; /* not ours; stock Alltoallw of one rank takes displacements for elements */
        }
        wrong += check(&c, options->fault && 0 == rank);
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    return wrong;
}

static bool parse(int argc, char **argv, options_t *options)
{
    static const struct option longs[] = {
        {"seed", required_argument, NULL, 's'},
        {"calls", required_argument, NULL, 'n'},
        {"most", required_argument, NULL, 'm'},
        {"fault", no_argument, NULL, 'f'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while (-1 != (option = getopt_long(argc, argv, "", longs, NULL))) {
        switch (option) {
        case 's':
            options->seed = strtoull(optarg, NULL, 0);
            break;
        case 'n':
            options->calls = strtol(optarg, NULL, 0);
            break;
        case 'm':
            options->most = (unsigned)strtoul(optarg, NULL, 0);
            break;
        case 'f':
            options->fault = true;
            break;
        default:
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    options_t options = {.seed = 1, .calls = 200, .most = 400000};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr, "usage: check_alltoall [--seed S] [--calls N] [--most BYTES] [--fault]\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    int rank;
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size > MAX_RANKS) {
        fprintf(stderr, "check_alltoall: at most %d ranks\n", MAX_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    make_types();
    long mine = check_calls(&options);
    long wrong;
    MPI_Allreduce(&mine, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < NUM_LAYOUTS; ++i) {
        MPI_Type_free(&types[i]);
    }
    if (0 == rank) {
        printf("check_alltoall: %ld calls, %ld wrong results\n", options.calls, wrong);
    }
    MPI_Finalize();
    return wrong > 0 ? 1 : 0;
}
