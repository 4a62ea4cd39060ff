/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system (libfuse3, low level): inode i is node i - 1 of the tree.
 *
 * Names, kinds and permissions; fuse_io.c reads and writes.
 * The kernel checks permissions (default_permissions).
 */
#include "config.h"

#include "fuse_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

/* Names change only where a CPU's hotplug takes them away; permissions change only through us, and
 * the kernel hears of that. */
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

/* Has hotplug taken it away? */
static bool is_hidden(struct emu_server *server, int number)
{
    const struct emu_node *node = &server->tree.nodes[number];
    if (node->gate != EMU_GATE_VANISH) {
        return false;
    }
    pthread_mutex_lock(&server->lock);
    bool hidden = !server->machine.cpus[node->index].online;
    pthread_mutex_unlock(&server->lock);
    return hidden;
}

static void op_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct emu_server *server = emu_request_server(request);
    int child = emu_tree_find(&server->tree, (int)parent - 1, name);
    const struct emu_node *node = &server->tree.nodes[child];
    struct fuse_entry_param entry = {.attr_timeout = forever_s, .entry_timeout = forever_s};
    if (node->gate == EMU_GATE_VANISH) {
        entry.entry_timeout = 0;
    }
    if (child != 0 && !is_hidden(server, child)) { /* otherwise inode 0: there is none */
        entry.ino = (fuse_ino_t)child + 1;
        node_stat(server, node, &entry.attr);
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
        if (++position <= offset || is_hidden(server, child)) {
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

const struct fuse_lowlevel_ops emu_fuse_operations = {
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
