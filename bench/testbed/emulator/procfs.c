/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * proc/cpuinfo, proc/stat and proc/bus/pci of the emulated machine.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "states.h"
#include "tree.h"

/* Tools look for msr, est, tm2, aperfmperf, constant_tsc, dtherm, arat, pln, pts, on AMD for cpb,
   hw_pstate and rapl, and for the vector extensions. */
static const char *const vendors[] = {"GenuineIntel", "AuthenticAMD"};
static const char *const flags[] = {
    /* a Skylake server under Linux */
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush dts acpi mmx "
    "fxsr sse sse2 ss ht tm pbe syscall nx pdpe1gb rdtscp lm constant_tsc art arch_perfmon pebs "
    "bts rep_good nopl xtopology nonstop_tsc cpuid aperfmperf pni pclmulqdq dtes64 monitor ds_cpl "
    "vmx est tm2 ssse3 sdbg fma cx16 pcid dca sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx "
    "f16c rdrand lahf_lm abm cpuid_fault epb cat_l3 ssbd fsgsbase bmi1 avx2 smep bmi2 erms "
    "avx512f avx512dq rdseed adx avx512cd avx512bw avx512vl dtherm ida arat pln pts",
    /* an EPYC of family 25 under Linux; no acpi and tm: it has no clock modulation */
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse "
    "sse2 ht syscall nx mmxext fxsr_opt pdpe1gb rdtscp lm constant_tsc rep_good nopl nonstop_tsc "
    "cpuid extd_apicid aperfmperf rapl pni pclmulqdq monitor ssse3 fma cx16 pcid sse4_1 sse4_2 "
    "x2apic movbe popcnt aes xsave avx f16c rdrand lahf_lm cmp_legacy svm extapic cr8_legacy abm "
    "sse4a misalignsse topoext perfctr_core mwaitx cpb cat_l3 hw_pstate fsgsbase bmi1 avx2 smep "
    "bmi2 erms cqm rdseed adx smap clflushopt clwb sha_ni clzero irperf xsaveerptr arat"};

static void show_cpuinfo(const struct emu_access *access, FILE *out)
{
    const struct emu_machine *machine = access->machine;
    const struct emu_config *config = &machine->config;
    for (int i = 0; i < machine->cpu_count; i++) {
        const struct emu_cpu *cpu = &machine->cpus[i];
        if (!cpu->online) {
            continue;
        }
        fprintf(out,
                "processor\t: %d\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n"
                "model name\t: %s\nstepping\t: %d\nmicrocode\t: 0x1\ncpu MHz\t\t: %.3f\n"
                "cache size\t: 16896 KB\nphysical id\t: %d\nsiblings\t: %d\ncore id\t\t: %d\n"
                "cpu cores\t: %d\napicid\t\t: %d\ninitial apicid\t: %d\nfpu\t\t: yes\n"
                "fpu_exception\t: yes\ncpuid level\t: 22\nwp\t\t: yes\nflags\t\t: %s\n"
                "bogomips\t: %.2f\nclflush size\t: 64\ncache_alignment\t: 64\n"
                "address sizes\t: 46 bits physical, 48 bits virtual\npower management:\n\n",
                i, vendors[config->cpu_vendor], config->cpu_family, config->cpu_model,
                config->cpu_name, config->cpu_stepping, emu_pstate_khz(machine, i) / 1e3,
                cpu->package, config->cores * config->smt, cpu->core_id, config->cores, i, i,
                flags[config->cpu_vendor], config->base_khz / 500.0);
    }
}

/* The real /proc/stat, opened before anybody can have mounted ours over it: the daemon would wait
   for itself. */
static FILE *real_stat;

static void copy_rest(FILE *out)
{
    char *line = NULL;
    size_t size = 0;
    if (real_stat == NULL) {
        return;
    }
    rewind(real_stat);
    while (getline(&line, &size, real_stat) > 0) {
        if (strncmp(line, "cpu", 3) != 0) {
            fputs(line, out);
        }
    }
    free(line);
}

static void print_cpu(FILE *out, const char *name, uint64_t user, uint64_t idle)
{
    fprintf(out, "%s %" PRIu64 " 0 0 %" PRIu64 " 0 0 0 0 0 0\n", name, user, idle);
}

/* user is the time processes were runnable on the CPU, the rest is idle. */
static void show_stat(const struct emu_access *access, FILE *out)
{
    struct emu_machine *machine = access->machine;
    emu_machine_charge_all(machine, access->now_ns);
    uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t all_ns = access->now_ns - machine->start_ns;
    uint64_t user_ns = 0;
    for (int i = 0; i < machine->cpu_count; i++) {
        user_ns += machine->cpus[i].active_ns;
    }
    print_cpu(out, "cpu ", user_ns / tick_ns,
              ((uint64_t)machine->cpu_count * all_ns - user_ns) / tick_ns);
    for (int i = 0; i < machine->cpu_count; i++) {
        char name[16];
        uint64_t active_ns = machine->cpus[i].active_ns;
        if (!machine->cpus[i].online) {
            continue;
        }
        snprintf(name, sizeof name, "cpu%d", i);
        print_cpu(out, name, active_ns / tick_ns, (all_ns - active_ns) / tick_ns);
    }
    copy_rest(out);
}

/* likwid opens no MSR of a server model in direct mode unless it finds the package's uncore as a
   PCI device here: bus 0x3f for package 0, 0x40 more for each further one, function 0x50. */
static const struct {
    int model;
    unsigned device;
} uncores[] = {
    {45, 0x3c44}, {62, 0x0e36}, {63, 0x2f30}, {79, 0x6f30}, {85, 0x2042}, {106, 0x344a},
};

static void add_pci(struct emu_tree *tree, const struct emu_machine *machine)
{
    char list[64 * EMU_MAX_PACKAGES] = "";
    size_t used = 0;
    int folder = emu_tree_folder(tree, 0, "proc/bus/pci");
    for (size_t i = 0; i < sizeof uncores / sizeof uncores[0]; i++) {
        if (uncores[i].model != machine->config.cpu_model) {
            continue;
        }
        /* bus numbers end at 0xff */
        for (unsigned p = 0; p < (unsigned)machine->config.packages && p < 4; p++) {
            unsigned bus = 0x3f + 0x40 * p;
            used += (size_t)snprintf(list + used, sizeof list - used,
                                     "%02x50\t8086%04x\t0\t0\t0\t0\n", bus, uncores[i].device);
            emu_tree_folder(tree, folder, "%02x", bus);
        }
    }
    emu_tree_text(tree, folder, "devices", "%s", list);
}

static const struct emu_file files[] = {
    {"cpuinfo", 0444, .show = show_cpuinfo}, {"stat", 0444, .show = show_stat}, {0}};

void emu_procfs_install(struct emu_tree *tree, const struct emu_machine *machine)
{
    real_stat = fopen("/proc/stat", "re");
    add_pci(tree, machine);
    emu_tree_files(tree, emu_tree_folder(tree, 0, "proc"), files, 0, -1);
}
