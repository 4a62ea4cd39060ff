/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Walks once through all that the facade can do, for tests on emulated machines.
 *
 *   walk_levers CPULIST HELPER_DIR RUN_DIR [uncore] [meet] [pause]
 *
 * Binds itself to CPULIST, prints "key: value" lines (levers by name, meter, why), and
 * moves: low, T7, back, full; with "uncore" the uncore of packages as well.  With "meet" it reads a
 * line from standard input between claiming its CPUs and opening levers.  With "pause" it reads
 * one while it holds both, and once more before it ends, and says what became of the levers.
 */
#define _GNU_SOURCE
#include "config.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pwr/lever.h"
#include "pwr/meter.h"
#include "pwr/power.h"
#include "topo/cpulist.h"

static void print_line(const char *key, const char *value)
{
    printf("%s: %s\n", key, value ? value : "none");
    fflush(stdout);
}

static void log_line(void *arg, pwr_log_level_t level, const char *line)
{
    (void)arg;
    if (level <= PWR_LOG_INFO) {
        print_line("log", line);
    }
}

static int bind_to(const char *cpulist)
{
    pwr_cpuset_t set;
    if (pwr_cpulist_parse(cpulist, strlen(cpulist), &set) != PWR_OK) {
        return -1;
    }
    return sched_setaffinity(0, sizeof set.words, (const cpu_set_t *)(const void *)set.words);
}

static void wait_for_line(const char *what)
{
    char line[64];
    print_line("now", what);
    if (!fgets(line, sizeof line, stdin)) {
        exit(EXIT_FAILURE);
    }
}

static void print_meter(const pwr_env_t *env, const pwr_topo_t *topo)
{
    char why[1024];
    pwr_meter_t *meter = NULL;
    if (pwr_meter_open(env, topo, why, sizeof why, &meter) != PWR_OK) {
        print_line("meter", NULL);
        return;
    }
    print_line("meter", pwr_meter_backend(meter));
    for (unsigned i = 0; i < pwr_meter_num_domains(meter); i++) {
        print_line("domain", pwr_meter_domain(meter, i)->name);
    }
    pwr_meter_close(meter);
}

/* Long enough for any lever. */
static const uint64_t PHASE_NS = 1000000000;

static void walk(pwr_power_t *power, bool stop)
{
    pwr_power_low(power, PHASE_NS);
    pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
    if (stop) {
        wait_for_line("held");
    }
    pwr_power_unthrottle(power);
    pwr_power_full(power);
    if (stop) {
        wait_for_line("full");
        pwr_power_low(power, PHASE_NS);
        pwr_power_throttle(power, 7, PWR_POWER_LENGTH_UNKNOWN);
        pwr_power_unthrottle(power);
        pwr_power_full(power);
    }
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 4; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: walk_levers CPULIST HELPER_DIR RUN_DIR [uncore] [meet] [pause]\n");
        return 2;
    }
    pwr_env_t env = pwr_env_real;
    env.log = log_line;
    env.helper_dir = argv[2];
    pwr_power_config_t config = pwr_power_config_all(argv[3]);
    config.use[PWR_LEVER_UNCORE] = has_word(argc, argv, "uncore");
    pwr_power_t *power;
    if (bind_to(argv[1]) != 0) {
        perror("walk_levers: cannot bind");
        return EXIT_FAILURE;
    }
    if (pwr_power_open(&env, &config, &power) != PWR_OK) {
        return EXIT_FAILURE;
    }
    if (has_word(argc, argv, "meet")) {
        wait_for_line("claimed");
    }
    pwr_power_arm(power);
    pwr_lever_use_t uses[PWR_NUM_LEVERS];
    pwr_power_levers(power, uses);
    for (unsigned id = 0; id < PWR_NUM_LEVERS; id++) {
        print_line(pwr_lever_type((pwr_lever_id_t)id)->name,
                   uses[id].backend[0] != '\0' ? uses[id].backend : NULL);
    }
    print_line("why", pwr_power_why_off(power));
    print_meter(&env, pwr_power_topo(power));
    walk(power, has_word(argc, argv, "pause"));
    pwr_power_counters_t counters = pwr_power_counters(power);
    for (unsigned id = 1; id < PWR_NUM_LEVERS; id++) {
        counters.lever[0].errors += counters.lever[id].errors;
        counters.lever[0].adopted += counters.lever[id].adopted;
        counters.lever[0].yielded += counters.lever[id].yielded;
    }
    printf("errors: %llu\nadopted: %llu\nyielded: %llu\nwithdrawn: %llu\n",
           (unsigned long long)counters.lever[0].errors,
           (unsigned long long)counters.lever[0].adopted,
           (unsigned long long)counters.lever[0].yielded, (unsigned long long)counters.withdrawn);
    print_line("why at the end", pwr_power_why_off(power));
    pwr_power_close(power);
    return EXIT_SUCCESS;
}
