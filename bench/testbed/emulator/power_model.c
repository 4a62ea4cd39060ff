/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Watts from states, joules from watts.
 */
#include "config.h"

#include "power_model.h"

#include <math.h>

/* The fraction of time at least one thread's clock runs. */
static double clocked(const struct emu_load *threads, int thread_count)
{
    double none = 1;
    for (int i = 0; i < thread_count; i++) {
        none *= 1 - threads[i].active * threads[i].duty;
    }
    return 1 - none;
}

static double core_dyn_w(const struct emu_config *config, uint32_t khz)
{
    return config->core_dyn_w * pow((double)khz / config->core_dyn_khz, config->core_dyn_exponent);
}

double emu_power_core_w(const struct emu_config *config, uint32_t khz,
                        const struct emu_load *threads, int thread_count)
{
    double idle = 1;
    for (int i = 0; i < thread_count; i++) {
        idle *= 1 - threads[i].active;
    }
    return core_dyn_w(config, khz) * clocked(threads, thread_count) + config->core_idle_w * idle;
}

double emu_power_uncore_w(const struct emu_config *config, uint32_t khz)
{
    return config->uncore_w > 0 ? config->uncore_w * pow((double)khz / config->uncore_max_khz,
                                                         config->core_dyn_exponent)
                                : 0;
}

double emu_power_core_dram_w(const struct emu_config *config, const struct emu_load *threads,
                             int thread_count)
{
    return config->dram_dyn_w / config->cores * clocked(threads, thread_count);
}

uint64_t emu_meter_boundary(uint64_t now_ns, uint64_t update_ns)
{
    return now_ns - now_ns % update_ns;
}

void emu_meter_advance(struct emu_meter *meter, double watts, uint64_t now_ns, uint64_t update_ns)
{
    if (now_ns <= meter->t_ns) {
        return;
    }
    uint64_t boundary = emu_meter_boundary(now_ns, update_ns);
    if (boundary >= meter->t_ns) {
        meter->visible_j = meter->joules + watts * (double)(boundary - meter->t_ns) * 1e-9;
    }
    meter->joules += watts * (double)(now_ns - meter->t_ns) * 1e-9;
    meter->t_ns = now_ns;
}
