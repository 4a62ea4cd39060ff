/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * pwr-emulator: serves the power hardware of an emulated machine as a file system.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "server.h"

static const char usage[] =
    "usage: pwr-emulator --machine FILE --state DIR [--foreground] [--leave-namespace] MOUNTPOINT\n"
    "       pwr-emulator --keys | --check FILE | --version | --help\n"
    "\n"
    "Serves MSRs, cpufreq, powercap, the CPU topology, /proc/cpuinfo and /proc/stat of the "
    "machine\n"
    "that FILE describes below MOUNTPOINT, for bind mounts ('attach' and 'emulate' do all that).\n"
    "\n"
    "  --machine FILE     the machine (see --keys)\n"
    "  --state DIR        existing folder for trace.csv, ledger.csv, affinity, log and pid\n"
    "  --foreground       do not become a daemon; otherwise returns once the mount serves\n"
    "  --leave-namespace  end with the caller's mount namespace\n"
    "  --keys             list the keys of machine files\n"
    "  --check FILE       say whether FILE is a good machine file\n";

struct options {
    const char *machine;
    const char *state;
    const char *mount_point;
    bool foreground, leave_namespace;
};

/* Between the process that was started and the daemon it leaves behind. */
struct launch {
    struct emu_server *server;
    const struct options *options;
    int report_fd; /* the starter waits for one byte here; -1 in the foreground */
};

static bool write_pid(const char *state)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/pid", state);
    FILE *stream = fopen(path, "we");
    if (stream == NULL) {
        emu_log("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    fprintf(stream, "%d\n", (int)getpid());
    return fclose(stream) == 0;
}

/* The mount serves: what comes now goes to the log, and whoever started us may go on. */
static bool ready(void *arg)
{
    struct launch *launch = arg;
    if (!write_pid(launch->options->state)) {
        return false;
    }
    int error = emu_sampler_start(launch->server);
    if (error != 0) {
        emu_log("cannot start the sampler: %s", strerror(error));
        return false;
    }
    if (launch->report_fd >= 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/log", launch->options->state);
        int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(log >= 0 ? log : null, STDERR_FILENO);
        if (write(launch->report_fd, "", 1) != 1) {
            emu_log("whoever started the emulator is gone");
        }
        close(launch->report_fd);
        if (chdir("/") != 0) { /* keep nobody's folder busy */
            emu_log("chdir: %s", strerror(errno));
        }
    }
    return true;
}

static int serve(const struct options *options, const struct emu_config *config, int report_fd)
{
    static struct emu_server server;
    struct launch launch = {&server, options, report_fd};
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* one per thread of every process */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN);
    if (!emu_server_open(&server, config, options->state)) {
        return 1;
    }
    int error =
        emu_fuse_run(&server, options->mount_point, options->leave_namespace, ready, &launch);
    emu_sampler_stop(&server);
    emu_server_close(&server);
    return error == 0 ? 0 : 1;
}

/* Forks; the parent returns once the child serves, or with its failure. */
static int daemonise(const struct options *options, const struct emu_config *config)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        emu_log("pipe: %s", strerror(errno));
        return 1;
    }
    pid_t child = fork();
    if (child < 0) {
        emu_log("fork: %s", strerror(errno));
        return 1;
    }
    if (child == 0) {
        close(report[0]);
        setsid();
        return serve(options, config, report[1]);
    }
    close(report[1]);
    char byte;
    if (read(report[0], &byte, 1) == 1) {
        return 0;
    }
    int status;
    waitpid(child, &status, 0);
    return 1;
}

static int check(const char *path)
{
    struct emu_config config;
    char error[1024];
    if (!emu_config_read(path, &config, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    printf("%s: %d packages x %d cores x %d threads, %d to %d kHz\n", config.name, config.packages,
           config.cores, config.smt, config.pstate_min_khz, config.pstate_max_khz);
    return 0;
}

/* -1: go on; otherwise the exit status. */
static int parse(int argc, char **argv, struct options *options)
{
    enum { MACHINE = 256, STATE, FOREGROUND, LEAVE, KEYS, CHECK, VERSION_TEXT, HELP };
    static const struct option known[] = {
        {"machine", required_argument, NULL, MACHINE},
        {"state", required_argument, NULL, STATE},
        {"foreground", no_argument, NULL, FOREGROUND},
        {"leave-namespace", no_argument, NULL, LEAVE},
        {"keys", no_argument, NULL, KEYS},
        {"check", required_argument, NULL, CHECK},
        {"version", no_argument, NULL, VERSION_TEXT},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case MACHINE:
            options->machine = optarg;
            break;
        case STATE:
            options->state = optarg;
            break;
        case FOREGROUND:
            options->foreground = true;
            break;
        case LEAVE:
            options->leave_namespace = true;
            break;
        case KEYS:
            emu_config_print_keys(stdout);
            return 0;
        case CHECK:
            return check(optarg);
        case VERSION_TEXT:
            printf("pwr-emulator (%s)\n", PACKAGE_STRING);
            return 0;
        case HELP:
            fputs(usage, stdout);
            return 0;
        default:
            fputs(usage, stderr);
            return 2;
        }
    }
    if (options->machine == NULL || options->state == NULL || optind != argc - 1) {
        fprintf(stderr, "pwr-emulator: --machine, --state and a mount point are needed\n%s", usage);
        return 2;
    }
    options->mount_point = argv[optind];
    return -1;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct emu_config config;
    char error[1024];
    int status = parse(argc, argv, &options);
    if (status >= 0) {
        return status;
    }
    if (!emu_config_read(options.machine, &config, error, sizeof error)) {
        emu_log("%s", error);
        return 1;
    }
    return options.foreground ? serve(&options, &config, -1) : daemonise(&options, &config);
}
