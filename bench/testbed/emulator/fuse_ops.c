/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system (libfuse3, low level): inode i is node i - 1 of the tree.
 *
 * Mounting; names, kinds and permissions, which the kernel checks (default_permissions); fuse_io.c
 * reads and writes.
 */
#include "config.h"

#include "fuse_ops.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "records.h"

/* Names do not change; permissions change only through us, and the kernel hears of that. */
static const double forever_s = 86400;

static void node_stat(const struct emu_server *server, const struct emu_node *node,
                      struct stat *status)
{
    memset(status, 0, sizeof *status);
    status->st_ino = (ino_t)(node - server->tree.nodes) + 1;
    status->st_mode = node->mode;
    status->st_uid = node->owner;
    status->st_nlink = node->kind == EMU_NODE_FOLDER ? 2 : 1;
    switch (node->kind) {
    case EMU_NODE_LINK:
    case EMU_NODE_TEXT:
        status->st_size = (off_t)strlen(node->text);
        break;
    case EMU_NODE_ATTRIBUTE:
        status->st_size = EMU_ATTRIBUTE_SIZE; /* as in sysfs */
        break;
    default:
        break;
    }
}

static void op_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct emu_server *server = emu_request_server(request);
    int child = emu_tree_find(&server->tree, (int)parent - 1, name);
    struct fuse_entry_param entry = {.attr_timeout = forever_s, .entry_timeout = forever_s};
    if (child != 0) { /* otherwise inode 0: there is none */
        entry.ino = (fuse_ino_t)child + 1;
        node_stat(server, &server->tree.nodes[child], &entry.attr);
    }
    fuse_reply_entry(request, &entry);
}

static void op_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    (void)file;
    struct stat status;
    node_stat(emu_request_server(request), emu_request_node(request, inode), &status);
    fuse_reply_attr(request, &status, forever_s);
}

/* chmod and chown, as an administrator would; O_TRUNC is accepted and means nothing, as in sysfs.
 */
static void op_setattr(fuse_req_t request, fuse_ino_t inode, struct stat *wish, int what,
                       struct fuse_file_info *file)
{
    (void)file;
    struct emu_server *server = emu_request_server(request);
    struct emu_node *node = emu_request_node(request, inode);
    struct stat status;
    pthread_mutex_lock(&server->lock);
    if ((what & FUSE_SET_ATTR_MODE) != 0) {
        node->mode = (node->mode & S_IFMT) | (wish->st_mode & 07777);
    }
    if ((what & FUSE_SET_ATTR_UID) != 0) {
        node->owner = wish->st_uid;
    }
    node_stat(server, node, &status);
    pthread_mutex_unlock(&server->lock);
    fuse_reply_attr(request, &status, forever_s);
}

static void op_readlink(fuse_req_t request, fuse_ino_t inode)
{
    fuse_reply_readlink(request, emu_request_node(request, inode)->text);
}

static void op_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                       struct fuse_file_info *file)
{
    (void)file;
    struct emu_server *server = emu_request_server(request);
    char *buffer = malloc(size);
    size_t used = 0;
    if (buffer == NULL) {
        fuse_reply_err(request, ENOMEM);
        return;
    }
    off_t position = 0;
    for (int child = emu_request_node(request, inode)->first_child; child != 0;
         child = server->tree.nodes[child].next) {
        struct stat status;
        if (++position <= offset) {
            continue;
        }
        node_stat(server, &server->tree.nodes[child], &status);
        size_t entry = fuse_add_direntry(request, buffer + used, size - used,
                                         server->tree.nodes[child].name, &status, position);
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
    .open = emu_io_open,
    .release = emu_io_release,
    .read = emu_io_read,
    .write = emu_io_write,
};

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

static void wait_for_late_calls(struct emu_server *server)
{
    pthread_mutex_lock(&server->lock);
    while (server->late_calls > 0) { /* they see stop; their answers need the session */
        pthread_mutex_unlock(&server->lock);
        usleep(1000);
        pthread_mutex_lock(&server->lock);
    }
    pthread_mutex_unlock(&server->lock);
}

static bool loop(struct emu_server *server)
{
    int error = emu_sampler_start(server);
    if (error != 0) {
        emu_log("cannot start the sampler: %s", strerror(error));
        return false;
    }
    fuse_session_loop(server->session);
    emu_sampler_stop(server);
    wait_for_late_calls(server);
    return true;
}

static bool serve(struct emu_server *server, const char *mount_point)
{
    if (fuse_session_mount(server->session, mount_point) != 0) {
        emu_log("cannot mount on %s: %s", mount_point, strerror(errno));
        return false;
    }
    return move_out(mount_point) && loop(server);
}

bool emu_fuse_run(struct emu_server *server, const char *mount_point)
{
    char *words[] = {"pwr-emulator", "-o", "allow_other,default_permissions,fsname=pwr-emulator",
                     NULL};
    struct fuse_args arguments = FUSE_ARGS_INIT(3, words);
    server->session = fuse_session_new(&arguments, &operations, sizeof operations, server);
    fuse_opt_free_args(&arguments);
    if (server->session == NULL) {
        return false;
    }
    bool good = fuse_set_signal_handlers(server->session) == 0;
    if (good) {
        good = serve(server, mount_point);
        fuse_remove_signal_handlers(server->session);
    }
    fuse_session_destroy(server->session);
    return good;
}
