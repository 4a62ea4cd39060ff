/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the files of the policy share: built-in rows, and the keys of calibration.json.
 */
#ifndef PWR_POLICY_PRIVATE_H
#define PWR_POLICY_PRIVATE_H

#include "pwr/policy.h"

/* The built-in row for a processor; cpu NULL: one that is not known. */
void pwr_policy_builtin(const pwr_cpu_model_t *cpu, pwr_policy_row_id_t id, pwr_policy_row_t *row);

typedef struct pwr_policy_text_key {
    const char *key;
    size_t offset; /* of a char array in the struct that the list is for */
    size_t size;   /* with the NUL */
    bool nullable; /* null stands for "" */
} pwr_policy_text_key_t;

/* Lists that end with key NULL. */
extern const pwr_policy_text_key_t pwr_policy_table_texts[];
extern const pwr_policy_text_key_t pwr_policy_cpu_texts[];
extern const pwr_policy_text_key_t pwr_policy_citation;

typedef struct pwr_policy_time_key {
    const char *key;
    size_t offset; /* of a uint64_t in pwr_policy_row_t */
    bool settles;  /* levers alone have it, and it may be null */
} pwr_policy_time_key_t;

enum { PWR_POLICY_NUM_TIMES = 6 };
extern const pwr_policy_time_key_t pwr_policy_row_times[PWR_POLICY_NUM_TIMES];

#endif
