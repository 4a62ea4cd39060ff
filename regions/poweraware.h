/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Marks phases of an MPI program, so that poweraware's reports are per phase, too.
 *
 *   poweraware_region_begin("solve");
 *   ...
 *   poweraware_region_end("solve");
 *
 * Regions may be nested: time, CPU time, calls and energy count for the innermost one, whose name
 * in reports has those around it ("solve/halo").  They belong to the process; of its threads one at
 * a time marks them.  A name has at most 63 characters, with those of the regions around it.
 *
 * Copy this file into your program, or use the installed one: it needs nothing else, but -ldl where
 * the C library is older than glibc 2.34.  Without poweraware, before MPI_Init and after
 * MPI_Finalize nothing happens.  A call takes about a microsecond, 0.3 without a report.
 *
 * For other languages the library libpoweraware-regions.so has the same two functions.
 */
#ifndef POWERAWARE_H
#define POWERAWARE_H

#include <dlfcn.h>
#include <stddef.h>

#ifndef POWERAWARE_API
#define POWERAWARE_API static inline
#endif

/* The plug-in's function of this name is looked up in every call: the plug-in is loaded in
   MPI_Init, and unloaded in MPI_Finalize.  NULL is RTLD_DEFAULT, which some programs do not see. */
static inline void poweraware_region_call_(const char *function, const char *region)
{
    void (*call)(const char *);
    *(void **)(&call) = dlsym(NULL, function);
    if (call != NULL) {
        call(region);
    }
}

/* region: the name of a phase, which begins here. */
POWERAWARE_API void poweraware_region_begin(const char *region)
{
    poweraware_region_call_("pwr_region_begin", region);
}

/* The innermost phase of this name ends here, and those that are open in it. */
POWERAWARE_API void poweraware_region_end(const char *region)
{
    poweraware_region_call_("pwr_region_end", region);
}

#endif
