/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Agreements on shared controls, as locks and records of one file per lever:
 *
 *   lock on byte N                     whoever has CPU N has joined
 *   lock on byte MUTEX + N             the record of the controls whose lowest CPU is N is in use
 *   bytes from N * sizeof(record_t)    that record
 */
#include "config.h"

#include "control/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pwr/clock.h"
#include "pwr/file.h"
#include "topo/topo_private.h"

enum {
    MAGIC = 0x70777301, /* last byte: version of the record */
    MUTEX = PWR_CPUSET_CPUS,
    WHY_BYTES = 512,
    LOCK_TRIES = 20000,
    LOCK_PAUSE_NS = 100000
};

typedef struct record {
    uint64_t magic;
    pwr_held_state_t controls[PWR_SHARED_CONTROLS];
    uint64_t lowered_since_ns; /* 0: they are not */
    uint64_t lowered_ns;       /* until then */
    pwr_cpuset_t agreed;
} record_t;

struct pwr_shared {
    const pwr_env_t *env;
    int fd;
    pwr_cpuset_t sharers;
    pwr_cpuset_t mine;   /* of sharers */
    pwr_cpuset_t others; /* of sharers */
    pwr_held_t *controls[PWR_SHARED_CONTROLS];
    unsigned count;
    bool agrees;
    record_t record; /* of the last begin or end */
};

static bool is_lowered(const pwr_shared_t *shared)
{
    bool lowered = false;
    for (unsigned i = 0; i < shared->count; i++) {
        lowered = lowered || shared->controls[i]->changed;
    }
    return lowered;
}

/* ---- locks ---- */

static bool try_mutex(const pwr_shared_t *shared, short type)
{
    struct flock lock = {.l_type = type,
                         .l_whence = SEEK_SET,
                         .l_start = MUTEX + pwr_cpuset_next(&shared->sharers, -1),
                         .l_len = 1};
    return fcntl(shared->fd, F_OFD_SETLK, &lock) == 0;
}

/* Bounded: whoever has it may have been stopped. */
static pwr_status_t lock_record(const pwr_shared_t *shared)
{
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (try_mutex(shared, F_WRLCK)) {
            return PWR_OK;
        }
        if (errno != EAGAIN && errno != EACCES) {
            return pwr_status_from_errno(errno);
        }
        pwr_sleep_ns(LOCK_PAUSE_NS);
    }
    return PWR_ERR_IO;
}

static void unlock_record(const pwr_shared_t *shared)
{
    (void)try_mutex(shared, F_UNLCK);
}

static bool is_first(const pwr_shared_t *shared)
{
    return pwr_cpu_locks_first(shared->fd, &shared->sharers, true) < 0;
}

static bool have_all_joined(const pwr_shared_t *shared)
{
    return pwr_cpu_locks_first(shared->fd, &shared->others, false) < 0;
}

/* ---- the record ---- */

static off_t place_of(const pwr_shared_t *shared)
{
    return (off_t)sizeof(record_t) * pwr_cpuset_next(&shared->sharers, -1);
}

static pwr_status_t load(pwr_shared_t *shared)
{
    ssize_t got = pread(shared->fd, &shared->record, sizeof shared->record, place_of(shared));
    if (got < 0) {
        return pwr_status_from_errno(errno);
    }
    return got == sizeof shared->record && shared->record.magic == MAGIC ? PWR_OK : PWR_ERR_PARSE;
}

static void note_time(pwr_shared_t *shared)
{
    record_t *record = &shared->record;
    uint64_t now_ns = pwr_env_now_ns(shared->env);
    if (record->lowered_since_ns != 0) {
        record->lowered_ns += now_ns - record->lowered_since_ns;
    }
    record->lowered_since_ns = is_lowered(shared) ? now_ns : 0;
}

static pwr_status_t store(pwr_shared_t *shared)
{
    for (unsigned i = 0; i < shared->count; i++) {
        shared->record.controls[i] = pwr_held_state(shared->controls[i]);
    }
    note_time(shared);
    const pwr_growth_t growth = pwr_growth_begin();
    ssize_t put = pwrite(shared->fd, &shared->record, sizeof shared->record, place_of(shared));
    pwr_growth_end(&growth);
    if (put < 0) {
        return pwr_status_from_errno(errno);
    }
    return put == sizeof shared->record ? PWR_OK : PWR_ERR_IO;
}

static void set_agreement(pwr_shared_t *shared, bool agrees)
{
    const pwr_cpuset_t *mine = &shared->mine;
    pwr_cpuset_subtract(&shared->record.agreed, mine);
    for (int cpu = pwr_cpuset_next(mine, -1); cpu >= 0 && agrees;
         cpu = pwr_cpuset_next(mine, cpu)) {
        pwr_cpuset_add(&shared->record.agreed, (unsigned)cpu);
    }
    shared->agrees = agrees;
}

/* ---- joining ---- */

pwr_status_t pwr_shared_check(const pwr_held_request_t *request, const pwr_cpuset_t *sharers,
                              const pwr_cpuset_t *mine)
{
    int other = pwr_cpuset_first_missing(mine, sharers);
    if (other >= 0 && request->guard) {
        other = pwr_claim_first_unclaimed(pwr_guard_rundir(request->guard), sharers);
    }
    if (other < 0) {
        return PWR_OK;
    }
    pwr_why_add(request->why,
                "CPU %d has the same control as ours, and no process of this user has claimed it: "
                "others may compute there (start ranks on all CPUs of the package)",
                other);
    return PWR_ERR_SHARED;
}

/* Under the lock.  The state that is there counts, not what we found: it knows whose values they
   are. */
static pwr_status_t join(pwr_shared_t *shared, const char **failed)
{
    *failed = "its record is damaged or of another version";
    if (is_first(shared)) {
        shared->record = (record_t){.magic = MAGIC};
    } else {
        pwr_status_t status = load(shared);
        for (unsigned i = 0; i < shared->count && status == PWR_OK; i++) {
            *failed = "a value that other processes agreed on is in force";
            status = shared->record.controls[i].changed
                         ? PWR_ERR_SHARED
                         : pwr_held_take_over(shared->controls[i], &shared->record.controls[i]);
        }
        if (status != PWR_OK) {
            return status;
        }
    }
    *failed = "its record cannot be written";
    set_agreement(shared, false);
    bool locked = pwr_cpu_locks_take(shared->fd, &shared->mine) == PWR_OK;
    return locked ? store(shared) : PWR_ERR_IO;
}

static pwr_status_t open_record(const pwr_shared_request_t *request, pwr_shared_t *shared)
{
    const pwr_why_t *why = request->held->why;
    const pwr_rundir_t *rundir = pwr_guard_rundir(request->held->guard);
    char reason[WHY_BYTES];
    const char *failed = "its lock is not given back";
    pwr_status_t status = pwr_rundir_open_file(rundir, request->name, O_RDWR | O_CREAT, reason,
                                               sizeof reason, &shared->fd);
    if (status != PWR_OK) {
        pwr_why_add(why, "%s", reason);
        return status;
    }
    status = lock_record(shared);
    if (status == PWR_OK) {
        status = join(shared, &failed);
        unlock_record(shared);
    }
    if (status != PWR_OK) {
        pwr_why_add(why, "%s/%s: %s (%s)", pwr_rundir_name(rundir), request->name, failed,
                    pwr_status_text(status));
    }
    return status;
}

pwr_status_t pwr_shared_open(const pwr_shared_request_t *request, pwr_held_t *const controls[],
                             unsigned count, pwr_shared_t **shared)
{
    pwr_shared_t *made = calloc(1, sizeof *made);
    if (!made) {
        return PWR_ERR_NOMEM;
    }
    made->env = request->held->env;
    made->fd = -1;
    made->sharers = made->mine = made->others = *request->sharers;
    pwr_cpuset_intersect(&made->mine, request->mine);
    pwr_cpuset_subtract(&made->others, request->mine);
    made->count = count;
    memcpy(made->controls, controls, count * sizeof made->controls[0]);
    pwr_status_t status = open_record(request, made);
    if (status != PWR_OK) {
        pwr_shared_close(made);
        return status;
    }
    *shared = made;
    return PWR_OK;
}

void pwr_shared_close(pwr_shared_t *shared)
{
    if (shared) {
        if (shared->fd >= 0) {
            close(shared->fd);
        }
        free(shared);
    }
}

/* ---- moving ---- */

/* Somebody has died, whose guardian may have restored them: what is found then is not a third
   party's. */
static void expect_a_restore(const pwr_shared_t *shared)
{
    for (unsigned i = 0; i < shared->count; i++) {
        shared->controls[i]->unsure = shared->controls[i]->changed;
    }
}

pwr_status_t pwr_shared_begin(pwr_shared_t *shared)
{
    pwr_status_t status = lock_record(shared);
    if (status != PWR_OK) {
        return status;
    }
    status = load(shared);
    for (unsigned i = 0; i < shared->count && status == PWR_OK; i++) {
        status = pwr_held_take_over(shared->controls[i], &shared->record.controls[i]);
    }
    if (status == PWR_OK && is_lowered(shared) && !have_all_joined(shared)) {
        expect_a_restore(shared);
    }
    if (status != PWR_OK) {
        unlock_record(shared);
        return status;
    }
    note_time(shared);
    return PWR_OK;
}

/* Nobody would know of it. */
static void restore_unrecorded(const pwr_shared_t *shared)
{
    for (unsigned i = 0; i < shared->count; i++) {
        (void)pwr_held_restore(shared->controls[i]);
    }
}

pwr_status_t pwr_shared_end(pwr_shared_t *shared, pwr_status_t status)
{
    pwr_status_t stored = store(shared);
    if (stored != PWR_OK) {
        restore_unrecorded(shared);
    }
    unlock_record(shared);
    return status != PWR_OK ? status : stored;
}

static bool all_agree(const pwr_shared_t *shared)
{
    return pwr_cpuset_includes(&shared->record.agreed, &shared->sharers) && have_all_joined(shared);
}

pwr_status_t pwr_shared_agree(pwr_shared_t *shared, bool *all)
{
    pwr_status_t status = PWR_OK;
    for (unsigned i = 0; i < shared->count && status == PWR_OK; i++) {
        unsigned adopted = shared->controls[i]->adopted;
        status = pwr_held_look(shared->controls[i]);
        if (shared->controls[i]->adopted != adopted) {
            shared->record.agreed = (pwr_cpuset_t){{0}};
        }
    }
    if (status == PWR_OK) {
        set_agreement(shared, true);
        *all = all_agree(shared);
    }
    return status;
}

void pwr_shared_withdraw(pwr_shared_t *shared)
{
    set_agreement(shared, false);
}

bool pwr_shared_agrees(const pwr_shared_t *shared)
{
    return shared->agrees;
}

uint64_t pwr_shared_lowered_ns(const pwr_shared_t *shared)
{
    return shared->record.lowered_ns;
}
