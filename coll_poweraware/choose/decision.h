/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Decision tables: which algorithm pays for which collective, layout and size (scheme auto).
 *
 * A table is a JSON file (manual: poweraware-decision(5), schema: decision.schema.json).  Parsed,
 * it is a list of rows; compiled for the layout of one communicator, a few steps per collective, so
 * that a call only looks for its size.  Nothing here knows MPI.
 */
#ifndef COLL_POWERAWARE_DECISION_H
#define COLL_POWERAWARE_DECISION_H

#include <stddef.h>
#include <stdint.h>

enum {
    COLL_POWERAWARE_DECISION_STOCK = -1,
    COLL_POWERAWARE_DECISION_UNKNOWN = -2,
    COLL_POWERAWARE_DECISION_CHAIN = 4, /* algorithms that are tried before the stock function */
    COLL_POWERAWARE_DECISION_PPM = 1000000, /* the stock function's time */
    COLL_POWERAWARE_DECISION_FILE_MAX = 1 << 20
};

/* What a table may name. */
typedef struct coll_poweraware_decision_words {
    const char *const *collectives; /* [num_collectives] */
    int num_collectives;
    /* Returns the index of an algorithm of ours, or COLL_POWERAWARE_DECISION_UNKNOWN. */
    int (*algorithm)(int collective, const char *name);
} coll_poweraware_decision_words_t;

/* Ranges include both ends. */
typedef struct coll_poweraware_decision_row {
    int collective;
    int algorithm; /* or COLL_POWERAWARE_DECISION_STOCK */
    uint64_t nodes[2];
    uint64_t ranks_per_node[2];
    uint64_t bytes[2]; /* as all ranks know them: see collectives.h */
    int64_t time_ppm;  /* of the stock function's, in millionths; 0: not told */
} coll_poweraware_decision_row_t;

typedef struct coll_poweraware_decision {
    int num_collectives;
    size_t num_rows;
    coll_poweraware_decision_row_t *rows; /* [num_rows], in the order of the file */
} coll_poweraware_decision_t;

/* Returns NULL and a line without its end in why[why_size] when any part of text is wrong. */
coll_poweraware_decision_t *
coll_poweraware_decision_parse(const char *text, const coll_poweraware_decision_words_t *words,
                               char *why, size_t why_size);
/* The same from a file; why does not name it. */
coll_poweraware_decision_t *
coll_poweraware_decision_load(const char *path, const coll_poweraware_decision_words_t *words,
                              char *why, size_t why_size);
void coll_poweraware_decision_free(coll_poweraware_decision_t *decision);

/* Equal for equal rows, whatever the file looked like. */
uint64_t coll_poweraware_decision_checksum(const coll_poweraware_decision_t *decision);

/* From so many bytes on: algorithms of ours in the order in which they are tried, ended by
   COLL_POWERAWARE_DECISION_STOCK. */
typedef struct coll_poweraware_choice {
    uint64_t from;
    int algorithms[COLL_POWERAWARE_DECISION_CHAIN + 1];
    int64_t times_ppm[COLL_POWERAWARE_DECISION_CHAIN + 1]; /* of each, and the stock function's */
} coll_poweraware_choice_t;

typedef struct coll_poweraware_choices {
    size_t *first;                   /* [collectives + 1] first step of each */
    coll_poweraware_choice_t *steps; /* of a collective: ascending, the first from 0 on */
} coll_poweraware_choices_t;

/* For one layout, or with nodes 0 for any: then a call is ours where it is in some layout.
   Returns NULL when out of memory. */
coll_poweraware_choices_t *
coll_poweraware_decision_compile(const coll_poweraware_decision_t *decision, int nodes,
                                 int ranks_per_node);
void coll_poweraware_choices_free(coll_poweraware_choices_t *choices);

/* The step of a call. */
static inline const coll_poweraware_choice_t *
coll_poweraware_choices_find(const coll_poweraware_choices_t *choices, int collective,
                             uint64_t bytes)
{
    const coll_poweraware_choice_t *step = &choices->steps[choices->first[collective + 1] - 1];
    while (step->from > bytes) {
        --step; /* ends: the first is from 0 on */
    }
    return step;
}

/* The fewest bytes from which on some call is ours; UINT64_MAX: none is. */
uint64_t coll_poweraware_choices_from(const coll_poweraware_choices_t *choices, int collective);

#endif
