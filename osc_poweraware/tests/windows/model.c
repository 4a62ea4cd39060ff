/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Applying calls to the memory of all ranks.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

void rma_model_make(rma_model_t *model, const rma_window_plan_t *plan, int size)
{
    model->size = size;
    model->bytes = plan->slot_bytes * (size_t)plan->most_slots;
    model->memory = malloc(model->bytes * (size_t)size);
    if (NULL == model->memory) {
        fprintf(stderr, "random_windows: no memory for the model of a window\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
        return;
    }
    for (int rank = 0; rank < size; ++rank) {
        memset(rma_model_memory(model, rank), 0x31 + 17 * rank, model->bytes);
    }
}

void rma_model_free(rma_model_t *model)
{
    free(model->memory);
}

unsigned char *rma_model_memory(const rma_model_t *model, int rank)
{
    return model->memory + model->bytes * (size_t)rank;
}

static unsigned char *item_at(const rma_slot_t *slot, unsigned char *base, size_t item)
{
    return rma_item_at(&slot->layout, base + slot->begin, item);
}

void rma_model_store(const rma_epoch_t *epoch, int owner, unsigned char *base)
{
    for (int i = 0; i < epoch->num_slots; ++i) {
        const rma_slot_t *slot = &epoch->slots[i];
        size_t items =
            slot->stored && owner == slot->target ? slot->elements * (size_t)slot->layout.num : 0;
        for (size_t item = 0; item < items; ++item) {
            diff_value_t value = rma_slot_value(slot, epoch->seed, item);
            diff_put(item_at(slot, base, item), rma_item_kind(&slot->layout, item), &value);
        }
    }
}

/* An operator's kinds have one width in all parts that it combines. */
static diff_value_t combined(const rma_call_t *call, const diff_kind_t *kind, diff_value_t old,
                             diff_value_t value)
{
    if (RMA_FETCHING == call->how) {
        return old;
    }
    bool moves = NULL == call->slot->op || RMA_REPLACING == call->how || RMA_PUT == call->name ||
                 RMA_RPUT == call->name;
    return moves ? value : call->slot->op->combine(kind, old, value);
}

static bool same_value(const diff_kind_t *kind, diff_value_t a, diff_value_t b)
{
    unsigned char left[16] = {0};
    unsigned char right[16] = {0};
    diff_put(left, kind, &a);
    diff_put(right, kind, &b);
    return 0 == memcmp(left, right, sizeof left);
}

/* Half of all swaps compare with what is there. */
static void swap(const rma_call_t *call, const diff_kind_t *kind, unsigned char *at,
                 rma_task_t *task)
{
    diff_value_t old = diff_get(at, kind);
    diff_value_t value = rma_call_value(call, 0);
    diff_value_t compare = 0 != (call->seed & 1) ? old : rma_call_value(call, 1);
    if (NULL != task) {
        diff_put(task->compare, kind, &compare);
    }
    if (same_value(kind, old, compare)) {
        diff_put(at, kind, &value);
    }
}

static void apply_item(const rma_call_t *call, const diff_kind_t *kind, unsigned char *at,
                       size_t index, rma_task_t *task)
{
    if (RMA_COMPARE_AND_SWAP == call->name) {
        swap(call, kind, at, task);
    } else if (rma_call_sends(call->name)) {
        diff_value_t result = combined(call, kind, diff_get(at, kind), rma_call_value(call, index));
        diff_put(at, kind, &result);
    }
}

static void apply(const rma_call_t *call, unsigned char *base, rma_task_t *task)
{
    size_t items = rma_call_items(call);
    for (size_t index = 0; index < items; ++index) {
        size_t item = rma_call_item(call, index);
        const diff_kind_t *kind = rma_item_kind(&call->slot->layout, item);
        unsigned char *at = item_at(call->slot, base, item);
        if (NULL != task) {
            rma_task_fetches(task, index, diff_get(at, kind));
        }
        apply_item(call, kind, at, index, task);
    }
}

void rma_model_apply(const rma_model_t *model, const rma_epoch_t *epoch, rma_task_t *tasks,
                     int num_tasks)
{
    int next = 0;
    for (int i = 0; i < epoch->num_calls; ++i) {
        const rma_call_t *call = &epoch->calls[i];
        bool mine = next < num_tasks && call == tasks[next].call;
        apply(call, rma_model_memory(model, call->slot->target), mine ? &tasks[next] : NULL);
        next += mine;
    }
}
