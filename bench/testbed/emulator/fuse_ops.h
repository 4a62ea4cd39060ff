/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system's operations.
 */
#ifndef EMU_FUSE_OPS_H
#define EMU_FUSE_OPS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "server.h"

enum { EMU_ATTRIBUTE_SIZE = 4096 }; /* what sysfs says of every file */

/* Those on open files (fuse_io.c).  The session's user data is the struct emu_server. */
void emu_io_open(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file);
void emu_io_release(fuse_req_t request, fuse_ino_t inode, struct fuse_file_info *file);
void emu_io_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
                 struct fuse_file_info *file);
void emu_io_write(fuse_req_t request, fuse_ino_t inode, const char *bytes, size_t size,
                  off_t offset, struct fuse_file_info *file);

static inline struct emu_server *emu_request_server(fuse_req_t request)
{
    return fuse_req_userdata(request);
}

static inline struct emu_node *emu_request_node(fuse_req_t request, fuse_ino_t inode)
{
    return &emu_request_server(request)->tree.nodes[inode - 1];
}

#endif
