/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The monitor rung: its order and bounds with a monitor that is made up, the operands of the real
 * instructions on any x86-64, and what they do on processors that have them.
 */
#include "config.h"

#include "fake_clock.h"
#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pwr/ticks.h"
#include "pwr/wait.h"
#include "wait/monitor.h"

#if defined(__x86_64__)
#include <sys/user.h>
#endif

enum { LONG_NS = 2000000000, FOR_EVER_NS = UINT32_MAX, MS = 1000000, REST_NS = 10000 };

static uint64_t in_ms(uint64_t ms)
{
    return fake_clock_now_ns() + ms * MS;
}

/* ---- a monitor that is made up: one tick is one nanosecond ---- */

static struct mock {
    pwr_flag_t flag;
    char order[16]; /* the first calls: a(rm), r(est), p(rogress) */
    unsigned arms;
    unsigned rests;
    unsigned progress;
    unsigned arm_that_stores; /* the n-th adds 1 to the flag */
    unsigned rest_that_stores;
    uint64_t longest_rest;
    uint64_t shortest_rest;
    uint64_t ticks_per_ms;
    unsigned announced; /* rests while a sleeper was announced */
} mock;

static void reset_mock(void)
{
    mock = (struct mock){.ticks_per_ms = MS, .shortest_rest = UINT64_MAX};
}

static void note(char what)
{
    size_t used = strlen(mock.order);
    if (used < sizeof mock.order - 1) {
        mock.order[used] = what;
    }
}

static bool mock_probe(const pwr_monitor_cpu_t *cpu)
{
    (void)cpu;
    return true;
}

static void mock_arm(const _Atomic uint32_t *word)
{
    assert_ptr_equal(word, &mock.flag.value);
    note('a');
    if (++mock.arms == mock.arm_that_stores) {
        atomic_fetch_add(&mock.flag.value, 1);
    }
}

/* Ends in the middle, as rests may. */
static void mock_rest(uint64_t ticks)
{
    note('r');
    fake_clock_pass(ticks / 2);
    mock.longest_rest = ticks > mock.longest_rest ? ticks : mock.longest_rest;
    mock.shortest_rest = ticks < mock.shortest_rest ? ticks : mock.shortest_rest;
    mock.announced += atomic_load(&mock.flag.sleepers) != 0;
    if (++mock.rests == mock.rest_that_stores) {
        atomic_fetch_add(&mock.flag.value, 1); /* a store that ends the rest */
    }
}

static uint64_t mock_ticks_per_ms(void)
{
    return mock.ticks_per_ms;
}

static int mock_progress(void *arg)
{
    (void)arg;
    note('p');
    mock.progress++;
    return 0;
}

static const pwr_monitor_t fine = {.name = "fine",
                                   .probe = mock_probe,
                                   .arm = mock_arm,
                                   .rest = mock_rest,
                                   .ticks_per_ms = mock_ticks_per_ms};
static const pwr_monitor_t coarse = {.name = "coarse",
                                     .grain_ns = 100000,
                                     .probe = mock_probe,
                                     .arm = mock_arm,
                                     .rest = mock_rest,
                                     .ticks_per_ms = mock_ticks_per_ms};

/* ---- arm, compare, rest ---- */

static void test_arms_compares_rests(void **state)
{
    (void)state;
    reset_mock();
    pwr_monitor_wait(&fine, &mock.flag.value, 0, 500);
    assert_string_equal(mock.order, "ar");
    assert_int_equal(mock.longest_rest, 500);
}

/* A store before the monitor was armed would end no rest: it must be seen instead. */
static void test_store_before_arming_is_seen(void **state)
{
    (void)state;
    reset_mock();
    mock.arm_that_stores = 1;
    pwr_monitor_wait(&fine, &mock.flag.value, 0, 500);
    assert_string_equal(mock.order, "a");
}

static void test_length_in_ticks(void **state)
{
    static const struct {
        uint64_t ns, ticks_per_ms, ticks;
    } known[] = {
        {1000, 2600000, 2600},
        {10000, 25000, 250},                 /* 25 MHz, as on AArch64 */
        {0, 2600000, 1},                     /* 0 ticks would be no limit */
        {39, 25000, 1},                      /* less than a tick */
        {UINT64_MAX, 10000000, 10000000000}, /* one second at most */
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        reset_mock();
        mock.ticks_per_ms = known[i].ticks_per_ms;
        pwr_monitor_wait(&fine, &mock.flag.value, 0, known[i].ns);
        assert_int_equal(mock.longest_rest, known[i].ticks);
    }
}

/* ---- which one ---- */

static void test_choice_by_processor(void **state)
{
    (void)state;
    assert_null(pwr_monitor_choose(&(pwr_monitor_cpu_t){0}));
#if defined(__x86_64__)
    static const struct {
        uint32_t leaf_7_ecx, leaf_80000001_ecx;
        const pwr_monitor_t *monitor;
    } known[] = {
        {1u << 5, 0, &pwr_monitor_umwait},
        {1u << 5, 1u << 29, &pwr_monitor_umwait},
        {0, 1u << 29, &pwr_monitor_mwaitx},
        {~(1u << 5), ~(1u << 29), NULL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const pwr_monitor_cpu_t cpu = {.leaf_7_ecx = known[i].leaf_7_ecx,
                                       .leaf_80000001_ecx = known[i].leaf_80000001_ecx};
        assert_ptr_equal(pwr_monitor_choose(&cpu), known[i].monitor);
    }
#elif defined(__aarch64__)
    assert_ptr_equal(pwr_monitor_choose(&(pwr_monitor_cpu_t){.hwcap = 4}), &pwr_monitor_wfe);
    assert_ptr_equal(pwr_monitor_choose(&(pwr_monitor_cpu_t){.hwcap = 4, .hwcap2 = 1ul << 31}),
                     &pwr_monitor_wfet);
    assert_null(pwr_monitor_choose(&(pwr_monitor_cpu_t){.hwcap = ~4ul, .hwcap2 = ~(1ul << 31)}));
#endif
}

static void test_every_monitor_is_complete(void **state)
{
    (void)state;
    for (const pwr_monitor_t *const *next = pwr_monitors; *next; next++) {
        assert_non_null((*next)->probe);
        assert_non_null((*next)->arm);
        assert_non_null((*next)->rest);
        assert_true((*next)->ticks_per_ms() > 0);
        assert_string_equal(pwr_monitor_name(*next), (*next)->name);
    }
}

/* What /proc/cpuinfo says comes by another way, from the kernel. */
static void test_find_agrees_with_the_kernel(void **state)
{
    (void)state;
#if defined(__x86_64__)
    char line[8192] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    assert_non_null(file);
    while (strncmp(line, "flags", 5) != 0 && fgets(line, sizeof line, file)) {
    }
    fclose(file);
    const pwr_monitor_t *expected = strstr(line, " waitpkg")  ? &pwr_monitor_umwait
                                    : strstr(line, " mwaitx") ? &pwr_monitor_mwaitx
                                                              : NULL;
    assert_ptr_equal(pwr_monitor_find(), expected);
#else
    print_message("skipped: /proc/cpuinfo names no such flag on this architecture\n");
    skip();
#endif
}

/* ---- the ladder ---- */

static const pwr_wait_policy_t rest_for_ever = {
    .sleep_min_ns = LONG_NS, .sleep_max_ns = LONG_NS, .monitor = &fine, .monitor_ns = FOR_EVER_NS};

static pwr_status_t wait_for(uint32_t target, const pwr_wait_policy_t *policy,
                             pwr_progress_fn_t progress, uint64_t deadline_ns,
                             pwr_wait_stats_t *stats)
{
    *stats = (pwr_wait_stats_t){0};
    return pwr_wait_until(&mock.flag, target, policy, progress, NULL, deadline_ns, stats);
}

static void test_store_ends_the_rest(void **state)
{
    pwr_wait_stats_t stats;
    (void)state;
    reset_mock();
    mock.rest_that_stores = 3; /* those before are spurious wakes */
    assert_int_equal(wait_for(1, &rest_for_ever, NULL, 0, &stats), PWR_OK);
    assert_string_equal(mock.order, "ararar");
    assert_int_equal(mock.announced, 0);
    assert_true(stats.monitor_ns > 0);
    assert_int_equal(stats.waits, 1);
    assert_int_equal(stats.sleeps, 0);
    assert_int_equal(stats.sleep_ns, 0);
    assert_int_equal(mock.flag.sleepers, 0);
}

/* The line is written more often than the target is reached: by other arrivals, for one. */
static void test_other_stores_only_wake(void **state)
{
    pwr_wait_stats_t stats;
    (void)state;
    reset_mock();
    mock.arm_that_stores = 2;
    mock.rest_that_stores = 2;
    assert_int_equal(wait_for(2, &rest_for_ever, NULL, 0, &stats), PWR_OK);
    assert_string_equal(mock.order, "araar");
}

static void test_reached_flag_does_not_arm(void **state)
{
    pwr_wait_stats_t stats;
    (void)state;
    reset_mock();
    assert_int_equal(wait_for(0, &rest_for_ever, NULL, 0, &stats), PWR_OK);
    assert_int_equal(mock.arms, 0);
    assert_int_equal(stats.monitor_ns, 0);
}

/* All of the pause rung but its beginning: it would last beyond the deadline. */
static void test_takes_over_from_pausing(void **state)
{
    pwr_wait_stats_t stats;
    pwr_wait_policy_t policy = rest_for_ever;
    policy.spin_ns = FOR_EVER_NS;
    (void)state;
    reset_mock();
    mock.rest_that_stores = 1;
    assert_int_equal(wait_for(1, &policy, mock_progress, in_ms(2000), &stats), PWR_OK);
    assert_int_equal(mock.rests, 1);
    assert_true(stats.spin_ns > 0);
    /* Not so one that could hold up progress. */
    policy.monitor = &coarse;
    reset_mock();
    assert_int_equal(wait_for(1, &policy, mock_progress, in_ms(20), &stats), PWR_ERR_TIMEOUT);
    assert_int_equal(mock.arms, 0);
    reset_mock();
    mock.rest_that_stores = 1;
    assert_int_equal(wait_for(1, &policy, NULL, in_ms(2000), &stats), PWR_OK);
    assert_int_equal(mock.rests, 1);
}

static void test_coarse_monitor_follows_pausing(void **state)
{
    pwr_wait_stats_t stats;
    pwr_wait_policy_t policy = rest_for_ever;
    (void)state;
    policy.monitor = &coarse;
    policy.spin_ns = 20000;
    reset_mock();
    mock.rest_that_stores = 1;
    assert_int_equal(wait_for(1, &policy, mock_progress, 0, &stats), PWR_OK);
    assert_int_equal(mock.rests, 1);
    assert_int_equal(stats.sleeps, 0);
}

static void test_progress_between_rests(void **state)
{
    pwr_wait_stats_t stats;
    (void)state;
    reset_mock();
    mock.rest_that_stores = 4;
    assert_int_equal(wait_for(1, &rest_for_ever, mock_progress, 0, &stats), PWR_OK);
    assert_string_equal(mock.order, "parparparpar");
    assert_int_equal(mock.longest_rest, REST_NS);
    /* Without, nothing but the rung's end ends a rest. */
    reset_mock();
    mock.rest_that_stores = 1;
    assert_int_equal(wait_for(1, &rest_for_ever, NULL, 0, &stats), PWR_OK);
    assert_int_equal(mock.longest_rest, 1000000000);
}

static int progress_that_stores(void *arg)
{
    (void)arg;
    atomic_fetch_add(&mock.flag.value, 1);
    return 1;
}

static void test_no_rest_after_progress_that_reached(void **state)
{
    pwr_wait_stats_t stats;
    (void)state;
    reset_mock();
    assert_int_equal(wait_for(1, &rest_for_ever, progress_that_stores, 0, &stats), PWR_OK);
    assert_int_equal(mock.arms, 0);
}

static void test_deadline_bounds_rests(void **state)
{
    pwr_wait_stats_t stats;
    uint64_t deadline = in_ms(20);
    (void)state;
    reset_mock();
    assert_int_equal(wait_for(1, &rest_for_ever, NULL, deadline, &stats), PWR_ERR_TIMEOUT);
    assert_true(fake_clock_now_ns() >= deadline);
    assert_true(mock.rests > 0);
    assert_true(mock.longest_rest <= 20 * MS);
    assert_true(mock.shortest_rest < mock.longest_rest);
    assert_int_equal(stats.sleeps, 0);
    reset_mock();
    assert_int_equal(wait_for(1, &rest_for_ever, NULL, 1, &stats), PWR_ERR_TIMEOUT);
    assert_int_equal(mock.arms, 0);
}

static void test_futex_follows(void **state)
{
    static const pwr_wait_policy_t policy = {
        .sleep_min_ns = 1000, .sleep_max_ns = 1000000, .monitor = &fine, .monitor_ns = 50000};
    pwr_wait_stats_t stats;
    (void)state;
    reset_mock();
    assert_int_equal(wait_for(1, &policy, mock_progress, in_ms(20), &stats), PWR_ERR_TIMEOUT);
    assert_true(mock.rests > 0);
    assert_int_equal(mock.announced, 0);
    assert_true(mock.longest_rest <= REST_NS);
    assert_true(stats.monitor_ns >= policy.monitor_ns);
    assert_true(stats.sleeps > 0);
    assert_true(stats.sleep_ns > 0);
}

static void test_policies_without_a_monitor_rung(void **state)
{
    const pwr_wait_policy_t without[] = {
        {.oversubscribed = true, .monitor = &fine, .monitor_ns = FOR_EVER_NS},
        {.poll_ns = PWR_WAIT_POLL_ONLY, .monitor = &fine, .monitor_ns = FOR_EVER_NS},
        {.poll_ns = PWR_WAIT_POLL_ONLY,
         .oversubscribed = true,
         .monitor = &fine,
         .monitor_ns = FOR_EVER_NS},
        {.spin_ns = FOR_EVER_NS, .monitor = &fine},
        {.spin_ns = FOR_EVER_NS, .monitor_ns = FOR_EVER_NS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        pwr_wait_stats_t stats;
        reset_mock();
        assert_int_equal(wait_for(1, &without[i], mock_progress, in_ms(5), &stats),
                         PWR_ERR_TIMEOUT);
        assert_int_equal(mock.arms, 0);
        assert_int_equal(stats.monitor_ns, 0);
        assert_true(i == 0 ? stats.sleeps > 0 : stats.sleeps == 0);
    }
}

/* ---- the operands of the instructions, which need not be executed for it ---- */

#if defined(__x86_64__)

typedef struct instruction {
    const pwr_monitor_t *monitor;
    bool arms; /* else rests */
    uint64_t ticks;
    uint32_t code; /* little endian */
    uint32_t code_mask;
} instruction_t;

static _Alignas(64) _Atomic uint32_t watched;

static void run_traced(const instruction_t *instruction)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(77);
    }
    raise(SIGSTOP);
    if (instruction->arms) {
        instruction->monitor->arm(&watched);
    } else {
        instruction->monitor->rest(instruction->ticks);
    }
    _exit(1);
}

/* Steps through a child until it is about to execute the instruction; false where that is not
   allowed. */
static bool registers_before(const instruction_t *instruction, struct user_regs_struct *registers)
{
    enum { MOST_STEPS = 200000 };
    int result = 0;
    bool found = false;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run_traced(instruction);
    }
    assert_int_equal(waitpid(child, &result, 0), child);
    for (unsigned step = 0; step < MOST_STEPS && WIFSTOPPED(result) && !found; step++) {
        assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, registers), 0);
        uint32_t code = (uint32_t)ptrace(PTRACE_PEEKTEXT, child, (void *)registers->rip, NULL);
        found = (code & instruction->code_mask) == instruction->code;
        if (!found) {
            assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
            assert_int_equal(waitpid(child, &result, 0), child);
        }
    }
    if (WIFEXITED(result) && WEXITSTATUS(result) == 77) {
        return false;
    }
    assert_true(found);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &result, 0), child);
    return true;
}

/* As the manuals have them: with the operands that this library uses. */
enum {
    UMONITOR_RAX = 0xf0ae0ff3,
    UMWAIT_ECX = 0xf1ae0ff2,
    MONITORX = 0xfa010f,
    MWAITX = 0xfb010f,
    FOUR_BYTES = 0xffffffff,
    THREE_BYTES = 0xffffff
};

static void skip_unless_traced(const instruction_t *instruction, struct user_regs_struct *registers)
{
    if (!registers_before(instruction, registers)) {
        print_message("skipped: ptrace is not allowed here\n");
        skip();
    }
}

static void test_operands_of_arming(void **state)
{
    static const instruction_t umonitor = {&pwr_monitor_umwait, true, 0, UMONITOR_RAX, FOUR_BYTES};
    static const instruction_t monitorx = {&pwr_monitor_mwaitx, true, 0, MONITORX, THREE_BYTES};
    struct user_regs_struct registers;
    (void)state;
    skip_unless_traced(&umonitor, &registers);
    assert_int_equal(registers.rax, (uintptr_t)&watched);
    skip_unless_traced(&monitorx, &registers);
    assert_int_equal(registers.rax, (uintptr_t)&watched);
    assert_int_equal((uint32_t)registers.rcx, 0); /* no extensions */
    assert_int_equal((uint32_t)registers.rdx, 0); /* no hints */
}

static void test_operands_of_umwait(void **state)
{
    static const instruction_t some = {&pwr_monitor_umwait, false, 5000000000, UMWAIT_ECX,
                                       FOUR_BYTES};
    static const instruction_t endless = {&pwr_monitor_umwait, false, UINT64_MAX, UMWAIT_ECX,
                                          FOUR_BYTES};
    struct user_regs_struct registers;
    (void)state;
    uint64_t begin = pwr_ticks_counter();
    skip_unless_traced(&some, &registers);
    uint64_t end = pwr_ticks_counter();
    uint64_t until = registers.rdx << 32 | (uint32_t)registers.rax;
    assert_int_equal((uint32_t)registers.rcx, 0); /* C0.2 */
    assert_true(until >= begin + some.ticks && until <= end + some.ticks);
    skip_unless_traced(&endless, &registers);
    assert_int_equal((uint32_t)registers.rax, UINT32_MAX);
    assert_int_equal((uint32_t)registers.rdx, UINT32_MAX);
}

static void test_operands_of_mwaitx(void **state)
{
    static const instruction_t some = {&pwr_monitor_mwaitx, false, 25000, MWAITX, THREE_BYTES};
    static const instruction_t endless = {&pwr_monitor_mwaitx, false, 5000000000, MWAITX,
                                          THREE_BYTES};
    struct user_regs_struct registers;
    (void)state;
    skip_unless_traced(&some, &registers);
    assert_int_equal((uint32_t)registers.rax, 0); /* C1 */
    assert_int_equal((uint32_t)registers.rbx, 25000);
    assert_int_equal((uint32_t)registers.rcx, 2); /* with the timer */
    skip_unless_traced(&endless, &registers);
    assert_int_equal((uint32_t)registers.rbx, UINT32_MAX);
}

#endif

/* ---- this processor's own ---- */

/* What would be used here.  PWR_TEST_MONITOR=mwaitx tries one that the machine does not offer. */
static const pwr_monitor_t *own_monitor(void)
{
    const char *wanted = getenv("PWR_TEST_MONITOR");
    const pwr_monitor_t *const *next = pwr_monitors;
    while (wanted && *next && strcmp((*next)->name, wanted) != 0) {
        next++;
    }
    const pwr_monitor_t *found = wanted ? *next : pwr_monitor_find();
    if (!found) {
        print_message("skipped: this processor offers no monitor (umwait, mwaitx, WFE)\n");
        skip();
    }
    return found;
}

static void test_own_rest_ends(void **state)
{
    (void)state;
    const pwr_monitor_t *monitor = own_monitor();
    _Alignas(64) _Atomic uint32_t word = 7;
    pwr_monitor_wait(monitor, &word, 8, LONG_NS);
    for (unsigned i = 0; i < 1000; i++) {
        pwr_monitor_wait(monitor, &word, 7, 1000 * (i % 100)); /* a hang runs into the alarm */
    }
}

static int progress_that_stores_at_last(void *arg)
{
    unsigned *calls = arg;
    if (++*calls == 100) {
        atomic_fetch_add(&mock.flag.value, 1);
    }
    return 0;
}

/* On the kernel's clock: a rest that outlasts its time runs into the alarm. */
static void test_own_rests_end_in_time(void **state)
{
    pwr_wait_policy_t policy = rest_for_ever;
    pwr_wait_stats_t stats = {0};
    unsigned calls = 0;
    (void)state;
    policy.monitor = own_monitor();
    reset_mock();
    assert_int_equal(
        pwr_wait_until(&mock.flag, 1, &policy, progress_that_stores_at_last, &calls, 0, &stats),
        PWR_OK);
    assert_int_equal(stats.sleeps, 0);
    assert_true(stats.monitor_ns > 0);
    uint64_t deadline = pwr_now_ns() + 20 * MS;
    assert_int_equal(wait_for(2, &policy, NULL, deadline, &stats), PWR_ERR_TIMEOUT);
    assert_true(pwr_now_ns() >= deadline);
    assert_int_equal(stats.sleeps, 0);
}

/* Two parties count each other's flag up in turn; a wake-up that is lost costs up to a second, and
   a few of them the alarm. */
static void play(pwr_flag_t *mine, pwr_flag_t *yours, const pwr_monitor_t *monitor, bool first)
{
    enum { ROUNDS = 3000 };
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (first) {
            pwr_flag_publish(yours, round);
        }
        while (!pwr_flag_reached(mine, round)) {
            pwr_monitor_wait(monitor, &mine->value, round - 1, LONG_NS);
        }
        if (!first) {
            pwr_flag_publish(yours, round);
        }
    }
}

static void test_own_monitor_loses_no_store_of_another_process(void **state)
{
    int result;
    const pwr_monitor_t *monitor = own_monitor();
    (void)state;
    pwr_flag_t *flags =
        mmap(NULL, 2 * sizeof *flags, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(flags != MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        play(&flags[1], &flags[0], monitor, false);
        _exit(0);
    }
    play(&flags[0], &flags[1], monitor, true);
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    munmap(flags, 2 * sizeof *flags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_CLOCK_TEST(test_arms_compares_rests),
        FAKE_CLOCK_TEST(test_store_before_arming_is_seen),
        FAKE_CLOCK_TEST(test_length_in_ticks),
        FIXTURE_TEST(test_choice_by_processor),
        FIXTURE_TEST(test_every_monitor_is_complete),
        FIXTURE_TEST(test_find_agrees_with_the_kernel),
        FAKE_CLOCK_TEST(test_store_ends_the_rest),
        FAKE_CLOCK_TEST(test_other_stores_only_wake),
        FAKE_CLOCK_TEST(test_reached_flag_does_not_arm),
        FAKE_CLOCK_TEST(test_takes_over_from_pausing),
        FAKE_CLOCK_TEST(test_coarse_monitor_follows_pausing),
        FAKE_CLOCK_TEST(test_progress_between_rests),
        FAKE_CLOCK_TEST(test_no_rest_after_progress_that_reached),
        FAKE_CLOCK_TEST(test_deadline_bounds_rests),
        FAKE_CLOCK_TEST(test_futex_follows),
        FAKE_CLOCK_TEST(test_policies_without_a_monitor_rung),
#if defined(__x86_64__)
        FIXTURE_TEST(test_operands_of_arming),
        FIXTURE_TEST(test_operands_of_umwait),
        FIXTURE_TEST(test_operands_of_mwaitx),
#endif
        FIXTURE_TEST(test_own_rest_ends),
        FIXTURE_TEST(test_own_rests_end_in_time),
        FIXTURE_TEST(test_own_monitor_loses_no_store_of_another_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
