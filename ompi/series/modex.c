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

typedef enum answer {
    FOUND,
    NOT_SENT,
    UNKNOWN /* no memory to look */
} answer_t;

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

static answer_t get_as(pmix_info_t *how, const char *key, const opal_process_name_t *name,
                       void **data, size_t *bytes)
{
    pmix_proc_t process;
    pmix_value_t *found = NULL;
    OPAL_PMIX_CONVERT_NAME(&process, name);
    int rc = PMIx_Get(&process, key, how, 1, &found);
    answer_t answer = PMIX_SUCCESS == rc && NULL != found                  ? FOUND
                      : PMIX_ERR_NOT_FOUND == rc || PMIX_ERR_TIMEOUT == rc ? NOT_SENT
                                                                           : UNKNOWN;
    if (FOUND == answer) {
        *data = found->data.bo.bytes;
        *bytes = found->data.bo.size;
        found->data.bo.bytes = NULL; /* the caller's now */
    }
    if (NULL != found) {
        PMIX_VALUE_RELEASE(found);
    }
    return answer;
}

/* MPI_Init of 6.0 goes on before all have sent.  Who has sent nothing is waited for once. */
static answer_t get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    enum { LIMIT_S = 2 };
    static bool in_vain;
    int limit_s = LIMIT_S;
    pmix_info_t at_once, within;
    PMIX_INFO_LOAD(&at_once, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&within, PMIX_TIMEOUT, &limit_s, PMIX_INT);
    answer_t answer = get_as(&at_once, key, name, data, bytes);
    if (FOUND != answer && !in_vain) {
        answer = get_as(&within, key, name, data, bytes);
        in_vain = FOUND != answer;
    }
    PMIX_INFO_DESTRUCT(&at_once);
    PMIX_INFO_DESTRUCT(&within);
    return answer;
}

#else

/* how: OPAL_PMIX_IMMEDIATE or OPAL_PMIX_OPTIONAL; else it may wait for ever.  Open MPI's own macros
   do not look whether there was memory. */
static answer_t find(const char *how, const char *key, const opal_process_name_t *name,
                     opal_value_t **found)
{
    opal_list_t hows;
    opal_value_t *flag = OBJ_NEW(opal_value_t);
    *found = NULL;
    if (NULL == flag) {
        return UNKNOWN;
    }
    flag->key = strdup(how);
    if (NULL == flag->key) {
        OBJ_RELEASE(flag);
        return UNKNOWN;
    }
    flag->type = OPAL_BOOL;
    flag->data.flag = true;
    OBJ_CONSTRUCT(&hows, opal_list_t);
    opal_list_append(&hows, &flag->super);
    int rc = opal_pmix.get(name, key, &hows, found);
    OPAL_LIST_DESTRUCT(&hows);
    return OPAL_SUCCESS == rc && NULL != *found ? FOUND
           : OPAL_ERR_NOT_FOUND == rc           ? NOT_SENT
                                                : UNKNOWN;
}

unsigned pwr_modex_num_processes(void)
{
    const opal_process_name_t all = {OPAL_PROC_MY_NAME.jobid, OPAL_VPID_WILDCARD};
    opal_value_t *found = NULL;
    uint32_t num = 0;
    if (NULL != opal_pmix.initialized && opal_pmix.initialized()) {
        (void)find(OPAL_PMIX_OPTIONAL, OPAL_PMIX_JOB_SIZE, &all, &found);
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

static answer_t get(const char *key, const opal_process_name_t *name, void **data, size_t *bytes)
{
    opal_value_t *found;
    answer_t answer = find(OPAL_PMIX_IMMEDIATE, key, name, &found);
    if (FOUND == answer) {
        *data = found->data.bo.bytes;
        *bytes = (size_t)found->data.bo.size;
        found->data.bo.bytes = NULL; /* the caller's now */
        OBJ_RELEASE(found);
    }
    return answer;
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

/* Where it goes on in the background, MPI_Init waits for that before communicators begin. */
bool pwr_modex_is_complete(void)
{
    return !opal_pmix_base_async_modex || opal_pmix_collect_all_data;
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
    return FOUND == get(key.text, name, &data, bytes) ? data : NULL;
}

bool pwr_modex_lacks(const char *what, const opal_process_name_t *name, const void *data,
                     size_t bytes)
{
    void *its = NULL;
    size_t its_bytes = 0;
    key_name_t key = key_of(what);
    answer_t answer = get(key.text, name, &its, &its_bytes);
    bool other = FOUND == answer && (its_bytes != bytes || 0 != memcmp(its, data, bytes));
    free(its);
    return NOT_SENT == answer || other;
}
