/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system (libfuse3, low level): inode i is node i - 1 of the tree.
 *
 * Mounting; names, kinds and permissions, which the kernel checks (default_permissions); calls.c
 * reads and writes.
 */
#include "config.h"

#include "calls.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "pwr/thread.h"

/* Names do not change; permissions change only through us, and the kernel hears of that. */
static const double forever_s = 86400;

static struct stat node_stat(const struct emu_server *server, const struct emu_node *node)
{
    struct stat status = {.st_ino = (ino_t)(node - server->tree.nodes) + 1,
                          .st_mode = node->mode,
                          .st_uid = node->owner,
                          .st_nlink = S_ISDIR(node->mode) ? 2 : 1};
    if (node->text != NULL) {
        status.st_size = (off_t)strlen(node->text);
    } else if (node->file != NULL && node->file->size == 0) {
        status.st_size = EMU_TEXT_LIMIT;
    }
    return status;
}

static void op_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct emu_server *server = emu_server_of(request);
    int child = emu_tree_find(&server->tree, (int)parent - 1, name);
    struct fuse_entry_param entry = {.attr_timeout = forever_s, .entry_timeout = forever_s};
    if (child != 0) { /* otherwise inode 0: there is none */
        entry.ino = (fuse_ino_t)child + 1;
        entry.attr = node_stat(server, &server->tree.nodes[child]);
    }
    fuse_reply_entry(request, &entry);
}

static void op_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    (void)file;
    struct stat status = node_stat(emu_server_of(request), emu_node_of(request, inode));
    fuse_reply_attr(request, &status, forever_s);
}

/* chmod and chown, as an administrator would; O_TRUNC is accepted and means nothing, as in sysfs.
 */
static void op_setattr(fuse_req_t request, fuse_ino_t inode, struct stat *wish, int what,
                       struct fuse_file_info *file)
{
    struct emu_server *server = emu_server_of(request);
    struct emu_node *node = emu_node_of(request, inode);
    pthread_mutex_lock(&server->lock);
    if ((what & FUSE_SET_ATTR_MODE) != 0) {
        node->mode = (node->mode & S_IFMT) | (wish->st_mode & 07777);
    }
    if ((what & FUSE_SET_ATTR_UID) != 0) {
        node->owner = wish->st_uid;
    }
    pthread_mutex_unlock(&server->lock);
    op_getattr(request, inode, file);
}

static void op_readlink(fuse_req_t request, fuse_ino_t inode)
{
    fuse_reply_readlink(request, emu_node_of(request, inode)->text);
}

static void op_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                       struct fuse_file_info *file)
{
    (void)file;
    const struct emu_server *server = emu_server_of(request);
    char *buffer = malloc(size);
    size_t used = 0;
    if (buffer == NULL) {
        fuse_reply_err(request, ENOMEM);
        return;
    }
    off_t position = 0;
    const struct emu_node *child;
    for (int i = emu_node_of(request, inode)->first_child; i != 0; i = child->next) {
        child = &server->tree.nodes[i];
        if (++position <= offset) {
            continue;
        }
        struct stat status = node_stat(server, child);
        size_t entry =
            fuse_add_direntry(request, buffer + used, size - used, child->name, &status, position);
        if (entry > size - used) {
            break;
        }
        used += entry;
    }
    fuse_reply_buf(request, buffer, used);
    free(buffer);
}

static const struct fuse_lowlevel_ops operations = {
    .lookup = op_lookup,
    .getattr = op_getattr,
    .setattr = op_setattr,
    .readlink = op_readlink,
    .readdir = op_readdir,
    .open = emu_call_open,
    .release = emu_call_release,
    .read = emu_call_read,
    .write = emu_call_write,
};

/* --- the session --- */

/* The daemon moves to a mount namespace of its own that does not hold the mount.  So the mount, and
   with it the daemon, ends with the caller's namespace; and what is mounted there later over /proc
   and /sys is not seen by the daemon, which would otherwise wait for itself. */
static bool move_out(const char *mount_point)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        umount2(mount_point, MNT_DETACH) != 0) {
        emu_log("cannot leave the mount namespace: %s", strerror(errno));
        return false;
    }
    return true;
}

/* Keeps the account going and answers late calls; the lock is free while it waits. */
static void *keep_time(void *arg)
{
    struct emu_server *server = arg;
    pthread_mutex_lock(&server->lock);
    while (!server->stop) {
        uint64_t next_ns = emu_server_sample(server, false);
        uint64_t late_ns = emu_calls_serve_late(server, false);
        next_ns = late_ns < next_ns ? late_ns : next_ns;
        const struct timespec wake = pwr_timespec(next_ns);
        pthread_cond_timedwait(&server->wake, &server->lock, &wake);
    }
    emu_calls_serve_late(server, true);
    emu_server_sample(server, true);
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

static bool loop(struct emu_server *server, struct fuse_session *session)
{
    pthread_t keeper;
    int error = pwr_thread_begin(&keeper, keep_time, server); /* signals are for the FUSE loop */
    if (error != 0) {
        emu_log("cannot start the second thread: %s", strerror(error));
        return false;
    }
    fuse_session_loop(session);
    pthread_mutex_lock(&server->lock);
    server->stop = true;
    pthread_cond_signal(&server->wake);
    pthread_mutex_unlock(&server->lock);
    pthread_join(keeper, NULL);
    return true;
}

static bool serve_session(struct emu_server *server, struct fuse_session *session,
                          const char *mount_point)
{
    if (fuse_session_mount(session, mount_point) != 0) {
        emu_log("cannot mount on %s: %s", mount_point, strerror(errno));
        return false;
    }
    return move_out(mount_point) && loop(server, session);
}

bool emu_fuse_run(struct emu_server *server, const char *mount_point)
{
    char *words[] = {"pwr-emulator", "-o", "allow_other,default_permissions,fsname=pwr-emulator",
                     NULL};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
    struct fuse_session *session =
        fuse_session_new(&arguments, &operations, sizeof operations, server);
    fuse_opt_free_args(&arguments);
    if (session == NULL) {
        return false;
    }
    bool good = fuse_set_signal_handlers(session) == 0;
    if (good) {
        good = serve_session(server, session, mount_point);
        fuse_remove_signal_handlers(session);
    }
    fuse_session_destroy(session);
    return good;
}
