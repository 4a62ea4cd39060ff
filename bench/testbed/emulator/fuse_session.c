/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Mounting the file system and serving it until its end.
 */
#include "config.h"

#include "fuse_ops.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>

#include "log.h"
#include "server.h"

/* The daemon moves to a mount namespace of its own that does not hold the mount.  So the mount, and
   with it the daemon, ends with the caller's namespace; and what is mounted there later over /proc
   and /sys is not seen by the daemon, which would otherwise wait for itself. */
static int move_out(const char *mount_point)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        umount2(mount_point, MNT_DETACH) != 0) {
        int error = errno;
        emu_log("cannot leave the mount namespace: %s", strerror(error));
        return error;
    }
    return 0;
}

static int serve(struct fuse_session *session, struct emu_server *server, const char *mount_point,
                 bool leave_namespace, bool (*ready)(void *arg), void *arg)
{
    int error = leave_namespace ? move_out(mount_point) : 0;
    if (error == 0 && !ready(arg)) {
        error = ECANCELED;
    }
    if (error == 0) {
        int result = fuse_session_loop(session);
        error = result < 0 ? -result : 0; /* a signal's number is a regular end */
        emu_late_stop(&server->late);     /* their answers need the session */
    }
    if (!leave_namespace) {
        fuse_session_unmount(session);
    }
    return error;
}

int emu_fuse_run(struct emu_server *server, const char *mount_point, bool leave_namespace,
                 bool (*ready)(void *arg), void *arg)
{
    char *words[] = {"pwr-emulator", "-o", "allow_other,default_permissions,fsname=pwr-emulator",
                     NULL};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
    struct fuse_session *session =
        fuse_session_new(&arguments, &emu_fuse_operations, sizeof emu_fuse_operations, server);
    int error = session == NULL ? EINVAL : 0;
    if (error == 0 && fuse_set_signal_handlers(session) != 0) {
        error = EINVAL;
    } else if (error == 0) {
        errno = 0;
        if (fuse_session_mount(session, mount_point) == 0) {
            error = serve(session, server, mount_point, leave_namespace, ready, arg);
        } else {
            error = errno != 0 ? errno : EIO;
            emu_log("cannot mount on %s: %s", mount_point, strerror(error));
        }
        fuse_remove_signal_handlers(session);
    }
    if (session != NULL) {
        fuse_session_destroy(session);
    }
    fuse_opt_free_args(&arguments);
    return error;
}
