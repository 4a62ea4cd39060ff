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
    unsigned num;
} names_t;

static names_t operations;
static names_t algorithms;

static bool are_at(const names_t *names, unsigned first, const char *const *added, unsigned num)
{
    for (unsigned i = 0; i < num; ++i) {
        if (0 != strcmp(names->name[first + i], added[i])) {
            return false;
        }
    }
    return true;
}

/* A component may be opened, closed and opened again, and its file may be unloaded meanwhile: so
   names are copied, and those that are known keep their numbers. */
static unsigned add(names_t *names, const char *const *added, unsigned num)
{
    for (unsigned first = 0; first + num <= names->num; ++first) {
        if (are_at(names, first, added, num)) {
            return first;
        }
    }
    unsigned first = names->num;
    for (unsigned i = 0; i < num && names->num < PWR_PROCESS_NAMES; ++i) {
        const char *copy = strdup(added[i]);
        if (NULL == copy) {
            break; /* it is "other" then */
        }
        names->name[names->num++] = copy;
    }
    return first;
}

static const char *name_of(const names_t *names, unsigned number)
{
    return number < names->num ? names->name[number] : "other";
}

unsigned pwr_process_add_operations(const char *const *names, unsigned num)
{
    return add(&operations, names, num);
}

unsigned pwr_process_add_algorithms(const char *const *names, unsigned num)
{
    return add(&algorithms, names, num);
}

unsigned pwr_process_num_operations(void)
{
    return operations.num;
}

const char *pwr_process_operation_name(unsigned operation)
{
    return name_of(&operations, operation);
}

const char *pwr_process_algorithm_name(int algorithm)
{
    return algorithm < 0 ? "stock" : name_of(&algorithms, (unsigned)algorithm);
}

static json_t *json_of(const names_t *names)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < names->num; ++i) {
        json_array_append_new(array, json_string(names->name[i]));
    }
    return array;
}

json_t *pwr_process_operation_names(void)
{
    return json_of(&operations);
}

json_t *pwr_process_algorithm_names(void)
{
    return json_of(&algorithms);
}
