/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A model of the bell of pwr_ompi/bell.h: nobody sleeps through a message, or through what he asked
 * for, though nobody wakes by himself.
 *
 * Steps have the names that bell.h gives them:
 *
 *     owner                                     ringer
 *     B1 asleep = 1                             R1 the message
 *     B2 look for messages                      R2 full fence or LINGER, read asleep
 *     B3 sleep until the pipe is readable,      R3 if it is 1: exchange it for 0; who got the 1
 *        unless a ring was heard since B1          writes a byte into the pipe
 *     B4 asleep = 0
 *
 *     A1 asks[me] = 1, asked = 1 in the other's page, after B1
 *     A2 who has looked and finds asked: asked = 0;  A3 takes all asks;  A4 looks until nothing is
 *        left;  A5 rings those whose asks it took
 *
 *     W1 waits[me] = 1, waited = 1 in the other's page, after B1
 *     W2 who has made a call finds waited: waited = 0;  W3 takes all waits, and rings those
 *
 * Sleeps have no time-out here: whoever sleeps through what was meant to wake him stays asleep, and
 * the search finds an invalid end state.  Memory is that of x86: stores stay in their process's
 * buffer, in their order, for any time; atomic operations, fences and system calls empty it.
 *
 * Macros: MESSAGES (two ringers; an owner who waits for all that they send; LINGER: without a fence,
 * but what was begun before B1 is visible before B2) or ASKING (two askers, and a server who looks
 * now and then; AGAIN: one who asks twice; MORE: two who ask twice, which takes minutes) or WAITING
 * (two who wait for the calls of another process, which makes no fence: they linger), and the
 * faults: of all NO_LOOK; of the first two NO_FENCE, LATE_B1; of MESSAGES HEARD_IS_FORGOTTEN, of its
 * LINGER LINGER_BEFORE_B1; of ASKING ASK_BEFORE_B1, ASKED_FIRST, ASKED_LAST, TAKE_AFTER_LOOK; of
 * WAITING LINGER_BEFORE_W1, WAITED_LAST, HEARD_IS_FORGOTTEN.
 */

#ifdef MESSAGES
#define RINGERS 2
#define EACH 2 /* messages */

/* In shared memory, as all see it; and as their senders have stored it. */
byte sent[RINGERS];
byte stored[RINGERS];
byte seen[RINGERS]; /* by the owner */

byte asleep;         /* in memory */
bool asleep_buffered; /* B1 is in the owner's store buffer (LATE_B1) */
byte bytes;          /* in the pipe */
bool heard;
byte finished;

active proctype memory()
{
end:
    do
    :: sent[0] < stored[0] -> sent[0]++
    :: sent[1] < stored[1] -> sent[1]++
    :: d_step { asleep_buffered -> asleep_buffered = false; asleep = 1 }
    od
}

/* The event loop's callback empties the pipe. */
inline hear()
{
    d_step { bytes > 0 -> bytes = 0; heard = true }
}

/* Open MPI's progress: messages, and at times the event loop, without blocking. */
inline progress()
{
    d_step { seen[0] = sent[0] };
    d_step { seen[1] = sent[1] };
    if
    :: true
    :: hear()
    :: bytes == 0
    fi
}

/* What ringers have begun. */
#define OWE owed[0] = stored[0]; owed[1] = stored[1]

#define ALL_SEEN (seen[0] == EACH && seen[1] == EACH)
#ifdef HEARD_IS_FORGOTTEN
#define QUIET (seen[0] + seen[1] == before)
#else
#define QUIET (seen[0] + seen[1] == before && !heard)
#endif

proctype owner()
{
    byte before, owed[RINGERS];
    do
    :: ALL_SEEN -> break
    :: else ->
        /* rungs before, and waits that were over without sleep */
        if
        :: true
        :: progress()
        fi;
        before = seen[0] + seen[1];
        heard = false;
#ifdef LINGER_BEFORE_B1
        d_step { OWE };
#endif
#ifdef LATE_B1
B1:     asleep_buffered = true;
#else
B1:     d_step {
            asleep = 1;
#if defined(LINGER) && !defined(LINGER_BEFORE_B1)
            OWE
#endif
        };
#endif
#ifdef LINGER
        sent[0] >= owed[0] && sent[1] >= owed[1];
#endif
#ifndef NO_LOOK
B2:     progress();
#endif
        if
        :: (QUIET && !ALL_SEEN) ->
#ifdef LATE_B1
            !asleep_buffered; /* a system call */
#endif
B3:         hear()
        :: else
        fi;
#ifdef LATE_B1
        !asleep_buffered;
#endif
B4:     asleep = 0
    od;
    finished++
}

proctype ringer(byte me)
{
    byte round;
    bool taken;
    do
    :: round < EACH ->
        round++;
R1:     stored[me]++;
#if !defined(NO_FENCE) && !defined(LINGER)
R2:     sent[me] == stored[me]; /* the fence */
#endif
        if
        :: asleep == 1 ->
R3:         sent[me] == stored[me]; /* so does the exchange */
            d_step { taken = (asleep == 1); asleep = 0 }
        :: else
        fi;
        if
        :: taken -> bytes++; taken = false
        :: else
        fi
    :: else -> break
    od;
    finished++
}

init
{
    atomic {
        run owner();
        run ringer(0);
        run ringer(1)
    }
    finished == 1 + RINGERS
}
#endif

#ifdef ASKING
/* Askers give a server something and wait until they have it back.  The server gives back whenever
   it looks, without a ring; when it has nothing to do it sleeps, and whoever gives rings it. */
#define ASKERS 2
#ifdef AGAIN
#define FIRST 2
#define SECOND 0
#else
#ifdef MORE
#define FIRST 2
#define SECOND 2
#else
#define FIRST 1
#define SECOND 1
#endif
#endif

byte given[ASKERS];    /* counts, in shared memory */
byte returned[ASKERS]; /* as the server has stored it: on its way to memory */
byte back[ASKERS];     /* as memory has it */
bool asleep[ASKERS];
byte bytes[ASKERS]; /* in the askers' pipes */
bool asks[ASKERS], asked; /* in the server's page */
bool server_sleeps;
byte server_bytes;
byte through; /* askers */
byte finished;

active proctype memory()
{
end:
    do
    :: back[0] < returned[0] -> back[0]++
    :: back[1] < returned[1] -> back[1]++
    od
}

#define FLUSHED (back[0] == returned[0] && back[1] == returned[1])

/* R2, R3; whoever rings has flushed his stores. */
inline ring(sleeps, pipe)
{
    if
    :: sleeps -> d_step { took = sleeps; sleeps = false };
        if
        :: took -> pipe++
        :: else
        fi;
        took = false
    :: else
    fi
}

inline ask(me)
{
    if
    :: sent ->
#ifdef ASKED_FIRST
        asked = true;
        asks[me] = true;
#else
        asks[me] = true;
        asked = true;
#endif
        sent = false
    :: else
    fi
}

proctype asker(byte me; byte rounds)
{
    byte round, before, seen;
    bool took, sent;
    do
    :: round < rounds ->
R1:     d_step { round++; given[me]++; sent = true }; /* and a fence */
        ring(server_sleeps, server_bytes);
        do
        :: seen == round -> break
        :: else ->
#ifdef ASK_BEFORE_B1
            before = seen;
            ask(me);
            seen = back[me];
B1:         asleep[me] = true;
#else
B1:         d_step { before = seen; asleep[me] = true };
A1:         ask(me);
#ifndef NO_LOOK
B2:         seen = back[me];
#endif
#endif
            if
            :: seen == before ->
B3:             d_step { bytes[me] > 0 -> bytes[me] = 0 }; /* and look */
                seen = back[me]
            :: else
            fi;
B4:         asleep[me] = false
        od
    :: else -> break
    od;
    through++;
    ring(server_sleeps, server_bytes);
    finished++
}

/* Takes all there is, gives it back. */
inline look()
{
    d_step { returned[0] = given[0]; returned[1] = given[1] }
}

inline answer()
{
    if
    :: asked ->
#ifndef ASKED_LAST
A2:     asked = false;
#endif
#ifdef TAKE_AFTER_LOOK
        look();
#endif
A3:     d_step { takes[0] = asks[0]; asks[0] = false };
        d_step { takes[1] = asks[1]; asks[1] = false };
#ifdef ASKED_LAST
        asked = false;
#endif
#ifndef TAKE_AFTER_LOOK
A4:     look();
#endif
#ifndef NO_FENCE
        FLUSHED;
#endif
A5:     if
        :: takes[0] -> takes[0] = false; ring(asleep[0], bytes[0])
        :: else
        fi;
        if
        :: takes[1] -> takes[1] = false; ring(asleep[1], bytes[1])
        :: else
        fi
    :: else
    fi
}

proctype server()
{
    bool took, takes[ASKERS];
    byte before;
    do
    :: through == ASKERS -> break
    :: else ->
        if
        :: true /* computes */
        :: look(); answer()
        fi;
#ifdef LATE_B1
B1:     d_step { before = returned[0] + returned[1]; server_sleeps = true };
#else
B1:     d_step { FLUSHED -> before = returned[0] + returned[1]; server_sleeps = true };
#endif
        look();
        answer();
        if
        :: (before == returned[0] + returned[1] && through < ASKERS) ->
            d_step { server_bytes > 0 -> server_bytes = 0 }
        :: else
        fi;
        server_sleeps = false
    od;
    finished++
}

init
{
    atomic {
        run asker(0, FIRST);
        run asker(1, SECOND);
        run server()
    }
    finished == 1 + ASKERS
}
#endif

#ifdef WAITING
#define WAITERS 2
#define CALLS 2

byte made;    /* calls, as their maker has stored them: on their way to memory */
byte visible; /* as memory has them */
bool asleep[WAITERS];
byte bytes[WAITERS];          /* in the waiters' pipes */
bool waits[WAITERS], waited;  /* in the maker's page */
byte finished;

active proctype memory()
{
end:
    do
    :: visible < made -> visible++
    od
}

proctype waiter(byte me)
{
    byte seen, before, owed;
    bool heard;
    do
    :: seen == CALLS -> break
    :: else ->
B1:     d_step { before = seen; heard = false; asleep[me] = true };
#ifdef LINGER_BEFORE_W1
        owed = made;
#endif
W1:     waits[me] = true;
        waited = true;
#ifndef LINGER_BEFORE_W1
        owed = made;
#endif
        visible >= owed; /* LINGER */
#ifndef NO_LOOK
B2:     seen = visible;
#endif
        if /* the event loop at times, without blocking */
        :: true
        :: d_step { bytes[me] > 0 -> bytes[me] = 0; heard = true }
        fi;
#ifdef HEARD_IS_FORGOTTEN
        heard = false;
#endif
        if
        :: (seen == before && !heard) ->
B3:         d_step { bytes[me] > 0 -> bytes[me] = 0 }
        :: else
        fi;
B4:     asleep[me] = false;
        seen = visible
    od;
    finished++
}

/* W3, R2, R3: exchanges empty the store buffer. */
inline wake(who)
{
    d_step { taken = waits[who]; waits[who] = false };
    if
    :: taken ->
        d_step { taken = asleep[who]; asleep[who] = false };
        if
        :: taken -> bytes[who]++
        :: else
        fi
    :: else
    fi;
    taken = false
}

proctype maker()
{
    byte calls;
    bool taken;
    do
    :: calls < CALLS ->
        calls++;
R1:     made++;
W2:     if
        :: waited ->
            visible == made;
#ifndef WAITED_LAST
            waited = false;
#endif
W3:         wake(0);
            wake(1);
#ifdef WAITED_LAST
            waited = false
#endif
        :: else
        fi
    :: else -> break
    od;
    finished++
}

init
{
    atomic {
        run waiter(0);
        run waiter(1);
        run maker()
    }
    finished == 1 + WAITERS
}
#endif
