/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system's operations on open files.
 */
#ifndef EMU_CALLS_H
#define EMU_CALLS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "server.h"

void emu_call_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info);
void emu_call_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *info);
void emu_call_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                   struct fuse_file_info *info);
void emu_call_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                    off_t offset, struct fuse_file_info *info);

/* Answers calls that a fault delayed, all or those that are due.  Returns when the next one is. The
   lock is held. */
uint64_t emu_calls_serve_late(struct emu_server *server, bool all);

/* The session's user data is the struct emu_server. */
static inline struct emu_server *emu_server_of(fuse_req_t request)
{
    return fuse_req_userdata(request);
}

static inline struct emu_node *emu_node_of(fuse_req_t request, fuse_ino_t inode)
{
    return &emu_server_of(request)->tree.nodes[inode - 1];
}

#endif
