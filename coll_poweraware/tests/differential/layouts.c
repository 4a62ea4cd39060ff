/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Arranging items and telling MPI the same arrangement in one of several ways.
 */
#include "layouts.h"

#include <stdbool.h>
#include <string.h>

typedef enum order { IN_ORDER, REVERSED, SHUFFLED } order_t;
typedef enum shift { NO_SHIFT, ALL_DOWN, EACH_BY_EXTENTS } shift_t;

typedef struct style_row {
    const char *name;
    bool gaps;
    bool aligned;
    order_t order;
    shift_t shift;
} style_row_t;

static const style_row_t styles[] = {
    [DIFF_PLAIN] = {"plain", false, true, IN_ORDER, NO_SHIFT},
    [DIFF_CONTIGUOUS] = {"contiguous", false, true, IN_ORDER, NO_SHIFT},
    [DIFF_VECTOR] = {"vector", false, true, IN_ORDER, NO_SHIFT},
    [DIFF_GAPS] = {"gaps", true, true, IN_ORDER, NO_SHIFT},
    [DIFF_PACKED] = {"packed", true, false, IN_ORDER, NO_SHIFT},
    [DIFF_DESCENDING] = {"descending", true, true, REVERSED, NO_SHIFT},
    [DIFF_SHUFFLED] = {"shuffled", true, true, SHUFFLED, NO_SHIFT},
    [DIFF_NEGATIVE] = {"negative", true, true, IN_ORDER, ALL_DOWN},
    [DIFF_INTERLEAVED] = {"interleaved", true, true, SHUFFLED, EACH_BY_EXTENTS},
    [DIFF_WIDE] = {"wide", true, true, IN_ORDER, NO_SHIFT},
};

const char *diff_style_name(diff_style_t style)
{
    return styles[style].name;
}

size_t diff_signature_size(const diff_signature_t *signature)
{
    size_t bytes = 0;
    for (int i = 0; i < signature->num; ++i) {
        bytes += (size_t)diff_kind_size(signature->kind[i]);
    }
    return bytes;
}

/* ---- arranging ---- */

enum { ALIGNMENT = 16 }; /* of extents and shifts: every predefined datatype's is a divisor */

static ptrdiff_t round_up(ptrdiff_t bytes, ptrdiff_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static int alignment_of(const diff_kind_t *kind)
{
    return kind->width[0] > kind->width[1] ? kind->width[0] : kind->width[1];
}

/* The order in which items are placed in memory. */
static void make_order(int *at, int num, order_t order, diff_random_t *random)
{
    for (int i = 0; i < num; ++i) {
        at[i] = REVERSED == order ? num - 1 - i : i;
    }
    for (int i = num - 1; SHUFFLED == order && i > 0; --i) {
        int k = (int)diff_draw(random, (unsigned)i + 1);
        int swap = at[i];
        at[i] = at[k];
        at[k] = swap;
    }
}

/* Returns the end of the last item. */
static ptrdiff_t place_items(diff_layout_t *layout, const style_row_t *style, diff_random_t *random)
{
    int order[DIFF_MAX_ITEMS];
    make_order(order, layout->num, style->order, random);
    ptrdiff_t stride = 1 + (ptrdiff_t)diff_draw(random, 3);
    ptrdiff_t end = 0;
    for (int i = 0; i < layout->num; ++i) {
        const diff_kind_t *kind = layout->kind[order[i]];
        if (style->gaps && diff_chance(random, 40)) {
            end += 1 + (ptrdiff_t)diff_draw(random, 12);
        }
        if (style->aligned) {
            end = round_up(end, alignment_of(kind));
        }
        layout->offset[order[i]] = end;
        end += kind->extent * (DIFF_VECTOR == layout->style && i < layout->num - 1 ? stride : 1);
    }
    return end;
}

static ptrdiff_t choose_extent(const diff_layout_t *layout, ptrdiff_t end, diff_random_t *random)
{
    const style_row_t *style = &styles[layout->style];
    if (DIFF_WIDE == layout->style) {
        return round_up(end, ALIGNMENT) + (ptrdiff_t)(65536u << diff_draw(random, 5));
    }
    if (style->gaps && diff_chance(random, 50)) {
        end += 1 + (ptrdiff_t)diff_draw(random, 24);
    }
    int alignment = 1;
    for (int i = 0; i < layout->num && style->aligned; ++i) {
        int mine = alignment_of(layout->kind[i]);
        alignment = mine > alignment ? mine : alignment;
    }
    ptrdiff_t extent = round_up(end, alignment);
    return 0 == extent ? (ptrdiff_t)diff_draw(random, 9) : extent;
}

static void shift_items(diff_layout_t *layout, diff_random_t *random)
{
    shift_t shift = styles[layout->style].shift;
    ptrdiff_t down = ALIGNMENT * (1 + (ptrdiff_t)diff_draw(random, 8));
    for (int i = 0; i < layout->num; ++i) {
        if (ALL_DOWN == shift) {
            layout->offset[i] -= down;
        } else if (EACH_BY_EXTENTS == shift) {
            layout->offset[i] += layout->extent * ((ptrdiff_t)diff_draw(random, 4) - 1);
        }
    }
}

static void measure(diff_layout_t *layout)
{
    for (int i = 0; i < layout->num; ++i) {
        ptrdiff_t from = layout->offset[i];
        ptrdiff_t to = from + layout->kind[i]->extent;
        layout->low = 0 == i || from < layout->low ? from : layout->low;
        layout->high = 0 == i || to > layout->high ? to : layout->high;
    }
}

/* ---- telling MPI ---- */

static int layout_key = MPI_KEYVAL_INVALID;

static bool homogeneous(const diff_layout_t *layout)
{
    for (int i = 1; i < layout->num; ++i) {
        if (layout->kind[i] != layout->kind[0]) {
            return false;
        }
    }
    return layout->num > 0;
}

/* Equal steps upwards, of a multiple of the kind's extent.  (Not downwards: MPI_Type_vector of Open
   MPI 4.1 to 6.0 takes a stride of -1 for 1.) */
static bool is_vector(const diff_layout_t *layout, int *stride)
{
    if (layout->num < 2 || !homogeneous(layout) || 0 != layout->offset[0]) {
        return false;
    }
    ptrdiff_t step = layout->offset[1];
    for (int i = 1; i < layout->num; ++i) {
        if (layout->offset[i] != step * i) {
            return false;
        }
    }
    *stride = (int)(step / layout->kind[0]->extent);
    return step > 0 && 0 == step % layout->kind[0]->extent;
}

static MPI_Datatype make_general(const diff_layout_t *layout, diff_random_t *random)
{
    int lengths[DIFF_MAX_ITEMS];
    MPI_Aint offsets[DIFF_MAX_ITEMS];
    MPI_Datatype types[DIFF_MAX_ITEMS];
    for (int i = 0; i < layout->num; ++i) {
        lengths[i] = 1;
        offsets[i] = layout->offset[i];
        types[i] = layout->kind[i]->type;
    }
    MPI_Datatype type;
    unsigned way = homogeneous(layout) ? diff_draw(random, 3) : 0;
    if (0 == way) {
        MPI_Type_create_struct(layout->num, lengths, offsets, types, &type);
    } else if (1 == way) {
        MPI_Type_create_hindexed(layout->num, lengths, offsets, types[0], &type);
    } else {
        MPI_Type_create_hindexed_block(layout->num, 1, offsets, types[0], &type);
    }
    return type;
}

static void make_type(diff_layout_t *layout, diff_random_t *random)
{
    MPI_Datatype inner;
    int stride;
    if (is_vector(layout, &stride) && diff_chance(random, 75)) {
        MPI_Type_vector(layout->num, 1, stride, layout->kind[0]->type, &inner);
    } else {
        inner = make_general(layout, random);
    }
    const MPI_Aint bounds[] = {0, layout->low, -ALIGNMENT, 8};
    MPI_Type_create_resized(inner, bounds[diff_draw(random, 4)], layout->extent, &layout->type);
    MPI_Type_free(&inner);
    MPI_Type_commit(&layout->type);
    MPI_Type_set_attr(layout->type, layout_key, layout);
}

void diff_layout_make(diff_layout_t *layout, const diff_signature_t *signature, int units,
                      diff_style_t style, diff_random_t *random)
{
    memset(layout, 0, sizeof *layout);
    layout->style = style;
    layout->units = units;
    layout->num = units * signature->num;
    for (int i = 0; i < layout->num; ++i) {
        layout->kind[i] = signature->kind[i % signature->num];
    }
    ptrdiff_t end = place_items(layout, &styles[style], random);
    layout->extent = choose_extent(layout, end, random);
    shift_items(layout, random);
    measure(layout);
    if (DIFF_PLAIN == style && 1 == layout->num) {
        layout->type = layout->kind[0]->type;
    } else {
        make_type(layout, random);
    }
}

void diff_layout_free(diff_layout_t *layout)
{
    if (NULL == diff_kind_of(layout->type)) {
        MPI_Type_free(&layout->type);
    }
}

const diff_layout_t *diff_layout_of(MPI_Datatype type, const diff_kind_t **kind)
{
    *kind = diff_kind_of(type);
    void *layout = NULL;
    int found = 0;
    if (NULL == *kind) {
        MPI_Type_get_attr(type, layout_key, &layout, &found);
    }
    return found ? layout : NULL;
}

void diff_layouts_start(void)
{
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &layout_key, NULL);
}

void diff_layouts_stop(void)
{
    MPI_Type_free_keyval(&layout_key);
}
