/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The keys a machine file may have, and how their values are read.
 */
#include "config.h"

#include "machine_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const bool_words[] = {"no", "yes", NULL};
static const char *const numbering_words[] = {"packed", "scattered", NULL};
static const char *const vendor_words[] = {"GenuineIntel", "AuthenticAMD", NULL};
static const char *const driver_words[] = {
    "acpi-cpufreq", "intel_pstate", "intel_cpufreq", "amd-pstate", "amd-pstate-epp", "none", NULL};
static const char *const scope_words[] = {"thread", "core", "package", NULL};
static const char *const rule_words[] = {"highest", "lowest", NULL};
static const char *const uncore_words[] = {"none", "msr", "sysfs", NULL};
static const char *const step_words[] = {"12.5", "6.25", NULL};
static const char *const governor_words[] = {"performance", "powersave", "userspace",
                                             "ondemand",    "schedutil", NULL};

static bool parse_real(const char *value, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(value, &end);
    return end != value && *end == '\0' && errno == 0 && isfinite(*number);
}

static int by_value(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* "2400000 1600000 ...": kHz, any order; kept ascending. */
static bool parse_pstates(struct emu_config *config, const char *value, char *why, size_t why_size)
{
    int count = 0;
    for (char *end; *value != '\0'; value = end + strspn(end, " \t")) {
        unsigned long khz = strtoul(value, &end, 10);
        if (end == value || khz < 100000 || khz > 10000000 || count == EMU_MAX_PSTATES) {
            snprintf(why, why_size, "'%s' does not start with a frequency in kHz", value);
            return false;
        }
        config->pstates_khz[count++] = (uint32_t)khz;
    }
    qsort(config->pstates_khz, (size_t)count, sizeof config->pstates_khz[0], by_value);
    config->pstate_count = count;
    return true;
}

/* "0x19a:0x1f 0x611:0": register and write mask, in hexadecimal. */
static bool parse_msr_rules(struct emu_config *config, const char *value, char *why,
                            size_t why_size)
{
    int count = 0;
    for (int end = 0; *value != '\0'; value += end + (int)strspn(value + end, " \t")) {
        struct emu_msr_rule rule;
        if (count == EMU_MAX_MSR_RULES ||
            sscanf(value, "%" SCNx32 ":%" SCNx64 "%n", &rule.reg, &rule.write_mask, &end) != 2) {
            snprintf(why, why_size, "'%s' does not start with REGISTER:WRITE_MASK", value);
            return false;
        }
        config->msr_safe_allow[count++] = rule;
    }
    config->msr_safe_count = count;
    return true;
}

static bool parse_activity(struct emu_config *config, const char *value, char *why, size_t why_size)
{
    double *fixed = &config->fixed_activity;
    *fixed = -1;
    if (strcmp(value, "measured") == 0 ||
        (strncmp(value, "fixed:", 6) == 0 && parse_real(value + 6, fixed) && *fixed >= 0 &&
         *fixed <= 1)) {
        return true;
    }
    snprintf(why, why_size, "'%s' is neither 'measured' nor 'fixed:X' with X from 0 to 1", value);
    return false;
}

#define FIELD(field) .name = #field, .offset = offsetof(struct emu_config, field)
#define INT(field, low, high) FIELD(field), .kind = EMU_KEY_INT, .min = (low), .max = (high)
#define REAL(field, low, high) FIELD(field), .kind = EMU_KEY_REAL, .min = (low), .max = (high)
#define BOOL(field) FIELD(field), .kind = EMU_KEY_WORD, .words = bool_words
#define MODE(field) FIELD(field), .kind = EMU_KEY_MODE

/* clang-format off */
const struct emu_key emu_keys[] = {
    {FIELD(name), .kind = EMU_KEY_TEXT, .fallback = "emulated", .help = "what the machine is called in messages"},
    {INT(packages, 1, EMU_MAX_PACKAGES), .help = "processor packages (sockets), one NUMA node each"},
    {INT(cores, 1, EMU_MAX_CPUS), .help = "cores per package"},
    {INT(smt, 1, EMU_MAX_SMT), .fallback = "1", .help = "threads per core"},
    {.name = "cpu_numbering", .kind = EMU_KEY_WORD, .offset = offsetof(struct emu_config, numbering), .words = numbering_words, .fallback = "packed",
     .help = "packed: CPUs 0, 1, 2 .. fill package 0 first; scattered: they go round the packages; further SMT threads follow after all cores"},
    {INT(memory_mb, 1, 1 << 30), .fallback = "8192", .unit = "MiB", .help = "memory per package that tools see"},
    {FIELD(cpu_vendor), .kind = EMU_KEY_WORD, .words = vendor_words, .fallback = "GenuineIntel", .help = "as in /proc/cpuinfo; decides which registers there are. AMD: family 23 or later, no T-states"},
    {INT(cpu_family, 0, 255), .fallback = "6", .help = "as in /proc/cpuinfo"},
    {INT(cpu_model, 0, 255), .fallback = "85", .help = "as in /proc/cpuinfo; tools choose their tables by it (85: Skylake-SP, known to all)"},
    {INT(cpu_stepping, 0, 15), .fallback = "4", .help = "as in /proc/cpuinfo"},
    {FIELD(cpu_name), .kind = EMU_KEY_TEXT, .fallback = "Emulated processor", .help = "model name in /proc/cpuinfo"},

    {.name = "cpufreq_driver", .kind = EMU_KEY_WORD, .offset = offsetof(struct emu_config, driver), .words = driver_words, .fallback = "acpi-cpufreq",
     .help = "acpi-cpufreq: list of frequencies, all governors, scaling_setspeed; intel_pstate, amd-pstate-epp (both active mode): no list, governors powersave and performance, no setspeed; intel_cpufreq (intel_pstate in passive mode), amd-pstate: no list, all governors, scaling_setspeed; none: no cpufreq folder"},
    {.name = "pstates_khz", .kind = EMU_KEY_OWN, .parse = parse_pstates, .fallback = "", .unit = "kHz", .help = "the P-states; empty: every 100 MHz from pstate_min_khz to pstate_max_khz"},
    {INT(pstate_min_khz, 0, 10000000), .fallback = "0", .unit = "kHz", .help = "lowest frequency; 0: lowest of pstates_khz"},
    {INT(pstate_max_khz, 0, 10000000), .fallback = "0", .unit = "kHz", .help = "highest frequency; 0: highest of pstates_khz"},
    {INT(base_khz, 0, 10000000), .fallback = "0", .unit = "kHz", .help = "nominal frequency (TSC); 0: the highest"},
    {FIELD(pstate_scope), .kind = EMU_KEY_WORD, .words = scope_words, .fallback = "core", .help = "who shares a clock; the highest request in it wins"},
    {FIELD(policy_scope), .kind = EMU_KEY_WORD, .words = scope_words, .fallback = "thread", .help = "who shares a cpufreq policy (related_cpus), acpi-cpufreq only"},
    {FIELD(governor), .kind = EMU_KEY_WORD, .words = governor_words, .fallback = "performance", .help = "cpufreq governor at start"},
    {BOOL(hwp), .fallback = "no", .help = "hardware P-states: HWP_REQUEST (0x774) instead of PERF_CTL (0x199) sets the frequency; not with acpi-cpufreq"},

    {FIELD(tstate_step), .kind = EMU_KEY_WORD, .words = step_words, .fallback = "12.5", .unit = "%", .help = "granularity of IA32_CLOCK_MODULATION: 12.5 (bits 3:1) or 6.25 (bits 3:0)"},
    {FIELD(tstate_scope), .kind = EMU_KEY_WORD, .words = scope_words, .fallback = "core", .help = "who shares a T-state"},
    {FIELD(tstate_rule), .kind = EMU_KEY_WORD, .words = rule_words, .fallback = "lowest", .help = "whose requested duty cycle all of the scope run at"},

    {FIELD(uncore), .kind = EMU_KEY_WORD, .words = uncore_words, .fallback = "none", .help = "limits of the uncore frequency: msr: in MSR 0x620 alone; sysfs: also in intel_uncore_frequency, as its driver shows them"},
    {INT(uncore_min_khz, 0, 12700000), .fallback = "0", .unit = "kHz", .help = "lowest frequency of the uncore"},
    {INT(uncore_max_khz, 0, 12700000), .fallback = "0", .unit = "kHz", .help = "highest frequency of the uncore, which it runs at unless a limit is lower"},

    {BOOL(rapl), .fallback = "yes", .help = "RAPL energy counters, as MSRs and in powercap"},
    {INT(rapl_energy_unit, 0, 31), .fallback = "14", .unit = "2^-n J", .help = "energy status unit of package, core and platform; that of dram is 2^-16 J"},
    {INT(rapl_update_us, 1, 1000000), .fallback = "1000", .unit = "us", .help = "readers see counters move only at multiples of this"},
    {REAL(rapl_start, 0, 4294967295.0), .fallback = "0", .unit = "counts", .help = "value of every energy counter at start (to try the 32-bit wrap)"},
    {BOOL(powercap), .fallback = "yes", .help = "/sys/class/powercap, if there is RAPL"},
    {REAL(tdp_w, 1, 10000), .fallback = "80", .unit = "W", .help = "package power that RAPL's information and (locked) limit registers show"},

    {REAL(core_dyn_w, 0, 1000), .unit = "W", .help = "one active core at core_dyn_khz, full duty cycle"},
    {INT(core_dyn_khz, 0, 10000000), .fallback = "0", .unit = "kHz", .help = "the frequency core_dyn_w is for; 0: base_khz"},
    {REAL(core_dyn_exponent, 0, 5), .fallback = "1.83", .help = "core power grows with frequency to this power"},
    {REAL(core_idle_w, 0, 1000), .fallback = "1", .unit = "W", .help = "one core while nothing is runnable on it (C1)"},
    {REAL(package_static_w, 0, 10000), .fallback = "0", .unit = "W", .help = "rest of a package: leakage, I/O, and the uncore where it has no watts of its own"},
    {REAL(uncore_w, 0, 10000), .fallback = "0", .unit = "W", .help = "uncore of a package at uncore_max_khz; grows with its frequency to the power core_dyn_exponent, whatever the load"},
    {REAL(dram_static_w, 0, 10000), .fallback = "0", .unit = "W", .help = "memory of a package, always"},
    {REAL(dram_dyn_w, 0, 10000), .fallback = "0", .unit = "W", .help = "memory of a package on top, when all its cores are active; scales with activity and duty cycle"},
    {REAL(platform_static_w, 0, 100000), .fallback = "0", .unit = "W", .help = "rest of the node: board, fans, disks, power supply loss"},

    {MODE(msr_mode), .fallback = "0600", .help = "permission bits of /dev/cpu/N/msr, octal"},
    {.name = "msr_safe_allow", .kind = EMU_KEY_OWN, .parse = parse_msr_rules, .fallback = "", .help = "REGISTER:WRITE_MASK .., in hexadecimal: /dev/cpu/N/msr_safe lets users have these and no others; mask 0 cannot be written; empty: no such device"},
    {MODE(sysfs_mode), .fallback = "0644", .help = "permission bits of writable cpufreq files, octal"},
    {BOOL(require_rawio), .fallback = "no", .help = "opening msr also needs CAP_SYS_RAWIO, as on real machines"},

    {.name = "activity", .kind = EMU_KEY_OWN, .parse = parse_activity, .fallback = "measured", .help = "measured: runnable time of the processes placed on a CPU; fixed:X: every CPU is active for the fraction X"},
    {INT(ledger_interval_ms, 1, 60000), .fallback = "50", .unit = "ms", .help = "how often ledger.csv gets lines"},
};
/* clang-format on */
const size_t emu_key_count = sizeof emu_keys / sizeof emu_keys[0];
_Static_assert(sizeof emu_keys / sizeof emu_keys[0] <= EMU_KEY_LIMIT, "room for every key");

static bool parse_number(const struct emu_key *key, void *field, const char *value, char *why,
                         size_t why_size)
{
    double number;
    if (!parse_real(value, &number) || (key->kind == EMU_KEY_INT && number != floor(number))) {
        snprintf(why, why_size, "'%s' is not %s number", value,
                 key->kind == EMU_KEY_INT ? "a whole" : "a");
        return false;
    }
    if (number < key->min || number > key->max) {
        snprintf(why, why_size, "%s is not from %.10g to %.10g", value, key->min, key->max);
        return false;
    }
    if (key->kind == EMU_KEY_INT) {
        *(int *)field = (int)number;
    } else {
        *(double *)field = number;
    }
    return true;
}

static bool parse_word(const struct emu_key *key, int *field, const char *value, char *why,
                       size_t why_size)
{
    for (int i = 0; key->words[i] != NULL; i++) {
        if (strcmp(key->words[i], value) == 0) {
            *field = i;
            return true;
        }
    }
    size_t used = (size_t)snprintf(why, why_size, "'%s' is not one of:", value);
    for (int i = 0; key->words[i] != NULL && used < why_size; i++) {
        used += (size_t)snprintf(why + used, why_size - used, " %s", key->words[i]);
    }
    return false;
}

static bool parse_mode(int *field, const char *value, char *why, size_t why_size)
{
    char *end;
    unsigned long mode = strtoul(value, &end, 8);
    if (end == value || *end != '\0' || mode > 0777) {
        snprintf(why, why_size, "'%s' is not an octal mode from 0000 to 0777", value);
        return false;
    }
    *field = (int)mode;
    return true;
}

bool emu_key_parse(const struct emu_key *key, struct emu_config *config, const char *value,
                   char *why, size_t why_size)
{
    void *field = (char *)config + key->offset;
    switch (key->kind) {
    case EMU_KEY_INT:
    case EMU_KEY_REAL:
        return parse_number(key, field, value, why, why_size);
    case EMU_KEY_WORD:
        return parse_word(key, field, value, why, why_size);
    case EMU_KEY_MODE:
        return parse_mode(field, value, why, why_size);
    case EMU_KEY_TEXT:
        if (strlen(value) >= EMU_TEXT_SIZE) {
            snprintf(why, why_size, "longer than %d characters", EMU_TEXT_SIZE - 1);
            return false;
        }
        strcpy(field, value);
        return true;
    case EMU_KEY_OWN:
        return key->parse(config, value, why, why_size);
    }
    return false;
}
