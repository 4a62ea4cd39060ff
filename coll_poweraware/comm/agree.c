/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What the ranks of a communicator tell each other to set it up.
 */
#include "comm/state.h"

#include "ompi/op/op.h"

int coll_poweraware_least_of_all(const mca_coll_poweraware_module_t *m, int mine)
{
    int least = 0;
    int rc = m->saved.coll_allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, m->comm,
                                     m->saved.coll_allreduce_module);
    return OMPI_SUCCESS == rc ? least : 0;
}

uint64_t coll_poweraware_most_of_all(const mca_coll_poweraware_module_t *m, uint64_t mine)
{
    uint64_t most = 0;
    int rc = m->saved.coll_allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, m->comm,
                                     m->saved.coll_allreduce_module);
    return OMPI_SUCCESS == rc ? most : 0;
}

bool coll_poweraware_all_agree(const mca_coll_poweraware_module_t *m, bool mine)
{
    return 0 != coll_poweraware_least_of_all(m, mine);
}

bool coll_poweraware_all_same(const mca_coll_poweraware_module_t *m, uint64_t number)
{
    uint64_t mine[2] = {number, ~number};
    uint64_t highest[2] = {0, 0};
    int rc = m->saved.coll_allreduce(mine, highest, 2, MPI_UINT64_T, MPI_MAX, m->comm,
                                     m->saved.coll_allreduce_module);
    return OMPI_SUCCESS == rc && highest[0] == ~highest[1];
}

bool coll_poweraware_add_up(const mca_coll_poweraware_module_t *m, int64_t *sums, int num)
{
    return OMPI_SUCCESS == m->saved.coll_allreduce(MPI_IN_PLACE, sums, num, MPI_INT64_T, MPI_SUM,
                                                   m->comm, m->saved.coll_allreduce_module);
}

bool coll_poweraware_all_tell(const mca_coll_poweraware_module_t *m, const void *mine, void *all,
                              int ints)
{
    return OMPI_SUCCESS == m->saved.coll_allgather(mine, ints, MPI_INT, all, ints, MPI_INT, m->comm,
                                                   m->saved.coll_allgather_module);
}
