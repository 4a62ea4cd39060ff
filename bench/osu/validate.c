/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Checking the data of one message size.
 *
 * The checked calls come after the timed ones of all sizes, so that -c changes neither the times
 * nor the energy and CPU seconds between the first row's begin and the last one's end.  They follow
 * each other without a barrier: calls that overlap on different ranks are the harder case.
 */
#include "config.h"

#include "harness.h"

/* The failure of the smallest size is kept, and its first one. */
static bool is_news(const pwr_osu_run_t *run, size_t bytes)
{
    return !run->failure.seen || bytes < run->failure.bytes;
}

enum { TIMED = -1 };

static char *begin_failure(pwr_osu_run_t *run, size_t bytes, long number)
{
    run->failure = (pwr_osu_failure_t){.seen = true, .bytes = bytes, .call = number};
    return run->failure.text;
}

static void check_data(pwr_osu_run_t *run, const pwr_osu_call_t *call, long number)
{
    pwr_osu_error_t error = {.no_byte = false};
    /* Always, because ranks may talk in it. */
    if (run->benchmark->data->check(call, &error) || !is_news(run, call->bytes)) {
        return;
    }
    const size_t size = sizeof run->failure.text;
    char *text = begin_failure(run, call->bytes, number);
    int length = snprintf(text, size, "%s %d", error.where, error.peer);
    if (!error.no_byte) {
        snprintf(text + length, size - (size_t)length, ", byte %zu: expected 0x%02x, found 0x%02x",
                 error.byte.position, error.byte.expected, error.byte.found);
    }
}

static void check_zones(pwr_osu_run_t *run, size_t bytes, const pwr_buffer_t *buffer,
                        const char *name, long number)
{
    ptrdiff_t offset;
    if (is_news(run, bytes) && !pwr_buffer_check(buffer, &offset)) {
        snprintf(begin_failure(run, bytes, number), sizeof run->failure.text,
                 "%s buffer of %zu bytes: written outside of it, at byte %td", name, buffer->used,
                 offset);
    }
}

static void check_both_zones(pwr_osu_run_t *run, size_t bytes, long number)
{
    check_zones(run, bytes, &run->send, "send", number);
    check_zones(run, bytes, &run->recv, "receive", number);
}

/* All ranks learn whether any of them failed; the lowest of those speaks. */
static bool agree(pwr_osu_run_t *run, size_t bytes)
{
    bool seen = run->failure.seen && run->failure.bytes == bytes;
    int me = seen ? run->rank : run->np;
    int mine = seen ? 1 : 0;
    int speaker = run->np;
    int failed = 0;
    MPI_Allreduce(&me, &speaker, 1, MPI_INT, MPI_MIN, run->comm);
    MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_SUM, run->comm);
    if (seen && (speaker == run->rank || failed == 0)) {
        char calls[40] = "timed calls";
        if (run->failure.call != TIMED) {
            snprintf(calls, sizeof calls, "checked call %ld", run->failure.call);
        }
        fprintf(stderr,
                "%s: wrong data on rank %d (and %d others) in messages of %zu bytes, %s: %s\n",
                run->name, run->rank, failed > 0 ? failed - 1 : 0, bytes, calls, run->failure.text);
    }
    return failed == 0;
}

void pwr_osu_validate_timed(pwr_osu_run_t *run, size_t bytes)
{
    check_both_zones(run, bytes, TIMED);
}

pwr_osu_verdict_t pwr_osu_validate(pwr_osu_run_t *run, size_t bytes)
{
    pwr_osu_use_buffers(run, bytes);
    /* No way out of this loop: a rank that left it would leave the others waiting. */
    for (unsigned long i = 0; i < run->options->validated_calls; i++) {
        pwr_osu_call_t call = pwr_osu_call(run, bytes, i);
        call.tag = (unsigned)i + 1; /* the timed calls had 0 */
        run->benchmark->data->fill(&call);
        run->benchmark->run(&call);
        check_data(run, &call, (long)i);
        check_both_zones(run, bytes, (long)i);
    }
    return agree(run, bytes) ? PWR_OSU_PASS : PWR_OSU_FAIL;
}
