/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * ctl/: the emulator about itself, for tests and people. Nothing of this is on a real machine.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "fault.h"
#include "records.h"
#include "states.h"
#include "tree.h"

static void show_state(const struct emu_access *access, FILE *out)
{
    struct emu_machine *machine = access->machine;
    emu_machine_charge_all(machine, access->now_ns);
    fprintf(out, "machine %s\nt_ns %" PRIu64 "\nrejected_writes %" PRIu64 "\n",
            machine->config.name, access->now_ns, machine->rejected_writes);
    for (int i = 0; i < machine->cpu_count; i++) {
        const struct emu_cpu *cpu = &machine->cpus[i];
        fprintf(
            out, "cpu %d package %d core %d khz %" PRIu32 " duty %.4f active_s %.6f processes %d\n",
            i, cpu->package, cpu->core_id, emu_pstate_khz(machine, i), emu_tstate_duty(machine, i),
            (double)cpu->active_ns * 1e-9, emu_activity_count(access->activity, i));
    }
}

static void show_faults(const struct emu_access *access, FILE *out)
{
    emu_faults_print(access->faults, out);
}

static int store_faults(const struct emu_access *access, const char *text)
{
    const char *bad = emu_faults_store(access->faults, text);
    if (bad != NULL) {
        emu_log("'%s' is no rule for a fault", bad);
        return EINVAL;
    }
    return 0;
}

static const struct emu_attribute files[] = {
    {"state", 0444, .show = show_state},
    {"fault", 0644, .show = show_faults, .store = store_faults},
};

void emu_ctl_install(struct emu_tree *tree)
{
    int folder = emu_tree_path(tree, "ctl");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        emu_tree_attribute(tree, folder, &files[i], 0);
    }
    emu_tree_device(tree, folder, "affinity", EMU_NODE_AFFINITY, 0666, 0);
}
