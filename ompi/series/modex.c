/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The exchange is PMIx: behind a framework of Open MPI's in 4.1, called directly since.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/modex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if OMPI_MAJOR_VERSION >= 5
#include "opal/mca/pmix/pmix-internal.h"
#else
#include "opal/mca/pmix/pmix.h"
#endif

#if OMPI_MAJOR_VERSION >= 5

static bool put(char *key, pwr_modex_scope_t scope, const void *data, size_t bytes)
{
    int rc;
    pmix_scope_t to = PWR_MODEX_NODE == scope ? PMIX_LOCAL : PMIX_GLOBAL;
    if (!PMIx_Initialized()) {
        return false;
    }
    OPAL_MODEX_SEND_STRING(rc, to, key, data, bytes);
    return PMIX_SUCCESS == rc;
}

static bool get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    int rc;
    OPAL_MODEX_RECV_STRING_IMMEDIATE(rc, key, name, data, bytes);
    return PMIX_SUCCESS == rc;
}

#else

static bool put(char *key, pwr_modex_scope_t scope, const void *data, size_t bytes)
{
    int rc;
    opal_pmix_scope_t to = PWR_MODEX_NODE == scope ? OPAL_PMIX_LOCAL : OPAL_PMIX_GLOBAL;
    if (NULL == opal_pmix.initialized || !opal_pmix.initialized()) {
        return false;
    }
    OPAL_MODEX_SEND_STRING(rc, to, key, data, bytes);
    return OPAL_SUCCESS == rc;
}

/* Open MPI has this for single values only; what it has for others may wait for ever. */
static bool get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    opal_value_t *found = NULL;
    opal_list_t how;
    OBJ_CONSTRUCT(&how, opal_list_t);
    opal_value_t *immediate = OBJ_NEW(opal_value_t);
    immediate->key = strdup(OPAL_PMIX_IMMEDIATE);
    immediate->type = OPAL_BOOL;
    immediate->data.flag = true;
    opal_list_append(&how, &immediate->super);
    bool ok = OPAL_SUCCESS == opal_pmix.get(name, key, &how, &found) && NULL != found;
    OPAL_LIST_DESTRUCT(&how);
    if (ok) {
        *data = found->data.bo.bytes;
        *bytes = (size_t)found->data.bo.size;
        found->data.bo.bytes = NULL; /* the caller's now */
        OBJ_RELEASE(found);
    }
    return ok;
}

#endif

/* "poweraware.bell", to be freed */
static char *key_of(const char *what)
{
    char *key = NULL;
    return asprintf(&key, "poweraware.%s", what) < 0 ? NULL : key;
}

bool pwr_modex_send(const char *what, pwr_modex_scope_t scope, const void *data, size_t bytes)
{
    char *key = key_of(what);
    bool ok = NULL != key && put(key, scope, data, bytes);
    free(key);
    return ok;
}

void *pwr_modex_receive(const char *what, const opal_process_name_t *name, size_t *bytes)
{
    void *data = NULL;
    char *key = key_of(what);
    if (NULL == key || !get(key, name, &data, bytes)) {
        data = NULL;
    }
    free(key);
    return data;
}
