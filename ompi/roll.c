/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The roll of a node (pwr_ompi/roll.h).
 */
#include "pwr_ompi/roll.h"

#include <unistd.h>

static uint32_t number_part(uint32_t word)
{
    return word >> PWR_ROLL_KIND_BITS << PWR_ROLL_KIND_BITS;
}

static uint32_t kind_part(uint32_t word)
{
    return word - number_part(word);
}

static uint32_t at(const pwr_roll_t *roll, int local)
{
    return atomic_load_explicit(&roll->lines[local].at, memory_order_relaxed);
}

void pwr_roll_enter(pwr_roll_t *roll, pwr_roll_line_t *lines, int num_local, int my_local)
{
    *roll = (pwr_roll_t){
        .lines = lines,
        .num_local = num_local,
        .my_local = my_local,
        .entered = true,
    };
    atomic_store_explicit(&lines[my_local].pid, (int32_t)getpid(), memory_order_relaxed);
}

void pwr_roll_waits_long(pwr_roll_t *roll)
{
    atomic_store_explicit(&roll->lines[roll->my_local].long_wait, roll->at, memory_order_relaxed);
}

/* No word of a call under way is 0: it has a kind. */
void pwr_roll_waits_no_more(pwr_roll_t *roll)
{
    atomic_store_explicit(&roll->lines[roll->my_local].long_wait, 0, memory_order_relaxed);
}

pwr_roll_place_t pwr_roll_place(const pwr_roll_t *roll, int local)
{
    uint32_t theirs = at(roll, local);
    int32_t ahead = (int32_t)(number_part(theirs) - number_part(roll->at));
    if (ahead < 0) {
        return 0 == kind_part(theirs) ? PWR_ROLL_ABSENT : PWR_ROLL_BEHIND;
    }
    if (ahead > 0 || 0 == kind_part(theirs)) {
        return PWR_ROLL_THROUGH;
    }
    if (theirs != roll->at) {
        return PWR_ROLL_ELSEWHERE;
    }
    uint32_t waits = atomic_load_explicit(&roll->lines[local].long_wait, memory_order_relaxed);
    return theirs == waits ? PWR_ROLL_WAITING : PWR_ROLL_WORKING;
}

int pwr_roll_kind(const pwr_roll_t *roll, int local)
{
    return (int)kind_part(at(roll, local)) - 1;
}

int pwr_roll_pid(const pwr_roll_t *roll, int local)
{
    return (int)atomic_load_explicit(&roll->lines[local].pid, memory_order_relaxed);
}
