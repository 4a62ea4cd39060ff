/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * pwr-emulator: serves the power hardware of an emulated machine as a file system.
 */
#include "config.h"

#include <argp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "server.h"

const char *argp_program_version = "pwr-emulator (" PACKAGE_STRING ")";

static const char about[] =
    "Serves MSRs, cpufreq, powercap, the CPU topology, /proc/cpuinfo and /proc/stat of the machine "
    "that FILE describes below MOUNTPOINT, for bind mounts ('attach' and 'emulate' do all that), "
    "until SIGTERM or the end of the mount namespace.  Messages go to standard error.";

enum { KEYS = 256 };

static const struct argp_option known[] = {
    {"machine", 'm', "FILE", 0, "the machine (see --keys)", 0},
    {"state", 's', "DIR", 0, "existing folder for trace.csv and ledger.csv", 0},
    {"keys", KEYS, NULL, 0, "list the keys of machine files", 0},
    {0},
};

struct options {
    const char *machine;
    const char *state;
    const char *mount_point;
};

static void read_machine(const char *path, struct emu_config *config)
{
    char error[1024];
    if (!emu_config_read(path, config, error, sizeof error)) {
        emu_log("%s", error);
        exit(1);
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'm':
        options->machine = value;
        return 0;
    case 's':
        options->state = value;
        return 0;
    case KEYS:
        emu_config_print_keys(stdout);
        exit(0);
    case ARGP_KEY_ARG:
        options->mount_point = value;
        return state->arg_num == 0 ? 0 : ARGP_ERR_UNKNOWN;
    case ARGP_KEY_END:
        if (options->machine == NULL || options->state == NULL || options->mount_point == NULL) {
            argp_error(state, "--machine, --state and a mount point are needed");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp argp = {known, parse, "MOUNTPOINT", about, NULL, NULL, NULL};
    static struct emu_server server;
    struct options options = {0};
    struct emu_config config;
    struct rlimit files;
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    read_machine(options.machine, &config);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* one per thread of every process */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN);
    if (!emu_server_open(&server, &config, options.state)) {
        return 1;
    }
    bool good = emu_fuse_run(&server, options.mount_point);
    emu_server_close(&server);
    return good ? 0 : 1;
}
