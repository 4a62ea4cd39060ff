/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What is known of each collective.
 */
#include "collectives.h"

#define HANDLED(constant, name, arguments, bytes, known) #name,
#define COUNTED(name, arguments, kind) #name,
const char *const coll_poweraware_names[COLL_POWERAWARE_NUM_OPERATIONS] = {
    COLL_POWERAWARE_HANDLED(HANDLED) COLL_POWERAWARE_COUNTED(COUNTED)};

#define KNOWN(constant, name, arguments, bytes, known) known,
const bool coll_poweraware_bytes_known[COLL_POWERAWARE_NUM_COLLECTIVES] = {
    COLL_POWERAWARE_HANDLED(KNOWN)};
