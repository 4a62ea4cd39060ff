/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Energy of GPUs through libraries that stand in for NVIDIA's.
 */
#include "config.h"

#include "fake_nvml.h"
#include "meter_fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define FAKE(variant) PWR_TEST_TOOLS "/.libs/fake_nvml" variant ".so"

/* nvmlReturn_t */
enum { NOT_SUPPORTED = 3, NO_PERMISSION = 4, DRIVER_NOT_LOADED = 9, GPU_IS_LOST = 15 };

static const pwr_meter_outside_t volta = {.nvml_library = FAKE("")};
static const pwr_meter_outside_t old = {.nvml_library = FAKE("_old")};

/* The library's own memory: the handle keeps it loaded, and what the test set with it. */
static fake_nvml_t *fake_open(const char *library, void **handle)
{
    *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) {
        fail_msg("%s", dlerror());
    }
    fake_nvml_t *fake = dlsym(*handle, "fake_nvml");
    assert_non_null(fake);
    *fake = (fake_nvml_t){.num_gpus = 2};
    fake->gpus[0] = (fake_gpu_t){.energy_mj = 5000, .power_mw = 100000};
    fake->gpus[1] = (fake_gpu_t){.energy_mj = 7000000, .power_mw = 60000};
    return fake;
}

static void fake_close(fake_nvml_t *fake, void *handle)
{
    assert_int_equal(fake->inits, 0); /* every init has had its shutdown */
    dlclose(handle);
}

/* GPUs come after the CPUs' domains, whatever these are read from. */
static void test_gpus_are_added_to_the_cpus_meter(void **state)
{
    fixture_t *fixture = *state;
    void *handle;
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    meter_freeze(fixture);
    meter_put_zone(fixture, "0", "package-0\n");
    opened_t opened = meter_open(fixture, &volta);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "powercap");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 3);
    meter_expect_domain(opened.meter, 0, "package-0", PWR_DOMAIN_PACKAGE, 0);
    meter_expect_domain(opened.meter, 1, "gpu-0", PWR_DOMAIN_GPU, 0);
    meter_expect_domain(opened.meter, 2, "gpu-1", PWR_DOMAIN_GPU, 1);
    assert_null(pwr_meter_domain(opened.meter, 3));
    const pwr_meter_domain_t *gpu = pwr_meter_domain(opened.meter, 2);
    assert_string_equal(gpu->source, "nvml");
    assert_int_equal(gpu->provenance, PWR_METER_MEASURED);
    assert_int_equal(gpu->range_uj, 0);
    assert_true(gpu->resolution_uj == 1000);

    meter_pass_us(1000000);
    meter_put_zone_energy(fixture, "0", METER_ZONE_START_UJ + 40);
    fake->gpus[1].energy_mj += 300123;
    meter_expect_energy(opened.meter, 0, 40);
    meter_expect_energy(opened.meter, 1, 0);
    meter_expect_energy(opened.meter, 2, 300123000);
    /* One count, and 100 ms at 300.1 J within 900 ms. */
    pwr_meter_reading_t reading = meter_read(opened.meter, 2);
    assert_int_equal(reading.drift_uj, 0);
    assert_true(reading.edge_uj >= 33348000 && reading.edge_uj <= 33349000);
    meter_close(&opened);
    fake_close(fake, handle);
}

static void test_gpus_alone(void **state)
{
    fixture_t *fixture = *state;
    void *handle;
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    opened_t opened = meter_open(fixture, &volta);
    assert_int_equal(opened.status, PWR_OK);
    assert_string_equal(pwr_meter_backend(opened.meter), "nvml");
    assert_int_equal(pwr_meter_num_domains(opened.meter), 2);
    meter_close(&opened);
    fake_close(fake, handle);
}

static void expect_integration(fixture_t *fixture, fake_nvml_t *fake,
                               const pwr_meter_outside_t *outside)
{
    meter_freeze(fixture);
    opened_t opened = meter_open(fixture, outside);
    assert_int_equal(opened.status, PWR_OK);
    meter_expect_energy(opened.meter, 0, 0);
    meter_pass_us(2000000);
    meter_expect_energy(opened.meter, 0, 200000000); /* 100 W for 2 s */
    pwr_meter_reading_t steady = meter_read(opened.meter, 0);
    assert_int_equal(steady.drift_uj, 50000000); /* a quarter */
    fake->gpus[0].power_mw = 300000;
    meter_pass_us(1000000);
    meter_expect_energy(opened.meter, 0, 400000000); /* 100 to 300 W for 1 s */
    pwr_meter_reading_t rising = meter_read(opened.meter, 0);
    /* A quarter of it, and 100 J, as nobody saw when it rose. */
    assert_int_equal(rising.drift_uj - steady.drift_uj, 150000000);
    meter_close(&opened);
}

static void test_power_is_integrated_where_there_is_no_energy_counter(void **state)
{
    void *handle;
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    fake->gpus[0].energy_result = NOT_SUPPORTED;
    expect_integration(*state, fake, &volta);
    fake_close(fake, handle);
}

static void test_a_library_older_than_energy_counters(void **state)
{
    void *handle;
    fake_nvml_t *fake = fake_open(old.nvml_library, &handle);
    expect_integration(*state, fake, &old);
    fake_close(fake, handle);
}

static void test_a_gpu_that_fails_and_comes_back(void **state)
{
    fixture_t *fixture = *state;
    void *handle;
    pwr_meter_reading_t readings[2];
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    fake->gpus[1].energy_result = NOT_SUPPORTED;
    meter_freeze(fixture);
    opened_t opened = meter_open(fixture, &volta);
    meter_pass_us(1000000);
    fake->gpus[0].energy_result = GPU_IS_LOST;
    fake->gpus[0].energy_mj = 205000;
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
    assert_int_equal(readings[0].status, PWR_ERR_IO);
    assert_int_equal(readings[0].energy_uj, 0);
    assert_int_equal(readings[1].status, PWR_OK);
    assert_int_equal(readings[1].energy_uj, 60000000);
    assert_non_null(strstr(fixture->log, "energy of gpu-0 cannot be read any more through nvml"));

    fake->gpus[0].energy_result = 0;
    fake->gpus[1].power_result = NO_PERMISSION;
    meter_pass_us(1000000);
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
    assert_int_equal(readings[0].status, PWR_OK);
    assert_int_equal(readings[0].energy_uj, 200000000);
    assert_int_equal(readings[1].status, PWR_ERR_PERM);
    uint64_t drift_uj = readings[1].drift_uj;

    fake->gpus[1].power_result = 0;
    meter_pass_us(1000000);
    assert_int_equal(pwr_meter_read(opened.meter, readings), PWR_OK);
    assert_int_equal(readings[1].energy_uj, 180000000);
    /* Two seconds of 60 W were not watched: all of that, and the quarter. */
    assert_int_equal(readings[1].drift_uj - drift_uj, 150000000);
    meter_close(&opened);
    fake_close(fake, handle);
}

/* The driver was loaded again: its counter starts from 0. */
static void test_a_counter_that_was_reset(void **state)
{
    fixture_t *fixture = *state;
    void *handle;
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    meter_freeze(fixture);
    opened_t opened = meter_open(fixture, &volta);
    meter_pass_us(1000000);
    fake->gpus[1].energy_mj = 3;
    assert_int_equal(meter_read(opened.meter, 1).energy_uj, 0);
    fake->gpus[1].energy_mj = 50003;
    meter_pass_us(1000000);
    meter_expect_energy(opened.meter, 1, 50000000);
    meter_close(&opened);
    fake_close(fake, handle);
}

static void test_gpus_that_cannot_be_read_are_left_out(void **state)
{
    fixture_t *fixture = *state;
    void *handle;
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    fake->num_gpus = 3;
    fake->gpus[0].handle_result = NO_PERMISSION;
    fake->gpus[2] = (fake_gpu_t){.energy_result = NOT_SUPPORTED, .power_result = NOT_SUPPORTED};
    opened_t opened = meter_open(fixture, &volta);
    assert_int_equal(pwr_meter_num_domains(opened.meter), 1);
    meter_expect_domain(opened.meter, 0, "gpu-1", PWR_DOMAIN_GPU, 1);
    assert_non_null(strstr(opened.why, "nvml: gpu 0: no permission"));
    assert_non_null(strstr(opened.why, "nvml: gpu 2: not supported"));
    meter_close(&opened);
    fake_close(fake, handle);
}

static void test_refusals(void **state)
{
    fixture_t *fixture = *state;
    void *handle;
    const pwr_meter_outside_t absent = {.nvml_library = FAKE("_absent")};
    const pwr_meter_outside_t broken = {.nvml_library = FAKE("_broken")};
    meter_expect_refusal(fixture, &absent, PWR_ERR_UNSUPPORTED, "_absent.so cannot be loaded");
    meter_expect_refusal(fixture, &broken, PWR_ERR_UNSUPPORTED,
                         "has no nvmlDeviceGetHandleByIndex_v2");
    meter_expect_refusal(fixture, NULL, PWR_ERR_UNSUPPORTED, "nvml: knows this machine, not");
    fake_nvml_t *fake = fake_open(volta.nvml_library, &handle);
    fake->init_result = DRIVER_NOT_LOADED;
    meter_expect_refusal(fixture, &volta, PWR_ERR_UNSUPPORTED, "nvmlInit: not supported");
    fake->init_result = 0;
    fake->count_result = NO_PERMISSION;
    meter_expect_refusal(fixture, &volta, PWR_ERR_PERM, "nvml: counting GPUs: no permission");
    fake->count_result = 0;
    fake->num_gpus = 0;
    meter_expect_refusal(fixture, &volta, PWR_ERR_UNSUPPORTED, "nvml: no GPU");
    fake->num_gpus = 1;
    fake->gpus[0].handle_result = GPU_IS_LOST;
    meter_expect_refusal(fixture, &volta, PWR_ERR_IO, "nvml: gpu 0: ");
    assert_string_equal(fixture->log, ""); /* being without GPUs is nobody's warning */
    fake_close(fake, handle);
}

/* The library by its real name: GPUs that can be read, or the reason; never anything else. */
static void test_the_real_library(void **state)
{
    const pwr_meter_outside_t real = {.nvml_library = pwr_meter_outside_real.nvml_library};
    opened_t opened = meter_open(*state, &real);
    if (opened.status == PWR_OK) {
        print_message("gpu-0 of this machine is read\n");
        assert_int_equal(pwr_meter_domain(opened.meter, 0)->kind, PWR_DOMAIN_GPU);
        assert_int_equal(meter_read(opened.meter, 0).status, PWR_OK);
    } else {
        print_message("no GPU of this machine is read: %s\n", strstr(opened.why, "nvml"));
        assert_non_null(strstr(opened.why, "nvml: "));
    }
    meter_close(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_gpus_are_added_to_the_cpus_meter),
        FIXTURE_TEST(test_gpus_alone),
        FIXTURE_TEST(test_power_is_integrated_where_there_is_no_energy_counter),
        FIXTURE_TEST(test_a_library_older_than_energy_counters),
        FIXTURE_TEST(test_a_gpu_that_fails_and_comes_back),
        FIXTURE_TEST(test_a_counter_that_was_reset),
        FIXTURE_TEST(test_gpus_that_cannot_be_read_are_left_out),
        FIXTURE_TEST(test_refusals),
        FIXTURE_TEST(test_the_real_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
