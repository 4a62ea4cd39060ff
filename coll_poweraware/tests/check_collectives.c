/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Random calls of Alltoall, Bcast and Reduce, every byte compared with a sequential oracle.
 *
 *   mpirun -np N check_collectives [--seed S] [--calls N] [--max-ints N] [--threads T] [--fault]
 *
 * All ranks draw the same random numbers, so they agree on communicator, datatypes, count, root and
 * operator without talking.  The oracle knows where a datatype's integers lie from its own table,
 * not from MPI, and what they must be from (source, destination, index, call).  Gaps and the space
 * around buffers are filled with a pattern and must stay as they were.  --fault flips one byte of
 * one result, to prove that a wrong byte cannot be missed.  A failure names the call's seed.
 */
#include <mpi.h>

#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 128, FILL = 0xA5, MAX_THREADS = 8 };

/* ---- datatypes: `ints` integers of an element at offsets[], elements `extent` bytes apart ---- */
enum { MAX_INTS = 6 };
typedef struct layout {
    const char *name;
    int ints;
    int offsets[MAX_INTS]; /* bytes, may be negative or descending */
    int extent;
} layout_t;

static const layout_t layouts[] = {
    {"contiguous 2 ints", 2, {0, 4}, 8}, {"gap between ints", 2, {0, 12}, 16},
    {"gap behind", 2, {0, 4}, 20},       {"negative lower bound", 2, {-8, 4}, 24},
    {"descending", 2, {12, 0}, 16},      {"interleaved", 2, {0, 12}, 8},
};
enum { NUM_LAYOUTS = sizeof layouts / sizeof layouts[0] };
enum { INTS = 2, LOWEST_OFFSET = 8, HIGHEST_END = 20 };

static MPI_Datatype types[NUM_LAYOUTS];

static void make_types(void)
{
    for (int i = 0; i < NUM_LAYOUTS; ++i) {
        MPI_Aint displacements[MAX_INTS];
        int lengths[MAX_INTS];
        for (int k = 0; k < layouts[i].ints; ++k) {
            displacements[k] = layouts[i].offsets[k];
            lengths[k] = 1;
        }
        MPI_Datatype plain;
        MPI_Type_create_hindexed(layouts[i].ints, lengths, displacements, MPI_INT, &plain);
        MPI_Type_create_resized(plain, 0, layouts[i].extent, &types[i]);
        MPI_Type_commit(&types[i]);
        MPI_Type_free(&plain);
    }
}

/* ---- random numbers and values: the same on every rank ---- */
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

static uint32_t value(uint64_t call_seed, int from, int to, size_t index)
{
    return (uint32_t)mix(call_seed ^ ((uint64_t)from << 40) ^ ((uint64_t)to << 20) ^ index);
}

/* ---- buffers ---- */
typedef struct buffer {
    unsigned char *base;
    size_t size;
    unsigned char *data; /* what MPI is given */
} buffer_t;

static buffer_t buffer_make(size_t elements, int extent)
{
    buffer_t b = {.size = 2 * GUARD + LOWEST_OFFSET + HIGHEST_END + elements * (size_t)extent};
    b.base = malloc(b.size);
    if (NULL == b.base) {
        fprintf(stderr, "check_collectives: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    memset(b.base, FILL, b.size);
    b.data = b.base + GUARD + LOWEST_OFFSET;
    return b;
}

static void put(const buffer_t *b, const layout_t *layout, size_t index, uint32_t v)
{
    size_t element = index / INTS;
    int offset = layout->offsets[index % INTS];
    memcpy(b->data + (ptrdiff_t)element * layout->extent + offset, &v, sizeof v);
}

/* ---- operators on pairs of integers: x -> a x + b, composition is associative, not commutative */
typedef struct affine {
    uint32_t a;
    uint32_t b;
} affine_t;

static affine_t compose(affine_t left, affine_t right)
{
    return (affine_t){left.a * right.a, left.a * right.b + left.b};
}

static affine_t add(affine_t left, affine_t right)
{
    return (affine_t){left.a + right.a, left.b + right.b};
}

static const layout_t *layout_of(MPI_Datatype type)
{
    for (int i = 0; i < NUM_LAYOUTS; ++i) {
        if (types[i] == type) {
            return &layouts[i];
        }
    }
    return NULL;
}

static void apply(affine_t (*combine)(affine_t, affine_t), const char *in, char *inout, int count,
                  MPI_Datatype type)
{
    const layout_t *layout = layout_of(type);
    if (NULL == layout) {
        fprintf(stderr, "check_collectives: operator called with a type that is not ours\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    for (int i = 0; i < count; ++i) {
        const char *x = in + (ptrdiff_t)i * layout->extent;
        char *y = inout + (ptrdiff_t)i * layout->extent;
        affine_t left;
        affine_t right;
        memcpy(&left.a, x + layout->offsets[0], 4);
        memcpy(&left.b, x + layout->offsets[1], 4);
        memcpy(&right.a, y + layout->offsets[0], 4);
        memcpy(&right.b, y + layout->offsets[1], 4);
        affine_t result = combine(left, right);
        memcpy(y + layout->offsets[0], &result.a, 4);
        memcpy(y + layout->offsets[1], &result.b, 4);
    }
}

static void op_compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply(compose, in, inout, *count, *type);
}

static void op_add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    apply(add, in, inout, *count, *type);
}

static MPI_Op compose_op;
static MPI_Op add_op;

/* ---- one run: a communicator family, its random state, its verdict ---- */
enum { NUM_COMMS = 5 };
typedef struct run {
    MPI_Comm comms[NUM_COMMS];
    uint64_t random;
    long calls;
    unsigned max_ints;
    bool fault;
    long failures;
} run_t;

static const char *const comm_names[NUM_COMMS] = {"dup", "reversed", "odd/even", "thirds",
                                                  "all but last"};

static void make_comms(run_t *run, MPI_Comm parent)
{
    int rank;
    int size;
    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    MPI_Comm_dup(parent, &run->comms[0]);
    MPI_Comm_split(parent, 0, size - rank, &run->comms[1]);
    MPI_Comm_split(parent, rank % 2, rank, &run->comms[2]);
    MPI_Comm_split(parent, rank * 3 / size, -rank, &run->comms[3]);
    MPI_Comm_split(parent, size > 1 && rank == size - 1 ? MPI_UNDEFINED : 0, rank, &run->comms[4]);
}

static void free_comms(run_t *run)
{
    for (int i = 0; i < NUM_COMMS; ++i) {
        if (MPI_COMM_NULL != run->comms[i]) {
            MPI_Comm_free(&run->comms[i]);
        }
    }
}

typedef struct call {
    run_t *run;
    uint64_t seed;
    MPI_Comm comm;
    const char *comm_name;
    int rank;
    int size;
    const layout_t *send;
    const layout_t *recv;
    MPI_Datatype send_type;
    MPI_Datatype recv_type;
    int count; /* elements */
    int root;
    bool in_place;
    bool commutative;
} call_t;

static void compare(const call_t *c, const char *what, const buffer_t *got,
                    const buffer_t *expected)
{
    if (c->run->fault && 0 == c->rank) {
        got->base[(c->seed >> 8) % got->size] ^= 0x40;
    }
    if (0 == memcmp(got->base, expected->base, got->size)) {
        return;
    }
    ++c->run->failures;
    for (size_t i = 0; i < got->size; ++i) {
        if (got->base[i] != expected->base[i]) {
            fprintf(stderr,
                    "check_collectives: %s wrong: call seed 0x%llx, communicator %s, rank %d of "
                    "%d, root %d, count %d, send \"%s\", receive \"%s\"%s%s: byte %td is 0x%02x, "
                    "expected 0x%02x\n",
                    what, (unsigned long long)c->seed, c->comm_name, c->rank, c->size, c->root,
                    c->count, c->send->name, c->recv->name, c->in_place ? ", in place" : "",
                    c->commutative ? "" : ", not commutative",
                    (ptrdiff_t)i - (got->data - got->base), got->base[i], expected->base[i]);
            return;
        }
    }
}

static void check_alltoall(const call_t *c)
{
    size_t block = (size_t)c->count * INTS;
    size_t elements = (size_t)c->count * (size_t)c->size;
    const layout_t *send = c->in_place ? c->recv : c->send;
    buffer_t sbuf = buffer_make(elements, send->extent);
    buffer_t rbuf = buffer_make(elements, c->recv->extent);
    buffer_t expected = buffer_make(elements, c->recv->extent);
    for (int peer = 0; peer < c->size; ++peer) {
        for (size_t i = 0; i < block; ++i) {
            size_t at = (size_t)peer * block + i;
            put(c->in_place ? &rbuf : &sbuf, send, at, value(c->seed, c->rank, peer, i));
            put(&expected, c->recv, at, value(c->seed, peer, c->rank, i));
        }
    }
    MPI_Alltoall(c->in_place ? MPI_IN_PLACE : sbuf.data, c->count, c->send_type, rbuf.data,
                 c->count, c->recv_type, c->comm);
    compare(c, "alltoall", &rbuf, &expected);
    free(sbuf.base);
    free(rbuf.base);
    free(expected.base);
}

/* Ranks describe the message by different datatypes with the same signature. */
static void check_bcast(const call_t *c)
{
    bool second = c->rank % 2;
    const layout_t *layout = second ? c->recv : c->send;
    size_t ints = (size_t)c->count * INTS;
    buffer_t buffer = buffer_make((size_t)c->count, layout->extent);
    buffer_t expected = buffer_make((size_t)c->count, layout->extent);
    for (size_t i = 0; i < ints; ++i) {
        uint32_t v = value(c->seed, c->root, 0, i);
        put(&expected, layout, i, v);
        put(&buffer, layout, i, c->rank == c->root ? v : ~v);
    }
    MPI_Bcast(buffer.data, c->count, second ? c->recv_type : c->send_type, c->root, c->comm);
    compare(c, "bcast", &buffer, &expected);
    free(buffer.base);
    free(expected.base);
}

static affine_t operand(const call_t *c, int rank, size_t element)
{
    return (affine_t){value(c->seed, rank, 1, element), value(c->seed, rank, 2, element)};
}

static affine_t reduced(const call_t *c, size_t element)
{
    affine_t sum = operand(c, 0, element);
    for (int rank = 1; rank < c->size; ++rank) {
        affine_t next = operand(c, rank, element);
        sum = c->commutative ? add(sum, next) : compose(sum, next);
    }
    return sum;
}

static void check_reduce(const call_t *c)
{
    bool root = c->rank == c->root;
    bool in_place = c->in_place && root;
    buffer_t sbuf = buffer_make((size_t)c->count, c->send->extent);
    buffer_t rbuf = buffer_make((size_t)c->count, c->send->extent);
    buffer_t expected = buffer_make((size_t)c->count, c->send->extent);
    for (size_t i = 0; i < (size_t)c->count; ++i) {
        affine_t mine = operand(c, c->rank, i);
        put(in_place ? &rbuf : &sbuf, c->send, 2 * i, mine.a);
        put(in_place ? &rbuf : &sbuf, c->send, 2 * i + 1, mine.b);
        if (root) {
            affine_t sum = reduced(c, i);
            put(&expected, c->send, 2 * i, sum.a);
            put(&expected, c->send, 2 * i + 1, sum.b);
        }
    }
    MPI_Reduce(in_place ? MPI_IN_PLACE : sbuf.data, rbuf.data, c->count, c->send_type,
               c->commutative ? add_op : compose_op, c->root, c->comm);
    compare(c, "reduce", &rbuf, &expected);
    free(sbuf.base);
    free(rbuf.base);
    free(expected.base);
}

/* Counts: often 0, 1 and odd small ones, sometimes large. */
static int draw_count(uint64_t *random, unsigned most)
{
    switch (draw(random, 6)) {
    case 0:
        return (int)draw(random, 3);
    case 1:
    case 2:
        return 1 + 2 * (int)draw(random, 50);
    case 3:
        return (int)draw(random, most + 1);
    default:
        return (int)draw(random, most / 16 + 2);
    }
}

static void one_call(run_t *run)
{
    call_t c = {.run = run, .seed = run->random};
    uint64_t random = mix(run->random);
    run->random = random;
    int comm = (int)draw(&random, NUM_COMMS);
    c.comm = run->comms[comm];
    c.comm_name = comm_names[comm];
    if (MPI_COMM_NULL == c.comm) {
        return;
    }
    MPI_Comm_rank(c.comm, &c.rank);
    MPI_Comm_size(c.comm, &c.size);
    int kind = (int)draw(&random, 3);
    int send = (int)draw(&random, NUM_LAYOUTS);
    int recv = (int)draw(&random, NUM_LAYOUTS);
    c.send = &layouts[send];
    c.recv = &layouts[recv];
    c.send_type = types[send];
    c.recv_type = types[recv];
    unsigned most = run->max_ints / INTS;
    c.count = draw_count(&random, 0 == kind ? most / 8 : most);
    c.root = (int)(draw(&random, 1u << 20) % (unsigned)c.size);
    c.in_place = 0 == draw(&random, 4);
    c.commutative = 0 == draw(&random, 2);
    void (*const checks[])(const call_t *) = {check_alltoall, check_bcast, check_reduce};
    checks[kind](&c);
}

static void *run_calls(void *arg)
{
    run_t *run = arg;
    for (long i = 0; i < run->calls; ++i) {
        one_call(run);
    }
    return NULL;
}

static long run_threads(run_t *runs, int threads)
{
    pthread_t ids[MAX_THREADS];
    for (int t = 1; t < threads; ++t) {
        if (0 != pthread_create(&ids[t], NULL, run_calls, &runs[t])) {
            fprintf(stderr, "check_collectives: cannot start a thread\n");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    run_calls(&runs[0]);
    long failures = runs[0].failures;
    for (int t = 1; t < threads; ++t) {
        pthread_join(ids[t], NULL);
        failures += runs[t].failures;
    }
    return failures;
}

typedef struct options {
    uint64_t seed;
    long calls;
    unsigned max_ints;
    int threads;
    bool fault;
} options_t;

static bool parse(int argc, char **argv, options_t *options)
{
    static const struct option longs[] = {
        {"seed", required_argument, NULL, 's'},     {"calls", required_argument, NULL, 'n'},
        {"max-ints", required_argument, NULL, 'm'}, {"threads", required_argument, NULL, 't'},
        {"fault", no_argument, NULL, 'f'},          {NULL, 0, NULL, 0},
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
            options->max_ints = (unsigned)strtoul(optarg, NULL, 0);
            break;
        case 't':
            options->threads = (int)strtol(optarg, NULL, 0);
            break;
        case 'f':
            options->fault = true;
            break;
        default:
            return false;
        }
    }
    return options->threads >= 1 && options->threads <= MAX_THREADS && options->max_ints >= 32;
}

int main(int argc, char **argv)
{
    options_t options = {.seed = 1, .calls = 200, .max_ints = 60000, .threads = 1};
    if (!parse(argc, argv, &options)) {
        fprintf(stderr, "usage: check_collectives [--seed S] [--calls N] [--max-ints N >= 32] "
                        "[--threads 1..8] [--fault]\n");
        return 2;
    }
    int want = options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int have;
    MPI_Init_thread(&argc, &argv, want, &have);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (have < want) {
        fprintf(stderr, "check_collectives: this MPI has no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    make_types();
    MPI_Op_create(op_compose, 0, &compose_op);
    MPI_Op_create(op_add, 1, &add_op);
    run_t runs[MAX_THREADS];
    for (int t = 0; t < options.threads; ++t) {
        runs[t] = (run_t){
            .random = mix(options.seed + (uint64_t)t * 7919u),
            .calls = options.calls,
            .max_ints = options.max_ints,
            .fault = options.fault,
        };
        make_comms(&runs[t], MPI_COMM_WORLD);
    }
    long mine = run_threads(runs, options.threads);
    long failures;
    MPI_Allreduce(&mine, &failures, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int t = 0; t < options.threads; ++t) {
        free_comms(&runs[t]);
    }
    MPI_Op_free(&compose_op);
    MPI_Op_free(&add_op);
    for (int i = 0; i < NUM_LAYOUTS; ++i) {
        MPI_Type_free(&types[i]);
    }
    if (0 == rank) {
        printf("check_collectives: %ld calls in each of %d threads, %ld wrong results\n",
               options.calls, options.threads, failures);
    }
    MPI_Finalize();
    return failures > 0 ? 1 : 0;
}
