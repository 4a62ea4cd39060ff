/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A process that uses the library as a rank does, for tests on emulated machines.
 *
 *     drive [--exits FILE] WORD ...
 *       control ACCESS KIND CPU SPEED   opens, lowers to SPEED (control.h) and restores one control
 *       hold ACCESS KIND CPU SPEED      lowers it and sleeps until it is killed
 *       register CPU NUMBER           reads a register through likwid's access daemon
 *       lever NAME BACKEND VALUE      a lever by that back end, or by "any": sets, restores
 *       energy MS                     reads likwid's meter at both ends of that time
 *       knowledge FILE                loads what it knows of a machine "test", saves it there again
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
#include "pwr/knowledge.h"
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

/* ---- lever ---- */

static pwr_lever_id_t lever_of(const char *name)
{
    unsigned id = 0;
    while (id < PWR_NUM_LEVERS && strcmp(pwr_lever_type((pwr_lever_id_t)id)->name, name) != 0) {
        id++;
    }
    return (pwr_lever_id_t)id;
}

static pwr_status_t open_lever(drive_t *drive, pwr_lever_id_t id, const char *backend,
                               pwr_lever_t **lever)
{
    unsigned nth = 0;
    if (strcmp(backend, "any") == 0) {
        return pwr_lever_open(id, &drive->env, drive->topo, drive->guard, drive->why,
                              sizeof drive->why, lever);
    }
    while (pwr_lever_backend_name(id, nth) && strcmp(pwr_lever_backend_name(id, nth), backend)) {
        nth++;
    }
    return pwr_lever_open_nth(id, &drive->env, drive->topo, drive->guard, nth, drive->why,
                              sizeof drive->why, lever);
}

static pwr_status_t drive_lever(drive_t *drive, char **words)
{
    pwr_lever_t *lever;
    pwr_lever_id_t id = lever_of(words[1]);
    pwr_status_t status =
        id < PWR_NUM_LEVERS ? open_lever(drive, id, words[2], &lever) : PWR_ERR_ARG;
    if (status != PWR_OK) {
        return status;
    }
    printf("lever: %s %u %u\n", pwr_lever_backend(lever), pwr_lever_lowest(lever),
           pwr_lever_full(lever));
    status = pwr_lever_set(lever, unsigned_of(words[3]));
    status = first_of(status, pwr_lever_restore(lever));
    pwr_lever_close(lever);
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
    pwr_meter_counters_t counters = {.backend = &pwr_meter_likwid};
    pwr_status_t status = pwr_meter_likwid.open(&request, &counters);
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

/* ---- knowledge ---- */

static pwr_status_t drive_knowledge(drive_t *drive, char **words)
{
    static const pwr_knowledge_machine_t machine = {.mpi = "test"};
    unsigned count;
    pwr_knowledge_t *knowledge;
    pwr_status_t status = pwr_knowledge_load(&drive->env, words[1], &machine, drive->why,
                                             sizeof drive->why, &knowledge);
    if (status != PWR_OK) {
        return status;
    }
    (void)pwr_knowledge_entries(knowledge, &count);
    printf("knowledge: %u %s\n", count, drive->why);
    status = pwr_knowledge_save(&drive->env, words[1], &machine, knowledge, drive->why,
                                sizeof drive->why);
    pwr_knowledge_free(knowledge);
    return status;
}

/* ---- words ---- */

static const struct {
    const char *word;
    int length; /* with its arguments */
    pwr_status_t (*run)(drive_t *drive, char **words);
} vocabulary[] = {
    {"control", 5, drive_control}, {"hold", 5, drive_hold},     {"register", 3, drive_register},
    {"lever", 4, drive_lever},     {"energy", 2, drive_energy}, {"knowledge", 2, drive_knowledge},
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
