/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Opening, reading and writing the emulated files.
 *
 * Files are served with direct_io, so that every read(2) and write(2) of a client arrives here with
 * its own offset and size: for a device the offset is what tells values apart, and nothing is
 * cached.  A call is served as a whole under the server's lock, its line of the trace included.
 */
#include "config.h"

#include "calls.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One request of a client, and what a fault makes of it. */
struct emu_call {
    fuse_req_t request;
    enum emu_fault_op kind;
    struct emu_node *node;
    struct fuse_file_info info;
    size_t size;
    off_t offset;
    const char *bytes; /* of a write */
    struct emu_fault_hit fault;
    uint64_t due_ns; /* when it is late */
    struct emu_call *next;
};

/* What one open file descriptor of a text shows, rendered when it reads from the start. */
struct view {
    char *text;
    size_t length;
};

static struct view *view_of(const struct fuse_file_info *info)
{
    return (struct view *)(uintptr_t)info->fh;
}

static struct emu_access access_of(const struct emu_call *call)
{
    struct emu_server *server = emu_server_of(call->request);
    return (struct emu_access){.machine = &server->machine,
                               .activity = server->activity,
                               .faults = &server->faults,
                               .trace = &server->trace,
                               .file = call->node->file,
                               .index = call->node->index,
                               .now_ns = pwr_now_ns(),
                               .pid = fuse_req_ctx(call->request)->pid};
}

static int serve_open(struct emu_call *call)
{
    struct view *view = calloc(1, sizeof *view);
    if (view == NULL) {
        return ENOMEM;
    }
    call->info.direct_io = 1;
    call->info.fh = (uintptr_t)view;
    if (fuse_reply_open(call->request, &call->info) != 0) {
        free(view); /* the client is gone, nothing will be released */
    }
    return 0;
}

void emu_call_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
    (void)inode;
    free(view_of(info)->text);
    free(view_of(info));
    fuse_reply_err(request, 0);
}

static int read_device(const struct emu_call *call)
{
    struct emu_access access = access_of(call);
    size_t size = access.file->size;
    union emu_datum datum;
    int error = access.file->read(&access, (uint32_t)call->offset, &datum);
    if (error != 0 || call->size < size) {
        return error != 0 ? error : EINVAL;
    }
    fuse_reply_buf(call->request, (const char *)&datum, call->fault.short_read ? size / 2 : size);
    return 0;
}

static void view_render(const struct emu_call *call, struct view *view)
{
    free(view->text);
    *view = (struct view){0};
    FILE *out = open_memstream(&view->text, &view->length);
    if (out == NULL) {
        return;
    }
    struct emu_access access = access_of(call);
    if (access.file != NULL) {
        emu_file_show(&access, out);
    } else {
        fputs(call->node->text, out);
    }
    fclose(out);
}

static int read_text(const struct emu_call *call)
{
    struct view *view = view_of(&call->info);
    if (call->offset == 0 || view->text == NULL) {
        view_render(call, view);
    }
    size_t rest = 0;
    if (call->offset >= 0 && (size_t)call->offset < view->length) {
        rest = view->length - (size_t)call->offset;
    }
    rest = rest < call->size ? rest : call->size;
    if (call->fault.short_read && rest > 1) {
        rest /= 2;
    }
    fuse_reply_buf(call->request, rest > 0 ? view->text + call->offset : NULL, rest);
    return 0;
}

static int serve_read(const struct emu_call *call)
{
    const struct emu_file *file = call->node->file;
    return file != NULL && file->size > 0 ? read_device(call) : read_text(call);
}

static int write_file(const struct emu_call *call)
{
    struct emu_access access = access_of(call);
    union emu_datum datum;
    if (access.file == NULL) {
        return EACCES;
    }
    if (access.file->size == 0) {
        return emu_file_store(&access, call->bytes, call->size);
    }
    if (call->size != access.file->size) {
        return EINVAL;
    }
    memcpy(&datum, call->bytes, call->size);
    return access.file->write(&access, (uint32_t)call->offset, &datum);
}

static int serve_write(const struct emu_call *call)
{
    int error = write_file(call);
    if (error == 0) {
        fuse_reply_write(call->request, call->size);
    }
    return error;
}

/* --- a call's way --- */

/* Why the call fails without looking at what it wants: a fault, or an offline CPU.  Files of its
   policy can be opened all the same, as in sysfs. */
static int stopped(const struct emu_call *call)
{
    const struct emu_machine *machine = &emu_server_of(call->request)->machine;
    const struct emu_node *node = call->node;
    if (call->fault.error != 0 || node->file == NULL) {
        return call->fault.error;
    }
    if (node->file->registers && !machine->cpus[node->index].online) {
        return ENXIO;
    }
    bool busy = node->file->policy && call->kind != EMU_FAULT_OPEN &&
                !emu_machine_policy_active(machine, node->index);
    return busy ? EBUSY : 0;
}

static void serve(struct emu_call *call)
{
    int error = stopped(call);
    if (error == 0) {
        error = call->kind == EMU_FAULT_WRITE  ? serve_write(call)
                : call->kind == EMU_FAULT_OPEN ? serve_open(call)
                                               : serve_read(call);
    }
    if (error != 0) {
        fuse_reply_err(call->request, error);
    }
}

/* Keeps the call with a copy of its bytes until it is due.  Not worth a session of many threads:
   those answer later when the host is busy, which shows in what readers of energy make of a counter
   and the time. */
static bool postpone(struct emu_server *server, const struct emu_call *call)
{
    struct emu_call *kept = malloc(sizeof *kept + call->size);
    if (kept == NULL) {
        return false;
    }
    *kept = *call;
    if (call->bytes != NULL) {
        kept->bytes = memcpy(kept + 1, call->bytes, call->size);
    }
    kept->due_ns = pwr_now_ns() + call->fault.delay_us * 1000;
    kept->next = server->late;
    server->late = kept;
    pthread_cond_signal(&server->wake);
    return true;
}

uint64_t emu_calls_serve_late(struct emu_server *server, bool all)
{
    uint64_t next_ns = UINT64_MAX, now_ns = pwr_now_ns();
    for (struct emu_call **at = &server->late, *call; (call = *at) != NULL;) {
        if (all || call->due_ns <= now_ns) {
            *at = call->next;
            serve(call);
            free(call);
        } else {
            next_ns = call->due_ns < next_ns ? call->due_ns : next_ns;
            at = &call->next;
        }
    }
    return next_ns;
}

static void take(struct emu_call call)
{
    struct emu_server *server = emu_server_of(call.request);
    pthread_mutex_lock(&server->lock);
    call.fault = emu_faults_ask(&server->faults, call.node, call.kind, (uint32_t)call.offset);
    if (call.fault.delay_us == 0 || !postpone(server, &call)) {
        serve(&call);
    }
    pthread_mutex_unlock(&server->lock);
}

static bool has_rawio(pid_t pid)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, pid};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_SYS_RAWIO & 1) != 0;
}

static bool may_open(fuse_req_t request, const struct emu_file *file)
{
    return file == NULL || !file->rawio || !emu_server_of(request)->machine.config.require_rawio ||
           has_rawio(fuse_req_ctx(request)->pid);
}

void emu_call_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info)
{
    struct emu_node *node = emu_node_of(request, inode);
    if (!may_open(request, node->file)) {
        fuse_reply_err(request, EPERM);
        return;
    }
    take(
        (struct emu_call){.request = request, .kind = EMU_FAULT_OPEN, .node = node, .info = *info});
}

void emu_call_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                   struct fuse_file_info *info)
{
    take((struct emu_call){.request = request,
                           .kind = EMU_FAULT_READ,
                           .node = emu_node_of(request, inode),
                           .info = *info,
                           .size = size,
                           .offset = offset});
}

void emu_call_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                    off_t offset, struct fuse_file_info *info)
{
    take((struct emu_call){.request = request,
                           .kind = EMU_FAULT_WRITE,
                           .node = emu_node_of(request, inode),
                           .info = *info,
                           .size = size,
                           .offset = offset,
                           .bytes = bytes});
}
