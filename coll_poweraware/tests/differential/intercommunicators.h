/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A few calls on an intercommunicator, which the component must decline.
 */
#ifndef DIFF_INTERCOMMUNICATORS_H
#define DIFF_INTERCOMMUNICATORS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Between even and odd ranks; MPI_COMM_NULL where there is only one rank. */
MPI_Comm diff_inter_make(MPI_Comm parent);
/* One call of each of a few collectives; otherwise why says which was wrong. */
bool diff_inter_check(MPI_Comm inter, uint64_t seed, char *why, size_t size);

#endif
