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
#define RSH_ROW(constant, name, what) {#name, what},
    RSH_NAMES(RSH_ROW)
#undef RSH_ROW
};

const char *rsh_name(rsh_name_t name)
{
    return names[name].name;
}

const char *rsh_name_what(rsh_name_t name)
{
    return names[name].what;
}

/* The bit of a name; 0: none has it. */
static uint64_t find(const char *name, size_t length)
{
    for (int i = 0; i < RSH_NUM_NAMES; ++i) {
        if (strlen(names[i].name) == length && 0 == strncmp(names[i].name, name, length)) {
            return UINT64_C(1) << i;
        }
    }
    return 0;
}

bool rsh_names_parse(const char *list, uint64_t *set)
{
    uint64_t found = 0;
    while ('\0' != *list) {
        size_t length = strcspn(list, ",");
        uint64_t bit = find(list, length);
        if (0 == bit) {
            return false;
        }
        found |= bit;
        list += length + (',' == list[length]);
    }
    *set = found;
    return true;
}
