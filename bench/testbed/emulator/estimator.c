/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How long a process was runnable.
 */
#include "config.h"

#include "estimator.h"

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

void emu_estimator_start(struct emu_estimator *estimator, uint64_t now_ns, uint64_t total_ns,
                         bool runnable)
{
    *estimator = (struct emu_estimator){
        .t_ns = now_ns,
        .total_ns = total_ns,
        .runnable = runnable,
    };
}

uint64_t emu_estimator_step(struct emu_estimator *estimator, uint64_t now_ns, uint64_t total_ns,
                            bool runnable)
{
    if (now_ns <= estimator->t_ns) {
        return 0;
    }
    int64_t interval = (int64_t)(now_ns - estimator->t_ns);
    int64_t due = (int64_t)(total_ns - estimator->total_ns) + estimator->carry_ns;
    int64_t active = interval;
    if (!runnable || !estimator->runnable) {
        active = clamp(due, 0, interval);
    }
    estimator->carry_ns = clamp(due - active, -(int64_t)EMU_DEBT_NS, EMU_CREDIT_NS);
    estimator->t_ns = now_ns;
    estimator->total_ns = total_ns;
    estimator->runnable = runnable;
    return (uint64_t)active;
}
