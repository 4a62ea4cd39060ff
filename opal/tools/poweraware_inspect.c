/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-inspect: gathers what poweraware can do on this machine, for poweraware-info.
 */
#include "config.h"

#include "tools/inspect/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

/* Arguments, in this order; one that is empty was not given. */
enum { CPUS = 1, RUN_DIRECTORY, ROOT, HELPER_DIRECTORY, LOOK_ONLY, NUM_ARGUMENTS };

static const char *given(const char *argument)
{
    return argument[0] != '\0' ? argument : NULL;
}

static int print_report(const inspect_request_t *request)
{
    json_t *report;
    inspect_progress_begin();
    pwr_status_t status = inspect_gather(request, &report);
    inspect_progress_end();
    if (status == PWR_ERR_ARG) {
        return EXIT_USAGE; /* said where it was found */
    }
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-info: no report: %s\n", pwr_status_text(status));
        return EXIT_FAILURE;
    }
    bool printed = json_dumpf(report, stdout, 0) == 0 && fflush(stdout) == 0;
    json_decref(report);
    return printed ? EXIT_SUCCESS : EXIT_FAILURE; /* nobody reads it any more */
}

int main(int argc, char **argv)
{
    if (argc != NUM_ARGUMENTS) {
        fputs("poweraware-inspect is started by poweraware-info\n", stderr);
        return EXIT_USAGE;
    }
    char *root = pwr_env_resolve_root(given(argv[ROOT]) ? argv[ROOT] : "/");
    if (!root) {
        fprintf(stderr, "poweraware-info: --root %s: %s\n", argv[ROOT], strerror(errno));
        return EXIT_USAGE;
    }
    inspect_request_t request = {.env = pwr_env_real,
                                 .cpus = given(argv[CPUS]),
                                 .run_directory = given(argv[RUN_DIRECTORY]),
                                 .probe = !given(argv[LOOK_ONLY])};
    request.env.root = root;
    request.env.helper_dir = given(argv[HELPER_DIRECTORY]);
    int result = print_report(&request);
    free(root);
    return result;
}
