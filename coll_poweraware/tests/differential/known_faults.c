/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Faults of Open MPI, found by this tester without the component loaded; each with its cause.
 *
 * Blocking calls have them only where the component leaves them to Open MPI: --beyond-stock draws
 * them for jobs in which it does not.
 */
#include "known_faults.h"

#include <stdlib.h>
#include <string.h>

static bool of_libnbc(diff_mode_t mode)
{
    return DIFF_NONBLOCKING == mode || DIFF_PERSISTENT == mode;
}

/* coll_self_alltoallw.c multiplies displacements, which are in bytes, by the extent. */
static bool alltoallw_alone(const diff_plan_t *plan, int size)
{
    return DIFF_ALLTOALLW == plan->collective && 1 == size;
}

/* Bruck's algorithm, taken for small messages of 16 ranks and more (coll_tuned_decision_fixed.c),
   passes other ranks' blocks on with the send datatype. */
static bool alltoall_bruck(const diff_plan_t *plan, int size)
{
    return DIFF_ALLTOALL == plan->collective && size >= 16 && !plan->alike && !plan->beyond_stock;
}

bool diff_known_fault_here(const diff_plan_t *plan, int size)
{
    return alltoallw_alone(plan, size) || alltoall_bruck(plan, size);
}

/* Bcast cuts messages into segments of whole elements: each rank its own.  Allgatherv's decision
   (coll_tuned_decision_fixed.c) multiplies the receive counts by the size of the send datatype:
   ranks choose different algorithms and wait for each other. */
bool diff_known_fault_sizes(diff_collective_t collective)
{
    return DIFF_BCAST == collective || DIFF_ALLGATHERV == collective;
}

/* The rings of coll_base_allreduce.c forget the lower bound of a datatype, so they write beside
   their temporary buffers; in libnbc many do (nbc_ireduce.c's chain), and some hang where ranks use
   different datatypes. */
bool diff_known_fault_layouts(diff_collective_t collective, diff_mode_t mode)
{
    return of_libnbc(mode) || DIFF_ALLREDUCE == collective;
}

/* Open MPI 5.0.7 packs complex numbers with gaps between them wrongly (MPI_Pack of two elements of
   an MPI_Type_create_hindexed_block of MPI_C_FLOAT_COMPLEX at 4 and 16 shows it); 4.1 and 6.0 do
   not. */
bool diff_known_fault_complex(void)
{
    return 5 == OMPI_MAJOR_VERSION;
}

static bool over_ucx(void)
{
    const char *pml = getenv("OMPI_MCA_pml"); /* as mpirun --mca pml passes it on */
    return NULL != pml && 0 == strcmp("ucx", pml);
}

/* Open MPI 5.0.7 sends items at odd addresses wrongly, sometimes, in a message of several fragments
   over shared memory (plain MPI_Send shows it).  pml ucx puts what has a negative lower bound in
   the wrong place, in every series. */
bool diff_known_fault_style(diff_style_t style)
{
    bool goes_below = DIFF_NEGATIVE == style || DIFF_INTERLEAVED == style;
    return (5 == OMPI_MAJOR_VERSION && DIFF_PACKED == style) || (goes_below && over_ucx());
}

/* libnbc takes an extent of 0 for an error. */
bool diff_known_fault_empty(diff_mode_t mode)
{
    return of_libnbc(mode);
}

/* libnbc mixes up what it sends and receives from messages that are not eager on. */
bool diff_known_fault_in_place(diff_collective_t collective, diff_mode_t mode)
{
    return of_libnbc(mode) && (DIFF_ALLTOALLV == collective || DIFF_ALLTOALLW == collective);
}
