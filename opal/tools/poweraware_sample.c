/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-sample: the node's energy counters as JSON lines, at a steady interval.
 */
#include "config.h"

#include "pwr/meter.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
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

/* An absolute path without trailing slash ("/" is the real machine): the form of pwr_env_t.root. */
static char *resolve_root(const char *directory)
{
    char *path = realpath(directory, NULL);
    if (!path) {
        fprintf(stderr, "poweraware-sample: --root %s: %s\n", directory, strerror(errno));
        return NULL;
    }
    if (strcmp(path, "/") == 0) {
        path[0] = '\0';
    }
    return path;
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

/* ---- output ---- */

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') {
            fprintf(out, "\\%c", byte);
        } else if (byte < 0x20) {
            fprintf(out, "\\u%04x", byte);
        } else {
            fputc(byte, out);
        }
    }
    fputc('"', out);
}

typedef void (*print_field_t)(FILE *out, const pwr_meter_domain_t *domain);

static void print_name(FILE *out, const pwr_meter_domain_t *domain)
{
    print_string(out, domain->name);
}

static void print_kind(FILE *out, const pwr_meter_domain_t *domain)
{
    print_string(out, pwr_meter_kind_text(domain->kind));
}

static void print_source(FILE *out, const pwr_meter_domain_t *domain)
{
    print_string(out, domain->source);
}

static void print_provenance(FILE *out, const pwr_meter_domain_t *domain)
{
    print_string(out, pwr_meter_provenance_text(domain->provenance));
}

static void print_resolution(FILE *out, const pwr_meter_domain_t *domain)
{
    fprintf(out, "%.6g", domain->resolution_uj);
}

static void print_update(FILE *out, const pwr_meter_domain_t *domain)
{
    fprintf(out, "%" PRIu32, domain->update_us);
}

static void print_header(FILE *out, const pwr_meter_t *meter)
{
    static const struct {
        const char *key;
        print_field_t print;
    } fields[] = {
        {"domains", print_name},
        {"kinds", print_kind},
        {"sources", print_source},
        {"provenance", print_provenance},
        {"resolution_uj", print_resolution},
        {"update_us", print_update},
    };
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    fputs("{\"source\":", out);
    print_string(out, pwr_meter_backend(meter));
    fputs(",\"host\":", out);
    print_string(out, host);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        fprintf(out, ",\"%s\":[", fields[i].key);
        for (unsigned j = 0; j < pwr_meter_num_domains(meter); j++) {
            fputs(j > 0 ? "," : "", out);
            fields[i].print(out, pwr_meter_domain(meter, j));
        }
        fputc(']', out);
    }
    fputs("}\n", out);
}

/* For people: one domain per line, then what was tried in vain. */
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

static uint64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Reads all domains and tells the middle of the time it took.  On a crowded machine the sampler may
   lose the CPU in between, which makes the time a guess: such a reading is taken again. */
static pwr_status_t read_at(pwr_meter_t *meter, uint64_t longest_ns, pwr_meter_reading_t *readings,
                            uint64_t *t_ns)
{
    enum { ATTEMPTS = 3 };
    for (int attempt = 1;; attempt++) {
        uint64_t before = realtime_ns();
        pwr_status_t status = pwr_meter_read(meter, readings);
        uint64_t took = realtime_ns() - before;
        if (status != PWR_OK || took <= longest_ns || attempt == ATTEMPTS) {
            *t_ns = before + took / 2;
            return status;
        }
    }
}

/* What could not be read is null: a number would be taken for a domain that uses nothing. */
static void print_value(FILE *out, unsigned index, bool known, uint64_t value)
{
    fputs(index > 0 ? "," : "", out);
    if (known) {
        fprintf(out, "%" PRIu64, value);
    } else {
        fputs("null", out);
    }
}

static bool print_sample(FILE *out, pwr_meter_t *meter, uint64_t longest_ns,
                         pwr_meter_reading_t *readings)
{
    uint64_t t_ns;
    unsigned count = pwr_meter_num_domains(meter);
    bool any = read_at(meter, longest_ns, readings, &t_ns) == PWR_OK;
    fprintf(out, "{\"t_ns\":%" PRIu64 ",\"energy_uj\":[", t_ns);
    for (unsigned i = 0; i < count; i++) {
        print_value(out, i, any && readings[i].status == PWR_OK, readings[i].energy_uj);
    }
    fputs("],\"uncertainty_uj\":[", out);
    for (unsigned i = 0; i < count; i++) {
        print_value(out, i, any && readings[i].status == PWR_OK, readings[i].uncertainty_uj);
    }
    fputs("]}\n", out);
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
        result = options->list ? print_list(meter, why)
                               : sample_to(options->output, meter, env, stop,
                                           options->interval_ms * NS_PER_MS);
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
