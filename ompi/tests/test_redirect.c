/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls of an object are redirected and put back; nothing else is touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "wait/redirect.h"

enum { OURS = -42 };

static pid_t (*saved)(void);

static pid_t ours(void)
{
    return OURS;
}

static pid_t somebody_elses(void)
{
    return OURS - 1;
}

typedef struct object {
    void *handle;
    long (*call)(void);
    pwr_redirect_t redirect;
} object_t;

static object_t load(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", PWR_TEST_OBJECTS, name);
    object_t object = {
        .handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL),
        .redirect = {.object = name,
                     .symbol = "getppid",
                     .ours = (void *)ours,
                     .saved = (void **)&saved},
    };
    assert_non_null(object.handle);
    *(void **)&object.call = dlsym(object.handle, "redirected_call");
    assert_non_null((void *)object.call);
    saved = NULL;
    return object;
}

/* What the page of address may be used for, as in /proc/PID/maps. */
static void find_rights(const void *address, char rights[5])
{
    char line[512];
    uintptr_t begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    do {
        assert_non_null(fgets(line, sizeof line, maps));
        assert_int_equal(sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights), 3);
    } while ((uintptr_t)address < begin || (uintptr_t)address >= end);
    fclose(maps);
}

/* ---- each kind of binding ---- */

static void check_replaced(const char *name, bool called_before)
{
    object_t object = load(name);
    if (called_before) {
        assert_int_equal(object.call(), getppid());
    }
    assert_int_equal(pwr_redirect_all(&object.redirect, 1), 1);
    assert_int_equal(object.call(), OURS);
    assert_int_equal(object.call(), OURS); /* nobody has bound it meanwhile */
    assert_int_equal(saved(),
                     getppid()); /* of others, and of what was there, nothing has changed */
    assert_int_equal(object.call(), OURS);
    assert_int_equal(pwr_redirect_all(&object.redirect, 1), 1); /* again: it stays */
    assert_int_equal(object.call(), OURS);
    assert_int_equal(saved(), getppid());
    pwr_redirect_undo(&object.redirect, 1);
    assert_int_equal(object.call(), getppid());
    dlclose(object.handle);
}

static void bound_at_once(void **state)
{
    (void)state;
    check_replaced("redirected_now", false);
}

static void bound_at_the_first_call(void **state)
{
    (void)state;
    check_replaced("redirected_lazy", false);
    check_replaced("redirected_lazy", true);
}

static void called_without_a_table(void **state)
{
    (void)state;
    check_replaced("redirected_noplt", false);
}

/* ---- what was there ---- */

static void read_only_pages_stay_so(void **state)
{
    (void)state;
    char before[5], meanwhile[5], after[5];
    object_t object = load("redirected_now");
    pwr_redirect_t again = object.redirect;
    assert_int_equal(pwr_redirect_all(&again, 1), 1);
    void **word = again.word;
    pwr_redirect_undo(&again, 1);
    find_rights(word, before);
    assert_string_equal(before, "r--p");
    assert_int_equal(pwr_redirect_all(&object.redirect, 1), 1);
    find_rights(word, meanwhile);
    assert_string_equal(meanwhile, before);
    pwr_redirect_undo(&object.redirect, 1);
    find_rights(word, after);
    assert_string_equal(after, before);
    dlclose(object.handle);
}

static void what_others_have_put_stays(void **state)
{
    (void)state;
    object_t object = load("redirected_lazy");
    assert_int_equal(pwr_redirect_all(&object.redirect, 1), 1);
    *object.redirect.word = (void *)somebody_elses;
    pwr_redirect_undo(&object.redirect, 1);
    assert_int_equal(object.call(), OURS - 1);
    dlclose(object.handle);
}

static void not_twice(void **state)
{
    (void)state;
    object_t object = load("redirected_now");
    pwr_redirect_t both[] = {object.redirect, object.redirect};
    assert_int_equal(pwr_redirect_all(both, 2), 1);
    assert_int_equal(saved(), getppid());
    pwr_redirect_undo(both, 2);
    assert_int_equal(object.call(), getppid());
    dlclose(object.handle);
}

/* ---- what is not there ---- */

static void absent(void **state)
{
    (void)state;
    object_t object = load("redirected_now");
    pwr_redirect_t all[] = {object.redirect, object.redirect, object.redirect};
    all[0].symbol = "getpgid";
    all[1].object = "redirected_never";
    assert_int_equal(pwr_redirect_all(all, 3), 1);
    assert_null(all[0].word);
    assert_null(all[1].word);
    assert_int_equal(object.call(), OURS);
    pwr_redirect_undo(all, 3);
    assert_int_equal(object.call(), getppid());
    dlclose(object.handle);
}

static void stays_loaded_meanwhile(void **state)
{
    (void)state;
    char path[4096];
    object_t object = load("redirected_now");
    snprintf(path, sizeof path, "%s/redirected_now.so", PWR_TEST_OBJECTS);
    assert_int_equal(pwr_redirect_all(&object.redirect, 1), 1);
    dlclose(object.handle);
    assert_int_equal(object.call(), OURS);
    pwr_redirect_undo(&object.redirect, 1);
    assert_null(dlopen(path, RTLD_LAZY | RTLD_NOLOAD));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_at_once),
        cmocka_unit_test(bound_at_the_first_call),
        cmocka_unit_test(called_without_a_table),
        cmocka_unit_test(read_only_pages_stay_so),
        cmocka_unit_test(what_others_have_put_stays),
        cmocka_unit_test(not_twice),
        cmocka_unit_test(absent),
        cmocka_unit_test(stays_loaded_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
