/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The file system's operations, for the session that serves them.
 */
#ifndef EMU_FUSE_OPS_H
#define EMU_FUSE_OPS_H

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

/* Their user data is the struct emu_server. */
extern const struct fuse_lowlevel_ops emu_fuse_operations;

#endif
