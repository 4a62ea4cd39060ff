/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The names of operations and algorithms of all components: one numbering per process, by which
 * accounts, positions and the job's document name them.
 */
#include "pwr_ompi/process.h"

#include <string.h>

typedef struct names {
    const char *name[PWR_PROCESS_NAMES];
    unsigned added_with[PWR_PROCESS_NAMES]; /* the first of those that came at the same time */
    unsigned num;
} names_t;

static names_t known[PWR_NAMED];

/* All of them and no others: an operation of another component may have the same name. */
static bool came_from(const names_t *names, unsigned first, const char *const *added, unsigned num)
{
    for (unsigned i = 0; i < num; ++i) {
        if (names->added_with[first + i] != first ||
            0 != strcmp(names->name[first + i], added[i])) {
            return false;
        }
    }
    return first + num == names->num || names->added_with[first + num] != first;
}

/* A component may be opened, closed and opened again, and its file may be unloaded meanwhile: so
   names are copied, and those that are known keep their numbers. */
unsigned pwr_process_add_names(pwr_named_t what, const char *const *added, unsigned num)
{
    names_t *names = &known[what];
    for (unsigned first = 0; first + num <= names->num; ++first) {
        if (came_from(names, first, added, num)) {
            return first;
        }
    }
    unsigned first = names->num;
    for (unsigned i = 0; i < num && names->num < PWR_PROCESS_NAMES; ++i) {
        const char *copy = strdup(added[i]);
        if (NULL == copy) {
            break; /* it is "other" then */
        }
        names->added_with[names->num] = first;
        names->name[names->num++] = copy;
    }
    return first;
}

unsigned pwr_process_num_names(pwr_named_t what)
{
    return known[what].num;
}

const char *pwr_process_name(pwr_named_t what, int number)
{
    if (number < 0) {
        return "stock";
    }
    return (unsigned)number < known[what].num ? known[what].name[number] : "other";
}

json_t *pwr_process_names(pwr_named_t what)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < known[what].num; ++i) {
        json_array_append_new(array, json_string(known[what].name[i]));
    }
    return array;
}
