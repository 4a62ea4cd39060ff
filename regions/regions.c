/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * libpoweraware-regions.so: the functions of poweraware.h for languages that cannot include it, and
 * MPI_Pcontrol for programs that mark phases with it:
 *
 *   MPI_Pcontrol(1, "solve");     begins a region, as for IPM
 *   MPI_Pcontrol(-1, "solve");    ends it
 *
 * The standard lets a program call MPI_Pcontrol without a name; what is in its place then may be
 * anything.  So a name is read as the kernel would, which an address of nothing does not hurt.
 */
#define _GNU_SOURCE
#define POWERAWARE_API __attribute__((visibility("default")))
void poweraware_region_begin(const char *region);
void poweraware_region_end(const char *region);
int MPI_Pcontrol(const int level, ...);
#include "poweraware.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NAME_BYTES = 64, SMALLEST_PAGE = 4096 };

/* Whether there is text at an address; copies what of it fits. */
static bool read_name(const void *address, char name[NAME_BYTES])
{
    size_t on_page = SMALLEST_PAGE - (uintptr_t)address % SMALLEST_PAGE;
    size_t first = on_page < NAME_BYTES ? on_page : NAME_BYTES;
    const struct iovec from[] = {{(void *)address, first},
                                 {(char *)address + first, NAME_BYTES - first}};
    const struct iovec to = {name, NAME_BYTES};
    ssize_t bytes = process_vm_readv(getpid(), &to, 1, from, 2, 0);
    for (ssize_t i = 0; i < bytes; i++) {
        if (name[i] == '\0') {
            return i > 0;
        }
        if (!isprint((unsigned char)name[i])) {
            return false;
        }
    }
    name[NAME_BYTES - 1] = '\0';
    return bytes == NAME_BYTES;
}

/* MPI's own.  It returns MPI_SUCCESS, which is 0. */
POWERAWARE_API int MPI_Pcontrol(const int level, ...)
{
    char name[NAME_BYTES];
    va_list arguments;
    va_start(arguments, level);
    bool named = (level == 1 || level == -1) && read_name(va_arg(arguments, const void *), name);
    va_end(arguments);
    if (named && level == 1) {
        poweraware_region_begin(name);
    } else if (named) {
        poweraware_region_end(name);
    }
    return 0;
}
