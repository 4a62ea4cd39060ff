/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system (libfuse3, low level): inode i is node i - 1 of the tree.
 *
 * Files are served with direct_io, so that every read(2) and write(2) of a client arrives here with
 * its own offset and size: for an MSR the offset is the register's number, and nothing is cached.
 * The kernel checks permissions (default_permissions).
 */
#include "config.h"

#include "fuse_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "msr.h"
#include "server.h"
#include "trace.h"

enum { ATTRIBUTE_SIZE = 4096, MSR_BATCH = 64, CAP_SYS_RAWIO_BIT = 17 };

/* Names never change; permissions change only through us, and the kernel hears of that. */
static const double forever_s = 86400;

/* What one open file descriptor of a client shows, rendered when it reads from the start. */
struct view {
    char *text;
    size_t length;
};

static struct emu_server *server_of(fuse_req_t request)
{
    return fuse_req_userdata(request);
}

static struct emu_node *node_of(fuse_req_t request, fuse_ino_t inode)
{
    return &server_of(request)->tree.nodes[inode - 1];
}

static bool is_msr(const struct emu_node *node)
{
    return node->kind == EMU_NODE_MSR || node->kind == EMU_NODE_MSR_SAFE;
}

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
        status->st_size = ATTRIBUTE_SIZE; /* as in sysfs */
        break;
    default:
        break;
    }
}

static void op_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
    struct emu_server *server = server_of(request);
    int child = emu_tree_find(&server->tree, (int)parent - 1, name);
    struct fuse_entry_param entry = {.attr_timeout = forever_s, .entry_timeout = forever_s};
    if (child != 0) { /* otherwise inode 0: the kernel remembers that there is none */
        entry.ino = (fuse_ino_t)child + 1;
        node_stat(server, &server->tree.nodes[child], &entry.attr);
    }
    fuse_reply_entry(request, &entry);
}

static void op_getattr(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    (void)file;
    struct stat status;
    node_stat(server_of(request), node_of(request, inode), &status);
    fuse_reply_attr(request, &status, forever_s);
}

/* chmod and chown, as an administrator would; O_TRUNC is accepted and means nothing, as in sysfs.
 */
static void op_setattr(fuse_req_t request, fuse_ino_t inode, struct stat *wish, int what,
                       struct fuse_file_info *file)
{
    (void)file;
    struct emu_server *server = server_of(request);
    struct emu_node *node = node_of(request, inode);
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
    fuse_reply_readlink(request, node_of(request, inode)->text);
}

static void op_readdir(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                       struct fuse_file_info *file)
{
    (void)file;
    struct emu_server *server = server_of(request);
    char *buffer = malloc(size);
    size_t used = 0;
    if (buffer == NULL) {
        fuse_reply_err(request, ENOMEM);
        return;
    }
    off_t position = 0;
    for (int child = node_of(request, inode)->first_child; child != 0;
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

static bool has_rawio(pid_t pid)
{
    char path[64], line[256];
    unsigned long long effective = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *stream = fopen(path, "re");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        if (sscanf(line, "CapEff: %llx", &effective) == 1) {
            break;
        }
    }
    if (stream != NULL) {
        fclose(stream);
    }
    return (effective >> CAP_SYS_RAWIO_BIT & 1) != 0;
}

static void op_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    const struct emu_node *node = node_of(request, inode);
    struct view *view = NULL;
    if (node->kind == EMU_NODE_MSR && server_of(request)->machine.config.require_rawio &&
        !has_rawio(fuse_req_ctx(request)->pid)) {
        fuse_reply_err(request, EPERM);
        return;
    }
    if (!is_msr(node)) {
        view = calloc(1, sizeof *view);
        if (view == NULL) {
            fuse_reply_err(request, ENOMEM);
            return;
        }
    }
    file->direct_io = 1;
    file->fh = (uintptr_t)view;
    fuse_reply_open(request, file);
}

static void op_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    (void)inode;
    struct view *view = (struct view *)(uintptr_t)file->fh;
    if (view != NULL) {
        free(view->text);
        free(view);
    }
    fuse_reply_err(request, 0);
}

static struct emu_access access_at(struct emu_server *server, const struct emu_node *node)
{
    return (struct emu_access){.machine = &server->machine,
                               .activity = server->activity,
                               .index = node->index,
                               .now_ns = emu_now_ns()};
}

static void msr_read(fuse_req_t request, const struct emu_node *node, size_t size, off_t offset)
{
    struct emu_server *server = server_of(request);
    uint64_t values[MSR_BATCH];
    size_t count = size / sizeof values[0];
    int error = 0;
    if (count == 0 || size % sizeof values[0] != 0) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    count = count < MSR_BATCH ? count : MSR_BATCH;
    pthread_mutex_lock(&server->lock);
    struct emu_access access = access_at(server, node);
    for (size_t i = 0; i < count && error == 0; i++) { /* the same register each time, as Linux */
        error = node->kind == EMU_NODE_MSR
                    ? emu_msr_read(&access, (uint32_t)offset, &values[i])
                    : emu_msr_safe_read(&access, (uint32_t)offset, &values[i]);
    }
    pthread_mutex_unlock(&server->lock);
    if (error != 0) {
        fuse_reply_err(request, error);
    } else {
        fuse_reply_buf(request, (const char *)values, count * sizeof values[0]);
    }
}

static void view_render(struct emu_server *server, const struct emu_node *node, struct view *view)
{
    free(view->text);
    *view = (struct view){0};
    if (node->kind == EMU_NODE_TEXT) {
        view->text = strdup(node->text);
        view->length = view->text != NULL ? strlen(view->text) : 0;
        return;
    }
    FILE *out = open_memstream(&view->text, &view->length);
    if (out == NULL) {
        return;
    }
    pthread_mutex_lock(&server->lock);
    struct emu_access access = access_at(server, node);
    node->attribute->show(&access, out);
    pthread_mutex_unlock(&server->lock);
    fclose(out);
}

static void op_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                    struct fuse_file_info *file)
{
    const struct emu_node *node = node_of(request, inode);
    if (is_msr(node)) {
        msr_read(request, node, size, offset);
        return;
    }
    struct view *view = (struct view *)(uintptr_t)file->fh;
    if (offset == 0 || view->text == NULL) {
        view_render(server_of(request), node, view);
    }
    if (offset < 0 || (size_t)offset >= view->length) {
        fuse_reply_buf(request, NULL, 0);
        return;
    }
    size_t rest = view->length - (size_t)offset;
    fuse_reply_buf(request, view->text + offset, rest < size ? rest : size);
}

static void reject(struct emu_server *server, const struct emu_node *node, pid_t pid,
                   const char *value, int error)
{
    server->machine.rejected_writes++;
    emu_log("pid %d: write of %.40s to %s of %d rejected: %s", (int)pid, value, node->name,
            node->index, strerror(error));
}

static void msr_write(fuse_req_t request, const struct emu_node *node, const char *bytes,
                      size_t size, off_t offset)
{
    struct emu_server *server = server_of(request);
    pid_t pid = fuse_req_ctx(request)->pid;
    uint32_t reg = (uint32_t)offset;
    uint64_t value;
    if (size == 0 || size % sizeof value != 0) {
        fuse_reply_err(request, EINVAL);
        return;
    }
    for (size_t at = 0; at < size; at += sizeof value) {
        memcpy(&value, bytes + at, sizeof value);
        pthread_mutex_lock(&server->lock);
        struct emu_access access = access_at(server, node);
        int error = node->kind == EMU_NODE_MSR ? emu_msr_write(&access, reg, value)
                                               : emu_msr_safe_write(&access, reg, &value);
        if (error != 0) {
            char text[48];
            snprintf(text, sizeof text, "0x%llx (register 0x%x)", (unsigned long long)value, reg);
            reject(server, node, pid, text, error);
        }
        pthread_mutex_unlock(&server->lock);
        if (error != 0) {
            fuse_reply_err(request, error);
            return;
        }
        if (emu_msr_traced(&server->machine, reg)) {
            emu_trace_msr(&server->trace, access.now_ns, node->index, reg, value, pid);
        }
    }
    fuse_reply_write(request, size);
}

/* 0 and text without the newline and blanks around it, or EINVAL. */
static int text_copy(char text[ATTRIBUTE_SIZE], const char *bytes, size_t size)
{
    while (size > 0 &&
           (bytes[size - 1] == '\n' || bytes[size - 1] == ' ' || bytes[size - 1] == '\0')) {
        size--;
    }
    if (size == 0 || size >= ATTRIBUTE_SIZE || memchr(bytes, '\0', size) != NULL) {
        return EINVAL;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    return 0;
}

static void op_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                     off_t offset, struct fuse_file_info *file)
{
    (void)file;
    struct emu_server *server = server_of(request);
    const struct emu_node *node = node_of(request, inode);
    pid_t pid = fuse_req_ctx(request)->pid;
    char text[ATTRIBUTE_SIZE] = "";
    if (is_msr(node)) {
        msr_write(request, node, bytes, size, offset);
        return;
    }
    if (node->attribute == NULL || node->attribute->store == NULL) {
        fuse_reply_err(request, EACCES);
        return;
    }
    int error = text_copy(text, bytes, size);
    pthread_mutex_lock(&server->lock);
    struct emu_access access = access_at(server, node);
    if (error == 0) {
        error = node->attribute->store(&access, text);
    }
    if (error != 0) {
        reject(server, node, pid, text, error);
    }
    pthread_mutex_unlock(&server->lock);
    if (error != 0) {
        fuse_reply_err(request, error);
        return;
    }
    if (node->attribute->traced) {
        emu_trace_text(&server->trace, access.now_ns, node->index, node->name, text, pid);
    }
    fuse_reply_write(request, size);
}

const struct fuse_lowlevel_ops emu_fuse_operations = {
    .lookup = op_lookup,
    .getattr = op_getattr,
    .setattr = op_setattr,
    .readlink = op_readlink,
    .readdir = op_readdir,
    .open = op_open,
    .release = op_release,
    .read = op_read,
    .write = op_write,
};
