/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who else moves a control that we move: ceilings of others, and values written over ours.
 */
#include "config.h"

#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/held.h"

enum { FOUND = 3000000, LOW = 1200000, THEIRS = 2000000, CLOCK_MODULATION = 0x19a };

typedef struct holder {
    fixture_t *fixture;
    pwr_guard_t *guard;
    char text[512];
    pwr_held_t held;
    pwr_status_t status;
} holder_t;

static void put(const holder_t *holder, unsigned khz)
{
    char text[16];
    snprintf(text, sizeof text, "%u\n", khz);
    fixture_put_cpufreq_file(holder->fixture, 0, "scaling_max_freq", text);
}

static unsigned long now(const holder_t *holder)
{
    return fixture_get_khz(holder->fixture, 0, "scaling_max_freq");
}

static void open_held(holder_t *holder, const pwr_access_t *access, pwr_control_kind_t kind)
{
    const pwr_why_t why = pwr_why_init(holder->text, sizeof holder->text);
    holder->guard = fixture_guard(holder->fixture);
    const pwr_held_request_t request = {&holder->fixture->env, holder->guard, &why};
    holder->status = pwr_held_open(&request, access, kind, 0, &holder->held);
}

static holder_t hold_ceiling(fixture_t *fixture)
{
    holder_t holder = {.fixture = fixture};
    put(&holder, FOUND);
    open_held(&holder, &pwr_access_cpufreq, PWR_CONTROL_CEILING);
    assert_int_equal(holder.status, PWR_OK);
    return holder;
}

static void let_go(holder_t *holder)
{
    pwr_held_close(&holder->held);
    pwr_guard_stop(holder->guard);
}

static void test_lower_and_back(void **state)
{
    holder_t holder = hold_ceiling(*state);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
        assert_int_equal(now(&holder), LOW);
        assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
        assert_int_equal(pwr_held_lower(&holder.held, THEIRS), PWR_OK);
        assert_int_equal(now(&holder), THEIRS);
        assert_int_equal(pwr_held_lower(&holder.held, FOUND), PWR_OK); /* is a restore */
        assert_int_equal(now(&holder), FOUND);
        assert_false(holder.held.changed);
    }
    assert_int_equal(holder.held.num_values, 2);
    let_go(&holder);
}

/* A file that takes no write at all shows that none is tried. */
static void test_without_a_guardian_nothing_is_written(void **state)
{
    holder_t holder = {.fixture = *state};
    const pwr_why_t why = pwr_why_init(holder.text, sizeof holder.text);
    const pwr_held_request_t request = {&holder.fixture->env, NULL, &why};
    put(&holder, FOUND);
    fixture_limit_writes(0);
    assert_int_equal(
        pwr_held_open(&request, &pwr_access_cpufreq, PWR_CONTROL_CEILING, 0, &holder.held), PWR_OK);
    assert_int_equal(holder.held.original, FOUND);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_ERR_ARG);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_equal(now(&holder), FOUND);
    pwr_held_close(&holder.held);
}

/* A site cap that comes between our uses. */
static void test_a_ceiling_lowered_meanwhile_is_the_new_original(void **state)
{
    holder_t holder = hold_ceiling(*state);
    put(&holder, THEIRS);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
    assert_int_equal(now(&holder), LOW);
    assert_int_equal(holder.held.adopted, 1);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(now(&holder), THEIRS);
    assert_non_null(strstr(holder.fixture->log, "CPU 0: somebody else set scaling_max_freq"));
    let_go(&holder);
}

static bool is_theirs(const fixture_t *fixture)
{
    return fixture_get_khz(fixture, 0, "scaling_max_freq") == THEIRS;
}

static void test_the_guardian_knows_the_new_original(void **state)
{
    holder_t holder = hold_ceiling(*state);
    put(&holder, THEIRS);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
    pwr_guard_abandon(holder.guard);
    assert_true(fixture_eventually(is_theirs, holder.fixture));
    pwr_held_close(&holder.held);
}

static void test_a_new_ceiling_below_ours_is_not_raised(void **state)
{
    holder_t holder = hold_ceiling(*state);
    put(&holder, LOW - 100000);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
    assert_int_equal(now(&holder), LOW - 100000);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(now(&holder), LOW - 100000);
    let_go(&holder);
}

static void test_written_over_while_held_is_theirs(void **state)
{
    holder_t holder = hold_ceiling(*state);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
    put(&holder, THEIRS);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_ERR_FOREIGN);
    assert_int_equal(now(&holder), THEIRS);
    assert_true(holder.held.lost);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_ERR_FOREIGN);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK); /* nothing left to do */
    assert_int_equal(now(&holder), THEIRS);
    let_go(&holder);
}

static void test_written_over_is_noticed_before_the_next_step_down(void **state)
{
    holder_t holder = hold_ceiling(*state);
    assert_int_equal(pwr_held_lower(&holder.held, THEIRS), PWR_OK);
    put(&holder, FOUND);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_ERR_FOREIGN);
    assert_int_equal(now(&holder), FOUND);
    let_go(&holder);
}

static bool is_found(const fixture_t *fixture)
{
    return fixture_get_khz(fixture, 0, "scaling_max_freq") == FOUND;
}

/* Stops itself while it holds LOW, and goes on with next once it is continued: 0 when all was as it
   should be. */
static int hold_through_a_stop(fixture_t *fixture, bool (*next)(holder_t *holder))
{
    holder_t holder = hold_ceiling(fixture);
    bool good = pwr_held_lower(&holder.held, LOW) == PWR_OK && now(&holder) == LOW;
    raise(SIGSTOP);
    good = good && next(&holder);
    let_go(&holder);
    return good ? 0 : 1;
}

static void expect_after_a_stop(fixture_t *fixture, unsigned khz, bool (*next)(holder_t *holder))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(hold_through_a_stop(fixture, next));
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    assert_true(fixture_eventually(is_found, fixture));
    const holder_t holder = {.fixture = fixture};
    put(&holder, khz);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static bool goes_on(holder_t *holder)
{
    return pwr_held_restore(&holder->held) == PWR_OK && now(holder) == FOUND &&
           pwr_held_lower(&holder->held, LOW) == PWR_OK && now(holder) == LOW &&
           pwr_held_restore(&holder->held) == PWR_OK && now(holder) == FOUND &&
           !holder->held.lost && holder->held.adopted == 0;
}

static bool lowers_again(holder_t *holder)
{
    return pwr_held_lower(&holder->held, LOW) == PWR_OK && now(holder) == LOW &&
           pwr_held_restore(&holder->held) == PWR_OK && now(holder) == FOUND && !holder->held.lost;
}

/* The guardian has told of its own only: what comes then is somebody else's, as ever. */
static bool yields(holder_t *holder)
{
    bool again = lowers_again(holder) && pwr_held_lower(&holder->held, LOW) == PWR_OK;
    put(holder, FOUND);
    return again && pwr_held_restore(&holder->held) == PWR_ERR_FOREIGN;
}

static bool leaves_theirs(holder_t *holder)
{
    return pwr_held_restore(&holder->held) == PWR_ERR_FOREIGN && now(holder) == THEIRS &&
           pwr_held_lower(&holder->held, LOW) == PWR_ERR_FOREIGN && now(holder) == THEIRS;
}

static void test_what_the_guardian_puts_back_meanwhile_is_known(void **state)
{
    expect_after_a_stop(*state, FOUND, goes_on);
    expect_after_a_stop(*state, FOUND, lowers_again);
    expect_after_a_stop(*state, FOUND, yields);
}

static void test_what_others_set_while_we_are_stopped_is_theirs(void **state)
{
    expect_after_a_stop(*state, THEIRS, leaves_theirs);
}

static uint64_t register_now(const holder_t *holder)
{
    return fixture_get_msr(holder->fixture, 0, "msr", CLOCK_MODULATION);
}

/* The clock of the test decides when a T-state is looked at again. */
static uint64_t fake_now_ns;

static uint64_t fake_clock(void *arg)
{
    (void)arg;
    return fake_now_ns;
}

static void test_tstates_are_looked_at_once_per_millisecond(void **state)
{
    holder_t holder = {.fixture = *state};
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0);
    open_held(&holder, &pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION);
    assert_int_equal(holder.status, PWR_OK);
    pwr_env_t env = holder.fixture->env;
    env.now_ns = fake_clock;
    holder.held.env = &env;
    holder.held.looked_ns = fake_now_ns = 5000000;
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_OK);
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0x18);
    fake_now_ns += 999999;
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK); /* not looked at */
    assert_int_equal(register_now(&holder), 0);
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_OK);
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0x18);
    fake_now_ns += 1;
    assert_int_equal(pwr_held_restore(&holder.held), PWR_ERR_FOREIGN);
    assert_int_equal(register_now(&holder), 0x18);
    let_go(&holder);
}

static void test_other_bits_may_change_meanwhile(void **state)
{
    holder_t holder = {.fixture = *state};
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0xab00);
    open_held(&holder, &pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION);
    pwr_env_t env = holder.fixture->env;
    env.now_ns = fake_clock;
    holder.held.env = &env;
    fake_now_ns += 1000000000;
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_OK);
    assert_int_equal(register_now(&holder), 0xab12);
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0xcd12);
    fake_now_ns += 1000000000;
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(register_now(&holder), 0xcd00);
    let_go(&holder);
}

/* A value that was not announced is never written. */
static void test_no_guardian_no_write(void **state)
{
    holder_t holder = hold_ceiling(*state);
    pwr_guard_stop(holder.guard);
    holder.guard = fixture_guard(holder.fixture); /* knows nothing of this control */
    holder.held.guard = holder.guard;
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_ERR_ARG);
    assert_int_equal(now(&holder), FOUND);
    let_go(&holder);
}

static void test_more_values_than_a_journal_keeps(void **state)
{
    holder_t holder = hold_ceiling(*state);
    for (unsigned i = 0; i < PWR_HELD_VALUES; i++) {
        assert_int_equal(pwr_held_lower(&holder.held, LOW + i), PWR_OK);
    }
    assert_int_equal(pwr_held_lower(&holder.held, LOW + PWR_HELD_VALUES), PWR_ERR_RANGE);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK); /* known ones still go */
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(now(&holder), FOUND);
    let_go(&holder);
}

static void test_failed_write_is_restored_later(void **state)
{
    holder_t holder = hold_ceiling(*state);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK);
    fixture_limit_writes(0);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_ERR_IO);
    assert_true(holder.held.changed);
    fixture_limit_writes(RLIM_INFINITY);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(now(&holder), FOUND);
    let_go(&holder);
}

/* An open file that can no longer be read, or (O_RDONLY) no longer be written. */
static int reopen(const holder_t *holder, int flags)
{
    char path[300];
    snprintf(path, sizeof path, "%s/dev/cpu/0/msr", holder->fixture->root);
    int fd = open(path, flags);
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, holder->held.control.msr.fd), holder->held.control.msr.fd);
    return close(fd);
}

/* The write takes effect, and the look at what became of it fails. */
static void test_a_value_that_could_not_be_read_back_is_still_ours(void **state)
{
    holder_t holder = {.fixture = *state};
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0);
    open_held(&holder, &pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION);
    pwr_env_t env = holder.fixture->env;
    env.now_ns = fake_clock;
    holder.held.env = &env;
    holder.held.looked_ns = fake_now_ns;
    reopen(&holder, O_WRONLY);
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_ERR_IO);
    assert_int_equal(register_now(&holder), 0x12);
    reopen(&holder, O_RDWR);
    fake_now_ns += 1000000000;
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(register_now(&holder), 0);
    assert_false(holder.held.lost);
    let_go(&holder);
}

/* likwid's daemon may do late what it did not answer in time. */
static void test_a_write_that_failed_may_have_happened(void **state)
{
    holder_t holder = {.fixture = *state};
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0);
    open_held(&holder, &pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION);
    pwr_env_t env = holder.fixture->env;
    env.now_ns = fake_clock;
    holder.held.env = &env;
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_OK); /* known from here on */
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    reopen(&holder, O_RDONLY);
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_ERR_IO);
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0x12);
    fake_now_ns += 1000000000;
    assert_int_equal(pwr_held_restore(&holder.held), PWR_ERR_IO);
    reopen(&holder, O_RDWR);
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0); /* so may a restore */
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(register_now(&holder), 0);
    assert_false(holder.held.lost);
    let_go(&holder);
}

/* /dev/null takes every write and reads as nothing; /dev/zero reads as a register of 0. */
static void test_a_write_without_effect_is_an_error(void **state)
{
    holder_t holder = {.fixture = *state};
    fixture_link(holder.fixture, "/dev/cpu/0/msr", "/dev/zero");
    open_held(&holder, &pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION);
    assert_int_equal(holder.status, PWR_OK);
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_ERR_RANGE);
    let_go(&holder);
}

/* read and write system calls of this process so far: proc(5), /proc/pid/io. */
static bool count_calls(unsigned long *calls)
{
    unsigned long reads, writes;
    FILE *file = fopen("/proc/self/io", "re");
    bool known =
        file && fscanf(file, "rchar: %*u wchar: %*u syscr: %lu syscw: %lu", &reads, &writes) == 2;
    if (file) {
        fclose(file);
    }
    *calls = known ? reads + writes : 0;
    return known;
}

static unsigned long calls_of_pairs(pwr_held_t *held, uint64_t low, unsigned pairs)
{
    unsigned long before, after;
    if (!count_calls(&before)) {
        print_message("this kernel does not count system calls (CONFIG_TASK_IO_ACCOUNTING)\n");
        skip();
    }
    for (unsigned i = 0; i < pairs; i++) {
        assert_int_equal(pwr_held_lower(held, low), PWR_OK);
        assert_int_equal(pwr_held_restore(held), PWR_OK);
    }
    assert_true(count_calls(&after));
    return after - before - 1; /* counting reads once */
}

/* A transition is one write, and a look at most. */
static void test_system_calls_of_a_transition(void **state)
{
    holder_t holder = hold_ceiling(*state);
    assert_int_equal(pwr_held_lower(&holder.held, LOW), PWR_OK); /* announces it, once */
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(calls_of_pairs(&holder.held, LOW, 100), 400);
    let_go(&holder);
}

static void test_system_calls_of_a_throttle(void **state)
{
    holder_t holder = {.fixture = *state};
    fixture_put_msr(holder.fixture, 0, "msr", CLOCK_MODULATION, 0);
    open_held(&holder, &pwr_access_msr, PWR_CONTROL_CLOCK_MODULATION);
    pwr_env_t env = holder.fixture->env;
    env.now_ns = fake_clock; /* stands still: nothing is looked at again */
    holder.held.env = &env;
    holder.held.looked_ns = fake_now_ns;
    assert_int_equal(pwr_held_lower(&holder.held, 2), PWR_OK);
    assert_int_equal(pwr_held_restore(&holder.held), PWR_OK);
    assert_int_equal(calls_of_pairs(&holder.held, 2, 100), 200);
    let_go(&holder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_lower_and_back),
        FIXTURE_TEST(test_without_a_guardian_nothing_is_written),
        FIXTURE_TEST(test_a_ceiling_lowered_meanwhile_is_the_new_original),
        FIXTURE_TEST(test_the_guardian_knows_the_new_original),
        FIXTURE_TEST(test_a_new_ceiling_below_ours_is_not_raised),
        FIXTURE_TEST(test_written_over_while_held_is_theirs),
        FIXTURE_TEST(test_written_over_is_noticed_before_the_next_step_down),
        FIXTURE_TEST(test_what_the_guardian_puts_back_meanwhile_is_known),
        FIXTURE_TEST(test_what_others_set_while_we_are_stopped_is_theirs),
        FIXTURE_TEST(test_tstates_are_looked_at_once_per_millisecond),
        FIXTURE_TEST(test_other_bits_may_change_meanwhile),
        FIXTURE_TEST(test_no_guardian_no_write),
        FIXTURE_TEST(test_more_values_than_a_journal_keeps),
        FIXTURE_TEST(test_failed_write_is_restored_later),
        FIXTURE_TEST(test_a_value_that_could_not_be_read_back_is_still_ours),
        FIXTURE_TEST(test_a_write_that_failed_may_have_happened),
        FIXTURE_TEST(test_a_write_without_effect_is_an_error),
        FIXTURE_TEST(test_system_calls_of_a_transition),
        FIXTURE_TEST(test_system_calls_of_a_throttle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
