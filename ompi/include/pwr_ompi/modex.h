/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Open MPI's exchange of what processes must know of each other before they can talk ("modex").
 */
#ifndef PWR_OMPI_MODEX_H
#define PWR_OMPI_MODEX_H

#include <stdbool.h>
#include <stddef.h>

#include "opal/util/proc.h"

typedef enum pwr_modex_scope { PWR_MODEX_NODE, PWR_MODEX_JOB } pwr_modex_scope_t;

/* Of the job; known before components are opened.  1: there is no exchange. */
unsigned pwr_modex_num_processes(void);

/* Tells the processes of this node, or all, what (a word of our own).  Before MPI_Init
   exchanges it: when components are opened, not later.  False: there is no exchange (a tool, not an
   MPI program). */
bool pwr_modex_send(const char *what, pwr_modex_scope_t scope, const void *data, size_t bytes);
/* What another process has sent under that word, for the caller to free; NULL: nothing.  Whoever
   can send a word always sends it, be it without a meaning: where MPI_Init does not wait for all to
   have sent, the first word that is missing is waited for, two seconds at most. */
void *pwr_modex_receive(const char *what, const opal_process_name_t *name, size_t *bytes);

/* Whether another process has not sent just that, or has sent something else under that word. False
   where this one has no memory to look. */
bool pwr_modex_lacks(const char *what, const opal_process_name_t *name, const void *data,
                     size_t bytes);

/* When communicators begin: whether all have sent, and what they have is here. */
bool pwr_modex_is_complete(void);

#endif
