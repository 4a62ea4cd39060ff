/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The real kernel and driver for those meters that are more than files.
 */
#include "config.h"

#include "meter/meter_backend.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_on_cpu(struct perf_event_attr *attr, unsigned cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

const pwr_meter_outside_t pwr_meter_outside_real = {.perf_event_open = open_on_cpu,
                                                    .nvml_library = "libnvidia-ml.so.1"};

const pwr_meter_outside_t pwr_meter_outside_none = {.perf_event_open = NULL, .nvml_library = NULL};
