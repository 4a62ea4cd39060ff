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

unsigned pwr_modex_num_processes(void)
{
    const opal_process_name_t all = {OPAL_PROC_MY_NAME.jobid, OPAL_VPID_WILDCARD};
    uint32_t num = 1, *found = &num;
    int rc = OPAL_ERR_NOT_FOUND;
    if (NULL != opal_pmix.initialized && opal_pmix.initialized()) {
        OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_JOB_SIZE, &all, &found, OPAL_UINT32);
    }
    return OPAL_SUCCESS == rc && num > 0 ? num : 1;
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

/* Open MPI has this for single values only; what it has for others may wait for ever. */
static bool get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    opal_value_t *found = NULL;
    opal_list_t how;
    opal_value_t *immediate = OBJ_NEW(opal_value_t);
    if (NULL == immediate) {
        return false;
    }
    OBJ_CONSTRUCT(&how, opal_list_t);
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
