/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Gathering records and judging them.
 */
#include "records.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TAG_RECORDS = 11, TAG_VERDICT = 12 };

static void reserve(diff_records_t *records, size_t more)
{
    if (records->num + more <= records->room) {
        return;
    }
    records->room = 2 * (records->num + more);
    records->list = realloc(records->list, records->room * sizeof *records->list);
    if (NULL == records->list) {
        fprintf(stderr, "check_collectives: no memory for records\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

void diff_records_add(diff_records_t *records, const diff_record_t *record)
{
    reserve(records, 1);
    records->list[records->num++] = *record;
}

void diff_records_free(diff_records_t *records)
{
    free(records->list);
    *records = (diff_records_t){0};
}

static int three_way(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Records of one call on one communicator come together, in the order of its ranks. */
static int by_call(const void *left, const void *right)
{
    const diff_record_t *a = left;
    const diff_record_t *b = right;
    int order = three_way((int64_t)a->index, (int64_t)b->index);
    order = 0 != order ? order : three_way(a->sub, b->sub);
    order = 0 != order ? order : three_way(a->first, b->first);
    order = 0 != order ? order : three_way(a->kind, b->kind);
    return 0 != order ? order : three_way(a->rank, b->rank);
}

static bool together(const diff_record_t *a, const diff_record_t *b)
{
    return a->index == b->index && a->sub == b->sub && a->first == b->first && a->kind == b->kind;
}

/* Nobody leaves a barrier before everybody has entered it. */
static bool passage_right(const diff_record_t *group, size_t num, diff_verdict_t *verdict)
{
    const diff_record_t *last_in = &group[0];
    const diff_record_t *first_out = &group[0];
    for (size_t i = 1; i < num; ++i) {
        last_in = group[i].a > last_in->a ? &group[i] : last_in;
        first_out = group[i].b < first_out->b ? &group[i] : first_out;
    }
    if (last_in->a <= first_out->b) {
        return true;
    }
    snprintf(verdict->why, sizeof verdict->why,
             "rank %d left the barrier %" PRIu64 " ns before rank %d entered it", first_out->rank,
             last_in->a - first_out->b, last_in->rank);
    return false;
}

static bool digests_same(const diff_record_t *group, size_t num, diff_verdict_t *verdict)
{
    for (size_t i = 1; i < num; ++i) {
        if (group[i].a != group[0].a) {
            snprintf(verdict->why, sizeof verdict->why,
                     "ranks %d and %d have different bytes of one result", group[0].rank,
                     group[i].rank);
            return false;
        }
    }
    return true;
}

static bool group_right(const diff_record_t *group, size_t num, diff_verdict_t *verdict)
{
    switch (group[0].kind) {
    case DIFF_FAILURE:
        return false;
    case DIFF_PASSAGE:
        return passage_right(group, num, verdict);
    case DIFF_SAME_DIGEST:
        return digests_same(group, num, verdict);
    default:
        return true;
    }
}

static void judge(diff_records_t *all, FILE *digests, diff_verdict_t *verdict)
{
    if (all->num > 0) {
        qsort(all->list, all->num, sizeof *all->list, by_call);
    }
    for (size_t from = 0, to; from < all->num; from = to) {
        for (to = from + 1; to < all->num && together(&all->list[from], &all->list[to]);) {
            ++to;
        }
        if (!group_right(&all->list[from], to - from, verdict)) {
            verdict->failures += DIFF_FAILURE == all->list[from].kind ? to - from : 1;
            if (all->list[from].index < verdict->index) {
                verdict->index = all->list[from].index;
            }
        }
        for (size_t i = from; i < to && NULL != digests; ++i) {
            const diff_record_t *r = &all->list[i];
            if (r->kind >= DIFF_DIGEST) {
                fprintf(digests, "%" PRIu64 ".%d.%d rank %d %016" PRIx64 "\n", r->index, r->sub,
                        r->first, r->rank, r->a);
            }
        }
    }
}

static void gather(diff_records_t *all, MPI_Comm comm, int size)
{
    for (int rank = 1; rank < size; ++rank) {
        MPI_Status status;
        int bytes;
        MPI_Probe(rank, TAG_RECORDS, comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        reserve(all, (size_t)bytes / sizeof *all->list + 1);
        MPI_Recv(all->list + all->num, bytes, MPI_BYTE, rank, TAG_RECORDS, comm, MPI_STATUS_IGNORE);
        all->num += (size_t)bytes / sizeof *all->list;
    }
}

void diff_records_settle(diff_records_t *records, MPI_Comm comm, FILE *digests,
                         diff_verdict_t *verdict)
{
    int rank;
    int size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *verdict = (diff_verdict_t){.index = UINT64_MAX};
    if (0 != rank) {
        MPI_Send(records->list, (int)(records->num * sizeof *records->list), MPI_BYTE, 0,
                 TAG_RECORDS, comm);
        MPI_Recv(verdict, sizeof *verdict, MPI_BYTE, 0, TAG_VERDICT, comm, MPI_STATUS_IGNORE);
    } else {
        gather(records, comm, size);
        judge(records, digests, verdict);
        for (int other = 1; other < size; ++other) {
            MPI_Send(verdict, sizeof *verdict, MPI_BYTE, other, TAG_VERDICT, comm);
        }
    }
    records->num = 0;
}
