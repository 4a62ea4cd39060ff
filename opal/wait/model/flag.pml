/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A model of the flag of pwr/wait.h: no wake-up is lost, though nobody wakes by himself.
 *
 * Steps have the names that wait.c gives them:
 *
 *     W1 sleepers += 1                        S1 value = new
 *     W2 read value                           S2 read sleepers
 *     W3 futex wait while value is as in W2   S3 futex wake if sleepers > 0
 *
 * Sleeps have no time-out here.  Whoever sleeps through the wake-up that was meant for him stays
 * asleep, and the search finds an invalid end state.  Time-outs and spurious wake-ups happen, but
 * at most SPURIOUS times: were they free, they would hide what they repair.
 *
 * Macros; README.md says what each is for.  One of
 *
 *     SET             one setter, pwr_flag_set
 *     PUBLISH         one setter, pwr_flag_publish and pwr_flag_wake; FENCE: pwr_fence between them
 *     ARRIVE          ranks that meet again and again by pwr_flag_arrive, and wait for each other
 *
 * and any of WEAK (else memory is that of x86), LINGER (waiters who are not oversubscribed), KILL
 * (a waiter), and the faults: NO_RECHECK, NO_COMPARE, WAKE_ONE, LATE_S1, S2_FIRST, EARLY_LEAVE,
 * LATE_BESIDE, LAZY_KERNEL, LINGER_BEFORE_W1, WAIT_FOR_LESS, KILL_SETTER.
 */

#ifndef SPURIOUS
#define SPURIOUS 1
#endif

#if defined(SET) || defined(PUBLISH)
#define STORES /* S1 is a store; otherwise an atomic addition, which no core delays */
#define ROUNDS 3
#define LAST ROUNDS
#define SLEEPERS 2
#define PROCESSES 3
#define VICTIM 1
#endif
#ifdef ARRIVE
#define PARTIES 2
#define ROUNDS 2
#define LAST (PARTIES * ROUNDS)
#define SLEEPERS 3
#define PROCESSES 3
#define VICTIM PARTIES
#endif

/* The flag as memory has it, which is what everybody but the owner of a store buffer reads. */
byte value;
byte sleepers;
byte beside; /* the setter's data on the same line: the number of the round that wrote it */

/* What the setter has stored.  value+1 ... stored are on their way, in this order: stores to one
   place are never exchanged.  Nobody reads his own stores here, so they need no forwarding. */
byte stored;
byte beside_stored;

/* The last round of which S1 or S2 is done: what a lingering waiter relies on is that S1 is visible
   a while later. */
byte begun;

/* In the kernel's queue.  Its bucket lock makes comparing and entering one step. */
bool asleep[SLEEPERS];

/* W1 has been undone, but memory does not know yet (WEAK). */
bool leaving[SLEEPERS];

byte spurious = SPURIOUS;
byte killed;
byte finished;

/* ---- memory ---- */

#define DRAINED (value == stored && beside == beside_stored)

/* x86: all stores in their order.  WEAK: a store that is not a release may come before or after
   any other to another place. */
#ifdef WEAK
#define IN_ORDER true
#else
#define IN_ORDER (value == beside)
#endif
#if defined(WEAK) && defined(LATE_BESIDE)
#define RELEASED true
#else
#define RELEASED (beside > value)
#endif

active proctype memory()
{
end:
    do
    :: beside < beside_stored && IN_ORDER -> beside++
    :: value < stored && RELEASED -> value++
#ifdef WEAK
    :: d_step { leaving[0] -> leaving[0] = false; sleepers-- }
    :: d_step { leaving[1] -> leaving[1] = false; sleepers-- }
#if SLEEPERS > 2
    :: d_step { leaving[2] -> leaving[2] = false; sleepers-- }
#endif
#endif
    od
}

/* ---- the kernel ---- */

inline futex_wait(me, expected)
{
    d_step {
        if
#ifdef NO_COMPARE
        :: true -> asleep[me] = true
#else
        :: value == expected -> asleep[me] = true
        :: else
#endif
        fi
    }
}

/* It begins with a full barrier: see the comment on ordering in the kernel's futex code. */
inline futex_wake()
{
#if defined(STORES) && !defined(LAZY_KERNEL)
    DRAINED;
#endif
#ifdef WAKE_ONE
    atomic {
        if
        :: asleep[0] -> asleep[0] = false
        :: asleep[1] -> asleep[1] = false
#if SLEEPERS > 2
        :: asleep[2] -> asleep[2] = false
#endif
        :: else
        fi
    }
#else
    d_step {
        asleep[0] = false;
        asleep[1] = false
#if SLEEPERS > 2
        ; asleep[2] = false
#endif
    }
#endif
}

/* ---- waiters ---- */

/* Killed between W1 and its end: what dies leaves the kernel's queue, but stays among sleepers. */
#ifdef KILL
#define OR_DIE :: me == VICTIM -> atomic { asleep[me] = false; killed++; goto dead }
#define MAY_DIE if :: true OR_DIE fi;
#else
#define OR_DIE
#define MAY_DIE
#endif

inline leave(me)
{
    /* relaxed: after everything before it, but any time later */
#ifdef WEAK
    leaving[me] = true
#else
    sleepers--
#endif
}

/* pwr_wait_until.  Looks at value of earlier rungs are one choice: they may have been long ago. */
inline wait_until(me, target)
{
    do
    :: value >= target -> break
    :: true ->
#ifdef LINGER_BEFORE_W1
        owed = begun;
#endif
W1:     atomic {
            !leaving[me] -> sleepers++; /* nobody overtakes himself at one place */
#if defined(LINGER) && !defined(LINGER_BEFORE_W1)
            owed = begun
#endif
        };
        do
        :: true ->
            MAY_DIE
W2:         atomic {
#ifdef LINGER
                value >= owed ->
#endif
                seen = value
            };
#ifndef NO_RECHECK
            if
            :: seen >= target -> break
            :: else
            fi;
#endif
#ifdef EARLY_LEAVE
            leave(me);
#endif
            MAY_DIE
W3:         futex_wait(me, seen);
            if
            :: !asleep[me]
            :: d_step { asleep[me] && spurious > 0 -> spurious--; asleep[me] = false } ->
                if
                :: true
                :: true -> break /* it was the deadline: the caller will wait again */
                fi
            OR_DIE
            fi;
#ifdef EARLY_LEAVE
            atomic { !leaving[me] -> sleepers++ };
#endif
#ifdef NO_RECHECK
            seen = value;
            if
            :: seen >= target -> break
            :: else
            fi
#endif
        od;
        MAY_DIE
        leave(me);
        if
        :: seen >= target -> break
        :: else
        fi
    od;
#ifdef STORES
    assert(beside >= target)
#endif
}

/* Waits for target, target + step, ... as far as they will come. */
proctype waiter(byte me; byte target; byte step)
{
    byte seen;
    byte owed;
    do
    :: target <= LAST ->
        wait_until(me, target);
        atomic { seen = 0; owed = 0; target = target + step }
    :: else -> break
    od;
dead:
    finished++
}

/* What died is all that is left. */
inline at_the_end()
{
    (finished == PROCESSES && !leaving[0] && !leaving[1] && !leaving[SLEEPERS - 1]);
    assert(sleepers == killed)
}

/* ---- setters ---- */

inline wake_if(somebody)
{
    if
    :: somebody -> futex_wake()
    :: else
    fi
}

#ifdef STORES
proctype setter()
{
    byte round;
    bool somebody;
    do
    :: round < ROUNDS ->
        round++;
        beside_stored = round;
        if
#ifndef S2_FIRST
        :: true ->
S1:         d_step { stored = round; begun = round };
#if (defined(SET) && !defined(LATE_S1)) || defined(FENCE)
            DRAINED;
#endif
#ifdef KILL_SETTER
            if
            :: true
            :: round == LAST -> goto dead /* not earlier: what is never set cannot be waited for */
            fi;
#endif
S2:         somebody = sleepers > 0;
S3:         wake_if(somebody)
#endif
#if defined(S2_FIRST) || defined(WEAK) && defined(PUBLISH) && !defined(FENCE)
        :: true -> /* S2 before S1: nothing orders this load after that store */
            d_step { somebody = sleepers > 0; begun = round };
            stored = round;
#ifdef SET
            DRAINED;
#endif
            wake_if(somebody)
#endif
        fi
    :: else -> break
    od;
dead:
    finished++
}

init
{
    atomic {
        run setter();
        run waiter(0, 1, 1);
        run waiter(1, 2, 1)
    }
    at_the_end()
}
#endif

#ifdef ARRIVE
/* As in a barrier: so nobody arrives for a target before all have seen the one before it. */
proctype rank(byte me)
{
    byte target;
    byte now;
    byte seen;
    byte owed;
    bool somebody;
    do
    :: target < LAST ->
        target = target + PARTIES;
#ifdef WAIT_FOR_LESS
        me == 0 || finished > 0; /* the third waits for the first to arrive, the second for it */
#endif
S1:     d_step { value++; now = value };
        if
        :: now >= target ->
S2:         somebody = sleepers > 0;
S3:         wake_if(somebody)
        :: else
        fi;
        wait_until(me, target);
        atomic { seen = 0; now = 0; somebody = false }
    :: else -> break
    od;
dead:
    finished++
}

init
{
    atomic {
        run rank(0);
        run rank(1);
#ifdef WAIT_FOR_LESS
        run waiter(PARTIES, 1, LAST)
#else
        run waiter(PARTIES, PARTIES, PARTIES)
#endif
    }
    at_the_end()
}
#endif
