/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A machine made of files in a temporary directory, and ways to make it fail.
 */
#include "config.h"

#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/control.h"
#include "topo/topo_private.h"

enum { NOBODY = 65534, LONGEST_TEST_S = 600 };

static uint64_t monotonic_ns(void *arg)
{
    struct timespec now;
    (void)arg;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void keep_line(void *arg, pwr_log_level_t level, const char *line)
{
    fixture_t *fixture = arg;
    size_t used = strlen(fixture->log);
    (void)level;
    snprintf(fixture->log + used, sizeof fixture->log - used, "%s\n", line);
}

static void full_name(const fixture_t *fixture, const char *path, char name[PATH_MAX])
{
    assert_int_equal(pwr_env_path(&fixture->env, path, name, PATH_MAX), PWR_OK);
}

static void make_parents(const fixture_t *fixture, const char *path)
{
    char name[PATH_MAX];
    full_name(fixture, path, name);
    for (char *slash = name + strlen(fixture->root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        assert_true(mkdir(name, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
}

void fixture_put_program(fixture_t *fixture, const char *name, const char *path)
{
    char bytes[65536];
    ssize_t got;
    char source[PATH_MAX], copy[PATH_MAX];
    snprintf(source, sizeof source, PWR_TEST_TOOLS "/%s", name);
    make_parents(fixture, path);
    full_name(fixture, path, copy);
    int from = open(source, O_RDONLY | O_CLOEXEC);
    int to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    assert_true(from >= 0 && to >= 0);
    while ((got = read(from, bytes, sizeof bytes)) > 0) {
        assert_int_equal(write(to, bytes, (size_t)got), got);
    }
    assert_int_equal(got, 0);
    close(from);
    close(to);
}

void fixture_copy_program(fixture_t *fixture, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/%s", name);
    fixture_put_program(fixture, name, path);
}

/* Where the run-time directories of all users are. */
static void make_shm(const fixture_t *fixture)
{
    char name[240];
    snprintf(name, sizeof name, "%s/dev", fixture->root);
    assert_int_equal(mkdir(name, 0755), 0);
    snprintf(name, sizeof name, "%s/dev/shm", fixture->root);
    assert_int_equal(mkdir(name, 0755), 0);
    assert_int_equal(chmod(name, 01777), 0);
}

int fixture_setup(void **state)
{
    const char *directory = getenv("TMPDIR");
    fixture_t *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    snprintf(fixture->root, sizeof fixture->root, "%s/pwr-test-XXXXXX",
             directory ? directory : "/tmp");
    assert_non_null(mkdtemp(fixture->root));
    assert_int_equal(chmod(fixture->root, 0755), 0);
    fixture->env = (pwr_env_t){
        .root = fixture->root, .now_ns = monotonic_ns, .log = keep_line, .arg = fixture};
    fixture->env.helper_dir = fixture->root;
    fixture_copy_program(fixture, "poweraware-guard");
    fixture_copy_program(fixture, "poweraware-start");
    make_shm(fixture);
    alarm(LONGEST_TEST_S); /* a hang is a failure, not a wait */
    *state = fixture;
    return 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

int fixture_teardown(void **state)
{
    fixture_t *fixture = *state;
    alarm(0);
    nftw(fixture->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(fixture);
    return 0;
}

void fixture_put(fixture_t *fixture, const char *path, const char *text)
{
    char name[PATH_MAX];
    make_parents(fixture, path);
    full_name(fixture, path, name);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void fixture_get(const fixture_t *fixture, const char *path, char *text, size_t size)
{
    char name[PATH_MAX];
    full_name(fixture, path, name);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t got = fread(text, 1, size - 1, file);
    text[got] = '\0';
    fclose(file);
}

void fixture_make_directory(fixture_t *fixture, const char *path)
{
    char name[PATH_MAX];
    make_parents(fixture, path);
    full_name(fixture, path, name);
    assert_int_equal(mkdir(name, 0755), 0);
}

void fixture_link(fixture_t *fixture, const char *path, const char *target)
{
    char name[PATH_MAX];
    make_parents(fixture, path);
    full_name(fixture, path, name);
    remove(name);
    assert_int_equal(symlink(target, name), 0);
}

void fixture_remove(fixture_t *fixture, const char *path)
{
    char name[PATH_MAX];
    full_name(fixture, path, name);
    assert_int_equal(remove(name), 0);
}

static void msr_path(unsigned cpu, const char *device, char path[64])
{
    snprintf(path, 64, "/dev/cpu/%u/%s", cpu, device);
}

void fixture_put_msr(fixture_t *fixture, unsigned cpu, const char *device, uint64_t number,
                     uint64_t value)
{
    char path[64];
    char name[PATH_MAX];
    msr_path(cpu, device, path);
    make_parents(fixture, path);
    full_name(fixture, path, name);
    int fd = open(name, O_WRONLY | O_CREAT, 0644);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &value, sizeof value, (off_t)number), sizeof value);
    close(fd);
}

uint64_t fixture_get_msr(const fixture_t *fixture, unsigned cpu, const char *device,
                         uint64_t number)
{
    char path[64];
    char name[PATH_MAX];
    uint64_t value;
    msr_path(cpu, device, path);
    full_name(fixture, path, name);
    int fd = open(name, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &value, sizeof value, (off_t)number), sizeof value);
    close(fd);
    return value;
}

void fixture_put_cpufreq_file(fixture_t *fixture, unsigned cpu, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
    fixture_put(fixture, path, text);
}

void fixture_put_cpufreq(fixture_t *fixture, unsigned cpu, const char *related_cpus)
{
    static const char *const files[][2] = {
        {"cpuinfo_min_freq", "1200000\n"},     {"cpuinfo_max_freq", "3600000\n"},
        {"scaling_min_freq", "1500000\n"},     {"scaling_max_freq", "3000000\n"},
        {"scaling_governor", "performance\n"}, {"scaling_setspeed", "<unsupported>\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        fixture_put_cpufreq_file(fixture, cpu, files[i][0], files[i][1]);
    }
    fixture_put_cpufreq_file(fixture, cpu, "related_cpus", related_cpus);
}

unsigned long fixture_get_khz(const fixture_t *fixture, unsigned cpu, const char *file)
{
    char path[128];
    char text[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/%s", cpu, file);
    fixture_get(fixture, path, text, sizeof text);
    return strtoul(text, NULL, 10);
}

static void put_topology(fixture_t *fixture, unsigned cpu, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
    fixture_put(fixture, path, text);
}

static void uncore_path(unsigned package, const char *file, char path[128])
{
    snprintf(path, 128, "/sys/devices/system/cpu/intel_uncore_frequency/package_%02u_die_00/%s",
             package, file);
}

void fixture_put_uncore_file(fixture_t *fixture, unsigned package, const char *file,
                             const char *text)
{
    char path[128];
    uncore_path(package, file, path);
    fixture_put(fixture, path, text);
}

void fixture_put_uncore(fixture_t *fixture, unsigned package, unsigned first, unsigned last)
{
    static const char *const files[][2] = {
        {"max_freq_khz", "2400000\n"},
        {"min_freq_khz", "1200000\n"},
        {"initial_max_freq_khz", "2400000\n"},
        {"initial_min_freq_khz", "1200000\n"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        fixture_put_uncore_file(fixture, package, files[i][0], files[i][1]);
    }
    for (unsigned cpu = first; cpu <= last; cpu++) {
        snprintf(text, sizeof text, "%u\n", package);
        put_topology(fixture, cpu, "physical_package_id", text);
        put_topology(fixture, cpu, "die_id", "0\n");
        snprintf(text, sizeof text, "%u-%u\n", first, last);
        put_topology(fixture, cpu, "die_cpus_list", text);
    }
}

unsigned long fixture_get_uncore_khz(const fixture_t *fixture, unsigned package, const char *file)
{
    char path[128];
    char text[64];
    uncore_path(package, file, path);
    fixture_get(fixture, path, text, sizeof text);
    return strtoul(text, NULL, 10);
}

pwr_topo_t *fixture_topo(fixture_t *fixture, const char *synthetic, const char *cpulist)
{
    pwr_topo_t *topo;
    pwr_env_t env = fixture->env;
    env.root = ""; /* the machine comes from the environment, not from files */
    setenv("HWLOC_SYNTHETIC", synthetic ? synthetic : "package:2 core:4 pu:1", 1);
    assert_int_equal(pwr_topo_open_with_binding(&env, cpulist, &topo), PWR_OK);
    unsetenv("HWLOC_SYNTHETIC");
    return topo;
}

pwr_guard_t *fixture_guard(fixture_t *fixture)
{
    pwr_guard_t *guard;
    const pwr_guard_config_t config = {.job = "job"};
    assert_int_equal(pwr_guard_start(&fixture->env, &config, &guard), PWR_OK);
    return guard;
}

void fixture_open_ceiling(fixture_t *fixture, unsigned cpu, pwr_control_t *control)
{
    char reason[256];
    const pwr_why_t why = pwr_why_init(reason, sizeof reason);
    assert_int_equal(pwr_control_open(&pwr_access_cpufreq, &fixture->env, PWR_CONTROL_CEILING, cpu,
                                      &why, control),
                     PWR_OK);
}

int fixture_run_unprivileged(fixture_t *fixture, int (*body)(fixture_t *fixture))
{
    int result;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool dropped = geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        _exit(dropped ? body(fixture) : 255);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

pid_t fixture_start(fixture_t *fixture, bool (*body)(fixture_t *fixture))
{
    int done[2];
    char byte = 'x';
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(done[0]);
        _exit(body(fixture) && write(done[1], &byte, 1) == 1 ? pause() : 1);
    }
    close(done[1]);
    assert_int_equal(read(done[0], &byte, 1), 1);
    close(done[0]);
    return child;
}

void fixture_kill(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

void fixture_limit_writes(uint64_t limit)
{
    struct rlimit bytes;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &bytes), 0);
    bytes.rlim_cur = limit < bytes.rlim_max ? limit : bytes.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &bytes), 0);
}

bool fixture_eventually(bool (*condition)(const fixture_t *fixture), const fixture_t *fixture)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    for (int attempt = 0; attempt < 6000; attempt++) {
        if (condition(fixture)) {
            return true;
        }
        nanosleep(&pause, NULL);
    }
    return false;
}
