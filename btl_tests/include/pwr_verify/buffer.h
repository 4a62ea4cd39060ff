/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A message buffer between two guard zones, which tell when something wrote past its ends.
 */
#ifndef PWR_VERIFY_BUFFER_H
#define PWR_VERIFY_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Each zone is a page: data starts on a page, and overruns of up to a page are seen. */
enum { PWR_BUFFER_GUARD = 4096 };

typedef struct pwr_buffer {
    unsigned char *data; /* page aligned */
    size_t capacity;
    size_t used; /* the guard zone after the data starts here */
    void *allocation;
} pwr_buffer_t;

/* Memory for capacity bytes and both zones (capacity 0 is allowed: data is then a valid address of
   no bytes).  Owned by the caller until pwr_buffer_release.  False when there is no memory. */
bool pwr_buffer_open(pwr_buffer_t *buffer, size_t capacity);

/* From now on used (<= capacity) bytes are in use; both zones are written anew around them. */
void pwr_buffer_use(pwr_buffer_t *buffer, size_t used);

/* True when both zones are intact; otherwise *offset is the first changed byte, counted from data:
   negative before it, used or more after it. */
bool pwr_buffer_check(const pwr_buffer_t *buffer, ptrdiff_t *offset);

/* Also right for a zero-initialised buffer and twice. */
void pwr_buffer_release(pwr_buffer_t *buffer);

#endif
