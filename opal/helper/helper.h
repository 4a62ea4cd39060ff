/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Helper programs of this process: how they are started and spoken to (private to the library).
 *
 * A helper is nobody's child: the spawned process forks the helper and ends, and is reaped before
 * pwr_helper_start returns, so an application's wait() never sees it.  It is made with posix_spawn,
 * so no handler that the application registered (atexit, pthread_atfork) runs in it.  It is in a
 * session of its own, has /dev/null as standard files, and its end of a SOCK_SEQPACKET pair as
 * descriptor 3.  The helper's own side is in helper/detach.h.
 */
#ifndef PWR_HELPER_H
#define PWR_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pwr/env.h"

enum { PWR_HELPER_FD = 3 };

/* Starts a program of env->helper_dir with one argument (NULL: none); *fd is our end of its socket,
   the caller's to close, and close-on-exec.  Errors: UNSUPPORTED (not installed), PERM, NOMEM, IO;
   nothing is logged. */
pwr_status_t pwr_helper_start(const pwr_env_t *env, const char *program, const char *argument,
                              int *fd);

/* One message.  Errors: IO (the other end is gone; no SIGPIPE), TIMEOUT. */
pwr_status_t pwr_helper_send(int fd, const void *message, size_t size);

/* How long a helper has not moved.  Where a job or a machine is stopped for a while, neither of us
   moves: so what counts is the time in which we have looked, at most 100 ms between two looks. */
typedef struct {
    uint64_t looked_ns, still_ns;
} pwr_helper_watch_t;

/* Also: the helper has been seen to move. */
void pwr_helper_watch(const pwr_env_t *env, pwr_helper_watch_t *watch);
/* Takes a look; returns whether the helper has stood still for longer than that. */
bool pwr_helper_has_stalled(const pwr_env_t *env, pwr_helper_watch_t *watch, uint64_t timeout_ns);

/* Until there is something to receive, or the end of the socket; the timeout is one of a watch.
   Errors: TIMEOUT, IO. */
pwr_status_t pwr_helper_wait(const pwr_env_t *env, int fd, uint64_t timeout_ns);
/* Waits for one message of exactly this size.  Another size, or the end of the socket, is IO. */
pwr_status_t pwr_helper_receive(const pwr_env_t *env, int fd, uint64_t timeout_ns, void *message,
                                size_t size);

#endif
