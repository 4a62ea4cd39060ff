/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the ranks of a communicator tell each other to set it up: by the saved functions, so that
 * nothing of it needs our own collectives.  Collective.
 */
#ifndef COLL_POWERAWARE_AGREE_H
#define COLL_POWERAWARE_AGREE_H

#include "module.h"

/* True on all ranks or on none: everybody's mine is true and nothing failed. */
bool coll_poweraware_all_agree(const mca_coll_poweraware_module_t *module, bool mine);
/* The same for numbers: the least of all, 0 if something failed. */
int coll_poweraware_least_of_all(const mca_coll_poweraware_module_t *module, int mine);
/* Whether all have the same number. */
bool coll_poweraware_all_same(const mca_coll_poweraware_module_t *module, uint64_t mine);
/* Everybody's mine[ints] in all[size * ints]; false after an error of the saved function. */
bool coll_poweraware_all_tell(const mca_coll_poweraware_module_t *module, const void *mine,
                              void *all, int ints);

#endif
