/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * A connection to a program of likwid's that all of a process shares.
 */
#include "config.h"

#include "likwid/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "helper/helper.h"

/* An answer takes tens of microseconds; on a node with more ranks than CPUs the program may have to
   wait for its turn. */
enum { ANSWER_TIMEOUT_S = 5 };
static const uint64_t answer_timeout_ns = ANSWER_TIMEOUT_S * 1000000000ull;

/* Partner: none, a plain count.  Relaxed: probes of several threads only ever overlap more. */
static _Atomic unsigned probes;

static pid_t owner_of(const pwr_link_t *link)
{
    return atomic_load_explicit(&link->owner, memory_order_acquire);
}

static void set_owner(pwr_link_t *link, pid_t owner)
{
    atomic_store_explicit(&link->owner, owner, memory_order_release); /* partner: owner_of */
}

static bool is_open(const pwr_link_t *link)
{
    return owner_of(link) != 0;
}

/* Open in the process that forked this one. */
static bool is_parents(const pwr_link_t *link)
{
    return is_open(link) && owner_of(link) != getpid();
}

static bool probing(void)
{
    return atomic_load_explicit(&probes, memory_order_relaxed) > 0;
}

static void limit_waiting(int fd)
{
    const struct timeval limit = {.tv_sec = ANSWER_TIMEOUT_S};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static void shut(pwr_link_t *link)
{
    if (!link->broken && link->farewell) {
        link->farewell(link->fd);
    }
    close(link->fd);
    link->root = NULL;
    set_owner(link, 0);
}

/* ---- acquire ---- */

static pwr_status_t start(pwr_link_t *link, const pwr_env_t *env, const pwr_why_t *why)
{
    pwr_status_t status = link->start(env, why, &link->fd);
    link->failure = status;
    link->root = status == PWR_OK || probing() ? env->root : NULL;
    if (status == PWR_OK) {
        limit_waiting(link->fd);
        link->broken = false;
        set_owner(link, getpid());
    }
    return status;
}

static pwr_status_t find_or_start(pwr_link_t *link, const pwr_env_t *env, const pwr_why_t *why)
{
    bool same_root = link->root && strcmp(link->root, env->root) == 0;
    if (is_open(link) && link->users > 0 && !same_root) {
        pwr_why_add(why, "likwid's program is in use for another file system root");
        return PWR_ERR_PERM;
    }
    if (is_open(link) && link->users == 0 && (link->broken || !same_root)) {
        shut(link);
        same_root = false;
    }
    if (is_open(link)) {
        return PWR_OK;
    }
    if (same_root) {
        return link->failure; /* the reason has been given */
    }
    return start(link, env, why);
}

pwr_status_t pwr_link_acquire(pwr_link_t *link, const pwr_env_t *env, const pwr_why_t *why)
{
    if (is_parents(link)) {
        pwr_why_add(why, "likwid's program belongs to the process that forked this one");
        return PWR_ERR_PERM;
    }
    pthread_mutex_lock(&link->mutex);
    pwr_status_t status = find_or_start(link, env, why);
    if (status == PWR_OK) {
        link->users++;
    }
    pthread_mutex_unlock(&link->mutex);
    return status;
}

/* ---- release ---- */

static void shut_if_idle(pwr_link_t *link)
{
    if (is_open(link) && link->users == 0 && !probing()) {
        shut(link);
    }
}

void pwr_link_release(pwr_link_t *link)
{
    if (is_parents(link)) {
        return;
    }
    pthread_mutex_lock(&link->mutex);
    link->users--;
    shut_if_idle(link);
    pthread_mutex_unlock(&link->mutex);
}

void pwr_link_probe_begin(void)
{
    atomic_fetch_add_explicit(&probes, 1, memory_order_relaxed);
}

void pwr_link_probe_end(pwr_link_t *const links[], size_t count)
{
    if (atomic_fetch_sub_explicit(&probes, 1, memory_order_relaxed) > 1) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&links[i]->mutex);
        shut_if_idle(links[i]);
        if (!is_open(links[i])) {
            links[i]->root = NULL;
        }
        pthread_mutex_unlock(&links[i]->mutex);
    }
}

/* ---- exchange ---- */

/* Every signal, and a profiler sends many, starts the socket's own time limit anew. */
static bool receive(int fd, char *record, size_t size)
{
    uint64_t begin_ns = pwr_env_now_ns(&pwr_env_real);
    size_t have = 0;
    do {
        ssize_t got = recv(fd, record + have, size - have, MSG_WAITALL);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        have += got > 0 ? (size_t)got : 0;
    } while (have < size && pwr_env_now_ns(&pwr_env_real) - begin_ns < answer_timeout_ns);
    return have == size;
}

/* A request fits into an empty socket, so sending does not wait. */
static bool transfer(int fd, void *record, size_t size)
{
    return pwr_helper_send(fd, record, size) == PWR_OK && receive(fd, record, size);
}

pwr_status_t pwr_link_exchange(pwr_link_t *link, void *record, size_t size)
{
    if (is_parents(link)) {
        return PWR_ERR_IO;
    }
    pthread_mutex_lock(&link->mutex);
    if (!link->broken && !transfer(link->fd, record, size)) {
        link->broken = true;
    }
    pwr_status_t status = link->broken ? PWR_ERR_IO : PWR_OK;
    pthread_mutex_unlock(&link->mutex);
    return status;
}

void pwr_link_distrust(pwr_link_t *link)
{
    pthread_mutex_lock(&link->mutex);
    link->broken = true;
    pthread_mutex_unlock(&link->mutex);
}
