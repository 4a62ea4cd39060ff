/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Opening, reading and writing the emulated files.
 *
 * Files are served with direct_io, so that every read(2) and write(2) of a client arrives here with
 * its own offset and size: for an MSR the offset is the register's number, and nothing is cached.
 * A call is served as a whole under the server's lock, its line of the trace included.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuse_ops.h"
#include "msr.h"
#include "records.h"

enum { PAUSE_US = 5000 };

/* What one open file descriptor of a client shows, rendered when it reads from the start. */
struct view {
    char *text;
    size_t length;
};

/* One request of a client, and what a fault makes of it. */
struct call {
    fuse_req_t request;
    enum emu_fault_op kind;
    int node;
    struct fuse_file_info file;
    size_t size;
    off_t offset;
    const char *bytes; /* of a write */
    struct emu_fault_hit fault;
};

static struct emu_node *node_of(const struct call *call)
{
    return &emu_request_server(call->request)->tree.nodes[call->node];
}

static bool is_msr(const struct emu_node *node)
{
    return node->kind == EMU_NODE_MSR || node->kind == EMU_NODE_MSR_SAFE;
}

static bool is_device(const struct emu_node *node)
{
    return is_msr(node) || node->kind == EMU_NODE_AFFINITY;
}

static bool has_rawio(pid_t pid)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, pid};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    return syscall(SYS_capget, &header, data) == 0 && (data[0].effective >> CAP_SYS_RAWIO & 1) != 0;
}

static struct emu_access access_of(struct emu_server *server, const struct call *call)
{
    return (struct emu_access){.machine = &server->machine,
                               .activity = server->activity,
                               .faults = &server->faults,
                               .index = node_of(call)->index,
                               .now_ns = emu_now_ns(),
                               .pid = fuse_req_ctx(call->request)->pid};
}

/* --- open --- */

static void serve_open(struct call *call)
{
    struct view *view = NULL;
    if (!is_device(node_of(call))) {
        view = calloc(1, sizeof *view);
        if (view == NULL) {
            fuse_reply_err(call->request, ENOMEM);
            return;
        }
    }
    call->file.direct_io = 1;
    call->file.fh = (uintptr_t)view;
    if (fuse_reply_open(call->request, &call->file) != 0) {
        free(view); /* the client is gone, nothing will be released */
    }
}

void emu_io_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    (void)inode;
    struct view *view = (struct view *)(uintptr_t)file->fh;
    if (view != NULL) {
        free(view->text);
        free(view);
    }
    fuse_reply_err(request, 0);
}

/* --- read --- */

static void read_device(struct emu_server *server, const struct call *call)
{
    struct emu_access access = access_of(server, call);
    uint32_t reg = (uint32_t)call->offset;
    union {
        uint64_t value;
        cpu_set_t mask;
        char bytes[1];
    } got;
    size_t size = sizeof got.value;
    int error = 0;
    if (node_of(call)->kind == EMU_NODE_MSR) {
        error = emu_msr_read(&access, reg, &got.value);
    } else if (node_of(call)->kind == EMU_NODE_MSR_SAFE) {
        error = emu_msr_safe_read(&access, reg, &got.value);
    } else {
        size = sizeof got.mask;
        error = emu_activity_mask(server->activity, (pid_t)call->offset, &got.mask) ? 0 : ESRCH;
    }
    if (error != 0 || call->size < size) {
        fuse_reply_err(call->request, error != 0 ? error : EINVAL);
        return;
    }
    fuse_reply_buf(call->request, got.bytes, call->fault.short_read ? size / 2 : size);
}

static void view_render(struct emu_server *server, const struct call *call, struct view *view)
{
    const struct emu_node *node = node_of(call);
    free(view->text);
    *view = (struct view){0};
    FILE *out = open_memstream(&view->text, &view->length);
    if (out == NULL) {
        return;
    }
    if (node->attribute != NULL) {
        emu_attribute_show(node->attribute, access_of(server, call), out);
    } else {
        fputs(node->text, out);
    }
    fclose(out);
}

static void read_text(struct emu_server *server, const struct call *call)
{
    struct view *view = (struct view *)(uintptr_t)call->file.fh;
    if (call->offset == 0 || view->text == NULL) {
        view_render(server, call, view);
    }
    if (call->offset < 0 || (size_t)call->offset >= view->length) {
        fuse_reply_buf(call->request, NULL, 0);
        return;
    }
    size_t rest = view->length - (size_t)call->offset;
    rest = rest < call->size ? rest : call->size;
    if (call->fault.short_read && rest > 1) {
        rest /= 2;
    }
    fuse_reply_buf(call->request, view->text + call->offset, rest);
}

/* --- write --- */

static void reject(struct emu_server *server, const struct call *call, const char *value, int error)
{
    server->machine.rejected_writes++;
    int length = (int)strcspn(value, "\n");
    emu_log("pid %d: write of %.*s to %s of %d rejected: %s", (int)fuse_req_ctx(call->request)->pid,
            length < 40 ? length : 40, value, node_of(call)->name, node_of(call)->index,
            strerror(error));
}

static int write_msr(struct emu_server *server, const struct call *call)
{
    struct emu_access access = access_of(server, call);
    uint32_t reg = (uint32_t)call->offset;
    uint64_t value;
    if (call->size != sizeof value) {
        return EINVAL;
    }
    memcpy(&value, call->bytes, sizeof value);
    int error = node_of(call)->kind == EMU_NODE_MSR ? emu_msr_write(&access, reg, value)
                                                    : emu_msr_safe_write(&access, reg, &value);
    if (error == 0) {
        emu_msr_trace(&access, reg, value, &server->trace);
    } else {
        char text[48];
        snprintf(text, sizeof text, "0x%" PRIx64 " (register 0x%" PRIx32 ")", value, reg);
        reject(server, call, text, error);
    }
    return error;
}

static int write_affinity(struct emu_server *server, const struct call *call)
{
    cpu_set_t mask;
    if (call->size != sizeof mask) {
        return EINVAL;
    }
    memcpy(&mask, call->bytes, sizeof mask);
    return emu_activity_bind(server->activity, (pid_t)call->offset, &mask, emu_now_ns());
}

/* 0 and text without the newline and blanks around it, or EINVAL. */
static int text_copy(char text[EMU_ATTRIBUTE_SIZE], const char *bytes, size_t size)
{
    while (size > 0 &&
           (bytes[size - 1] == '\n' || bytes[size - 1] == ' ' || bytes[size - 1] == '\0')) {
        size--;
    }
    if (size == 0 || size >= EMU_ATTRIBUTE_SIZE || memchr(bytes, '\0', size) != NULL) {
        return EINVAL;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    return 0;
}

static int write_text(struct emu_server *server, const struct call *call)
{
    const struct emu_attribute *attribute = node_of(call)->attribute;
    struct emu_access access = access_of(server, call);
    char text[EMU_ATTRIBUTE_SIZE] = "";
    if (attribute == NULL) {
        return EACCES;
    }
    int error = text_copy(text, call->bytes, call->size);
    if (error == 0) {
        error = emu_attribute_store(attribute, access, text);
    }
    if (error != 0) {
        reject(server, call, text, error);
    } else if (attribute->lever != NULL) {
        emu_csv_line(&server->trace, "%" PRIu64 ",%d,%s,%s,%d", access.now_ns, access.index,
                     attribute->lever, text, (int)access.pid);
    }
    return error;
}

/* --- a call's way --- */

/* Why the call fails without looking at what it wants: a fault, or an offline CPU.  Files of its
   policy can be opened all the same, as in sysfs. */
static int stopped(const struct emu_server *server, const struct call *call)
{
    const struct emu_node *node = node_of(call);
    if (call->fault.error != 0) {
        return call->fault.error;
    }
    if (is_msr(node)) {
        return server->machine.cpus[node->index].online ? 0 : ENXIO;
    }
    return node->policy && call->kind != EMU_FAULT_OPEN &&
                   !emu_machine_policy_active(&server->machine, node->index)
               ? EBUSY
               : 0;
}

static int serve_write(struct emu_server *server, const struct call *call)
{
    const struct emu_node *node = node_of(call);
    int error = is_msr(node)      ? write_msr(server, call)
                : is_device(node) ? write_affinity(server, call)
                                  : write_text(server, call);
    if (error == 0) {
        fuse_reply_write(call->request, call->size);
    }
    return error;
}

static void serve(struct emu_server *server, struct call *call)
{
    int error = stopped(server, call);
    if (error == 0 && call->kind == EMU_FAULT_WRITE) {
        error = serve_write(server, call);
    } else if (error == 0 && call->kind == EMU_FAULT_OPEN) {
        serve_open(call);
    } else if (error == 0) {
        (is_device(node_of(call)) ? read_device : read_text)(server, call);
    }
    if (error != 0) {
        fuse_reply_err(call->request, error);
    }
}

static void *serve_late(void *arg)
{
    struct call *call = arg;
    struct emu_server *server = emu_request_server(call->request);
    uint64_t due_ns = emu_now_ns() + call->fault.delay_us * 1000;
    while (emu_now_ns() < due_ns && !atomic_load_explicit(&server->stop, memory_order_acquire)) {
        usleep(call->fault.delay_us < PAUSE_US ? (useconds_t)call->fault.delay_us : PAUSE_US);
    }
    pthread_mutex_lock(&server->lock);
    serve(server, call);
    server->late_calls--;
    pthread_mutex_unlock(&server->lock);
    free(call);
    return NULL;
}

/* Keeps the call, with a copy of its bytes, in a thread of its own until its delay or the session
   is over.  Not worth a session of many threads: those answer later when the host is busy, which
   shows in what readers of energy make of a counter and the time. */
static bool postpone(struct emu_server *server, const struct call *call)
{
    pthread_t thread;
    struct call *kept = malloc(sizeof *kept + call->size);
    if (kept == NULL) {
        return false;
    }
    *kept = *call;
    if (call->bytes != NULL) {
        kept->bytes = memcpy(kept + 1, call->bytes, call->size);
    }
    if (emu_thread_start(&thread, serve_late, kept) != 0) {
        free(kept);
        return false;
    }
    pthread_detach(thread);
    server->late_calls++;
    return true;
}

static void take(struct call *call)
{
    struct emu_server *server = emu_request_server(call->request);
    pthread_mutex_lock(&server->lock);
    call->fault = emu_faults_ask(&server->faults, &server->tree, call->node, call->kind,
                                 (uint32_t)call->offset);
    if (call->fault.delay_us == 0 || !postpone(server, call)) {
        serve(server, call);
    }
    pthread_mutex_unlock(&server->lock);
}

void emu_io_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file)
{
    const struct emu_server *server = emu_request_server(request);
    if (emu_request_node(request, inode)->kind == EMU_NODE_MSR &&
        server->machine.config.require_rawio && !has_rawio(fuse_req_ctx(request)->pid)) {
        fuse_reply_err(request, EPERM);
        return;
    }
    struct call call = {request, EMU_FAULT_OPEN, (int)inode - 1, *file, 0, 0, NULL, {0}};
    take(&call);
}

void emu_io_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                 struct fuse_file_info *file)
{
    struct call call = {request, EMU_FAULT_READ, (int)inode - 1, *file, size, offset, NULL, {0}};
    take(&call);
}

void emu_io_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                  off_t offset, struct fuse_file_info *file)
{
    struct call call = {request, EMU_FAULT_WRITE, (int)inode - 1, *file, size, offset, bytes, {0}};
    take(&call);
}
