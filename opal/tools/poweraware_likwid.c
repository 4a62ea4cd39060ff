/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-likwid: the only program that is linked with liblikwid, and why no other is.
 *
 *   1. detach; keep likwid's output away from the job's, but remember its last words
 *   2. initialise likwid, in the order that works with 5.2 to 5.5: topology, mode, NUMA, affinity,
 *      then frequencies or power
 *   3. answer requests until the client is gone
 *
 * When something is missing, liblikwid calls exit(): the client then gets its last words.
 */
#include "config.h"

#include "helper/detach.h"
#include "likwid/likwid_wire.h"

#include <errno.h>
#include <likwid.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/control.h"
#include "topo/cpulist.h"

enum { DIRECT = 0, DAEMON = 1 };                  /* of HPMmode */
enum { INIT_LIMIT_S = 30, REQUEST_LIMIT_S = 10 }; /* likwid waits without limit for its daemons */
enum { PATH_BYTES = 96, OUTPUT_TAIL_BYTES = 1024 };

static pid_t main_process;
static bool ready_said;

/* ---- 1. output ---- */

static bool catch_output(void)
{
    int file = memfd_create("likwid", MFD_CLOEXEC);
    return file >= 0 && dup2(file, STDOUT_FILENO) >= 0 && dup2(file, STDERR_FILENO) >= 0;
}

static void forget_output(void)
{
    if (ftruncate(STDERR_FILENO, 0) == 0) {
        (void)lseek(STDERR_FILENO, 0, SEEK_SET);
    }
}

/* The last line that likwid wrote to standard error. */
static void last_line(char *text, size_t size)
{
    char tail[OUTPUT_TAIL_BYTES + 1];
    off_t length = lseek(STDERR_FILENO, 0, SEEK_END);
    off_t begin = length > OUTPUT_TAIL_BYTES ? length - OUTPUT_TAIL_BYTES : 0;
    ssize_t got = pread(STDERR_FILENO, tail, OUTPUT_TAIL_BYTES, begin);
    tail[got > 0 ? got : 0] = '\0';
    for (char *end = tail + strlen(tail); end > tail && (end[-1] == '\n' || end[-1] == ' ');) {
        *--end = '\0';
    }
    const char *newline = strrchr(tail, '\n');
    snprintf(text, size, "%s", newline ? newline + 1 : tail);
}

static void say_ready(pwr_status_t status)
{
    pwr_likwid_record_t ready = {
        .magic = PWR_LIKWID_MAGIC, .kind = PWR_LIKWID_READY, .status = status};
    if (status != PWR_OK) {
        last_line(ready.text, sizeof ready.text);
    }
    ready_said = true;
    (void)pwr_helper_send(PWR_HELPER_FD, &ready, sizeof ready);
}

/* likwid's children run exit handlers, too. */
static void say_last_words(void)
{
    if (getpid() == main_process && !ready_said) {
        say_ready(PWR_ERR_PERM);
    }
}

/* ---- 2. initialise ---- */

static int mode_for(const char *path_format, unsigned cpu)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, path_format, cpu);
    return access(path, R_OK | W_OK) == 0 ? DIRECT : DAEMON;
}

static bool init_common(int mode)
{
    if (topology_init() != 0) {
        return false;
    }
    HPMmode(mode); /* lost if it comes before */
    numa_init();
    affinity_init();
    return true;
}

static pwr_status_t init_frequency(unsigned cpu)
{
    int mode = mode_for("/sys/devices/system/cpu/cpu%u/cpufreq/scaling_max_freq", cpu);
    /* Without this it ends the process where the other daemon, which is not needed, is missing. */
    setenv("LIKWID_NO_ACCESS", "1", 1);
    return init_common(mode) && freq_init() == 0 ? PWR_OK : PWR_ERR_UNSUPPORTED;
}

static pwr_status_t init_energy(unsigned cpu)
{
    if (!init_common(mode_for("/dev/cpu/%u/msr", cpu))) {
        return PWR_ERR_UNSUPPORTED;
    }
    /* 1: there is RAPL; 0: none known; less: no right to read it */
    int found = power_init((int)cpu);
    return found > 0 ? PWR_OK : found < 0 ? PWR_ERR_PERM : PWR_ERR_UNSUPPORTED;
}

/* likwid un-pins its caller: back to where the client is bound, so that nobody else is disturbed.
 */
static pwr_status_t init(pwr_status_t (*purpose)(unsigned cpu))
{
    pwr_cpuset_t mask;
    bool have_mask = pwr_cpuset_bound(&mask);
    setenv("LIKWID_IGNORE_CPUSET", "1", 1);
    const char *path = getenv("PATH");
    char more[4096];
    snprintf(more, sizeof more, "%s:/usr/local/sbin:/usr/sbin:/usr/bin:/bin", path ? path : "");
    setenv("PATH", more, 1); /* it asks the shell where its daemon is */
    pwr_status_t status = purpose(have_mask ? pwr_cpuset_at(&mask, 0) : 0);
    if (have_mask) {
        (void)pwr_cpuset_bind(&mask);
    }
    return status;
}

/* ---- 3. answer ---- */

/* likwid does not look whether there is such a CPU. */
static bool has_cpu(unsigned cpu)
{
    return cpu < get_cpuTopology()->numHWThreads;
}

/* likwid reports success also for what a dead daemon did not do: look. */
static pwr_status_t set_frequency(const pwr_likwid_record_t *record)
{
    bool ceiling = record->control == PWR_CONTROL_CEILING;
    uint64_t (*get)(const int) = ceiling ? freq_getCpuClockMax : freq_getCpuClockMin;
    uint64_t (*set)(const int, const uint64_t) =
        ceiling ? freq_setCpuClockMax : freq_setCpuClockMin;
    int cpu = (int)record->cpu;
    if (!has_cpu(record->cpu)) {
        return PWR_ERR_UNSUPPORTED;
    }
    uint64_t before = get(cpu);
    if (set(cpu, record->value) != record->value) {
        return PWR_ERR_PERM;
    }
    uint64_t now = get(cpu);
    return now == record->value || now != before ? PWR_OK : PWR_ERR_IO;
}

/* Up to 5.4 the counters are taken to have 32 bits. */
static uint32_t counter_bits(void)
{
#ifdef HAVE_POWERINFO_STATUSREGWIDTH
    int width = get_powerInfo()->statusRegWidth;
    return width > 0 ? (uint32_t)width : 32;
#else
    return 32;
#endif
}

static pwr_status_t describe_domain(pwr_likwid_record_t *record)
{
    if (record->index >= NUM_POWER_DOMAINS) {
        return PWR_ERR_RANGE;
    }
    const PowerDomain *domain = &get_powerInfo()->domains[record->index];
    record->unit_j = domain->energyUnit;
    record->bits = domain->supportFlags & POWER_DOMAIN_SUPPORT_STATUS ? counter_bits() : 0;
    snprintf(record->name, sizeof record->name, "%s", power_names[record->index]);
    return PWR_OK;
}

/* The value at which a measurement would start is the counter. */
static pwr_status_t read_count(pwr_likwid_record_t *record)
{
    PowerData data;
    if (record->index >= NUM_POWER_DOMAINS || !has_cpu(record->cpu)) {
        return PWR_ERR_UNSUPPORTED;
    }
    if (HPMaddThread((int)record->cpu) != 0) {
        return PWR_ERR_PERM;
    }
    if (power_start(&data, (int)record->cpu, (PowerType)record->index) != 0) {
        return PWR_ERR_IO;
    }
    record->value = data.before;
    return PWR_OK;
}

static pwr_status_t answer(pwr_likwid_record_t *record)
{
    switch (record->kind) {
    case PWR_LIKWID_SET:
        return set_frequency(record);
    case PWR_LIKWID_DOMAIN:
        return describe_domain(record);
    case PWR_LIKWID_COUNT:
        return read_count(record);
    default:
        return PWR_ERR_ARG;
    }
}

static bool serve_one(void)
{
    pwr_likwid_record_t record;
    ssize_t got = recv(PWR_HELPER_FD, &record, sizeof record, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    if (got != (ssize_t)sizeof record || record.magic != PWR_LIKWID_MAGIC) {
        return false;
    }
    alarm(REQUEST_LIMIT_S);
    record.status = answer(&record);
    alarm(0);
    forget_output();
    return pwr_helper_send(PWR_HELPER_FD, &record, sizeof record) == PWR_OK;
}

static void serve(void)
{
    bool dead;
    int client = pwr_detach_watch(&dead);
    while (!dead) {
        struct pollfd fds[] = {{.fd = PWR_HELPER_FD, .events = POLLIN},
                               {.fd = client, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0) {
            continue;
        }
        dead = fds[1].revents != 0 || (fds[0].revents != 0 && !serve_one());
    }
}

static const char purpose[] =
    "poweraware-likwid calls liblikwid for programs that use the power library.  They start\n"
    "it by themselves; it does nothing when started by hand.\n";

int main(int argc, char **argv)
{
    bool frequency = argc == 2 && strcmp(argv[1], "frequency") == 0;
    bool energy = argc == 2 && strcmp(argv[1], "energy") == 0;
    pwr_detach(argc, argv, frequency || energy, purpose, NULL);
    if (!catch_output()) {
        return EXIT_FAILURE;
    }
    main_process = getpid();
    signal(SIGALRM, SIG_DFL); /* ends a process that waits for a daemon that does not answer */
    alarm(INIT_LIMIT_S);
    atexit(say_last_words);
    say_ready(init(frequency ? init_frequency : init_energy));
    alarm(0);
    serve();
    _exit(EXIT_SUCCESS); /* likwid's own daemons see the end of their sockets */
}
