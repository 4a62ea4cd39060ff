/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Says what takes so long, from a timer: also when one call hangs.
 */
#include "config.h"

#include "tools/inspect/inspect.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_S = 5 };

static const char *volatile current = "starting";

static void put(const char *text)
{
    ssize_t done = write(STDERR_FILENO, text, strlen(text));
    (void)done; /* there is nobody to tell */
}

static void on_timer(int signal_number)
{
    int saved = errno;
    (void)signal_number;
    put("poweraware-info: still at work: ");
    put(current);
    put("\n");
    errno = saved;
}

static void set_timer(long seconds)
{
    const struct itimerval timer = {.it_value.tv_sec = seconds, .it_interval.tv_sec = seconds};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void inspect_progress_begin(void)
{
    struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    set_timer(PATIENCE_S);
}

void inspect_progress_at(const char *what)
{
    current = what;
}

void inspect_progress_end(void)
{
    set_timer(0);
}
