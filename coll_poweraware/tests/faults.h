/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Failures of the layer below: what our plug-in asks of the PML and of malloc, and nobody else's.
 * A program that is linked with this has malloc and calloc of its own.
 */
#ifndef COLL_POWERAWARE_TESTS_FAULTS_H
#define COLL_POWERAWARE_TESTS_FAULTS_H

#include <stdbool.h>

enum { FAULTS_ISEND = 1, FAULTS_IRECV = 2, FAULTS_MEMORY = 4 };

/* Between MPI_Init and MPI_Finalize. */
void faults_begin(void);
void faults_end(void);

/* The n-th request (from 1) of these kinds from now on fails. */
void faults_arm(unsigned kinds, long n);
/* Returns whether it came to that. */
bool faults_disarm(void);

#endif
