/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * TAP devices in the network namespaces of other processes.
 */
#include "config.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Locally administered; the last two bytes are the index. */
static const unsigned char address_prefix[4] = {0x02, 0x50, 0x57, 0x52};

#define TRANSMIT_QUEUE_FRAMES 5000 /* what the kernel holds while the switch is not scheduled */

static int complain(const char *what, pid_t pid)
{
    fprintf(stderr, "latency-switch: %s for process %ld: %s\n", what, (long)pid, strerror(errno));
    return -1;
}

static int enter_network(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/net", (long)pid);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return complain(path, pid);
    }
    int result = setns(descriptor, CLONE_NEWNET);
    if (result != 0) {
        complain("setns", pid);
    }
    close(descriptor);
    return result;
}

/* Hardware address, MTU and queue length of the interface that request names, which are set through
   any socket of the namespace. */
static bool configure(int socket_fd, struct ifreq *request, unsigned index)
{
    request->ifr_hwaddr = (struct sockaddr){.sa_family = ARPHRD_ETHER};
    memcpy(request->ifr_hwaddr.sa_data, address_prefix, sizeof address_prefix);
    request->ifr_hwaddr.sa_data[4] = (char)(index >> 8);
    request->ifr_hwaddr.sa_data[5] = (char)index;
    if (ioctl(socket_fd, SIOCSIFHWADDR, request) != 0) {
        return false;
    }
    request->ifr_mtu = PWR_TAP_MTU;
    if (ioctl(socket_fd, SIOCSIFMTU, request) != 0) {
        return false;
    }
    request->ifr_qlen = TRANSMIT_QUEUE_FRAMES;
    return ioctl(socket_fd, SIOCSIFTXQLEN, request) == 0;
}

int pwr_tap_open(pid_t pid, const char *name, unsigned index)
{
    if (enter_network(pid) != 0) {
        return -1;
    }
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap < 0) {
        return complain("/dev/net/tun", pid);
    }
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    if (ioctl(tap, TUNSETIFF, &request) != 0) {
        complain("TUNSETIFF", pid);
        goto close_tap;
    }
    int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_fd < 0) {
        complain("socket", pid);
        goto close_tap;
    }
    bool configured = configure(socket_fd, &request, index);
    if (!configured) {
        complain("address, MTU or queue length", pid);
    }
    close(socket_fd);
    if (configured) {
        return tap;
    }
close_tap:
    close(tap);
    return -1;
}

int pwr_tap_index(const unsigned char address[6])
{
    if (memcmp(address, address_prefix, sizeof address_prefix) != 0) {
        return -1;
    }
    return address[4] << 8 | address[5];
}
