/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stands where likwid-accessD is installed and runs it on valgrind's CPU.  A program of its own,
 * because a set-uid script is no set-uid program.
 *
 * likwid waits 10 s for its daemon, which takes half a second of CPU time to start on valgrind: so
 * it goes before all others, where that is allowed.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    (void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 2});
    execl("/mnt/valgrind", "valgrind", "--tool=none", "-q", "--vgdb=no", "--log-file=/dev/null",
          "/mnt/real/likwid-accessD", (char *)NULL);
    perror("/mnt/valgrind");
    return EXIT_FAILURE;
}
