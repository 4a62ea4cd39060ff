/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Built-in rows, for the policy and its tests.
 */
#ifndef PWR_POLICY_PRIVATE_H
#define PWR_POLICY_PRIVATE_H

#include "pwr/policy.h"

/* The built-in row for a processor; cpu NULL: one that is not known. */
void pwr_policy_builtin(const pwr_cpu_model_t *cpu, pwr_policy_row_id_t id, pwr_policy_row_t *row);

#endif
