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
#include <stdlib.h>
#include <string.h>

#include "fuse_ops.h"
#include "log.h"
#include "msr.h"
#include "trace.h"

enum { MSR_BATCH = 64, CAP_SYS_RAWIO_BIT = 17 };

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
    struct emu_fault_hit fault;
    struct fuse_file_info file;
    size_t size;
    off_t offset;
    const char *bytes; /* of a write */
};

static struct emu_node *node_of(const struct call *call)
{
    return &emu_request_server(call->request)->tree.nodes[call->node];
}

static bool is_msr(const struct emu_node *node)
{
    return node->kind == EMU_NODE_MSR || node->kind == EMU_NODE_MSR_SAFE;
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

static struct emu_access access_of(struct emu_server *server, const struct call *call)
{
    return (struct emu_access){.machine = &server->machine,
                               .activity = server->activity,
                               .affinity = server->affinity,
                               .trace = &server->trace,
                               .faults = &server->faults,
                               .index = node_of(call)->index,
                               .now_ns = emu_now_ns(),
                               .pid = fuse_req_ctx(call->request)->pid};
}

/* --- open --- */

static void serve_open(struct call *call)
{
    struct view *view = NULL;
    if (!is_msr(node_of(call))) {
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

static void read_msr(struct emu_server *server, const struct call *call)
{
    uint64_t values[MSR_BATCH];
    size_t count = call->size / sizeof values[0];
    int error = 0;
    if (count == 0 || call->size % sizeof values[0] != 0) {
        fuse_reply_err(call->request, EINVAL);
        return;
    }
    count = count < MSR_BATCH ? count : MSR_BATCH;
    struct emu_access access = access_of(server, call);
    for (size_t i = 0; i < count && error == 0; i++) { /* the same register each time, as Linux */
        error = node_of(call)->kind == EMU_NODE_MSR
                    ? emu_msr_read(&access, (uint32_t)call->offset, &values[i])
                    : emu_msr_safe_read(&access, (uint32_t)call->offset, &values[i]);
    }
    if (error != 0) {
        fuse_reply_err(call->request, error);
        return;
    }
    size_t size = count * sizeof values[0];
    fuse_reply_buf(call->request, (const char *)values, call->fault.short_read ? size / 2 : size);
}

static void view_render(struct emu_server *server, const struct call *call, struct view *view)
{
    const struct emu_node *node = node_of(call);
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
    struct emu_access access = access_of(server, call);
    node->attribute->show(&access, out);
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
    uint32_t reg = (uint32_t)call->offset;
    uint64_t value;
    if (call->size == 0 || call->size % sizeof value != 0) {
        return EINVAL;
    }
    for (size_t at = 0; at < call->size; at += sizeof value) {
        memcpy(&value, call->bytes + at, sizeof value);
        struct emu_access access = access_of(server, call);
        int error = node_of(call)->kind == EMU_NODE_MSR ? emu_msr_write(&access, reg, value)
                                                        : emu_msr_safe_write(&access, reg, &value);
        if (error != 0) {
            char text[48];
            snprintf(text, sizeof text, "0x%llx (register 0x%x)", (unsigned long long)value, reg);
            reject(server, call, text, error);
            return error;
        }
        if (emu_msr_traced(&server->machine, reg)) {
            emu_trace_msr(&server->trace, access.now_ns, access.index, reg, value, access.pid);
        }
    }
    return 0;
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
    char text[EMU_ATTRIBUTE_SIZE] = "";
    if (attribute == NULL || attribute->store == NULL) {
        return EACCES;
    }
    int error = text_copy(text, call->bytes, call->size);
    struct emu_access access = access_of(server, call);
    if (error == 0) {
        error = attribute->store(&access, text);
    }
    if (error != 0) {
        reject(server, call, text, error);
    } else if (attribute->lever != NULL) {
        emu_trace_text(&server->trace, access.now_ns, access.index, attribute->lever, text,
                       access.pid);
    }
    return error;
}

/* --- a call's way --- */

/* Why the call fails without looking at what it wants: a fault, or hotplug.  Text files of an
   offline CPU's policy can be opened all the same, as in sysfs. */
static int stopped(const struct emu_server *server, const struct call *call)
{
    bool opens_text = call->kind == EMU_FAULT_OPEN && !is_msr(node_of(call));
    return call->fault.error != 0 ? call->fault.error
           : opens_text           ? 0
                                  : emu_tree_barred(&server->tree, &server->machine, call->node);
}

static void serve(struct emu_server *server, struct call *call)
{
    bool msr = is_msr(node_of(call));
    int error = stopped(server, call);
    if (error == 0 && call->kind == EMU_FAULT_WRITE) {
        error = msr ? write_msr(server, call) : write_text(server, call);
        if (error == 0) {
            fuse_reply_write(call->request, call->size);
        }
    } else if (error == 0 && call->kind == EMU_FAULT_OPEN) {
        serve_open(call);
    } else if (error == 0) {
        (msr ? read_msr : read_text)(server, call);
    }
    if (error != 0) {
        fuse_reply_err(call->request, error);
    }
}

static void serve_late(void *arg)
{
    struct call *call = arg;
    serve(emu_request_server(call->request), call);
    free(call);
}

/* Keeps the call, with a copy of its bytes, until its delay is over. */
static bool postpone(struct emu_server *server, const struct call *call)
{
    struct call *kept = malloc(sizeof *kept + call->size);
    if (kept == NULL) {
        return false;
    }
    *kept = *call;
    if (call->bytes != NULL) {
        kept->bytes = memcpy(kept + 1, call->bytes, call->size);
    }
    if (!emu_late_call(&server->late, call->fault.delay_us, serve_late, kept)) {
        free(kept);
        return false;
    }
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
    struct call call = {
        .request = request, .kind = EMU_FAULT_OPEN, .node = (int)inode - 1, .file = *file};
    take(&call);
}

void emu_io_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                 struct fuse_file_info *file)
{
    struct call call = {.request = request,
                        .kind = EMU_FAULT_READ,
                        .node = (int)inode - 1,
                        .file = *file,
                        .size = size,
                        .offset = offset};
    take(&call);
}

void emu_io_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                  off_t offset, struct fuse_file_info *file)
{
    struct call call = {.request = request,
                        .kind = EMU_FAULT_WRITE,
                        .node = (int)inode - 1,
                        .file = *file,
                        .size = size,
                        .offset = offset,
                        .bytes = bytes};
    take(&call);
}
