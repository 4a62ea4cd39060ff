/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What commands that time collectives, or other rows of a table, have in common.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "osu.h"
#include "pwr/command.h"

const pwr_osu_benchmark_t *pwr_osu_find(const char *name)
{
    for (int i = 0; i < pwr_osu_num_benchmarks; i++) {
        if (strcmp(name, pwr_osu_benchmarks[i].name) == 0) {
            return &pwr_osu_benchmarks[i];
        }
    }
    return NULL;
}

const pwr_osu_benchmark_t *pwr_osu_next(const pwr_command_t *command, const char **list)
{
    enum { NAME_BYTES = 32 };
    char name[NAME_BYTES];
    size_t length = strcspn(*list, ",");
    if (length == 0) {
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    const pwr_osu_benchmark_t *found = pwr_osu_find(name);
    if (found == NULL || found->data->unit == 0) {
        pwr_command_refuse(command, "option --collectives: there is no \"%s\" with messages", name);
    }
    return found;
}

void *pwr_osu_allocate(const pwr_command_t *command, size_t bytes)
{
    void *memory = calloc(1, bytes + 1);
    if (memory == NULL) {
        fprintf(stderr, "%s: no memory for %zu bytes\n", command->name, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

MPI_Comm pwr_osu_comm(const char *algorithm)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    if (algorithm != NULL) {
        MPI_Info_set(info, "coll_poweraware_algorithm", algorithm);
    }
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    return comm;
}
