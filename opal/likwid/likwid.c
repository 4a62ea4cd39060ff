/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What likwid can do for us.
 */
#include "config.h"

#include "likwid/likwid.h"

#include "likwid/accessd.h"

void pwr_likwid_probe_begin(void)
{
    pwr_link_probe_begin();
}

void pwr_likwid_probe_end(void)
{
    pwr_link_t *const links[] = {&pwr_accessd_link};
    pwr_link_probe_end(links, sizeof links / sizeof links[0]);
}
