/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The positions of a node (pwr_ompi/positions.h).
 */
#include "pwr_ompi/positions.h"

#include <unistd.h>

static uint32_t number_part(uint32_t word)
{
    return word >> PWR_POSITION_KIND_BITS << PWR_POSITION_KIND_BITS;
}

static uint32_t kind_part(uint32_t word)
{
    return word - number_part(word);
}

static uint32_t at(const pwr_positions_t *positions, int local)
{
    return atomic_load_explicit(&positions->lines[local].at, memory_order_relaxed);
}

void pwr_position_enter(pwr_positions_t *positions, pwr_position_line_t *lines, int num_local,
                        int my_local)
{
    *positions = (pwr_positions_t){
        .lines = lines,
        .num_local = num_local,
        .my_local = my_local,
    };
    atomic_store_explicit(&lines[my_local].pid, (int32_t)getpid(), memory_order_relaxed);
}

/* No word of a call under way is 0: it has a kind. */
void pwr_position_waits_long(pwr_positions_t *positions, bool waits)
{
    atomic_store_explicit(&positions->lines[positions->my_local].long_wait,
                          waits ? positions->at : 0, memory_order_relaxed);
}

pwr_position_t pwr_position_of(const pwr_positions_t *positions, int local)
{
    uint32_t theirs = at(positions, local);
    int32_t ahead = (int32_t)(number_part(theirs) - number_part(positions->at));
    if (ahead < 0) {
        return 0 == kind_part(theirs) ? PWR_POSITION_ABSENT : PWR_POSITION_BEHIND;
    }
    if (ahead > 0 || 0 == kind_part(theirs)) {
        return PWR_POSITION_THROUGH;
    }
    if (theirs != positions->at) {
        return PWR_POSITION_ELSEWHERE;
    }
    uint32_t waits = atomic_load_explicit(&positions->lines[local].long_wait, memory_order_relaxed);
    return theirs == waits ? PWR_POSITION_WAITING : PWR_POSITION_WORKING;
}

int pwr_position_kind(const pwr_positions_t *positions, int local)
{
    return (int)kind_part(at(positions, local)) - 1;
}

int pwr_position_pid(const pwr_positions_t *positions, int local)
{
    return (int)atomic_load_explicit(&positions->lines[local].pid, memory_order_relaxed);
}
