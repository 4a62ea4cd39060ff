/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-info: what poweraware can do on this machine, and what grants the rest.
 */
#include "config.h"

#include "tools/info/info.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, DEFAULT_WIDTH = 80, NARROWEST = 60 };

typedef struct options {
    const char *cpus;
    const char *helper_dir;
    const char *run_directory;
    const char *root;
    bool json;
    bool all;
    bool no_probe;
} options_t;

static void print_help(FILE *out)
{
    fputs("Usage: poweraware-info [--cpus LIST] [--no-probe] [--json] [--all]\n"
          "\n"
          "Says what poweraware can do on this machine for a process bound as this one is: each\n"
          "lever and energy meter with all its back ends, why some are refused, and what grants\n"
          "them.  Run it as a job runs (mpirun --bind-to core -np 1 poweraware-info).\n"
          "\n"
          "  -c, --cpus LIST       bind to these CPUs first (0-3,8)\n"
          "  -n, --no-probe        only look: write nothing, time nothing\n"
          "  -j, --json            print one JSON object\n"
          "  -a, --all             also say what grants back ends that are not needed\n"
          "      --helper-dir DIR  where poweraware-guard is (default: where it was installed)\n"
          "      --run-dir DIR     where claims and journals are (default: the user's)\n"
          "      --root DIR        the machine whose /sys, /proc and /dev are below DIR\n"
          "  -h, --help            print this\n",
          out);
}

enum { OPTION_HELPER_DIR = 256, OPTION_RUN_DIR, OPTION_ROOT };

static const struct option known[] = {{"cpus", required_argument, NULL, 'c'},
                                      {"no-probe", no_argument, NULL, 'n'},
                                      {"json", no_argument, NULL, 'j'},
                                      {"all", no_argument, NULL, 'a'},
                                      {"helper-dir", required_argument, NULL, OPTION_HELPER_DIR},
                                      {"run-dir", required_argument, NULL, OPTION_RUN_DIR},
                                      {"root", required_argument, NULL, OPTION_ROOT},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

/* False for what is no option, or asks for help. */
static bool take_option(int option, options_t *options)
{
    switch (option) {
    case 'c':
        options->cpus = optarg;
        return true;
    case 'n':
        options->no_probe = true;
        return true;
    case 'j':
        options->json = true;
        return true;
    case 'a':
        options->all = true;
        return true;
    case OPTION_HELPER_DIR:
        options->helper_dir = optarg;
        return true;
    case OPTION_RUN_DIR:
        options->run_directory = optarg;
        return true;
    case OPTION_ROOT:
        options->root = optarg;
        return true;
    default:
        return false;
    }
}

/* EXIT_SUCCESS with options filled in, or the exit status to end with; help sets *done. */
static int parse_options(int argc, char **argv, options_t *options, bool *done)
{
    int option;
    while ((option = getopt_long(argc, argv, "c:njah", known, NULL)) != -1) {
        if (option == 'h') {
            print_help(stdout);
            *done = true;
            return EXIT_SUCCESS;
        }
        if (!take_option(option, options)) {
            fputs("poweraware-info: --help lists the options\n", stderr);
            return EXIT_USAGE;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "poweraware-info: %s: not an option (see --help)\n", argv[optind]);
        return EXIT_USAGE;
    }
    return EXIT_SUCCESS;
}

static char *resolve_root(const char *directory)
{
    char *root = pwr_env_resolve_root(directory);
    if (!root) {
        fprintf(stderr, "poweraware-info: --root %s: %s\n", directory, strerror(errno));
    }
    return root;
}

static unsigned text_width(void)
{
    struct winsize window;
    const char *columns = getenv("COLUMNS");
    unsigned long width = DEFAULT_WIDTH;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        width = window.ws_col;
    } else if (columns) {
        width = strtoul(columns, NULL, 10);
    }
    return width < NARROWEST || width > 100000 ? NARROWEST : (unsigned)width;
}

static int report(const options_t *options, const pwr_env_t *env)
{
    static info_report_t gathered; /* too large for a stack */
    const info_request_t request = {.env = env,
                                    .cpus = options->cpus,
                                    .run_directory = options->run_directory,
                                    .probe = !options->no_probe};
    info_progress_begin();
    pwr_status_t status = info_gather(&request, &gathered);
    info_progress_end();
    if (status == PWR_ERR_ARG) {
        return EXIT_USAGE; /* said where it was found */
    }
    if (status != PWR_OK) {
        fprintf(stderr, "poweraware-info: no report: %s\n", pwr_status_text(status));
        return EXIT_FAILURE;
    }
    bool printed = options->json ? info_print_json(stdout, &gathered)
                                 : info_print_text(stdout, &gathered, text_width(), options->all);
    if (!printed) {
        fprintf(stderr, "poweraware-info: writing: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    options_t options = {0};
    bool done = false;
    int result = parse_options(argc, argv, &options, &done);
    if (result != EXIT_SUCCESS || done) {
        return result;
    }
    pwr_env_t env = pwr_env_real;
    char *root = NULL;
    env.helper_dir = options.helper_dir;
    if (options.root) {
        root = resolve_root(options.root);
        if (!root) {
            return EXIT_USAGE;
        }
        env.root = root;
    }
    result = report(&options, &env);
    free(root);
    return result;
}
