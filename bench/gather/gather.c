/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What MPI_Finalize costs a job of many ranks that wants a report: the binomial tree of
 * ompi/process/job.c, every ledger of it really packed, sent over an imagined network, unpacked
 * and added.  Work on ledgers is measured here, messages are modelled (latency, bandwidth); all
 * ranks begin at the same time.
 */
#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pwr/clock.h"
#include "pwr/command.h"
#include "pwr/ledger.h"

typedef struct options {
    int ranks;
    int per_node;
    int classes;
    double latency_us;
    double gbit_s;
} options_t;

/* Of the subtree below a rank, when it has everything. */
typedef struct part {
    pwr_ledger_t *ledger; /* NULL: of ranks that lead no node */
    double at_s;
    double work_s; /* on the way to it that took longest */
} part_t;

static options_t options = {
    .ranks = 100000, .per_node = 8, .classes = 200, .latency_us = 2.0, .gbit_s = 100.0};
static uint64_t root_bytes; /* received by rank 0 */
static uint64_t largest_bytes;

static double now_s(void)
{
    return 1e-9 * (double)pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void die(const char *what)
{
    fprintf(stderr, "gather: %s\n", what);
    exit(EXIT_FAILURE);
}

/* Communicators of rows and columns have names of their own, as in codes that split the world. */
static pwr_ledger_t *ledger_of_node(int number)
{
    static pwr_series_t power;
    static const uint64_t begin_ns = UINT64_C(1790000000) * PWR_NS_PER_S;
    pwr_ledger_t *ledger = pwr_ledger_new();
    pwr_ledger_node_t node = {.processes = (uint32_t)options.per_node,
                              .begin_ns = begin_ns,
                              .end_ns = begin_ns + 3600 * (uint64_t)PWR_NS_PER_S,
                              .uj = 1000,
                              .source = "powercap"};
    if (!ledger) {
        die("out of memory");
    }
    if (power.num == 0) {
        pwr_series_add(&power, node.begin_ns, node.end_ns, node.uj);
    }
    snprintf(node.host, sizeof node.host, "node%d", number);
    pwr_account_t *account = &ledger->account;
    for (int i = 0; i < options.classes; i++) {
        char name[32];
        snprintf(name, sizeof name, "row %d", i % 4 == 0 ? number % 64 : 0);
        const pwr_account_kind_t kind = {.comm = pwr_account_comm(account, name, 64),
                                         .operation = (unsigned)i % 16,
                                         .algorithm = i % 5,
                                         .size_class = (unsigned)i / 16};
        pwr_account_cell(account, &kind)->sums.calls++;
    }
    if (pwr_ledger_add_node(ledger, &node, &power) != PWR_OK) {
        die("out of memory");
    }
    return ledger;
}

static void add_child(part_t *mine, part_t *child, bool to_root)
{
    size_t bytes = 0;
    double begin_s = now_s();
    void *packed = child->ledger ? pwr_ledger_pack(child->ledger, &bytes) : NULL;
    double packed_s = now_s() - begin_s;
    double sent_s =
        1e-6 * options.latency_us * (packed ? 2 : 1) + (double)bytes * 8e-9 / options.gbit_s;
    double arrives_s = child->at_s + packed_s + sent_s;
    begin_s = now_s();
    if (packed && !mine->ledger) {
        mine->ledger = pwr_ledger_new();
    }
    if (packed && (!mine->ledger || pwr_ledger_add_packed(mine->ledger, packed, bytes) != PWR_OK)) {
        die("a ledger cannot be added");
    }
    double added_s = now_s() - begin_s;
    if (arrives_s > mine->at_s) {
        mine->at_s = arrives_s;
        mine->work_s = child->work_s + packed_s;
    }
    mine->at_s += added_s;
    mine->work_s += added_s;
    root_bytes += to_root ? bytes : 0;
    largest_bytes = bytes > largest_bytes ? bytes : largest_bytes;
    free(packed);
    pwr_ledger_free(child->ledger);
}

/* Ranks [rank, rank + below), as far as there are any. */
static part_t gather(int rank, int below)
{
    part_t mine = {0};
    if (rank % options.per_node == 0) {
        mine.ledger = ledger_of_node(rank / options.per_node);
    }
    for (int bit = 1; bit < below && rank + bit < options.ranks; bit *= 2) {
        part_t child = gather(rank + bit, bit);
        add_child(&mine, &child, rank == 0);
    }
    return mine;
}

#define AT(member) offsetof(options_t, member)
static const pwr_option_t table[] = {
    {0, "ranks", "N", "of the job (default 100000)", pwr_option_int, AT(ranks), 1, 1 << 24},
    {0, "per-node", "N", "ranks on each node (default 8)", pwr_option_int, AT(per_node), 1, 1024},
    {0, "classes", "N", "classes of calls that each node has (default 200)", pwr_option_int,
     AT(classes), 1, 1000},
    {0, "latency-us", "X", "of a message (default 2)", pwr_option_real, AT(latency_us), 0, 1e6},
    {0, "gbit-s", "X", "of the network (default 100)", pwr_option_real, AT(gbit_s), 1e-3, 1e6},
    {0},
};

static const pwr_command_t command = {
    .name = "gather",
    .usage = "Usage: gather [options]\n\n"
             "What it takes to add up the reports of a job in MPI_Finalize.  Work on ledgers is\n"
             "measured on this machine, messages are modelled.\n\n",
    .options = table,
};

int main(int argc, char **argv)
{
    pwr_command_read(&command, &options, NULL, argc, argv);
    int below = 1;
    while (below < options.ranks) {
        below *= 2;
    }
    part_t all = gather(0, below);
    size_t bytes;
    void *packed = pwr_ledger_pack(all.ledger, &bytes);
    if (!packed) {
        die("out of memory");
    }
    printf("%d ranks on %zu nodes, %d classes of calls per node, %g us, %g Gbit/s\n", options.ranks,
           all.ledger->num_nodes, options.classes, options.latency_us, options.gbit_s);
    printf("rank 0 has everything after  %10.3f ms (messages modelled)\n", 1e3 * all.at_s);
    printf("  of it work on ledgers      %10.3f ms (measured)\n", 1e3 * all.work_s);
    printf("the job's ledger             %10.1f KB\n", 1e-3 * (double)bytes);
    printf("received by rank 0           %10.1f KB, the largest message %.1f KB\n",
           1e-3 * (double)root_bytes, 1e-3 * (double)largest_bytes);
    free(packed);
    pwr_ledger_free(all.ledger);
    return EXIT_SUCCESS;
}
