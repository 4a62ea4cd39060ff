/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is known of several types of machines: the content of a file of knowledge (private to the
 * library).
 */
#ifndef PWR_KNOWLEDGE_PRIVATE_H
#define PWR_KNOWLEDGE_PRIVATE_H

#include <stdbool.h>

#include "pwr/knowledge.h"

struct pwr_knowledge {
    unsigned count, room;
    pwr_knowledge_entry_t *entries; /* ordered by key */
};

typedef struct pwr_knowledge_file {
    unsigned count;
    struct pwr_knowledge_of {
        pwr_knowledge_machine_t machine;
        pwr_knowledge_t *knowledge;
        char *text; /* while it is written, else NULL */
    } of[PWR_KNOWLEDGE_MACHINES_MOST];
} pwr_knowledge_file_t;

/* The name of a key of entry whose value is not allowed; NULL: it may be noted. */
const char *pwr_knowledge_flaw(const pwr_knowledge_entry_t *entry);
/* Takes over what is not older there, as far as there is room.  Errors: NOMEM. */
pwr_status_t pwr_knowledge_merge(pwr_knowledge_t *knowledge, const pwr_knowledge_t *other);
/* The last day on which anything of it was used. */
uint32_t pwr_knowledge_last_day(const pwr_knowledge_t *knowledge);

/* All of a file; as pwr_knowledge_parse. */
pwr_status_t pwr_knowledge_file_parse(const char *text, size_t size, char *why, unsigned why_size,
                                      pwr_knowledge_file_t *file);
/* Makes this machine the first one; where it is not there, that which was used longest ago makes
   room.  Errors: RANGE (a number of it is not allowed), NOMEM. */
pwr_status_t pwr_knowledge_file_first(pwr_knowledge_file_t *file,
                                      const pwr_knowledge_machine_t *machine);
/* The first machine, and of the others as many as there is room for: those that were used longest
   ago go.  As pwr_knowledge_format. */
pwr_status_t pwr_knowledge_file_format(pwr_knowledge_file_t *file, char **text);
void pwr_knowledge_file_free(pwr_knowledge_file_t *file);

#endif
