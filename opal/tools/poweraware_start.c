/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-start: starts a program that is not ours (likwid's access daemon) as nobody's child.
 *
 * Some such programs fork and end by themselves, some do not, and one that does not would be a
 * child that the application has to wait for.  The program gets no environment, as from likwid
 * itself.
 */
#include "config.h"

#include "helper/detach.h"
#include "helper/start_wire.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void tell(pwr_start_kind_t kind, int value)
{
    const pwr_start_message_t message = {
        .magic = PWR_START_MAGIC, .kind = kind, .value = (int32_t)value};
    (void)pwr_helper_send(PWR_HELPER_FD, &message, sizeof message);
}

static void tell_started(pid_t child)
{
    tell(PWR_START_STARTED, (int)child);
}

/* Ignored signals would stay ignored: the daemon ends by SIGALRM when nobody connects. */
static void default_signals(void)
{
    for (int number = 1; number < SIGRTMIN; number++) {
        if (number != SIGKILL && number != SIGSTOP) {
            signal(number, SIG_DFL);
        }
    }
}

static const char purpose[] =
    "poweraware-start starts likwid-accessD for programs that use the power library.  They\n"
    "start it by themselves; it does nothing when started by hand.\n";

int main(int argc, char **argv)
{
    pwr_detach(argc, argv, argc == 2, purpose, tell_started);
    char *const arguments[] = {argv[1], NULL};
    char *const environment[] = {NULL};
    default_signals();
    execve(argv[1], arguments, environment);
    tell(PWR_START_FAILED, errno);
    return EXIT_FAILURE;
}
