/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Checking the data of one message size.
 *
 * The checked calls come after the timed ones and apart from them, so that -c changes neither the
 * times nor the energy and CPU seconds between a row's begin and end.  They follow each other
 * without a barrier: calls that overlap on different ranks are the harder case.
 */
#include "config.h"

#include "harness.h"

typedef struct failure {
    bool seen;
    char text[200]; /* the first one */
} failure_t;

static void check_data(const pwr_osu_run_t *run, const pwr_osu_call_t *call, failure_t *failure)
{
    pwr_osu_error_t error = {.no_byte = false};
    /* Always, because ranks may talk in it. */
    if (run->benchmark->data->check(call, &error) || failure->seen) {
        return;
    }
    failure->seen = true;
    int length = snprintf(failure->text, sizeof failure->text, "%s %d", error.where, error.peer);
    if (!error.no_byte) {
        snprintf(failure->text + length, sizeof failure->text - (size_t)length,
                 ", byte %zu: expected 0x%02x, found 0x%02x", error.byte.position,
                 error.byte.expected, error.byte.found);
    }
}

static void check_zones(const pwr_buffer_t *buffer, const char *name, failure_t *failure)
{
    ptrdiff_t offset;
    if (!failure->seen && !pwr_buffer_check(buffer, &offset)) {
        failure->seen = true;
        snprintf(failure->text, sizeof failure->text,
                 "%s buffer of %zu bytes: written outside of it, at byte %td", name, buffer->used,
                 offset);
    }
}

/* All ranks learn whether any of them failed; the lowest of those speaks. */
static bool agree(pwr_osu_run_t *run, size_t bytes, unsigned long index, const failure_t *failure)
{
    int me = failure->seen ? run->rank : run->np;
    int mine = failure->seen ? 1 : 0;
    int speaker = run->np;
    int failed = 0;
    MPI_Allreduce(&me, &speaker, 1, MPI_INT, MPI_MIN, run->comm);
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_SUM, run->comm);
    if (failure->seen) {
        run->failed_here = true;
        if (speaker == run->rank || failed == 0) {
            fprintf(stderr,
                    "%s: wrong data on rank %d (and %d others) in messages of %zu bytes, checked "
                    "call %lu: %s\n",
                    run->name, run->rank, failed > 0 ? failed - 1 : 0, bytes, index, failure->text);
        }
    }
    return failed == 0;
}

pwr_osu_verdict_t pwr_osu_validate(pwr_osu_run_t *run, size_t bytes)
{
    failure_t failure = {.seen = false};
    unsigned long first_bad = 0;
    /* No way out of this loop: a rank that left it would leave the others waiting. */
    for (unsigned long i = 0; i < run->options->validated_calls; i++) {
        pwr_osu_call_t call = pwr_osu_call(run, bytes, i);
        call.tag = (unsigned)i + 1; /* the timed calls had 0 */
        run->benchmark->data->fill(&call);
        run->benchmark->run(&call);
        first_bad = failure.seen ? first_bad : i;
        check_data(run, &call, &failure);
        check_zones(&run->send, "send", &failure);
        check_zones(&run->recv, "receive", &failure);
    }
    return agree(run, bytes, first_bad, &failure) ? PWR_OSU_PASS : PWR_OSU_FAIL;
}
