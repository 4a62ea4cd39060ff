/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Asking likwid's access daemon for registers.
 */
#include "config.h"

#include "likwid/accessd.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATH_BYTES = 64 };

static const char device_path[] = "/dev/cpu/%u/msr";

static void say_exit(int fd)
{
    const pwr_accessd_record_t farewell = {.type = PWR_ACCESSD_EXIT};
    (void)send(fd, &farewell, sizeof farewell, MSG_NOSIGNAL);
}

pwr_link_t pwr_accessd_link = {
    .start = pwr_accessd_start, .farewell = say_exit, .mutex = PTHREAD_MUTEX_INITIALIZER};

static pwr_status_t status_of(int32_t error)
{
    static const pwr_status_t status[] = {
        [PWR_ACCESSD_OK] = PWR_OK,
        [PWR_ACCESSD_UNKNOWN] = PWR_ERR_IO,
        [PWR_ACCESSD_RESTRICTED] = PWR_ERR_PERM,
        [PWR_ACCESSD_OPEN] = PWR_ERR_PERM,
        /* The daemon keeps errno to itself.  The driver says EIO for a register that the CPU does
           not have and for reserved bits, which is what is met here. */
        [PWR_ACCESSD_FAILED] = PWR_ERR_UNSUPPORTED,
        [PWR_ACCESSD_BUSY] = PWR_ERR_IO,
        [PWR_ACCESSD_NO_DEVICE] = PWR_ERR_PERM,
        [PWR_ACCESSD_LOCKED] = PWR_ERR_PERM,
    };
    bool known = error >= 0 && (size_t)error < sizeof status / sizeof status[0];
    return known ? status[error] : PWR_ERR_IO;
}

static pwr_status_t ask(pwr_accessd_record_t *record)
{
    const pwr_accessd_record_t question = *record;
    pwr_status_t status = pwr_link_exchange(&pwr_accessd_link, record, sizeof *record);
    if (status != PWR_OK) {
        return status;
    }
    if (record->cpu != question.cpu || record->number != question.number ||
        record->type != question.type) {
        pwr_link_distrust(&pwr_accessd_link);
        return PWR_ERR_IO;
    }
    return status_of(record->error);
}

/* The daemon would read beyond its table for a CPU that is not there. */
static pwr_status_t check_cpu(const pwr_env_t *env, unsigned cpu, const pwr_why_t *why)
{
    char path[PATH_BYTES];
    char name[PATH_MAX];
    snprintf(path, sizeof path, device_path, cpu);
    pwr_status_t status = pwr_env_path(env, path, name, sizeof name);
    if (status == PWR_OK && access(name, F_OK) != 0) {
        status = PWR_ERR_UNSUPPORTED;
    }
    if (status != PWR_OK) {
        pwr_why_add(why, "likwid-accessD: no %s ('modprobe msr')", path);
    }
    return status;
}

pwr_status_t pwr_accessd_open(const pwr_env_t *env, unsigned cpu, const pwr_why_t *why)
{
    pwr_accessd_record_t record = {.cpu = cpu, .type = PWR_ACCESSD_CHECK};
    pwr_status_t status = check_cpu(env, cpu, why);
    if (status == PWR_OK) {
        status = pwr_link_acquire(&pwr_accessd_link, env, why);
    }
    if (status != PWR_OK) {
        return status;
    }
    status = ask(&record);
    if (status != PWR_OK) {
        pwr_why_add(why,
                    "likwid-accessD: CPU %u: %s (the daemon must be able to open "
                    "/dev/cpu/%u/msr)",
                    cpu, pwr_status_text(status), cpu);
        pwr_accessd_close();
    }
    return status;
}

pwr_status_t pwr_accessd_read(unsigned cpu, uint32_t number, uint64_t *value)
{
    pwr_accessd_record_t record = {.cpu = cpu, .number = number, .type = PWR_ACCESSD_READ};
    pwr_status_t status = ask(&record);
    if (status == PWR_OK) {
        *value = record.data;
    }
    return status;
}

pwr_status_t pwr_accessd_write(unsigned cpu, uint32_t number, uint64_t value)
{
    pwr_accessd_record_t record = {
        .cpu = cpu, .number = number, .data = value, .type = PWR_ACCESSD_WRITE};
    return ask(&record);
}

void pwr_accessd_close(void)
{
    pwr_link_release(&pwr_accessd_link);
}
