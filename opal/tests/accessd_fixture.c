/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A machine with a server of our own (accessd_server.c) in place of likwid's access daemon.
 */
#include "config.h"

#include "accessd_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

const char accessd_server[] = "tests/accessd_server";
char accessd_text[ACCESSD_WHY_BYTES];
pwr_why_t accessd_why;

uint64_t accessd_content(unsigned cpu, uint32_t number)
{
    return (uint64_t)cpu << 32 | number;
}

void accessd_put(fixture_t *fixture, unsigned cpu, uint32_t number, uint64_t value)
{
    char name[300];
    snprintf(name, sizeof name, "%s/registers/%u", fixture->root, cpu);
    FILE *file = fopen(name, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)number, SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

uint64_t accessd_get(const fixture_t *fixture, unsigned cpu, uint32_t number)
{
    char name[300];
    uint64_t value;
    snprintf(name, sizeof name, "%s/registers/%u", fixture->root, cpu);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)number, SEEK_SET), 0);
    assert_int_equal(fread(&value, sizeof value, 1, file), 1);
    fclose(file);
    return value;
}

void accessd_install(fixture_t *fixture, const char *words)
{
    char path[64];
    fixture_make_directory(fixture, "/tmp");
    fixture_make_directory(fixture, "/registers");
    for (unsigned cpu = 0; cpu < ACCESSD_CPUS; cpu++) {
        snprintf(path, sizeof path, "/dev/cpu/%u/msr", cpu);
        fixture_make_directory(fixture, path);
        snprintf(path, sizeof path, "/registers/%u", cpu);
        fixture_put(fixture, path, "");
        accessd_put(fixture, cpu, PWR_MSR_CLOCK_MODULATION, 0);
        accessd_put(fixture, cpu, 0x611, accessd_content(cpu, 0x611));
    }
    fixture_put(fixture, "/accessd.words", words);
    fixture_put_program(fixture, accessd_server, "/usr/sbin/likwid-accessD");
    accessd_why = pwr_why_init(accessd_text, sizeof accessd_text);
}

pwr_status_t accessd_open(const fixture_t *fixture, unsigned cpu)
{
    return pwr_accessd_open(&fixture->env, cpu, &accessd_why);
}

void assert_opens(const fixture_t *fixture, unsigned cpu, pwr_status_t expected)
{
    pwr_status_t status = accessd_open(fixture, cpu);
    if (status != expected) {
        fail_msg("opening CPU %u: '%s' instead of '%s': %s", cpu, pwr_status_text(status),
                 pwr_status_text(expected), accessd_text);
    }
}

unsigned accessd_num_started(const fixture_t *fixture, pid_t *last)
{
    char started[256];
    char *rest = NULL;
    unsigned lines = 0;
    fixture_get(fixture, "/accessd.started", started, sizeof started);
    for (char *line = strtok_r(started, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        *last = (pid_t)atol(line);
        lines++;
    }
    return lines;
}

bool accessd_is_gone(const fixture_t *fixture)
{
    char name[64];
    char state[64] = "";
    pid_t pid = 0;
    accessd_num_started(fixture, &pid);
    snprintf(name, sizeof name, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(name, "r");
    if (!file) {
        return true;
    }
    bool ended = !fgets(state, sizeof state, file); /* reaped after the file was opened */
    fclose(file);
    return ended || strstr(state, ") Z");
}

void assert_childless(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

void assert_says(const char *part)
{
    if (!strstr(accessd_text, part)) {
        fail_msg("'%s' does not say '%s'", accessd_text, part);
    }
}
