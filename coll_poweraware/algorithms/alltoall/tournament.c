/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who meets whom, of two sets and of one, for nodes and for ranks.
 */
#include "algorithms/alltoall/schedule.h"

int coll_poweraware_match(int num, int index, int round)
{
    return (round - index + num) % num;
}

/* A tournament of an odd number needs one more seat: who sits opposite it rests. */
static int seats(int num)
{
    return num + num % 2;
}

int coll_poweraware_tournament_rounds(int num)
{
    return seats(num) - 1;
}

/* Circle method: in round r, seats p and q < last meet when p + q = r (mod last); whoever would
   meet itself meets the last seat. */
int coll_poweraware_opponent(int num, int index, int round)
{
    int last = seats(num) - 1;
    int other;
    if (index == last) {
        /* the p with 2 p = r (mod last): last is odd, (last + 1) / 2 is the inverse of 2 */
        other = (int)((long)round * ((last + 1) / 2) % last);
    } else {
        other = coll_poweraware_match(last, index, round);
        other = other == index ? last : other;
    }
    return other < num ? other : COLL_POWERAWARE_NOBODY;
}
