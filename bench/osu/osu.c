/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * All benchmarks in one program, which runs the one that it is called by: osu_<collective>.
 */
#include "config.h"

#include "osu.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *called = slash ? slash + 1 : argv[0];
    const char *name = strncmp(called, "osu_", 4) == 0 ? called + 4 : "";
    for (int i = 0; i < pwr_osu_num_benchmarks; i++) {
        if (strcmp(name, pwr_osu_benchmarks[i].name) == 0) {
            return pwr_osu_main(&pwr_osu_benchmarks[i], argc, argv);
        }
    }
    fprintf(stderr, "%s: call it osu_<collective>\n", called);
    return 2;
}
