/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * poweraware-sample's output: JSON lines, and the list of domains for people.
 */
#include "config.h"

#include "tools/sample_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void sample_print_header(FILE *out, const pwr_meter_t *meter)
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

int sample_print_list(const pwr_meter_t *meter, const char *why)
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

/* What could not be read is null: a number would be taken for a domain that uses nothing. */
static void print_value(FILE *out, const pwr_meter_reading_t *reading, uint64_t value)
{
    if (reading->status == PWR_OK) {
        fprintf(out, "%" PRIu64, value);
    } else {
        fputs("null", out);
    }
}

void sample_print_readings(FILE *out, uint64_t t_ns, const pwr_meter_reading_t *readings,
                           unsigned count)
{
    fprintf(out, "{\"t_ns\":%" PRIu64 ",\"energy_uj\":[", t_ns);
    for (unsigned i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", out);
        print_value(out, &readings[i], readings[i].energy_uj);
    }
    fputs("],\"uncertainty_uj\":[", out);
    for (unsigned i = 0; i < count; i++) {
        fputs(i > 0 ? "," : "", out);
        print_value(out, &readings[i], readings[i].uncertainty_uj);
    }
    fputs("]}\n", out);
}
