/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What grants what is missing, in one table, and what each part is worth.
 *
 * Sources: udev(7) (%S and %p: sysfs and the device's path below it); Linux,
 * Documentation/admin-guide/pm/cpufreq.rst and admin-guide/sysctl/kernel.rst (perf_event_paranoid);
 * msr-safe's README (groups; writing the list replaces all of it); capabilities(7); Lipp et al.,
 * "PLATYPUS", 2021 (CVE-2020-8694).
 */
#include "config.h"

#include "tools/info/info.h"

#include <string.h>

#define GROUP_COMMAND                                                                              \
    "groupadd --system --force poweraware && usermod --append --groups poweraware USER"
#define RELOAD "udevadm control --reload && udevadm trigger --action=change --subsystem-match="

/* Writing replaces the whole list of msr-safe, so the old one is written again.  Of two lines for
   one register the first stays: what must be written goes in front, what must only be read behind.
 */
#define ALLOW(write_lines, read_lines)                                                             \
    "(" write_lines "cat /dev/cpu/msr_allowlist" read_lines                                        \
    ") | awk '!seen[tolower($1)]++' >/run/msr_allowlist.new && "                                   \
    "cat /run/msr_allowlist.new >/dev/cpu/msr_allowlist"
#define READ(number) "; echo '0x" number " 0x0000000000000000'"

static const char allow_caution[] =
    "also add the line to the list that is loaded at boot (often /etc/msr-safe/default_allowlist); "
    "old versions of msr-safe call the file msr_whitelist";
static const char energy_caution[] =
    "fine-grained energy readings let a local attacker infer secrets of other processes "
    "(PLATYPUS, CVE-2020-8694): grant them to a group, on nodes that users do not share";

static const info_remedy_t cpufreq_group = {
    .text = "let a group write the limits of each CPU; the rule keeps it over reboots and hotplug",
    .commands = {GROUP_COMMAND,
                 "echo 'SUBSYSTEM==\"cpu\", ACTION==\"add|online|change\", TEST==\"cpufreq\", "
                 "RUN+=\"/bin/chgrp poweraware %S%p/cpufreq/scaling_max_freq "
                 "%S%p/cpufreq/scaling_min_freq\", "
                 "RUN+=\"/bin/chmod g+w %S%p/cpufreq/scaling_max_freq "
                 "%S%p/cpufreq/scaling_min_freq\"' >/etc/udev/rules.d/70-poweraware-cpufreq.rules",
                 RELOAD "cpu"},
    .caution = "who may write them can slow down every CPU of the node; where the cpufreq driver "
               "is a module that loads late, repeat the last command after it"};

static const info_remedy_t setspeed_group = {
    .text = "let a group write the speed of each CPU; the rule keeps it over reboots and hotplug",
    .commands = {GROUP_COMMAND,
                 "echo 'SUBSYSTEM==\"cpu\", ACTION==\"add|online|change\", "
                 "TEST==\"cpufreq/scaling_setspeed\", "
                 "RUN+=\"/bin/chgrp poweraware %S%p/cpufreq/scaling_setspeed\", "
                 "RUN+=\"/bin/chmod g+w %S%p/cpufreq/scaling_setspeed\"' "
                 ">/etc/udev/rules.d/70-poweraware-setspeed.rules",
                 RELOAD "cpu"}};

static const info_remedy_t cpufreq_driver = {
    .text = "load a cpufreq driver; if none takes this CPU, look in the firmware for P-states or "
            "\"OS control\", and in a virtual machine ask for a real node",
    .commands = {"modprobe acpi-cpufreq || modprobe amd-pstate"}};

static const info_remedy_t whole_domain = {
    .text = "give each process all CPUs that share one frequency (N of them)",
    .commands = {"mpirun --map-by slot:PE=N --bind-to core ..."}};

static const info_remedy_t msr_safe_load = {
    .text = "install and load msr-safe, which opens single registers to users "
            "(https://github.com/LLNL/msr-safe)",
    .commands = {"modprobe msr-safe"}};

static const info_remedy_t msr_safe_group = {
    .text = "let the user into the group that msr-safe's devices belong to",
    .commands = {"ls -l /dev/cpu/0/msr_safe # which group",
                 "usermod --append --groups msr-user USER"},
    .caution = "it takes effect at the user's next login"};

static const info_remedy_t allow_modulation = {
    .text = "allow the five bits of the duty cycle in msr-safe's list",
    .commands = {ALLOW("echo '0x0000019A 0x000000000000001F'; ", "")},
    .caution = allow_caution};

static const info_remedy_t allow_perf_ctl = {
    .text = "allow the ratio in PERF_CTL in msr-safe's list, and reading the CPU's range",
    .commands = {ALLOW("echo '0x00000199 0x000000000000FF00'; ",
                       READ("000000CE") READ("000001AD") READ("00000770"))},
    .caution = allow_caution};

static const info_remedy_t allow_hwp = {
    .text = "allow minimum and maximum of HWP_REQUEST in msr-safe's list, and reading "
            "the CPU's range",
    .commands = {ALLOW("echo '0x00000774 0x000000000000FFFF'; ",
                       READ("00000770") READ("00000771"))},
    .caution = allow_caution};

static const info_remedy_t uncore_group = {
    .text = "let a group write the limits of each package's uncore; the file keeps it over reboots",
    .commands = {GROUP_COMMAND,
                 "echo 'z /sys/devices/system/cpu/intel_uncore_frequency/*/m??_freq_khz 0664 root "
                 "poweraware' >/etc/tmpfiles.d/poweraware-uncore.conf",
                 "systemd-tmpfiles --create /etc/tmpfiles.d/poweraware-uncore.conf"},
    .caution = "who may write them can slow down memory and caches for every process of the node"};

static const info_remedy_t uncore_driver = {
    .text = "load the kernel's driver (Linux 5.6 and later, Intel's server processors)",
    .commands = {"modprobe intel_uncore_frequency"}};

static const info_remedy_t whole_package = {
    .text = "give one process all CPUs of a package: they have one uncore frequency",
    .commands = {"mpirun --map-by ppr:1:package --bind-to package ..."}};

static const info_remedy_t allow_uncore = {
    .text = "allow both ratios of MSR_UNCORE_RATIO_LIMIT in msr-safe's list",
    .commands = {ALLOW("echo '0x00000620 0x0000000000007F7F'; ", "")},
    .caution = allow_caution};

static const info_remedy_t no_uncore = {
    .text = "nothing grants it: this CPU has no MSR_UNCORE_RATIO_LIMIT (many virtual machines; "
            "processors on which only the kernel's driver reaches the uncore)"};

static const info_remedy_t allow_energy = {
    .text = "allow reading the energy counters in msr-safe's list (mask 0: no writing)",
    .commands = {ALLOW("", READ("00000606") READ("00000611") READ("00000619") READ("00000639")
                               READ("0000064D"))},
    .caution = energy_caution};

static const info_remedy_t msr_load = {.text = "load the kernel's driver; root alone may use it",
                                       .commands = {"modprobe msr"}};

static const info_remedy_t msr_is_roots = {
    .text = "leave it closed: it gives all registers to whoever may write it (root with "
            "CAP_SYS_RAWIO); msr-safe gives single ones"};

static const info_remedy_t no_modulation = {
    .text = "nothing grants it: this CPU has no IA32_CLOCK_MODULATION (AMD, many virtual "
            "machines)"};

static const info_remedy_t not_on_amd = {
    .text = "nothing grants it: AMD's processors have none of Intel's registers for "
            "P-states, clock modulation and the uncore"};

static const info_remedy_t likwid_daemon = {
    .text = "install likwid and give its access daemon the right to registers (path as on Debian)",
    .commands = {"modprobe msr",
                 "chown root:root /usr/sbin/likwid-accessD && chmod 4755 /usr/sbin/likwid-accessD",
                 "# or, without set-uid:",
                 "setcap cap_sys_rawio,cap_dac_override+ep /usr/sbin/likwid-accessD"},
    .caution = "every user of the node can then move what the daemon allows"};

static const info_remedy_t likwid_refuses = {
    .text =
        "nothing more from likwid: its daemon has a fixed list of registers for each processor; "
        "msr-safe's list can be changed"};

static const info_remedy_t likwid_frequency = {
    .text = "install likwid before poweraware is built, and make its frequency helper set-uid root "
            "(path as on Debian)",
    .commands = {"chown root:root /usr/sbin/likwid-setFreq && chmod 4755 /usr/sbin/likwid-setFreq"},
    .caution = "every user of the node can then set every CPU's frequency"};

static const info_remedy_t powercap_group = {
    .text = "let a group read the counters, which are root's since Linux 5.10",
    .commands =
        {GROUP_COMMAND,
         "echo 'SUBSYSTEM==\"powercap\", ACTION==\"add|change\", TEST==\"energy_uj\", "
         "RUN+=\"/bin/chgrp poweraware %S%p/energy_uj\", "
         "RUN+=\"/bin/chmod g+r %S%p/energy_uj\"' >/etc/udev/rules.d/70-poweraware-powercap.rules",
         RELOAD "powercap"},
    .caution = energy_caution};

static const info_remedy_t powercap_driver = {
    .text = "load the kernel's RAPL driver; virtual machines and CPUs without RAPL have none",
    .commands = {"modprobe intel_rapl_msr"}};

static const info_remedy_t perf_paranoid = {
    .text = "allow counting on whole packages to everybody, or to the sampler alone; never by "
            "capabilities of an MPI program, whose levers then stay off",
    .commands = {"echo 'kernel.perf_event_paranoid = 0' >/etc/sysctl.d/70-poweraware.conf",
                 "sysctl --system",
                 "# or:", "setcap cap_perfmon+ep \"$(command -v poweraware-sample)\""},
    .caution = energy_caution};

static const info_remedy_t perf_driver = {
    .text = "load the kernel's RAPL events; virtual machines and CPUs without RAPL have none",
    .commands = {"modprobe rapl"}};

/* A row applies when everything in it does: a back end "msr_safe" is also the end of a longer name
   ("hwp-msr_safe"), mention must occur in the reason. */
typedef struct row {
    info_subject_t subject;
    const char *backend;
    pwr_status_t status;
    const char *mention; /* NULL: any reason */
    const info_remedy_t *remedy;
} row_t;

static const char device[] = "/dev/cpu/";

/* Of every subject. */
enum { ANY = INFO_SUBJECTS };

static const row_t rows[] = {
    {PWR_LEVER_PSTATE, "cpufreq-setspeed", PWR_ERR_PERM, NULL, &setspeed_group},
    {PWR_LEVER_PSTATE, "cpufreq", PWR_ERR_PERM, NULL, &cpufreq_group},
    {PWR_LEVER_PSTATE, "cpufreq", PWR_ERR_UNSUPPORTED, NULL, &cpufreq_driver},
    {PWR_LEVER_PSTATE, "likwid", PWR_ERR_UNSUPPORTED, NULL, &likwid_frequency},
    {PWR_LEVER_PSTATE, "likwid", PWR_ERR_PERM, NULL, &likwid_frequency},
    {PWR_LEVER_PSTATE, "cpufreq-setspeed", PWR_ERR_SHARED, NULL, &whole_domain},
    {PWR_LEVER_PSTATE, "cpufreq", PWR_ERR_SHARED, NULL, &whole_domain},
    {PWR_LEVER_PSTATE, "likwid", PWR_ERR_SHARED, NULL, &whole_domain},
    {PWR_LEVER_PSTATE, "hwp-msr_safe", PWR_ERR_PERM, "MSR 0x", &allow_hwp},
    {PWR_LEVER_PSTATE, "perf_ctl-msr_safe", PWR_ERR_PERM, "MSR 0x", &allow_perf_ctl},
    {PWR_LEVER_TSTATE, "msr_safe", PWR_ERR_UNSUPPORTED, "MSR 0x", &no_modulation},
    {PWR_LEVER_TSTATE, "msr_safe", PWR_ERR_PERM, "MSR 0x", &allow_modulation},
    {PWR_LEVER_TSTATE, "msr", PWR_ERR_UNSUPPORTED, "MSR 0x", &no_modulation},
    {PWR_LEVER_UNCORE, "intel_uncore_frequency", PWR_ERR_PERM, NULL, &uncore_group},
    {PWR_LEVER_UNCORE, "intel_uncore_frequency", PWR_ERR_UNSUPPORTED, NULL, &uncore_driver},
    {PWR_LEVER_UNCORE, "intel_uncore_frequency", PWR_ERR_SHARED, NULL, &whole_package},
    {PWR_LEVER_UNCORE, "msr_safe", PWR_ERR_UNSUPPORTED, "MSR 0x", &no_uncore},
    {PWR_LEVER_UNCORE, "msr_safe", PWR_ERR_PERM, "MSR 0x", &allow_uncore},
    {PWR_LEVER_UNCORE, "msr_safe", PWR_ERR_SHARED, NULL, &whole_package},
    {PWR_LEVER_UNCORE, "msr", PWR_ERR_UNSUPPORTED, "MSR 0x", &no_uncore},
    {PWR_LEVER_UNCORE, "msr", PWR_ERR_SHARED, NULL, &whole_package},
    {PWR_LEVER_UNCORE, "likwid-accessD", PWR_ERR_SHARED, NULL, &whole_package},
    {INFO_ENERGY, "powercap", PWR_ERR_PERM, NULL, &powercap_group},
    {INFO_ENERGY, "powercap", PWR_ERR_UNSUPPORTED, NULL, &powercap_driver},
    {INFO_ENERGY, "msr_safe", PWR_ERR_PERM, "RAPL registers", &allow_energy},
    {INFO_ENERGY, "likwid", PWR_ERR_UNSUPPORTED, NULL, &likwid_daemon},
    {INFO_ENERGY, "likwid", PWR_ERR_PERM, NULL, &likwid_daemon},
    {INFO_ENERGY, "perf_event", PWR_ERR_PERM, "perf_event_paranoid", &perf_paranoid},
    {INFO_ENERGY, "perf_event", PWR_ERR_UNSUPPORTED, NULL, &perf_driver},
    {ANY, "msr_safe", PWR_ERR_UNSUPPORTED, device, &msr_safe_load},
    {ANY, "msr_safe", PWR_ERR_PERM, device, &msr_safe_group},
    {ANY, "msr", PWR_ERR_UNSUPPORTED, device, &msr_load},
    {ANY, "msr", PWR_ERR_PERM, NULL, &msr_is_roots},
    {ANY, "likwid-accessD", PWR_ERR_UNSUPPORTED, "not installed", &likwid_daemon},
    {ANY, "likwid-accessD", PWR_ERR_UNSUPPORTED, device, &msr_load},
    {ANY, "likwid-accessD", PWR_ERR_PERM, "no rights", &likwid_daemon},
    {ANY, "likwid-accessD", PWR_ERR_PERM, "MSR 0x", &likwid_refuses},
};

static bool is_named(const char *name, const char *row_name)
{
    size_t length = strlen(name);
    size_t tail = strlen(row_name);
    if (length < tail || strcmp(name + length - tail, row_name) != 0) {
        return false;
    }
    return length == tail || name[length - tail - 1] == '-';
}

const char *info_reason_otherwise(const char *backend, pwr_status_t status)
{
    bool governor = status == PWR_ERR_UNSUPPORTED && strcmp(backend, "cpufreq-setspeed") == 0;
    return governor ? "the governor is not \"userspace\"" : pwr_status_text(status);
}

static bool lacks_registers(const char *vendor, info_subject_t subject, const char *backend)
{
    return strcmp(vendor, "AuthenticAMD") == 0 && subject != INFO_ENERGY &&
           (is_named(backend, "msr_safe") || is_named(backend, "msr") ||
            is_named(backend, "likwid-accessD"));
}

unsigned info_remedies_find(const char *vendor, info_subject_t subject, const char *backend,
                            pwr_status_t status, const char *reason, const info_remedy_t **remedies)
{
    unsigned count = 0;
    if (lacks_registers(vendor, subject, backend)) {
        remedies[count++] = &not_on_amd;
        return count;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && count < INFO_REMEDIES; i++) {
        const row_t *row = &rows[i];
        if ((row->subject == subject || row->subject == ANY) && row->status == status &&
            is_named(backend, row->backend) && (!row->mention || strstr(reason, row->mention))) {
            remedies[count++] = row->remedy;
        }
    }
    return count;
}

/* ---- what the parts are worth ---- */

static const char icpp[] = "Kandalla et al., ICPP 2010: large Alltoall, 64 ranks on 8 nodes of 2 "
                           "x 4 Nehalem cores; their measurement, not this machine's";

static const info_loss_t losses[] = {
    [PWR_LEVER_PSTATE] =
        {"frequency scaling took the paper's cluster from 2.3 to 1.8 kW (22 % less)", icpp},
    [PWR_LEVER_TSTATE] = {"throttling took the paper's cluster further down, from 1.8 to 1.6 kW "
                          "(11 % less)",
                          icpp},
    [PWR_LEVER_UNCORE] = {"about a fifth of a package's power while its CPUs wait",
                          "an assumption of "
                          "poweraware: poweraware-calibrate measures it where there is a meter"},
    [INFO_ENERGY] = {"nothing is saved less, but how many joules are saved is then a model's guess "
                     "or unknown",
                     "poweraware: no decision of a lever depends on a meter"},
};

const info_loss_t *info_loss(info_subject_t subject)
{
    return &losses[subject];
}

const pwr_lever_type_t *info_lever(info_subject_t subject)
{
    return subject < PWR_NUM_LEVERS ? pwr_lever_type((pwr_lever_id_t)subject) : NULL;
}

const char *info_title(info_subject_t subject)
{
    const pwr_lever_type_t *type = info_lever(subject);
    return type ? type->title : "energy meter";
}
