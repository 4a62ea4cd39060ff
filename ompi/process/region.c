/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The regions that are open (pwr_ompi/region.h).  What is wrong with them is said once.
 */
#include "process_private.h"

#include "pwr_ompi/region.h"

#include <pthread.h>
#include <string.h>

#include "pwr/clock.h"

enum { MOST_OPEN = 16 };

typedef struct open_region {
    char name[PWR_ACCOUNT_NAME]; /* as the program calls it */
    pwr_account_region_t *region;
} open_region_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static open_region_t open_regions[MOST_OPEN];
static int num_open;
static bool said;

static void complain(const char *name, const char *what)
{
    if (!said) {
        said = true;
        pwr_say(pwr_level_alike(1), "region \"%.*s\": %s", PWR_ACCOUNT_NAME, name, what);
    }
}

/* Time counts for the innermost region from now on. */
static void enter_innermost(void)
{
    const pwr_account_region_t *region = num_open > 0 ? open_regions[num_open - 1].region : NULL;
    pwr_account_enter(pwr_process.account, region, pwr_env_now_ns(&pwr_process.env),
                      pwr_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

static void begin(const char *name)
{
    char path[PWR_ACCOUNT_NAME];
    if (MOST_OPEN == num_open) {
        complain(name, "regions are nested too deeply: its time counts for the one around it");
        return;
    }
    open_region_t *opened = &open_regions[num_open];
    const char *around = num_open > 0 ? open_regions[num_open - 1].region->name : "";
    int length = snprintf(path, sizeof path, "%s%s%s", around, num_open > 0 ? "/" : "", name);
    if (length >= (int)sizeof path) {
        complain(name, "its name, with those of the regions around it, is too long, and is cut");
    }
    snprintf(opened->name, sizeof opened->name, "%s", name);
    opened->region = pwr_account_region(pwr_process.account, path);
    opened->region->entered++;
    num_open++;
    enter_innermost();
}

static int innermost(const char *name)
{
    int i = num_open - 1;
    while (i >= 0 && 0 != strncmp(open_regions[i].name, name, PWR_ACCOUNT_NAME - 1)) {
        i--;
    }
    return i;
}

static void end(const char *name)
{
    int i = innermost(name);
    if (i < 0) {
        complain(name, "is ended, and is not open");
        return;
    }
    if (i < num_open - 1) {
        complain(open_regions[num_open - 1].name, "is open when the region around it ends");
    }
    num_open = i;
    enter_innermost();
}

static void change(void (*how)(const char *name), const char *name)
{
    if (NULL == pwr_process.account) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (NULL == name || '\0' == name[0]) {
        complain("", "has no name, and is not counted");
    } else {
        how(name);
    }
    pthread_mutex_unlock(&lock);
}

void pwr_region_begin(const char *name)
{
    change(begin, name);
}

void pwr_region_end(const char *name)
{
    change(end, name);
}

void pwr_regions_end(void)
{
    pthread_mutex_lock(&lock);
    num_open = 0;
    if (NULL != pwr_process.account) {
        enter_innermost();
    }
    pthread_mutex_unlock(&lock);
}
