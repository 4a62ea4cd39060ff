/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The exchange is PMIx: behind a framework of Open MPI's in 4.1, called directly since.
 */
#include "pwr_ompi/compat.h"
#include "pwr_ompi/modex.h"

#include <stdio.h>
#include <string.h>

#if OMPI_MAJOR_VERSION >= 5
#include "opal/mca/pmix/pmix-internal.h"
#else
#include "opal/mca/pmix/pmix.h"
#endif

#if OMPI_MAJOR_VERSION >= 5

unsigned pwr_modex_num_processes(void)
{
    return opal_process_info.num_procs > 0 ? opal_process_info.num_procs : 1;
}

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

static bool get_as(pmix_info_t *how, const char *key, const opal_process_name_t *name, void **data,
                   size_t *bytes)
{
    pmix_proc_t process;
    pmix_value_t *found = NULL;
    OPAL_PMIX_CONVERT_NAME(&process, name);
    bool ok = PMIX_SUCCESS == PMIx_Get(&process, key, how, 1, &found) && NULL != found;
    if (ok) {
        *data = found->data.bo.bytes;
        *bytes = found->data.bo.size;
        found->data.bo.bytes = NULL; /* the caller's now */
    }
    if (NULL != found) {
        PMIX_VALUE_RELEASE(found);
    }
    return ok;
}

/* MPI_Init of 6.0 goes on before all have sent.  Who has sent nothing is waited for once. */
static bool get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    enum { LIMIT_S = 2 };
    static bool in_vain;
    int limit_s = LIMIT_S;
    pmix_info_t at_once, within;
    PMIX_INFO_LOAD(&at_once, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&within, PMIX_TIMEOUT, &limit_s, PMIX_INT);
    bool ok = get_as(&at_once, key, name, data, bytes);
    if (!ok && !in_vain) {
        ok = get_as(&within, key, name, data, bytes);
        in_vain = !ok;
    }
    PMIX_INFO_DESTRUCT(&at_once);
    PMIX_INFO_DESTRUCT(&within);
    return ok;
}

#else

/* how: OPAL_PMIX_IMMEDIATE or OPAL_PMIX_OPTIONAL; else it may wait for ever.  Open MPI's own macros
   do not look whether there was memory.  NULL: not found, or no memory. */
static opal_value_t *find(const char *how, const char *key, const opal_process_name_t *name)
{
    opal_value_t *found = NULL;
    opal_list_t hows;
    opal_value_t *flag = OBJ_NEW(opal_value_t);
    if (NULL == flag) {
        return NULL;
    }
    flag->key = strdup(how);
    if (NULL == flag->key) {
        OBJ_RELEASE(flag);
        return NULL;
    }
    flag->type = OPAL_BOOL;
    flag->data.flag = true;
    OBJ_CONSTRUCT(&hows, opal_list_t);
    opal_list_append(&hows, &flag->super);
    bool ok = OPAL_SUCCESS == opal_pmix.get(name, key, &hows, &found);
    OPAL_LIST_DESTRUCT(&hows);
    return ok ? found : NULL;
}

unsigned pwr_modex_num_processes(void)
{
    const opal_process_name_t all = {OPAL_PROC_MY_NAME.jobid, OPAL_VPID_WILDCARD};
    opal_value_t *found = NULL;
    uint32_t num = 0;
    if (NULL != opal_pmix.initialized && opal_pmix.initialized()) {
        found = find(OPAL_PMIX_OPTIONAL, OPAL_PMIX_JOB_SIZE, &all);
    }
    if (NULL != found) {
        num = OPAL_UINT32 == found->type ? found->data.uint32 : 0;
        OBJ_RELEASE(found);
    }
    return num > 0 ? num : 1;
}

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

static bool get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    opal_value_t *found = find(OPAL_PMIX_IMMEDIATE, key, name);
    if (NULL == found) {
        return false;
    }
    *data = found->data.bo.bytes;
    *bytes = (size_t)found->data.bo.size;
    found->data.bo.bytes = NULL; /* the caller's now */
    OBJ_RELEASE(found);
    return true;
}

#endif

/* "poweraware.bell".  Needs no memory: what one process does not hear of another may hold both up.
 */
typedef struct key_name {
    char text[64];
} key_name_t;

static key_name_t key_of(const char *what)
{
    key_name_t key;
    snprintf(key.text, sizeof key.text, "poweraware.%s", what);
    return key;
}

bool pwr_modex_send(const char *what, pwr_modex_scope_t scope, const void *data, size_t bytes)
{
    key_name_t key = key_of(what);
    return put(key.text, scope, data, bytes);
}

void *pwr_modex_receive(const char *what, const opal_process_name_t *name, size_t *bytes)
{
    void *data = NULL;
    key_name_t key = key_of(what);
    return get(key.text, name, &data, bytes) ? data : NULL;
}
