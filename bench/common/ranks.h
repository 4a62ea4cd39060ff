/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Where mpirun and srun tell a process its rank, before MPI_Init (pwr_command_t.ranks).
 */
#ifndef PWR_BENCH_RANKS_H
#define PWR_BENCH_RANKS_H

#include <stddef.h>

static const char *const pwr_rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                                 "SLURM_PROCID", NULL};

#endif
