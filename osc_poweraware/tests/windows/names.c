/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The table of names.
 */
#include "names.h"

#include <string.h>

static const struct {
    const char *name;
    const char *what;
} names[] = {
#define RMA_ROW(constant, name, what) {#name, what},
    RMA_NAMES(RMA_ROW)
#undef RMA_ROW
};

const char *rma_name(rma_name_t name)
{
    return names[name].name;
}

const char *rma_name_what(rma_name_t name)
{
    return names[name].what;
}

bool rma_names_parse(const char *list, uint64_t *set)
{
    uint64_t found = 0;
    while ('\0' != *list) {
        size_t length = strcspn(list, ",");
        uint64_t bit = 0;
        for (int i = 0; i < RMA_NUM_NAMES; ++i) {
            bool same =
                strlen(names[i].name) == length && 0 == strncmp(names[i].name, list, length);
            bit = same ? UINT64_C(1) << i : bit;
        }
        if (0 == bit) {
            return false;
        }
        found |= bit;
        list += length + (',' == list[length]);
    }
    *set = found;
    return true;
}
