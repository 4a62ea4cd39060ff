/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of predefined datatypes.
 */
#include "kinds.h"

#include <stdbool.h>
#include <string.h>

#include "random.h"

#define ONE(type, class, bytes)                                                                    \
    {                                                                                              \
#type, type, class, bytes, 1, {0, 0 },                                                     \
        {                                                                                          \
            bytes, 0                                                                               \
        }                                                                                          \
    }
#define TWO(type, class, extent, first, second_at, second)                                         \
    {                                                                                              \
#type, type, class, extent, 2, {0, second_at },                                            \
        {                                                                                          \
            first, second                                                                          \
        }                                                                                          \
    }

const diff_kind_t diff_kinds[] = {
    ONE(MPI_INT, DIFF_SIGNED, 4),
    ONE(MPI_CHAR, DIFF_TEXT, 1),
    ONE(MPI_BYTE, DIFF_BITS, 1),
    ONE(MPI_C_BOOL, DIFF_LOGICAL, 1),
    ONE(MPI_INT8_T, DIFF_SIGNED, 1),
    ONE(MPI_UINT8_T, DIFF_UNSIGNED, 1),
    ONE(MPI_INT16_T, DIFF_SIGNED, 2),
    ONE(MPI_UINT16_T, DIFF_UNSIGNED, 2),
    ONE(MPI_INT32_T, DIFF_SIGNED, 4),
    ONE(MPI_UINT32_T, DIFF_UNSIGNED, 4),
    ONE(MPI_INT64_T, DIFF_SIGNED, 8),
    ONE(MPI_UINT64_T, DIFF_UNSIGNED, 8),
    ONE(MPI_FLOAT, DIFF_REAL, 4),
    ONE(MPI_DOUBLE, DIFF_REAL, 8),
    TWO(MPI_C_FLOAT_COMPLEX, DIFF_COMPLEX, 8, 4, 4, 4),
    TWO(MPI_C_DOUBLE_COMPLEX, DIFF_COMPLEX, 16, 8, 8, 8),
    TWO(MPI_2INT, DIFF_SIGNED_PAIR, 8, 4, 4, 4),
    TWO(MPI_SHORT_INT, DIFF_SIGNED_PAIR, 8, 2, 4, 4),
    TWO(MPI_LONG_INT, DIFF_SIGNED_PAIR, 16, 8, 8, 4),
    TWO(MPI_FLOAT_INT, DIFF_REAL_PAIR, 8, 4, 4, 4),
    TWO(MPI_DOUBLE_INT, DIFF_REAL_PAIR, 16, 8, 8, 4),
};
const int diff_num_kinds = sizeof diff_kinds / sizeof diff_kinds[0];

_Static_assert(8 == sizeof(long), "MPI_LONG_INT is described with a long of 8 bytes");

const diff_kind_t *diff_kind_of(MPI_Datatype type)
{
    for (int i = 0; i < diff_num_kinds; ++i) {
        if (type == diff_kinds[i].type) {
            return &diff_kinds[i];
        }
    }
    return NULL;
}

int diff_kind_size(const diff_kind_t *kind)
{
    return kind->width[0] + kind->width[1];
}

/* The lowest bytes come first: little-endian machines only, as all are that Open MPI is tested on
   here; a test of kinds would fail at once elsewhere. */
static void copy_part(void *to, const void *from, int width)
{
    switch (width) { /* copies of constant size are single instructions */
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, 8);
        break;
    }
}

void diff_put(unsigned char *at, const diff_kind_t *kind, const diff_value_t *value)
{
    for (int p = 0; p < kind->parts; ++p) {
        copy_part(at + kind->offset[p], &value->part[p], kind->width[p]);
    }
}

diff_value_t diff_get(const unsigned char *at, const diff_kind_t *kind)
{
    diff_value_t value = {{0, 0}};
    for (int p = 0; p < kind->parts; ++p) {
        copy_part(&value.part[p], at + kind->offset[p], kind->width[p]);
    }
    return value;
}

diff_value_t diff_arbitrary(uint64_t key, size_t index)
{
    uint64_t bits = diff_mix(key + index * 0x9E3779B97F4A7C15u);
    return (diff_value_t){{bits, bits * 0xD1342543DE82EF95u + 1}};
}
