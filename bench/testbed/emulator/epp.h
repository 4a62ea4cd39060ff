/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The energy-performance preference in sysfs.
 */
#ifndef EMU_EPP_H
#define EMU_EPP_H

#include "tree.h"

enum { EMU_EPP_ATTRIBUTES = 2 };
extern const struct emu_attribute emu_epp_attributes[EMU_EPP_ATTRIBUTES];

#endif
