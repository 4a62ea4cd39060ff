/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The parts of poweraware-info: remedies, timing, gathering without harm, printing.
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pwr/claim.h"
#include "pwr/lever.h"
#include "pwr/monitor.h"
#include "tools/info/info.h"
#include "topo/topo_private.h"

enum { CLOCK_MODULATION = 0x19a };

/* ---- remedies ---- */

static bool grants(info_subject_t subject, const char *backend, const char *reason,
                   const char *command)
{
    const info_remedy_t *remedies[INFO_REMEDIES];
    unsigned count =
        info_remedies_find("GenuineIntel", subject, backend, PWR_ERR_PERM, reason, remedies);
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < INFO_COMMANDS && remedies[i]->commands[j]; j++) {
            if (strstr(remedies[i]->commands[j], command)) {
                return true;
            }
        }
    }
    return false;
}

static void test_commands_are_for_the_reason_given(void **state)
{
    static const char closed[] = "/dev/cpu/0/msr_safe: no permission";
    static const char masked[] = "msr_safe: CPU 0, MSR 0x19a: writing back: no permission";
    (void)state;
    assert_true(grants(PWR_LEVER_TSTATE, "msr_safe", masked, "'0x0000019A 0x000000000000001F'"));
    assert_false(grants(PWR_LEVER_TSTATE, "msr_safe", masked, "msr-user"));
    assert_true(grants(PWR_LEVER_TSTATE, "msr_safe", closed, "msr-user"));
    assert_false(grants(PWR_LEVER_TSTATE, "msr_safe", closed, "0x0000019A"));
    assert_true(grants(PWR_LEVER_PSTATE, "hwp-msr_safe", "MSR 0x774: no permission",
                       "'0x00000774 0x000000000000FFFF'"));
    assert_true(grants(PWR_LEVER_PSTATE, "perf_ctl-msr_safe", "MSR 0xce: no permission",
                       "'0x000000CE 0x0000000000000000'"));
    assert_true(grants(PWR_LEVER_PSTATE, "hwp-msr_safe", closed, "msr-user"));
    assert_true(grants(PWR_LEVER_PSTATE, "cpufreq", "", "g+w %S%p/cpufreq/scaling_max_freq"));
    assert_true(grants(PWR_LEVER_PSTATE, "likwid", "", "chmod 4755 /usr/sbin/likwid-setFreq"));
    assert_true(grants(PWR_LEVER_TSTATE, "likwid-accessD", "no rights", "setcap cap_sys_rawio"));
    assert_false(grants(PWR_LEVER_TSTATE, "likwid-accessD", "MSR 0x19a: no permission", ""));
    assert_true(grants(INFO_ENERGY, "powercap", "", "g+r %S%p/energy_uj"));
    assert_true(grants(INFO_ENERGY, "perf_event", "perf_event_paranoid is 2",
                       "kernel.perf_event_paranoid = 0"));
    assert_false(grants(PWR_LEVER_PSTATE, "acpufreq", "", ""));
}

static const char *backend_name(info_subject_t subject, unsigned nth)
{
    return subject == INFO_ENERGY ? pwr_meter_backend_name(nth)
                                  : pwr_lever_backend_name((pwr_lever_id_t)subject, nth);
}

/* A back end that comes later must come with its row. */
static void test_every_back_end_says_what_opens_it(void **state)
{
    static const char reason[] =
        "/dev/cpu/0/msr_safe: no permission, no rights, perf_event_paranoid";
    const info_remedy_t *remedies[INFO_REMEDIES];
    (void)state;
    for (info_subject_t subject = 0; subject < INFO_SUBJECTS; subject++) {
        const char *name;
        for (unsigned nth = 0; (name = backend_name(subject, nth)); nth++) {
            bool open_to_all = strcmp(name, "model") == 0 || strcmp(name, "nvml") == 0;
            unsigned count = info_remedies_find("", subject, name, PWR_ERR_PERM, reason, remedies);
            if (count == 0 && !open_to_all) {
                fail_msg("%s has no row in tools/info/remedies.c", name);
            }
        }
    }
}

static void test_amd_is_not_told_to_load_intels_registers(void **state)
{
    const info_remedy_t *remedies[INFO_REMEDIES];
    const char reason[] = "/dev/cpu/0/msr: not supported by this machine";
    (void)state;
    assert_int_equal(info_remedies_find("AuthenticAMD", PWR_LEVER_TSTATE, "msr",
                                        PWR_ERR_UNSUPPORTED, reason, remedies),
                     1);
    assert_non_null(strstr(remedies[0]->text, "nothing grants it"));
    assert_null(remedies[0]->commands[0]);
    assert_int_equal(info_remedies_find("AuthenticAMD", INFO_ENERGY, "msr", PWR_ERR_UNSUPPORTED,
                                        reason, remedies),
                     1);
    assert_string_equal(remedies[0]->commands[0], "modprobe msr");
}

/* ---- timing ---- */

static void test_spread(void **state)
{
    uint64_t values[] = {9000, 1000, 5000, 3000, 7000};
    (void)state;
    info_spread_t spread = info_spread_of(values, 5);
    assert_true(spread.low_us == 3 && spread.median_us == 5 && spread.high_us == 7);
    spread = info_spread_of(values, 1);
    assert_true(spread.low_us == 1 && spread.median_us == 1 && spread.high_us == 1);
}

typedef struct mover {
    unsigned downs, ups, fails_at;
} mover_t;

static pwr_status_t move(void *object, bool down)
{
    mover_t *mover = object;
    *(down ? &mover->downs : &mover->ups) += 1;
    return mover->fails_at > 0 && mover->downs == mover->fails_at ? PWR_ERR_IO : PWR_OK;
}

static void test_cost(void **state)
{
    fixture_t *fixture = *state;
    mover_t mover = {0};
    info_cost_t cost = {0};
    assert_int_equal(info_cost_measure(&fixture->env, move, &mover, &cost), PWR_OK);
    assert_true(cost.rounds > 0);
    assert_int_equal(mover.downs, cost.rounds + 1);
    assert_int_equal(mover.ups, mover.downs);
    mover = (mover_t){.fails_at = 3};
    cost = (info_cost_t){0};
    assert_int_equal(info_cost_measure(&fixture->env, move, &mover, &cost), PWR_ERR_IO);
    assert_int_equal(mover.downs, 3);
    assert_int_equal(cost.rounds, 0);
    assert_string_equal(cost.why_not, pwr_status_text(PWR_ERR_IO));
}

/* ---- gathering, on two packages of four cores ---- */

static info_report_t report;

static void put_topology_file(fixture_t *fixture, unsigned cpu, const char *file, unsigned value)
{
    char path[128];
    char text[16];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
    snprintf(text, sizeof text, "%x\n", value);
    fixture_put(fixture, path, text);
}

/* /proc as under an emulator: it knows nothing of our binding, so nobody is judged. */
static void put_proc(fixture_t *fixture)
{
    fixture_put(fixture, "/proc/thread-self/status",
                "Name:\tx\nTgid:\t9\nPid:\t9\nPPid:\t1\nUid:\t0\t0\t0\t0\nVmSize:\t1 kB\n"
                "Cpus_allowed_list:\t0-7\n");
}

static void put_hardware(fixture_t *fixture)
{
    fixture_put(fixture, "/sys/devices/system/cpu/online", "0-7\n");
    for (unsigned cpu = 0; cpu < 8; cpu++) {
        char related[8];
        snprintf(related, sizeof related, "%u\n", cpu);
        fixture_put_cpufreq(fixture, cpu, related);
        fixture_put_msr(fixture, cpu, "msr", CLOCK_MODULATION, 0);
        put_topology_file(fixture, cpu, "core_cpus", 1u << cpu);
        put_topology_file(fixture, cpu, "package_cpus", cpu < 4 ? 0x0f : 0xf0);
        put_topology_file(fixture, cpu, "core_id", cpu % 4);
        put_topology_file(fixture, cpu, "physical_package_id", cpu / 4);
    }
    put_proc(fixture);
}

static void gather(fixture_t *fixture, const char *cpus, bool probe)
{
    const info_request_t request = {
        .env = &fixture->env, .cpus = cpus, .run_directory = "/run", .probe = probe};
    assert_int_equal(info_gather(&request, &report), PWR_OK);
    assert_int_equal(report.machine.packages, 2);
    assert_int_equal(report.machine.cores, 8);
}

static const info_backend_t *backend_of(info_subject_t subject, const char *name)
{
    const info_part_t *part = &report.parts[subject];
    for (unsigned i = 0; i < part->num_backends; i++) {
        if (strcmp(part->backends[i].name, name) == 0) {
            return &part->backends[i];
        }
    }
    fail_msg("no back end %s", name);
    return NULL;
}

/* A file that looks as if nobody had written it for ages; any write shows, also one of the value
   that was there. */
enum { AGES_AGO = 1 };

static void full_name(const fixture_t *fixture, const char *path, char name[300])
{
    snprintf(name, 300, "%s%s", fixture->root, path);
}

static void age(const fixture_t *fixture, const char *path)
{
    char name[300];
    const struct timespec times[2] = {{.tv_sec = AGES_AGO}, {.tv_sec = AGES_AGO}};
    full_name(fixture, path, name);
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static bool was_written(const fixture_t *fixture, const char *path)
{
    char name[300];
    struct stat info;
    full_name(fixture, path, name);
    assert_int_equal(stat(name, &info), 0);
    return info.st_mtim.tv_sec != AGES_AGO;
}

static const char ceiling_file[] = "/sys/devices/system/cpu/cpu2/cpufreq/scaling_max_freq";
static const char msr_file[] = "/dev/cpu/2/msr";

static void test_bound_and_alone(void **state)
{
    char text[INFO_REASON_BYTES];
    fixture_t *fixture = *state;
    put_hardware(fixture);
    age(fixture, ceiling_file);
    age(fixture, msr_file);
    gather(fixture, "2", true);
    assert_true(was_written(fixture, ceiling_file) && was_written(fixture, msr_file));
    assert_string_equal(report.binding.own, "2");
    assert_true(report.binding.levers_allowed);
    assert_int_equal(report.binding.exclusive, INFO_YES);
    info_summary(&report, text, sizeof text);
    assert_string_equal(text, "waits, P-states (cpufreq), T-states (msr)");
    info_prospect(&report, text, sizeof text);
    assert_string_equal(text, "");
    const info_backend_t *cpufreq = backend_of(PWR_LEVER_PSTATE, "cpufreq");
    assert_int_equal(cpufreq->state, INFO_USED);
    assert_int_equal(cpufreq->lowest, FIXTURE_LOWEST_KHZ);
    assert_int_equal(cpufreq->full, FIXTURE_CEILING_KHZ);
    assert_int_equal(backend_of(PWR_LEVER_TSTATE, "msr")->lowest, 2);
    assert_int_equal(report.parts[PWR_LEVER_UNCORE].best, -1); /* it has none */
    for (info_subject_t subject = PWR_LEVER_PSTATE; subject <= PWR_LEVER_TSTATE; subject++) {
        assert_true(report.parts[subject].cost.rounds > 0);
        assert_int_equal(report.parts[subject].cost.cpus, 1);
    }
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_max_freq"), FIXTURE_CEILING_KHZ);
    assert_int_equal(fixture_get_khz(fixture, 2, "scaling_min_freq"), FIXTURE_FLOOR_KHZ);
    assert_int_equal(fixture_get_msr(fixture, 2, "msr", CLOCK_MODULATION), 0);
}

static void expect_only_looked_at(fixture_t *fixture, const char *cpus, bool probe,
                                  const char *why_off)
{
    char text[INFO_REASON_BYTES];
    age(fixture, ceiling_file);
    age(fixture, msr_file);
    gather(fixture, cpus, probe);
    assert_false(report.binding.levers_allowed);
    assert_non_null(strstr(report.binding.why_off, why_off));
    assert_int_equal(backend_of(PWR_LEVER_PSTATE, "cpufreq")->state, INFO_LOOKS_USABLE);
    assert_int_equal(backend_of(PWR_LEVER_TSTATE, "msr")->state, INFO_LOOKS_USABLE);
    assert_int_equal(report.parts[PWR_LEVER_PSTATE].cost.rounds, 0);
    assert_false(was_written(fixture, ceiling_file));
    assert_false(was_written(fixture, msr_file));
    info_summary(&report, text, sizeof text);
    assert_string_equal(text, "waits");
    info_prospect(&report, text, sizeof text);
    assert_string_equal(text, "P-states (cpufreq), T-states (msr)");
}

static void expect_no_claims(const fixture_t *fixture)
{
    char name[300];
    full_name(fixture, "/run", name);
    assert_int_equal(access(name, F_OK), -1); /* not even the folder for them was made */
}

static void test_not_bound_only_looks(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    expect_only_looked_at(fixture, NULL, true, "not bound");
    assert_int_equal(report.binding.exclusive, INFO_NOT_ASKED);
    expect_no_claims(fixture);
}

static void test_no_probe_only_looks(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    expect_only_looked_at(fixture, "2", false, "--no-probe");
    assert_int_equal(report.binding.exclusive, INFO_NOT_ASKED);
    expect_no_claims(fixture);
}

static void test_cpus_of_others_are_only_looked_at(void **state)
{
    fixture_t *fixture = *state;
    pwr_claim_t *claim;
    put_hardware(fixture);
    pwr_topo_t *theirs = fixture_topo(fixture, NULL, "1-2");
    assert_int_equal(pwr_claim_take(&fixture->env, theirs, "/run", &claim), PWR_OK);
    expect_only_looked_at(fixture, "2-3", true, "CPU 2");
    assert_int_equal(report.binding.exclusive, INFO_NO);
    assert_int_equal(report.binding.shared_cpu, 2);
    pwr_claim_release(claim);
    pwr_topo_close(theirs);
}

static void test_no_guardian(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture->env.helper_dir = "/none";
    expect_only_looked_at(fixture, "2", true, "no guardian");
    assert_int_equal(report.binding.exclusive, INFO_YES);
}

/* What could be timed on one CPU only where its frequency is its own. */
static void test_shared_frequency(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    fixture_put_cpufreq(fixture, 2, "2 3\n");
    fixture_put_cpufreq(fixture, 3, "2 3\n");
    gather(fixture, "2-3", true);
    assert_int_equal(backend_of(PWR_LEVER_PSTATE, "cpufreq")->state, INFO_USED);
    assert_int_equal(report.parts[PWR_LEVER_PSTATE].cost.cpus, 2);
    gather(fixture, "2", true);
    const info_backend_t *cpufreq = backend_of(PWR_LEVER_PSTATE, "cpufreq");
    assert_int_equal(cpufreq->state, INFO_REFUSED);
    assert_int_equal(cpufreq->status, PWR_ERR_SHARED);
    assert_non_null(strstr(cpufreq->remedies[0]->commands[0], "PE=N"));
}

/* ---- printing ---- */

static void test_cpu_lists(void **state)
{
    char text[32];
    pwr_topo_t *topo = fixture_topo(*state, "package:2 core:50 pu:1", "0-3,8,10-11");
    info_format_cpus(topo, pwr_topo_my_cpu, pwr_topo_num_my_cpus(topo), text, sizeof text);
    assert_string_equal(text, "0-3,8,10-11");
    info_format_cpus(topo, pwr_topo_my_cpu, pwr_topo_num_my_cpus(topo), text, 9);
    assert_string_equal(text, "0-3,...");
    pwr_topo_close(topo);
}

static void print_into(char *text, size_t size, const char *line, unsigned column, unsigned width)
{
    FILE *out = fmemopen(text, size, "w");
    assert_non_null(out);
    info_print_wrapped(out, line, column, width);
    assert_int_equal(fclose(out), 0);
}

static void test_wrapping(void **state)
{
    char text[256];
    (void)state;
    print_into(text, sizeof text, "one two three", 2, 9);
    assert_string_equal(text, "one two\n  three\n");
    print_into(text, sizeof text, "a much-longer-than-the-line b", 2, 9);
    assert_string_equal(text, "a\n  much-longer-than-the-line\n  b\n");
    print_into(text, sizeof text, "", 2, 9);
    assert_string_equal(text, "\n");
}

/* The report as people or as programs get it, on a processor with this monitor. */
static const char *printed(bool json, const char *monitor)
{
    static char text[1 << 16];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    report.machine.monitor = monitor;
    assert_true(json ? info_print_json(out, &report) : info_print_text(out, &report, 100, false));
    fclose(out);
    return text;
}

static void test_waits(void **state)
{
    fixture_t *fixture = *state;
    put_hardware(fixture);
    gather(fixture, "2", false);
    const pwr_monitor_t *own = pwr_monitor_find();
    assert_true(own ? report.machine.monitor == pwr_monitor_name(own) : !report.machine.monitor);
    assert_non_null(strstr(printed(false, "umwait"), "  waits          pause, umwait, futex\n"));
    assert_non_null(strstr(printed(false, NULL), "  waits          pause, futex (the processor"));
    assert_non_null(strstr(printed(true, "wfe"), "\"wait_monitor\": \"wfe\""));
    assert_non_null(strstr(printed(true, NULL), "\"wait_monitor\": null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_are_for_the_reason_given),
        cmocka_unit_test(test_every_back_end_says_what_opens_it),
        cmocka_unit_test(test_amd_is_not_told_to_load_intels_registers),
        cmocka_unit_test(test_spread),
        FIXTURE_TEST(test_cost),
        FIXTURE_TEST(test_bound_and_alone),
        FIXTURE_TEST(test_not_bound_only_looks),
        FIXTURE_TEST(test_no_probe_only_looks),
        FIXTURE_TEST(test_cpus_of_others_are_only_looked_at),
        FIXTURE_TEST(test_no_guardian),
        FIXTURE_TEST(test_shared_frequency),
        FIXTURE_TEST(test_cpu_lists),
        FIXTURE_TEST(test_waits),
        cmocka_unit_test(test_wrapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
