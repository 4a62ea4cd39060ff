/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How a helper program becomes nobody's child.
 */
#include "config.h"

#include "helper/detach.h"
#include "topo/cpulist.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LAST_FD_WITHOUT_CLOSE_RANGE = 4096, EXIT_USAGE = 2 };

pid_t pwr_detach_client(void)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(PWR_HELPER_FD, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

static void close_inherited(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, PWR_HELPER_FD + 1, ~0u, 0) == 0) {
        return;
    }
#endif
    for (int fd = PWR_HELPER_FD + 1; fd <= LAST_FD_WITHOUT_CLOSE_RANGE; fd++) {
        close(fd);
    }
}

static void ignore_job_signals(void)
{
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
                                  SIGUSR1, SIGUSR2, SIGALRM, SIGTSTP, SIGXFSZ};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
        signal(ignored[i], SIG_IGN);
    }
}

/* The kernel keeps of it what the cgroup allows. */
static void leave_the_clients_cpus(void)
{
    pwr_cpuset_t all;
    memset(&all, 0xff, sizeof all);
    (void)pwr_cpuset_bind(&all);
}

static int say_purpose(const char *purpose, int argc, char **argv)
{
    bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
    fputs(purpose, asked ? stdout : stderr);
    return asked ? EXIT_SUCCESS : EXIT_USAGE;
}

void pwr_detach(int argc, char **argv, bool good_arguments, const char *purpose,
                void (*before_parent_ends)(pid_t child))
{
    if (!good_arguments || pwr_detach_client() == 0) {
        exit(say_purpose(purpose, argc, argv));
    }
    if (chdir("/") != 0) {
        exit(EXIT_FAILURE);
    }
    close_inherited();
    ignore_job_signals();
    leave_the_clients_cpus();
    pid_t child = fork();
    if (child > 0) {
        if (before_parent_ends) {
            before_parent_ends(child);
        }
        _exit(EXIT_SUCCESS);
    }
    if (child < 0) {
        exit(EXIT_FAILURE);
    }
}

int pwr_detach_watch(bool *dead)
{
    int watch = -1;
    *dead = false;
#ifdef SYS_pidfd_open
    watch = (int)syscall(SYS_pidfd_open, pwr_detach_client(), 0);
    *dead = watch < 0 && errno == ESRCH;
#endif
    return watch;
}
