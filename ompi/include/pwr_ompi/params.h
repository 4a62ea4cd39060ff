/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * MCA parameters as tables: one row each.
 *
 * Those of the process are named coll_poweraware_*, whichever component registers them: a user has
 * one set of names, and one value of what belongs to the process (process.h, settings).
 */
#ifndef PWR_OMPI_PARAMS_H
#define PWR_OMPI_PARAMS_H

#include "pwr_ompi/compat.h"

#include <stdbool.h>
#include <stddef.h>

#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/base/mca_base_var_enum.h"

typedef struct pwr_param {
    const char *name;
    const char *help;
    mca_base_var_type_t type;
    const mca_base_var_enum_value_t *values; /* of an INT that reads as a word */
    mca_base_var_info_lvl_t level;
    void *storage; /* has the default; the MCA system frees strings when it forgets the parameter */
} pwr_param_t;

/* A row for the member `field` of `*storage_of`. */
#define PWR_PARAM(storage_of, field, type, words, level, help)                                     \
    {                                                                                              \
        .name = #field, help, MCA_BASE_VAR_TYPE_##type, words, OPAL_INFO_LVL_##level,              \
        &(storage_of)->field                                                                       \
    }

/* In a register hook, as <framework>_poweraware_<name>.  A value that does not parse must not cost
   the user the job: the MCA system has named it, and the default stays.  Returns OMPI_SUCCESS or an
   error of the MCA system. */
int pwr_params_register(const char *framework, const pwr_param_t *rows, size_t num);

/* The word for a value. */
const char *pwr_param_word(const mca_base_var_enum_value_t *words, int value);

/* value, or what is used instead, which is said. */
int pwr_param_clamp(const char *name, int value, int low, int high);
size_t pwr_param_at_least(const char *name, size_t value, size_t smallest);

/* A copy of what names a file; NULL for none.  A set-uid program has its owner's rights, and its
   parameters are the caller's: there it is NULL, and that is said. */
char *pwr_param_file(const char *name, const char *text);

/* The program is set-uid, set-gid or has file capabilities. */
bool pwr_params_are_foreign(void);

#endif
