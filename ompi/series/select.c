/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Makes `--mca coll poweraware` work with nothing else named, and `--mca osc poweraware`.
 *
 * 1. The framework has found only us and calls our register hook (register_components).
 * 2. A copy of the framework with an empty list finds every component of it there is.
 * 3. Each other component registers its parameters, as register_components would have done, and
 *    joins the real list behind us.
 * 4. The selection becomes the list of all their names: the open step filters by it.
 *
 * Rejected: clearing the selection.  The parameter would then read as if the user had asked for
 * nothing, and its string would leak.
 */
#include "pwr_ompi/compat.h"

#include "pwr_ompi/select.h"

#include <stdlib.h>
#include <string.h>

#include "opal/class/opal_list.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_framework.h"
#include "opal/util/argv.h"

static const char *selection(const mca_base_framework_t *framework)
{
    const char *text = framework->framework_selection;
    return NULL == text ? "" : text;
}

bool pwr_ompi_named_in_selection(const mca_base_framework_t *framework, const char *component)
{
    return pwr_ompi_named_in_list(selection(framework), component);
}

bool pwr_ompi_named_in_list(const char *list, const char *component)
{
    if (NULL == list || '^' == list[0]) {
        return false;
    }
    char **names = opal_argv_split(list, ',');
    bool found = false;
    for (char **name = names; NULL != name && NULL != *name; ++name) {
        found = found || 0 == strcmp(*name, component);
    }
    opal_argv_free(names);
    return found;
}

static bool register_one(const mca_base_component_t *component)
{
    return NULL == component->mca_register_component_params ||
           OMPI_SUCCESS == component->mca_register_component_params();
}

/* We are; for ompi_info, which ignores selections, all components are. */
static bool is_listed(const mca_base_framework_t *framework, const mca_base_component_t *component)
{
    bool listed = false;
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, &framework->framework_components, mca_base_component_list_item_t)
    {
        listed = listed || component == item->cli_component;
    }
    return listed;
}

/* Step 3: moves those that register to the framework's list and adds their names. */
static void adopt(mca_base_framework_t *framework, opal_list_t *found,
                  bool (*is_left_out)(const mca_base_component_t *component), char ***names)
{
    opal_list_item_t *item;
    while (NULL != (item = opal_list_remove_first(found))) {
        const mca_base_component_t *component =
            ((mca_base_component_list_item_t *)item)->cli_component;
        if (is_listed(framework, component) || (NULL != is_left_out && is_left_out(component)) ||
            !register_one(component)) {
            OBJ_RELEASE(item);
            continue;
        }
        opal_list_append(&framework->framework_components, item);
        opal_argv_append_nosize(names, component->mca_component_name);
    }
}

int pwr_ompi_select_companions(mca_base_framework_t *framework, const char *component,
                               bool (*is_left_out)(const mca_base_component_t *component))
{
    if (0 != strcmp(selection(framework), component)) {
        return OMPI_SUCCESS;
    }
    mca_base_framework_t all = *framework;
    OBJ_CONSTRUCT(&all.framework_components, opal_list_t);
    int rc = mca_base_component_find(NULL, &all, true, true); /* 2 */
    char **names = NULL;
    opal_argv_append_nosize(&names, component);
    if (OMPI_SUCCESS == rc) {
        adopt(framework, &all.framework_components, is_left_out, &names);
    }
    OBJ_DESTRUCT(&all.framework_components);

    char *widened = opal_argv_join(names, ',');
    opal_argv_free(names);
    if (NULL == widened) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    free(framework->framework_selection);
    framework->framework_selection = widened;
    return rc;
}
