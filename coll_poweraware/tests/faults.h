/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Failures of the layer below: what our plug-in asks of the PML and of malloc, and nobody else's,
 * and what libpoweraware asks of the kernel by MADV_POPULATE_WRITE.
 * A program that is linked with this has malloc, calloc and madvise of its own.
 */
#ifndef COLL_POWERAWARE_TESTS_FAULTS_H
#define COLL_POWERAWARE_TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

enum { FAULTS_ISEND = 1, FAULTS_IRECV = 2, FAULTS_MEMORY = 4, FAULTS_PAGES = 8 };

#define FAULTS_POPULATE 23 /* MADV_POPULATE_WRITE; older C libraries do not name it */

/* How often something was to be populated, and how many bytes in all. */
extern long faults_populations;
extern size_t faults_populated;
/* Until it is false again there is no MADV_POPULATE_WRITE, as before Linux 5.14. */
extern bool faults_old_kernel;

/* Between MPI_Init and MPI_Finalize. */
void faults_begin(void);
void faults_end(void);

/* The n-th request (from 1) of these kinds from now on fails. */
void faults_arm(unsigned kinds, long n);
/* Returns whether it came to that. */
bool faults_disarm(void);

#endif
