/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Tables of MCA parameters (pwr_ompi/params.h).
 */
#include "pwr_ompi/params.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "pwr_ompi/process.h"

const char *pwr_param_word(const mca_base_var_enum_value_t *words, int value)
{
    while (value != words->value) {
        ++words;
    }
    return words->string;
}

/* Not by the component that calls: parameters of the process have one name.  They go with the group
   of that name, as a component's own do. */
static int add(const char *framework, const pwr_param_t *row, mca_base_var_enum_t *words)
{
    return mca_base_var_register("ompi", framework, "poweraware", row->name, row->help, row->type,
                                 words, 0, MCA_BASE_VAR_FLAG_DWG, row->level,
                                 MCA_BASE_VAR_SCOPE_ALL_EQ, row->storage);
}

static int add_words(const char *framework, const pwr_param_t *row)
{
    mca_base_var_enum_t *words = NULL;
    int fallback = *(int *)row->storage;
    int rc = mca_base_var_enum_create(row->name, row->values, &words);
    if (OPAL_SUCCESS != rc) {
        return rc;
    }
    if (add(framework, row, words) < 0) {
        *(int *)row->storage = fallback;
        pwr_say(pwr_level_alike(0), "%s_poweraware_%s keeps its default: %s", framework, row->name,
                pwr_param_word(row->values, fallback));
    }
    OBJ_RELEASE(words);
    return OMPI_SUCCESS;
}

int pwr_params_register(const char *framework, const pwr_param_t *rows, size_t num)
{
    int rc = OMPI_SUCCESS;
    for (size_t i = 0; OMPI_SUCCESS == rc && i < num; ++i) {
        int index = NULL != rows[i].values ? add_words(framework, &rows[i])
                                           : add(framework, &rows[i], NULL);
        rc = index < 0 ? index : OMPI_SUCCESS;
    }
    return rc;
}

int pwr_param_clamp(const char *name, int value, int low, int high)
{
    int kept = value < low ? low : value > high ? high : value;
    if (kept != value) {
        pwr_say(pwr_level_alike(0), "coll_poweraware_%s %d is outside %d..%d: using %d", name,
                value, low, high, kept);
    }
    return kept;
}

size_t pwr_param_at_least(const char *name, size_t value, size_t smallest)
{
    if (value < smallest) {
        pwr_say(pwr_level_alike(0), "coll_poweraware_%s %zu is too small: using %zu", name, value,
                smallest);
        return smallest;
    }
    return value;
}

bool pwr_params_are_foreign(void)
{
    return 0 != getauxval(AT_SECURE);
}

/* The rank still takes part, because all have to. */
char *pwr_param_file(const char *name, const char *text)
{
    if (NULL == text || '\0' == text[0]) {
        return NULL;
    }
    if (pwr_params_are_foreign()) {
        pwr_say(1,
                "coll_poweraware_%s is ignored: this program is set-uid, set-gid or "
                "has file capabilities",
                name);
        return NULL;
    }
    return strdup(text);
}
