/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A model of a group of streams (pwr_gpu/group.h, group.c): each reduction has the offers and the
 * data of its own call, and no stream waits for ever.
 *
 *     a member's CPU                             its stream
 *     C1 waits until the slot is free, or half   the program's work: takes the result of the call
 *        of all; C2 fills it, C3 posts the call  before, makes the input of this one
 *     C4 follow: puts S1, S2 into its stream     S1 arrived = call
 *        lead: all have posted, and the server   S2 waits for ended = call
 *        has served what came before: K1 to K4   K1 waits for arrived = call of the others
 *        into its own stream                     K2 the kernel
 *        else: hands the call to the server,     K3 ended = call
 *        and does as the others do
 *     C5 K4: served = call
 *
 *     the server: V1 takes the next call that was handed to it, V2 waits until all have posted it,
 *     V3 puts K1, of all members, to K4 into a stream of its own
 *
 * A stream does one thing after the other, when it comes to it; a CPU never waits for a stream.
 * Flags between CPUs are those of wait/model, and here simply memory.  An assertion fails where an
 * offer, an input or a result is that of another call, or where served goes back; who waits for ever
 * is an invalid end state.
 *
 * Macros: MEMBERS (2) and CALLS (4), and the faults: NO_ROOM (C1), POST_FIRST (C3 before
 * C2), ARRIVE_FIRST (S1 before the input is there), NO_ARRIVALS (K1), NOT_THE_FIRST (K1 of the
 * server without the first member), END_FIRST (K3 before K2), NO_ORDER (C4 without what the server
 * has served), NO_OFFERS (V2), SAME_STREAM (V3 into the first member's stream).
 */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef CALLS
#define CALLS 4
#endif
#define AHEAD 2
#define SERVER MEMBERS /* its stream; the first member's is 0 */
#define ROOM (CALLS * (MEMBERS + 2) + 1) /* for all that is ever in a stream */

mtype = { work, arrive, wait_arrived, kernel, end_call, wait_ended };
chan stream[MEMBERS + 1] = [ROOM] of { mtype, byte, byte };

/* between CPUs */
byte slot[MEMBERS * AHEAD];
byte posted[MEMBERS];
byte served;
byte handed;
byte handed_call[AHEAD];

/* on the GPU */
byte arrived[MEMBERS];
byte ended;
byte input[MEMBERS];
byte result[MEMBERS];

#define SLOT(m, call) slot[(m) * AHEAD + (call) % AHEAD]

inline put_kernel(s, call, from)
{
    m = 0;
    do
    :: m < MEMBERS -> assert(SLOT(m, call) == call); m++
    :: else -> break
    od;
    atomic { /* no step of others depends on how much of this is there */
        m = from;
        do
#ifndef NO_ARRIVALS
        :: m < MEMBERS -> stream[s]!wait_arrived(m, call); m++
        :: else -> break
#else
        :: break
#endif
        od;
#ifdef END_FIRST
        stream[s]!end_call(0, call);
        stream[s]!kernel(0, call);
#else
        stream[s]!kernel(0, call);
        stream[s]!end_call(0, call);
#endif
        m = 0
    }
    d_step { assert(served < call); served = call } /* K4 */
}

proctype member(byte me)
{
    byte call = 1;
    byte m = 0;
    byte num_handed = 0;
    do
    :: call > CALLS -> break
    :: else ->
#ifndef NO_ROOM
        if                                                  /* C1 */
        :: served + AHEAD >= call
        :: else -> (served + AHEAD / 2 >= call)
        fi;
#endif
#ifndef ARRIVE_FIRST
        stream[me]!work(me, call);
#endif
#ifdef POST_FIRST
        posted[me] = call;
        SLOT(me, call) = call;
#else
        SLOT(me, call) = call;                              /* C2 */
        posted[me] = call;                                  /* C3 */
#endif
        do                                                  /* C4 */
        :: me == 0 && m < MEMBERS && posted[m] >= call -> m++
#ifdef NO_ORDER
        :: me == 0 && m == MEMBERS ->
#else
        :: me == 0 && m == MEMBERS && served >= call - 1 ->
#endif
            put_kernel(0, call, 1);
            break
        :: true ->
            m = 0;
            if
            :: me == 0 ->
                num_handed++;
                handed_call[num_handed % AHEAD] = call;
                handed = num_handed
            :: else
            fi;
            atomic {
                stream[me]!arrive(me, call);
#ifdef ARRIVE_FIRST
                stream[me]!work(me, call);
#endif
                stream[me]!wait_ended(0, call)
            }
            break
        od;
        call++
    od;
    stream[me]!work(me, call)
}

proctype server()
{
    byte next = 1;
    byte m = 0;
    byte call;
end:
    do
    :: handed >= next ->                                    /* V1 */
        call = handed_call[next % AHEAD];
#ifndef NO_OFFERS
        m = 0;
        do                                                  /* V2 */
        :: m < MEMBERS && posted[m] >= call -> m++
        :: m == MEMBERS -> break
        od;
#endif
#ifdef SAME_STREAM
        put_kernel(0, call, 0);                             /* V3 */
#elif defined(NOT_THE_FIRST)
        put_kernel(SERVER, call, 1);
#else
        put_kernel(SERVER, call, 0);
#endif
        next++
    od
}

proctype gpu(byte s)
{
    mtype what;
    byte who, call, m;
end:
    do
    :: stream[s]?what, who, call ->
        if
        :: what == work -> assert(result[who] == call - 1); input[who] = call
        :: what == arrive -> arrived[who] = call
        :: what == wait_arrived -> (arrived[who] >= call)
        :: what == wait_ended -> (ended >= call)
        :: what == end_call -> ended = call
        :: what == kernel ->
            m = 0;
            do
            :: m < MEMBERS -> assert(input[m] == call); result[m] = call; m++
            :: else -> break
            od;
            m = 0
        fi
    od
}

init {
    byte i = 0;
    atomic {
        do
        :: i < MEMBERS -> run member(i); run gpu(i); i++
        :: else -> break
        od;
        run gpu(SERVER);
        run server()
    }
}
