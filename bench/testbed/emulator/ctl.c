/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * ctl/: the emulator about itself, for tests and people. Nothing of this is on a real machine.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fault.h"
#include "log.h"
#include "machine_keys.h"
#include "pstate.h"
#include "rapl.h"
#include "tree.h"
#include "tstate.h"
#include "uncore.h"

static void show_state(const struct emu_access *access, FILE *out)
{
    struct emu_machine *machine = access->machine;
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    emu_machine_charge_all(machine, access->now_ns);
    fprintf(out, "machine %s\nt_ns %" PRIu64 "\nrejected_writes %" PRIu64 "\n",
            machine->config.name, access->now_ns, machine->rejected_writes);
    fprintf(out, "emulator_cpu_s %.3f\n", (double)used.tv_sec + (double)used.tv_nsec * 1e-9);
    for (int i = 0; i < machine->cpu_count; i++) {
        const struct emu_cpu *cpu = &machine->cpus[i];
        fprintf(out,
                "cpu %d package %d core %d khz %" PRIu32 " duty %.4f active_s %.6f processes %d\n",
                i, cpu->package, cpu->core_id, emu_pstate_khz(machine, i),
                emu_tstate_duty(machine, i), (double)cpu->active_ns * 1e-9,
                access->activity != NULL ? emu_activity_count(access->activity, i) : 0);
    }
    for (int i = 0; i < machine->config.packages; i++) {
        fprintf(out, "package %d package_j %.6f core_j %.6f dram_j %.6f uncore_khz %" PRIu32 "\n",
                i, emu_rapl_exact_j(machine, EMU_PACKAGE, i, access->now_ns),
                emu_rapl_exact_j(machine, EMU_CORE, i, access->now_ns),
                emu_rapl_exact_j(machine, EMU_DRAM, i, access->now_ns), emu_uncore_khz(machine, i));
    }
    fprintf(out, "platform_j %.6f\n", emu_rapl_exact_j(machine, EMU_PLATFORM, 0, access->now_ns));
}

static void show_activity(const struct emu_access *access, FILE *out)
{
    if (access->machine->fixed_activity < 0) {
        fputs("measured\n", out);
    } else {
        fprintf(out, "fixed:%g\n", access->machine->fixed_activity);
    }
}

/* The words of the machine file's key "activity". */
static int store_activity(const struct emu_access *access, const char *text)
{
    struct emu_config parsed;
    char why[128];
    for (size_t i = 0; i < emu_key_count; i++) {
        if (strcmp(emu_keys[i].name, "activity") != 0) {
            continue;
        }
        if (!emu_key_parse(&emu_keys[i], &parsed, text, why, sizeof why) ||
            (parsed.fixed_activity < 0 && access->machine->active == NULL)) {
            return EINVAL;
        }
        emu_machine_charge_all(access->machine, access->now_ns);
        access->machine->fixed_activity = parsed.fixed_activity;
    }
    return 0;
}

static void show_faults(const struct emu_access *access, FILE *out)
{
    emu_faults_print(access->faults, out);
}

static int store_faults(const struct emu_access *access, const char *text)
{
    char why[512];
    if (!emu_faults_store(access->faults, text, why, sizeof why)) {
        emu_log("%s", why);
        return EINVAL;
    }
    return 0;
}

static const struct emu_attribute files[] = {
    {"state", 0444, show_state, NULL, NULL},
    {"activity", 0644, show_activity, store_activity, NULL},
    {"fault", 0644, show_faults, store_faults, NULL},
};

void emu_ctl_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    (void)machine;
    int folder = emu_tree_path(tree, "ctl");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        emu_tree_attribute(tree, folder, &files[i], 0);
    }
}
