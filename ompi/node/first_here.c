/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Who is first takes the name of a socket, which the kernel gives to one process of a network name
 * space, and takes back when that ends in whatever way.
 */
#include "pwr_ompi/first_here.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_KEPT = 16 };

static int kept[MOST_KEPT];
static unsigned num_kept; /* may exceed what is kept */

/* With a first byte of 0 it is in no file system. */
static socklen_t name_of(struct sockaddr_un *address, const char *what)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "poweraware.%lu.%s",
                          (unsigned long)geteuid(), what);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static bool keep(int fd)
{
    unsigned at = __atomic_fetch_add(&num_kept, 1, __ATOMIC_RELAXED);
    if (at < MOST_KEPT) {
        kept[at] = fd;
    }
    return at < MOST_KEPT;
}

bool pwr_first_here(const char *what)
{
    struct sockaddr_un address;
    socklen_t length = name_of(&address, what);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool first = fd < 0 || length > sizeof address ||
                 0 == bind(fd, (struct sockaddr *)&address, length) || EADDRINUSE != errno;
    if (fd >= 0 && (!first || !keep(fd))) {
        close(fd);
    }
    return first;
}

void pwr_first_here_forget(void)
{
    for (unsigned i = 0; i < num_kept && i < MOST_KEPT; ++i) {
        close(kept[i]);
    }
    num_kept = 0;
}
