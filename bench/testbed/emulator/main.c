/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * pwr-emulator: serves the power hardware of an emulated machine as a file system.
 */
#include "config.h"

#include <signal.h>
#include <sys/resource.h>

#include "server.h"

static const char usage[] =
    "usage: pwr-emulator MACHINE STATE MOUNTPOINT\n"
    "Serves MSRs, cpufreq, powercap, the CPU topology, /proc/cpuinfo and /proc/stat of the "
    "machine\n"
    "that the file MACHINE describes below MOUNTPOINT, for bind mounts ('attach' and 'emulate' do\n"
    "all that), until SIGTERM or the end of the mount namespace.  trace.csv and ledger.csv go to "
    "the\n"
    "folder STATE, messages to standard error.\n";

int main(int argc, char **argv)
{
    static struct emu_server server;
    struct emu_config config;
    struct rlimit files;
    char error[1024];
    if (argc != 4) {
        fputs(usage, stderr);
        return 2;
    }
    if (!emu_config_read(argv[1], &config, error, sizeof error)) {
        emu_log("%s", error);
        return 1;
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max; /* one per thread of every process */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN);
    if (!emu_server_open(&server, &config, argv[2])) {
        return 1;
    }
    bool good = emu_fuse_run(&server, argv[3]);
    emu_server_close(&server);
    return good ? 0 : 1;
}
