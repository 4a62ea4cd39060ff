/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-sample: the node's energy counters as JSON lines, at a steady interval.
 */
#include "config.h"

#include "tools/sample_print.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, NS_PER_MS = 1000000, NS_PER_S = 1000000000, MAX_INTERVAL_MS = 3600000 };

typedef struct options {
    uint64_t interval_ms;
    const char *output;
    const char *root;
    bool list;
} options_t;

static void print_help(FILE *out)
{
    fprintf(out,
            "Usage: poweraware-sample --interval-ms MS --output FILE [--root DIR]\n"
            "       poweraware-sample --list [--root DIR]\n"
            "\n"
            "Writes the energy used by this node since the start, as JSON lines: one that\n"
            "describes the source, then one per sample, until SIGINT or SIGTERM.\n"
            "\n"
            "  -i, --interval-ms MS  time between samples, 1 to %d\n"
            "  -o, --output FILE     where to write; \"-\" is standard output\n"
            "  -l, --list            print the domains that can be read, and end\n"
            "  -r, --root DIR        read the machine whose files are below DIR\n"
            "  -h, --help            print this\n",
            MAX_INTERVAL_MS);
}

static bool parse_interval(const char *text, uint64_t *interval_ms)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > MAX_INTERVAL_MS) {
        fprintf(stderr,
                "poweraware-sample: --interval-ms %s: not a whole number from 1 to %d (energy "
                "counters change about once a millisecond)\n",
                text, MAX_INTERVAL_MS);
        return false;
    }
    *interval_ms = (uint64_t)value;
    return true;
}

static char *resolve_root(const char *directory)
{
    char *root = pwr_env_resolve_root(directory);
    if (!root) {
        fprintf(stderr, "poweraware-sample: --root %s: %s\n", directory, strerror(errno));
    }
    return root;
}

static int check_options(const options_t *options, bool more)
{
    bool to_sample = options->interval_ms != 0 && options->output;
    bool only_list = options->list && options->interval_ms == 0 && !options->output;
    if (more || (options->list ? !only_list : !to_sample)) {
        fputs("poweraware-sample: --interval-ms and --output are needed, and nothing else but "
              "--root; or --list, and nothing else but --root (see --help)\n",
              stderr);
        return EXIT_USAGE;
    }
    return EXIT_SUCCESS;
}

/* EXIT_SUCCESS with options filled in, or the exit status to end with; help sets *done. */
static int parse_options(int argc, char **argv, options_t *options, bool *done)
{
    static const struct option known[] = {{"interval-ms", required_argument, NULL, 'i'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"root", required_argument, NULL, 'r'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    int option;
    while ((option = getopt_long(argc, argv, "i:o:lr:h", known, NULL)) != -1) {
        switch (option) {
        case 'i':
            if (!parse_interval(optarg, &options->interval_ms)) {
                return EXIT_USAGE;
            }
            break;
        case 'o':
            options->output = optarg;
            break;
        case 'l':
            options->list = true;
            break;
        case 'r':
            options->root = optarg;
            break;
        case 'h':
            print_help(stdout);
            *done = true;
            return EXIT_SUCCESS;
        default:
            fputs("poweraware-sample: --help lists the options\n", stderr);
            return EXIT_USAGE;
        }
    }
    return check_options(options, optind < argc);
}

/* ---- reading ---- */

static bool print_sample(FILE *out, pwr_meter_t *meter, uint64_t longest_ns,
                         pwr_meter_reading_t *readings)
{
    uint64_t t_ns;
    unsigned count = pwr_meter_num_domains(meter);
    pwr_status_t status = pwr_meter_read_at(meter, longest_ns, readings, &t_ns);
    for (unsigned i = 0; i < count && status != PWR_OK; i++) {
        readings[i].status = status; /* all failed: nothing was written */
    }
    sample_print_readings(out, t_ns, readings, count);
    if (fflush(out) != 0) {
        fprintf(stderr, "poweraware-sample: writing: %s\n", strerror(errno));
        return false;
    }
    return true;
}

/* ---- sampling ---- */

/* Until the absolute deadline or a request to stop (true).  The signals are blocked at all other
   times, so none can slip in between the question and the sleep, as it could with
   clock_nanosleep. */
static bool stopped_before(const pwr_env_t *env, const sigset_t *stop, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = pwr_env_now_ns(env);
        uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
        struct timespec timeout = {.tv_sec = (time_t)(left / NS_PER_S),
                                   .tv_nsec = (long)(left % NS_PER_S)};
        if (sigtimedwait(stop, NULL, &timeout) > 0) {
            return true;
        }
        if (errno == EAGAIN) {
            return false;
        }
    }
}

static int sample(FILE *out, pwr_meter_t *meter, const pwr_env_t *env, const sigset_t *stop,
                  uint64_t interval_ns)
{
    pwr_meter_reading_t *readings = calloc(pwr_meter_num_domains(meter), sizeof *readings);
    if (!readings) {
        fputs("poweraware-sample: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    sample_print_header(out, meter);
    bool written = print_sample(out, meter, interval_ns / 10, readings);
    uint64_t deadline = pwr_env_now_ns(env) + interval_ns;
    bool stopped = false;
    while (written && !stopped) {
        stopped = stopped_before(env, stop, deadline);
        written = print_sample(out, meter, interval_ns / 10, readings);
        /* A suspended machine skips the samples it missed. */
        uint64_t now = pwr_env_now_ns(env);
        deadline = deadline + interval_ns > now ? deadline + interval_ns : now + interval_ns;
    }
    free(readings);
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int sample_to(const char *output, pwr_meter_t *meter, const pwr_env_t *env,
                     const sigset_t *stop, uint64_t interval_ns)
{
    bool to_stdout = strcmp(output, "-") == 0;
    FILE *out = to_stdout ? stdout : fopen(output, "we");
    if (!out) {
        fprintf(stderr, "poweraware-sample: --output %s: %s\n", output, strerror(errno));
        return EXIT_FAILURE;
    }
    int result = sample(out, meter, env, stop, interval_ns);
    if (!to_stdout && fclose(out) != 0 && result == EXIT_SUCCESS) {
        fprintf(stderr, "poweraware-sample: --output %s: %s\n", output, strerror(errno));
        result = EXIT_FAILURE;
    }
    return result;
}

static int open_and_sample(const options_t *options, const pwr_env_t *env, const sigset_t *stop)
{
    char why[1024];
    pwr_topo_t *topo;
    pwr_meter_t *meter;
    int result = EXIT_FAILURE;
    if (pwr_topo_open(env, &topo) != PWR_OK) {
        return EXIT_FAILURE; /* said by the library */
    }
    if (pwr_meter_open(env, topo, why, sizeof why, &meter) != PWR_OK) {
        fprintf(stderr, "poweraware-sample: no energy meter: %s\n", why);
    } else {
        result = options->output ? sample_to(options->output, meter, env, stop,
                                             options->interval_ms * NS_PER_MS)
                                 : sample_print_list(meter, why);
        pwr_meter_close(meter);
    }
    pwr_topo_close(topo);
    return result;
}

int main(int argc, char **argv)
{
    options_t options = {0};
    bool done = false;
    int result = parse_options(argc, argv, &options, &done);
    if (result != EXIT_SUCCESS || done) {
        return result;
    }
    /* First of all: a stop that comes while the meter is being opened still ends cleanly. */
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);

    pwr_env_t env = pwr_env_real;
    char *root = NULL;
    if (options.root) {
        root = resolve_root(options.root);
        if (!root) {
            return EXIT_USAGE;
        }
        env.root = root;
    }
    result = open_and_sample(&options, &env, &stop);
    free(root);
    return result;
}
