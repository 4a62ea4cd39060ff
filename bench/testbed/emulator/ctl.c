/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * ctl/: the emulator about itself, for tests and people. Nothing of this is on a real machine.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "fault.h"
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

/* A task's mask is at the offset of its number. */
static int read_mask(const struct emu_access *access, uint32_t tid, union emu_datum *datum)
{
    return emu_activity_mask(access->activity, (pid_t)tid, &datum->mask) ? 0 : ESRCH;
}

static int write_mask(const struct emu_access *access, uint32_t tid, const union emu_datum *datum)
{
    return emu_activity_bind(access->activity, (pid_t)tid, &datum->mask, access->now_ns);
}

static int read_place(const struct emu_access *access, uint32_t pid, union emu_datum *datum)
{
    return emu_activity_place(access->activity, (pid_t)pid, &datum->mask) ? 0 : ESRCH;
}

static const struct emu_file files[] = {
    {"state", 0444, .no_faults = true, .show = show_state},
    {"fault", 0644, .no_faults = true, .show = show_faults, .store = store_faults},
    {"affinity", 0666, .no_faults = true, .size = sizeof(cpu_set_t), .read = read_mask,
     .write = write_mask},
    {"place", 0444, .no_faults = true, .size = sizeof(cpu_set_t), .read = read_place},
    {0},
};

void emu_ctl_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    (void)machine;
    emu_tree_files(tree, emu_tree_folder(tree, 0, "ctl"), files, 0, -1);
}
