/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the patterns need of a library for one-sided communication: shmem.c and windows.c have it.
 * There are two processes, 0 and 1.
 */
#ifndef PWR_PATTERNS_TRANSPORT_H
#define PWR_PATTERNS_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Of many pieces of the same length that lie one after the other on both sides. */
typedef struct pwr_pieces {
    char *dest;
    const char *source;
    size_t bytes, count;
} pwr_pieces_t;

extern const char *const pwr_transport_library;

/* Memory that the other process can reach, bytes long; NULL and a message where there is none.
 * process and processes are set in any case. */
char *pwr_transport_open(size_t bytes, int *process, int *processes);
void pwr_transport_close(void);

/* Start a transfer to or from the other process, whose addresses are as those here. */
void pwr_transport_put(char *dest, const char *source, size_t bytes);
void pwr_transport_get(char *dest, const char *source, size_t bytes);
void pwr_transport_quiet(void);

/* pwr_shmem_putv; is_learnt: whether it has chosen.  False: the library has none. */
bool pwr_transport_putv(const pwr_pieces_t *pieces, bool *is_learnt, const char **way);

/* A word to the other process, which waits for it.  Both count words. */
void pwr_transport_tell(int word);
int pwr_transport_hear(void);

/* Until both are here and all transfers are complete. */
void pwr_transport_meet(void);

#endif
