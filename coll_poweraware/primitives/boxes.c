/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How algorithms wait in rounds of boxes (pwr_ompi/boxes.h).
 */
#include "primitives/primitives.h"

static pwr_site_t site_of(pwr_box_wait_t what)
{
    static const pwr_site_t sites[] = {
        [PWR_BOX_FREE] = PWR_SITE_BOX_FREE,
        [PWR_BOX_JOINED] = PWR_SITE_BOX_JOINED,
        [PWR_BOX_POSTED] = PWR_SITE_BOX_POSTED,
    };
    return sites[what];
}

void coll_poweraware_wait_in_round(void *call, pwr_box_wait_t what, pwr_flag_t *flag,
                                   uint32_t target)
{
    coll_poweraware_wait(call, site_of(what), flag, target);
}

typedef struct resting {
    const coll_poweraware_call_t *call;
    int leader;
} resting_t;

static void rest(void *who, pwr_box_wait_t what, pwr_flag_t *flag, uint32_t target)
{
    const resting_t *resting = who;
    coll_poweraware_rest(resting->call, site_of(what), flag, target, resting->leader);
}

const unsigned char *coll_poweraware_rest_for_set(coll_poweraware_call_t *call, int poster,
                                                  size_t bytes, int *error)
{
    pwr_boxes_t *boxes = &call->segment->boxes;
    int local = call->hierarchy->local_of[poster];
    resting_t resting = {call, poster};
    *error = pwr_boxes_wait_for(boxes, local, rest, &resting);
    return pwr_boxes_read_set(boxes, local, bytes);
}
