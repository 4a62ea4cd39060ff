/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stands where likwid-accessD is installed and runs it on valgrind's CPU.  A program of its own,
 * because a set-uid script is no set-uid program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    execl("/mnt/valgrind", "valgrind", "--tool=none", "-q", "--vgdb=no", "--log-file=/dev/null",
          "/mnt/real/likwid-accessD", (char *)NULL);
    perror("/mnt/valgrind");
    return EXIT_FAILURE;
}
