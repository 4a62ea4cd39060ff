/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * See stamps.h.
 */
#include "stamps.h"

#include "../common/order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

#include "pwr/clock.h"

uint64_t stamps_cpu_ns(void)
{
    return pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* What mpi_yield_when_idle is now, whoever has set it; -1: not known. */
static int yields(void)
{
    char name[64], description[8];
    int level, index, length = sizeof name, unused = sizeof description, verbosity, bind, scope;
    int count, value = -1;
    MPI_Datatype type;
    MPI_T_enum words;
    MPI_T_cvar_handle handle;
    if (MPI_SUCCESS != MPI_T_init_thread(MPI_THREAD_SINGLE, &level)) {
        return -1;
    }
    if (MPI_SUCCESS == MPI_T_cvar_get_index("mpi_yield_when_idle", &index) &&
        MPI_SUCCESS == MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &words,
                                           description, &unused, &bind, &scope) &&
        MPI_SUCCESS == MPI_T_cvar_handle_alloc(index, NULL, &handle, &count)) {
        union {
            int word;
            bool flag;
        } read = {.word = 0};
        if (MPI_SUCCESS == MPI_T_cvar_read(handle, &read)) {
            value = MPI_INT == type ? 0 != read.word : read.flag;
        }
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

void stamps_print_head(const char *load, const char *collective, int ranks, int iterations,
                       int late_us)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\"\\\n")] = '\0';
    printf("{\"library\": \"%s\", \"load\": \"%s\", \"collective\": \"%s\", \"ranks\": %d, "
           "\"iterations\": %d, \"late_us\": %d, \"yields\": %d",
           library, load, collective, ranks, iterations, late_us, yields());
}

static double quantile(const double *sorted, int count, double q)
{
    return sorted[(int)(q * (count - 1) + 0.5)];
}

void stamps_print_times(const char *name, double *us, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += us[i];
    }
    qsort(us, (size_t)count, sizeof *us, pwr_order);
    printf(", \"%s\": {\"mean\": %.4f, \"p25\": %.4f, \"p50\": %.4f, \"p75\": %.4f, \"p95\": %.4f}",
           name, sum / count, quantile(us, count, 0.25), quantile(us, count, 0.5),
           quantile(us, count, 0.75), quantile(us, count, 0.95));
}

void stamps_print_after_arrival(const uint64_t (*stamps)[STAMPS], double *us, int count)
{
    int last = 0;
    for (int i = 0; i < count; ++i) {
        const uint64_t *at = stamps[i];
        bool is_last = at[ARRIVED] >= at[CALLED];
        us[i] = 1e-3 * (double)(at[ENDED] - at[is_last ? ARRIVED : CALLED]);
        last += is_last;
    }
    stamps_print_times("after_us", us, count);
    printf(", \"late_was_last\": %.4f", (double)last / count);
}

void stamps_print_waiting(const sums_t *all, double calls)
{
    printf(", \"waiting_us\": %.4f, \"cpu_us\": %.4f", 1e-3 * (double)all->waiting_ns / calls,
           1e-3 * (double)all->waiting_cpu_ns / calls);
}

void stamps_print_window(uint64_t begin_ns, uint64_t end_ns, const sums_t *all)
{
    printf(", \"t_begin_ns\": %" PRIu64 ", \"t_end_ns\": %" PRIu64 ", \"cpu_s\": %.6f", begin_ns,
           end_ns, 1e-9 * (double)all->cpu_ns);
}
