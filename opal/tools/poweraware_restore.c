/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-restore: puts back what processes that are gone, and their guardians with them, have
 * left changed.
 */
#include "config.h"

#include "tools/poweraware_restore.h"

#include "guard/journal.h"
#include "pwr/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct options {
    restore_request_t request;
    bool all;
    const char *job; /* as given */
    const char *root;
} options_t;

static void print_line(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    if (level == PWR_LOG_WARN) {
        fprintf(stderr, "poweraware-restore: %s\n", line);
    }
}

#define AT(member) .at = offsetof(options_t, member)
static const pwr_option_t table[] = {
    {'j', "job", "ID", "only journals of this job", pwr_option_text, AT(job)},
    {'a', "all", NULL, "of all users, with the rights of each (needs root)", pwr_option_flag,
     AT(all)},
    {'n', "dry-run", NULL, "says what would be done, and does nothing", pwr_option_flag,
     AT(request.dry_run)},
    {'v', "verbose", NULL, "also says what is in use or as it was already", pwr_option_flag,
     AT(request.verbose)},
    {'d', "run-dir", "DIR", "the directory of the journals (/dev/shm/poweraware.UID)",
     pwr_option_text, AT(request.run_directory)},
    {'r', "root", "DIR", "the machine whose /dev is below DIR", pwr_option_text, AT(root)},
    {0, "helper-dir", "DIR", "where poweraware's helper programs are", pwr_option_text,
     AT(request.env.helper_dir)},
    {0},
};

static const pwr_command_t command = {
    .name = "poweraware-restore",
    .usage =
        "usage: poweraware-restore [--job ID] [--all | --run-dir DIR] [--dry-run] [--verbose]\n"
        "                          [--root DIR] [--helper-dir DIR]\n"
        "\n"
        "Puts back the power levers that processes changed which were killed together\n"
        "with their guardians, as their journals say.  Processes that live are left alone, and\n"
        "so is what somebody else has set since.\n"
        "\n",
    .epilog =
        "\nExit status: 0 nothing is left to restore; 1 something is (with --dry-run: would be\n"
        "restored; a stopped guardian has it); 2 usage.\n",
    .options = table,
};

/* Of the job its name in journals, which request then points to; root is to be freed. */
static void check_options(options_t *options, char job[PWR_JOB_BYTES], char **root)
{
    restore_request_t *request = &options->request;
    if (options->job) {
        pwr_identity_job(options->job, job);
        request->job = job;
    }
    if (request->job && job[0] == '\0') {
        pwr_command_refuse(&command, "--job needs the name of a job");
    }
    if (options->all && request->run_directory) {
        pwr_command_refuse(&command, "--all looks in /dev/shm, and --run-dir elsewhere: not both");
    }
    if (options->all && geteuid() != 0) {
        pwr_command_refuse(&command, "--all needs root, to become each user");
    }
    *root = pwr_env_resolve_root(options->root);
    if (!*root) {
        pwr_command_refuse(&command, "--root %s: %s", options->root, strerror(errno));
    }
    request->env.root = *root;
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
    options_t options = {.request.env = pwr_env_real, .root = "/"};
    char job[PWR_JOB_BYTES];
    char *root;
    options.request.env.log = print_line;
    pwr_command_read(&command, &options, NULL, argc, argv);
    check_options(&options, job, &root);
    /* A reader of our output that leaves must not leave levers behind. */
    signal(SIGPIPE, SIG_IGN);
    /* Whoever started us may have ignored it, and waitpid would find no child. */
    signal(SIGCHLD, SIG_DFL);
    bool done = restore(&options);
    free(root);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
