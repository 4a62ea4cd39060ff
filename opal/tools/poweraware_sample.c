/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-sample: the node's energy counters as JSON lines, at a steady interval.
 */
#include "config.h"

#include "pwr/clock.h"
#include "pwr/command.h"
#include "pwr/json.h"
#include "pwr/meter.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, NS_PER_MS = 1000000 };

typedef struct options {
    unsigned long interval_ms;
    const char *output;
    const char *root;
    bool list;
} options_t;

#define AT(member) .at = offsetof(options_t, member)
static const pwr_option_t table[] = {
    {'i', "interval-ms", "MS",
     "time between samples, 1 to 3600000 (counters change about once a millisecond)",
     pwr_option_count, AT(interval_ms), 1, 3600000},
    {'o', "output", "FILE", "where to write; \"-\" is standard output", pwr_option_text,
     AT(output)},
    {'l', "list", NULL, "print the domains that can be read, and end", pwr_option_flag, AT(list)},
    {'r', "root", "DIR", "read the machine whose files are below DIR", pwr_option_text, AT(root)},
    {0},
};

static const pwr_command_t command = {
    .name = "poweraware-sample",
    .usage = "Usage: poweraware-sample --interval-ms MS --output FILE [--root DIR]\n"
             "       poweraware-sample --list [--root DIR]\n"
             "\n"
             "Writes the energy used by this node since the start, as JSON lines: one that\n"
             "describes the source, then one per sample, until SIGINT or SIGTERM.\n"
             "\n",
    .options = table,
};

static options_t read_options(int argc, char **argv)
{
    options_t options = {.root = "/"};
    const char *more = NULL;
    pwr_command_read(&command, &options, &more, argc, argv);
    bool to_sample = options.interval_ms != 0 && options.output;
    bool only_list = options.list && options.interval_ms == 0 && !options.output;
    if (more || (options.list ? !only_list : !to_sample)) {
        pwr_command_refuse(&command,
                           "--interval-ms and --output are needed, and nothing else but --root; or "
                           "--list, and nothing else but --root (see --help)");
    }
    return options;
}

/* ---- the list of domains, for people ---- */

/* One domain per line, then why: what was tried in vain. */
static int print_list(const pwr_meter_t *meter, const char *why)
{
    printf("%-20s %-9s %-11s %-9s %14s %10s %14s\n", "DOMAIN", "KIND", "SOURCE", "PROVENANCE",
           "RESOLUTION-UJ", "UPDATE-US", "RANGE-J");
    for (unsigned i = 0; i < pwr_meter_num_domains(meter); i++) {
        const pwr_meter_domain_t *domain = pwr_meter_domain(meter, i);
        char range[32] = "never wraps";
        if (domain->range_uj > 0) {
            snprintf(range, sizeof range, "%.0f", (double)domain->range_uj / 1e6);
        }
        printf("%-20s %-9s %-11s %-10s %14.6g %10" PRIu32 " %14s\n", domain->name,
               pwr_meter_kind_text(domain->kind), domain->source,
               pwr_meter_provenance_text(domain->provenance), domain->resolution_uj,
               domain->update_us, range);
    }
    if (why[0] != '\0') {
        printf("not used: %s\n", why);
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "poweraware-sample: writing: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* ---- JSON lines ---- */

static void print_line(FILE *out, json_t *line)
{
    json_dumpf(line, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(line);
    fputc('\n', out);
}

/* Host, source and domains. */
static void print_header(FILE *out, const pwr_meter_t *meter)
{
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof host - 1);
    json_t *header =
        json_pack("{s:s, s:o, s:[], s:[], s:[], s:[], s:[], s:[]}", "source",
                  pwr_meter_backend(meter), "host", pwr_json_text(host, sizeof host), "domains",
                  "kinds", "sources", "provenance", "resolution_uj", "update_us");
    for (unsigned i = 0; i < pwr_meter_num_domains(meter); i++) {
        const pwr_meter_domain_t *domain = pwr_meter_domain(meter, i);
        json_t *row =
            json_pack("{s:s, s:s, s:s, s:s, s:f, s:i}", "domains", domain->name, "kinds",
                      pwr_meter_kind_text(domain->kind), "sources", domain->source, "provenance",
                      pwr_meter_provenance_text(domain->provenance), "resolution_uj",
                      domain->resolution_uj, "update_us", (int)domain->update_us);
        const char *key;
        json_t *value;
        json_object_foreach(row, key, value)
        {
            json_array_append(json_object_get(header, key), value);
        }
        json_decref(row);
    }
    print_line(out, header);
}

/* What could not be read is null: a number would be taken for a domain that uses nothing. */
static void print_readings(FILE *out, uint64_t t_ns, const pwr_meter_reading_t *readings,
                           unsigned count)
{
    json_t *energy = json_array();
    json_t *uncertainty = json_array();
    for (unsigned i = 0; i < count; i++) {
        const pwr_meter_reading_t *read = &readings[i];
        bool good = read->status == PWR_OK;
        json_array_append_new(energy,
                              good ? json_integer((json_int_t)read->energy_uj) : json_null());
        json_array_append_new(uncertainty,
                              good ? json_integer((json_int_t)read->uncertainty_uj) : json_null());
    }
    print_line(out, json_pack("{s:I, s:o, s:o}", "t_ns", (json_int_t)t_ns, "energy_uj", energy,
                              "uncertainty_uj", uncertainty));
}

/* ---- sampling ---- */

static bool print_sample(FILE *out, pwr_meter_t *meter, uint64_t longest_ns,
                         pwr_meter_reading_t *readings)
{
    uint64_t t_ns;
    unsigned count = pwr_meter_num_domains(meter);
    pwr_status_t status = pwr_meter_read_at(meter, longest_ns, readings, &t_ns);
    for (unsigned i = 0; i < count && status != PWR_OK; i++) {
        readings[i].status = status; /* all failed: nothing was written */
    }
    print_readings(out, t_ns, readings, count);
    if (fflush(out) != 0) {
        fprintf(stderr, "poweraware-sample: writing: %s\n", strerror(errno));
        return false;
    }
    return true;
}

/* Until the absolute deadline or a request to stop (true).  The signals are blocked at all other
   times, so none can slip in between the question and the sleep, as it could with
   clock_nanosleep. */
static bool stopped_before(const pwr_env_t *env, const sigset_t *stop, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = pwr_env_now_ns(env);
        uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
        const struct timespec timeout = pwr_timespec(left);
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
    print_header(out, meter);
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
                                 : print_list(meter, why);
        pwr_meter_close(meter);
    }
    pwr_topo_close(topo);
    return result;
}

int main(int argc, char **argv)
{
    options_t options = read_options(argc, argv);
    /* First of all: a stop that comes while the meter is being opened still ends cleanly. */
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);

    pwr_env_t env = pwr_env_real;
    char *root = pwr_env_resolve_root(options.root);
    if (!root) {
        fprintf(stderr, "poweraware-sample: --root %s: %s\n", options.root, strerror(errno));
        return EXIT_USAGE;
    }
    env.root = root;
    int result = open_and_sample(&options, &env, &stop);
    free(root);
    return result;
}
