/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore: puts back what processes that are gone, and their guardians with them, have
 * left changed.
 */
#include "config.h"

#include "tools/poweraware_restore.h"

#include "guard/journal.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

typedef struct options {
    restore_request_t request;
    bool all;
    bool help;
    char job[PWR_JOB_BYTES];
    char *root; /* resolved, or NULL */
} options_t;

static void print_line(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    if (level == PWR_LOG_WARN) {
        fprintf(stderr, "poweraware-restore: %s\n", line);
    }
}

static void print_help(void)
{
    fputs("usage: poweraware-restore [--job ID] [--all | --run-dir DIR] [--dry-run] [--verbose]\n"
          "                          [--root DIR] [--helper-dir DIR]\n"
          "\n"
          "Puts back the power levers that processes changed which were killed together\n"
          "with their guardians, as their journals say.  Processes that live are left alone, and\n"
          "so is what somebody else has set since.\n"
          "\n"
          "  -j, --job ID          only journals of this job\n"
          "  -a, --all             of all users, with the rights of each (needs root)\n"
          "  -n, --dry-run         says what would be done, and does nothing\n"
          "  -v, --verbose         also says what is in use or as it was already\n"
          "  -d, --run-dir DIR     the directory of the journals (/dev/shm/poweraware.UID)\n"
          "  -r, --root DIR        the machine whose /dev is below DIR\n"
          "      --helper-dir DIR  where poweraware's helper programs are\n"
          "  -h, --help\n"
          "\n"
          "Exit status: 0 nothing is left to restore; 1 something is; 2 usage.\n",
          stdout);
}

static bool resolve_root(const char *directory, options_t *options)
{
    free(options->root);
    options->root = pwr_env_resolve_root(directory);
    if (!options->root) {
        fprintf(stderr, "poweraware-restore: --root %s: %s\n", directory, strerror(errno));
        return false;
    }
    options->request.env.root = options->root;
    return true;
}

static bool take_option(int option, options_t *options)
{
    restore_request_t *request = &options->request;
    switch (option) {
    case 'j':
        pwr_identity_job(optarg, options->job);
        request->job = options->job;
        if (options->job[0] == '\0') {
            fputs("poweraware-restore: --job needs the name of a job\n", stderr);
        }
        return options->job[0] != '\0';
    case 'a':
        options->all = true;
        return true;
    case 'n':
        request->dry_run = true;
        return true;
    case 'v':
        request->verbose = true;
        return true;
    case 'd':
        request->run_directory = optarg;
        return true;
    case 'r':
        return resolve_root(optarg, options);
    case 'H':
        request->env.helper_dir = optarg;
        return true;
    case 'h':
        options->help = true;
        return true;
    default:
        fputs("poweraware-restore: --help lists the options\n", stderr);
        return false;
    }
}

static bool parse_options(int argc, char **argv, options_t *options)
{
    static const struct option known[] = {{"job", required_argument, NULL, 'j'},
                                          {"all", no_argument, NULL, 'a'},
                                          {"dry-run", no_argument, NULL, 'n'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"run-dir", required_argument, NULL, 'd'},
                                          {"root", required_argument, NULL, 'r'},
                                          {"helper-dir", required_argument, NULL, 'H'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "j:anvd:r:h", known, NULL)) != -1) {
        if (!take_option(option, options)) {
            return false;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "poweraware-restore: \"%s\" is no option (see --help)\n", argv[optind]);
        return false;
    }
    if (options->all && options->request.run_directory) {
        fputs("poweraware-restore: --all looks in /dev/shm, and --run-dir elsewhere: not both\n",
              stderr);
        return false;
    }
    if (options->all && geteuid() != 0) {
        fputs("poweraware-restore: --all needs root, to become each user\n", stderr);
        return false;
    }
    return true;
}

static bool restore(const options_t *options)
{
    if (options->all) {
        return restore_all_users(&options->request);
    }
    if (options->request.run_directory && geteuid() == 0) {
        return restore_as_owner(&options->request);
    }
    return restore_directory(&options->request);
}

int main(int argc, char **argv)
{
    options_t options = {.request.env = pwr_env_real};
    int result = EXIT_USAGE;
    options.request.env.log = print_line;
    if (parse_options(argc, argv, &options)) {
        /* A reader of our output that leaves must not leave levers behind. */
        signal(SIGPIPE, SIG_IGN);
        /* Whoever started us may have ignored it, and waitpid would find no child. */
        signal(SIGCHLD, SIG_DFL);
        if (options.help) {
            print_help();
            result = EXIT_SUCCESS;
        } else {
            result = restore(&options) ? EXIT_SUCCESS : EXIT_FAILURE;
        }
    }
    free(options.root);
    return result;
}
