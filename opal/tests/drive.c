/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A process that uses the library as a rank does, for tests on emulated machines.
 *
 *     drive [--exits FILE] WORD ...
 *       control ACCESS KIND CPU SPEED   opens, lowers to SPEED (control.h) and restores one control
 *       hold ACCESS KIND CPU SPEED      lowers it and sleeps until it is killed
 *       register CPU NUMBER           reads a register through likwid's access daemon
 *       pstate NAME KHZ               the P-state back end of that name, or "any": sets, restores
 *       tstate NAME DUTY              the same with T-states
 *       energy MS                     reads likwid's meter at both ends of that time
 *
 * Words follow each other; the first that fails ends it with status 1.  Lines of output begin with
 * the word.  At the end "children: none" says that wait() found nothing that we did not start.
 *
 * --exits registers an exit handler that appends the number of the process it runs in to FILE.
 * PWR_HELPERS names the folder of the helper programs, PWR_RUN one in which everybody may make his
 * run-time directory.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/held.h"
#include "likwid/accessd.h"
#include "meter/meter_backend.h"
#include "pwr/lever.h"
#include "pwr/topo.h"

enum { WHY_BYTES = 2048, MAX_COUNTERS = 64 };

typedef struct drive {
    pwr_env_t env;
    pwr_topo_t *topo;
    pwr_guard_t *guard;
    char why[WHY_BYTES];
    pwr_why_t reasons; /* into why */
} drive_t;

static const char *exits_file;

static void note_exit(void)
{
    char line[24];
    int fd = open(exits_file, O_WRONLY | O_CREAT | O_APPEND, 0666);
    int size = snprintf(line, sizeof line, "%ld\n", (long)getpid());
    if (fd < 0 || write(fd, line, (size_t)size) != size) {
        _exit(EXIT_FAILURE);
    }
    close(fd);
}

static void pause_ms(unsigned long ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static unsigned unsigned_of(const char *text)
{
    return (unsigned)strtoul(text, NULL, 0);
}

static pwr_status_t first_of(pwr_status_t first, pwr_status_t second)
{
    return first != PWR_OK ? first : second;
}

/* ---- control, hold ---- */

static pwr_status_t lower(drive_t *drive, char **words, pwr_held_t *held)
{
    const pwr_held_request_t request = {&drive->env, drive->guard, &drive->reasons};
    const pwr_access_t *access = pwr_access_find(words[1]);
    pwr_control_kind_t kind = pwr_control_kind_find(words[2]);
    if (!access || kind == PWR_CONTROL_KINDS) {
        return PWR_ERR_ARG;
    }
    pwr_status_t status = pwr_held_open(&request, access, kind, unsigned_of(words[3]), held);
    if (status != PWR_OK) {
        return status;
    }
    printf("%s: found %llu\n", words[0], (unsigned long long)held->original);
    status = pwr_held_lower(held, unsigned_of(words[4]));
    if (status != PWR_OK) {
        (void)pwr_held_restore(held);
        pwr_held_close(held);
        return status;
    }
    printf("%s: lowered to %llu\n", words[0], (unsigned long long)held->last);
    return PWR_OK;
}

static pwr_status_t drive_control(drive_t *drive, char **words)
{
    pwr_held_t held;
    pwr_status_t status = lower(drive, words, &held);
    if (status == PWR_OK) {
        status = pwr_held_restore(&held);
        pwr_held_close(&held);
    }
    return status;
}

static pwr_status_t drive_hold(drive_t *drive, char **words)
{
    pwr_held_t held;
    pwr_status_t status = lower(drive, words, &held);
    while (status == PWR_OK) {
        pause();
    }
    return status;
}

/* ---- register ---- */

static pwr_status_t drive_register(drive_t *drive, char **words)
{
    unsigned cpu = unsigned_of(words[1]);
    uint64_t value;
    pwr_status_t status = pwr_accessd_open(&drive->env, cpu, &drive->reasons);
    if (status != PWR_OK) {
        return status;
    }
    status = pwr_accessd_read(cpu, unsigned_of(words[2]), &value);
    pwr_accessd_close();
    if (status == PWR_OK) {
        printf("register: 0x%llx\n", (unsigned long long)value);
    }
    return status;
}

/* ---- pstate, tstate ---- */

static unsigned find(const char *(*name_of)(unsigned nth), const char *name)
{
    unsigned nth = 0;
    while (name_of(nth) && strcmp(name_of(nth), name) != 0) {
        nth++;
    }
    return nth;
}

static pwr_status_t drive_pstate(drive_t *drive, char **words)
{
    pwr_pstate_t *pstate;
    pwr_status_t status = strcmp(words[1], "any") == 0
                              ? pwr_pstate_open(&drive->env, drive->topo, drive->guard, drive->why,
                                                sizeof drive->why, &pstate)
                              : pwr_pstate_open_nth(&drive->env, drive->topo, drive->guard,
                                                    find(pwr_pstate_backend_name, words[1]),
                                                    drive->why, sizeof drive->why, &pstate);
    if (status != PWR_OK) {
        return status;
    }
    printf("pstate: %s %u %u\n", pwr_pstate_backend(pstate), pwr_pstate_min_khz(pstate),
           pwr_pstate_max_khz(pstate));
    status = pwr_pstate_set(pstate, unsigned_of(words[2]));
    status = first_of(status, pwr_pstate_restore(pstate));
    pwr_pstate_close(pstate);
    return status;
}

static pwr_status_t drive_tstate(drive_t *drive, char **words)
{
    pwr_tstate_t *tstate;
    pwr_status_t status = strcmp(words[1], "any") == 0
                              ? pwr_tstate_open(&drive->env, drive->topo, drive->guard, drive->why,
                                                sizeof drive->why, &tstate)
                              : pwr_tstate_open_nth(&drive->env, drive->topo, drive->guard,
                                                    find(pwr_tstate_backend_name, words[1]),
                                                    drive->why, sizeof drive->why, &tstate);
    if (status != PWR_OK) {
        return status;
    }
    printf("tstate: %s\n", pwr_tstate_backend(tstate));
    status = pwr_tstate_set(tstate, unsigned_of(words[2]));
    status = first_of(status, pwr_tstate_restore(tstate));
    pwr_tstate_close(tstate);
    return status;
}

/* ---- energy ---- */

/* Prints the times before and after: the counters are from between. */
static pwr_status_t read_counters(const drive_t *drive, const pwr_meter_counters_t *counters,
                                  const char *when, uint64_t *counts)
{
    pwr_status_t status = PWR_OK;
    uint64_t before_ns = pwr_env_now_ns(&drive->env);
    for (unsigned i = 0; i < counters->count && status == PWR_OK; i++) {
        status = pwr_meter_likwid.read(&counters->items[i], &counts[i]);
    }
    printf("energy: %s %llu %llu\n", when, (unsigned long long)before_ns,
           (unsigned long long)pwr_env_now_ns(&drive->env));
    return status;
}

static pwr_status_t drive_energy(drive_t *drive, char **words)
{
    const pwr_meter_request_t request = {&drive->env, drive->topo, &drive->reasons,
                                         &pwr_meter_outside_real};
    uint64_t begin[MAX_COUNTERS], end[MAX_COUNTERS];
    pwr_meter_counters_t counters = {0};
    pwr_status_t status = pwr_meter_likwid.open(&pwr_meter_likwid, &request, &counters);
    if (status == PWR_OK && counters.count > MAX_COUNTERS) {
        status = PWR_ERR_RANGE;
    }
    if (status == PWR_OK) {
        status = read_counters(drive, &counters, "begin", begin);
        pause_ms(strtoul(words[1], NULL, 0));
        status = first_of(status, read_counters(drive, &counters, "end", end));
    }
    for (unsigned i = 0; i < counters.count && status == PWR_OK; i++) {
        printf("energy: %s %.6f\n", counters.items[i].domain.name,
               (double)(end[i] - begin[i]) * counters.items[i].unit_uj * 1e-6);
    }
    pwr_meter_likwid.close(&counters);
    free(counters.items);
    return status;
}

/* ---- words ---- */

static const struct {
    const char *word;
    int length; /* with its arguments */
    pwr_status_t (*run)(drive_t *drive, char **words);
} vocabulary[] = {
    {"control", 5, drive_control}, {"hold", 5, drive_hold},     {"register", 3, drive_register},
    {"pstate", 3, drive_pstate},   {"tstate", 3, drive_tstate}, {"energy", 2, drive_energy},
};

/* The number of words used; 0 after a failure. */
static int run_word(drive_t *drive, char **words, int count)
{
    for (size_t i = 0; i < sizeof vocabulary / sizeof vocabulary[0]; i++) {
        if (strcmp(words[0], vocabulary[i].word) == 0 && count >= vocabulary[i].length) {
            pwr_status_t status = vocabulary[i].run(drive, words);
            if (status == PWR_OK) {
                return vocabulary[i].length;
            }
            printf("%s: %s: %s\n", words[0], pwr_status_text(status), drive->why);
            return 0;
        }
    }
    fprintf(stderr, "drive: what is '%s'?\n", words[0]);
    return 0;
}

static bool run(drive_t *drive, char **words, int count)
{
    int used = 1;
    for (; count > 0 && used > 0; words += used, count -= used) {
        used = run_word(drive, words, count);
    }
    return used > 0;
}

static pwr_status_t start_guard(drive_t *drive)
{
    char directory[128];
    const char *parent = getenv("PWR_RUN");
    snprintf(directory, sizeof directory, "%s/%ld", parent ? parent : "/tmp", (long)getuid());
    const pwr_guard_config_t config = {.run_directory = directory};
    return pwr_guard_start(&drive->env, &config, &drive->guard);
}

int main(int argc, char **argv)
{
    drive_t drive = {.env = pwr_env_real};
    int first = 1;
    drive.env.helper_dir = getenv("PWR_HELPERS");
    drive.reasons = pwr_why_init(drive.why, sizeof drive.why);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "--exits") == 0) {
        exits_file = argv[2];
        atexit(note_exit);
        first = 3;
    }
    if (pwr_topo_open(&drive.env, &drive.topo) != PWR_OK || start_guard(&drive) != PWR_OK) {
        return EXIT_FAILURE;
    }
    bool good = run(&drive, argv + first, argc - first);
    bool childless = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
    printf("children: %s\n", childless ? "none" : "some");
    pwr_guard_stop(drive.guard);
    pwr_topo_close(drive.topo);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
