/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Whether all processes of the job have a component (pwr_ompi/presence.h).
 */
#include "pwr_ompi/presence.h"

#include <stdio.h>

#include "pwr_ompi/modex.h"
#include "pwr_ompi/process.h"

enum { MOST_LOOKS = 512 }; /* of 40 us each */

typedef struct presence {
    char text[64];
} presence_t;

static presence_t presence_of(const char *component)
{
    presence_t its = {""};
    snprintf(its.text, sizeof its.text, "%s/poweraware %d.%d.%d", component, PWR_MAJOR, PWR_MINOR,
             PWR_RELEASE);
    return its;
}

bool pwr_presence_tell(const char *component)
{
    presence_t mine = presence_of(component);
    return pwr_modex_send(component, PWR_MODEX_JOB, mine.text, sizeof mine.text);
}

static bool has_told(const char *component, unsigned process, const presence_t *mine)
{
    const opal_process_name_t name = {OPAL_PROC_MY_NAME.jobid, process};
    return !pwr_modex_lacks(component, &name, mine->text, sizeof mine->text);
}

bool pwr_presence_is_everywhere(const char *component)
{
    const presence_t mine = presence_of(component);
    unsigned me = (unsigned)OPAL_PROC_MY_NAME.vpid, all = pwr_modex_num_processes();
    unsigned looks = !pwr_modex_is_complete() ? 0 : all < MOST_LOOKS ? all : MOST_LOOKS;
    unsigned first = all, lacks = all;
    for (unsigned k = 0; k < looks && (lacks == all || first == all); ++k) {
        unsigned p = (unsigned)((uint64_t)k * all / looks);
        bool has = p == me || has_told(component, p, &mine);
        lacks = has || lacks < all ? lacks : p;
        first = has && first == all ? p : first;
    }
    if (lacks < all) {
        pwr_say(first == me && !pwr_process.unasked ? 1 : 2,
                "rank %u of this job has no %s: all go without; its nodes should have the same",
                lacks, mine.text);
    }
    return lacks == all;
}
