/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * An Ethernet switch in user space that adds a latency and limits rates, for kernels without netem.
 *
 * Every port is a TAP device in the network namespace of one process.  A frame read from a port may
 * leave through another one latency_us later, after the frames before it on that port, and takes
 * its length divided by the rate to do so.  Ports have known hardware addresses, so nothing is
 * learned; frames to other addresses go to all ports.
 */
#include "config.h"

#include "delay_queue.h"
#include "pwr/clock.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define STATISTICS_INTERVAL_NS PWR_NS_PER_S
#define MAX_PORTS 4096
#define FRAMES_PER_TURN 64 /* read from one port before the others get their turn */
#define SHORTEST_FRAME 14  /* the Ethernet header */

/* What comes before the processes on the command line. */
enum { LATENCY_US = 1, RATE_MBIT, INTERFACE, STATISTICS, FIRST_PID };

struct port {
    pid_t pid;
    struct pwr_delay_queue queue; /* of frames towards this port */
};

struct lan {
    struct port *ports;
    struct pollfd *taps; /* as poll wants them; taps[i] belongs to ports[i] */
    unsigned count;
    int64_t latency_ns;
    int statistics_fd;
    int64_t statistics_due_ns;
    bool statistics_stale;
};

static const char usage_text[] =
    "usage: latency-switch LATENCY_US RATE_MBIT INTERFACE STATISTICS PID PID...\n"
    "Joins the network namespaces of the processes by a switch; runs until it is killed or its\n"
    "parent ends.  Writes \"ready\" when all ports exist.\n"
    "  LATENCY_US  microseconds from port to port\n"
    "  RATE_MBIT   Mbit/s out of each port; 0: no limit\n"
    "  INTERFACE   name of the device made in each namespace\n"
    "  STATISTICS  a file: \"PID dropped\" per port, brought up to date once a second\n";

static int64_t now_ns(void)
{
    return (int64_t)pwr_now_ns();
}

/* A number in [low, high], or the end with a message that names it. */
static double number(const char *name, const char *text, double low, double high)
{
    char *rest;
    double value = strtod(text, &rest);
    if (rest == text || *rest != '\0' || !(value >= low && value <= high)) {
        fprintf(stderr, "latency-switch: %s %s: a number from %g to %g is needed\n", name, text,
                low, high);
        exit(2);
    }
    return value;
}

/* Everything that needs a namespace or a file; the process ends with those it opened. */
static bool open_lan(struct lan *lan, unsigned count, char **words)
{
    double rate_mbit = number("RATE_MBIT", words[RATE_MBIT], 0, 1e6);
    *lan = (struct lan){
        .count = count,
        .latency_ns = (int64_t)(number("LATENCY_US", words[LATENCY_US], 0, 1e7) * 1000),
        .statistics_fd = open(words[STATISTICS], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
    if (lan->statistics_fd < 0) {
        fprintf(stderr, "latency-switch: %s: %s\n", words[STATISTICS], strerror(errno));
        return false;
    }
    lan->ports = calloc(lan->count, sizeof *lan->ports);
    lan->taps = calloc(lan->count, sizeof *lan->taps);
    if (lan->ports == NULL || lan->taps == NULL) {
        fputs("latency-switch: out of memory\n", stderr);
        return false;
    }
    for (unsigned i = 0; i < lan->count; i++) {
        struct port *port = &lan->ports[i];
        port->pid = (pid_t)number("PID", words[FIRST_PID + i], 1, 1 << 22);
        pwr_delay_queue_init(&port->queue, rate_mbit);
        lan->taps[i].events = POLLIN;
        lan->taps[i].fd = pwr_tap_open(port->pid, words[INTERFACE], i);
        if (lan->taps[i].fd < 0) {
            return false;
        }
    }
    return true;
}

/* One line per port, all numbers of fixed width, so that the file is replaced by one write. */
static void write_statistics(struct lan *lan, int64_t now)
{
    if (!lan->statistics_stale || now < lan->statistics_due_ns) {
        return;
    }
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL) {
        return;
    }
    fputs("pid dropped\n", stream);
    for (unsigned i = 0; i < lan->count; i++) {
        const struct port *port = &lan->ports[i];
        fprintf(stream, "%7ld %20" PRIu64 "\n", (long)port->pid, port->queue.dropped);
    }
    if (fclose(stream) == 0 && pwrite(lan->statistics_fd, text, length, 0) == (ssize_t)length) {
        lan->statistics_stale = false;
        lan->statistics_due_ns = now + STATISTICS_INTERVAL_NS;
    }
    free(text);
}

/* Writes what is due; returns when the next frame is, or -1 with none there. */
static int64_t deliver(struct lan *lan, int64_t now)
{
    int64_t next = -1;
    for (unsigned i = 0; i < lan->count; i++) {
        struct pwr_delay_queue *queue = &lan->ports[i].queue;
        const struct pwr_frame *frame;
        while ((frame = pwr_delay_queue_due(queue, now)) != NULL) {
            /* Refused while the interface is down: lost, as on a cable nobody listens to. */
            if (write(lan->taps[i].fd, frame->bytes, frame->length) < 0) {
                queue->dropped++;
            }
            pwr_delay_queue_pop(queue);
            lan->statistics_stale = true;
        }
        int64_t due = pwr_delay_queue_next_due(queue);
        if (due >= 0 && (next < 0 || due < next)) {
            next = due;
        }
    }
    return next;
}

static void forward(struct lan *lan, unsigned from, const unsigned char *frame, size_t length)
{
    int64_t earliest = now_ns() + lan->latency_ns;
    int to = pwr_tap_index(frame);
    lan->statistics_stale = true;
    if (to >= 0 && (unsigned)to < lan->count) {
        pwr_delay_queue_push(&lan->ports[to].queue, frame, length, earliest);
        return;
    }
    for (unsigned i = 0; i < lan->count; i++) {
        if (i != from) {
            pwr_delay_queue_push(&lan->ports[i].queue, frame, length, earliest);
        }
    }
}

static void receive(struct lan *lan)
{
    unsigned char frame[PWR_TAP_FRAME_BYTES];
    for (unsigned i = 0; i < lan->count; i++) {
        if ((lan->taps[i].revents & POLLIN) == 0) {
            continue;
        }
        for (unsigned n = 0; n < FRAMES_PER_TURN; n++) {
            ssize_t length = read(lan->taps[i].fd, frame, sizeof frame);
            if (length < SHORTEST_FRAME) {
                break;
            }
            forward(lan, i, frame, (size_t)length);
        }
    }
}

/* Until the next frame is due, the statistics are, or a frame comes in. */
static bool wait_for_work(struct lan *lan, int64_t next)
{
    if (lan->statistics_stale && (next < 0 || lan->statistics_due_ns < next)) {
        next = lan->statistics_due_ns;
    }
    int64_t left = next - now_ns();
    left = left > 0 ? left : 0;
    const struct timespec timeout = pwr_timespec((uint64_t)left);
    int ready = ppoll(lan->taps, lan->count, next < 0 ? NULL : &timeout, NULL);
    if (ready < 0 && errno != EINTR) {
        fprintf(stderr, "latency-switch: ppoll: %s\n", strerror(errno));
        return false;
    }
    for (unsigned i = 0; i < lan->count; i++) {
        if (ready > 0 && (lan->taps[i].revents & (POLLERR | POLLNVAL)) != 0) {
            fprintf(stderr, "latency-switch: the port of process %ld is gone\n",
                    (long)lan->ports[i].pid);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    int ports = argc - FIRST_PID;
    if (ports < 2 || ports > MAX_PORTS) {
        fputs(usage_text, stderr);
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1000UL); /* ns; the default of 50 us would be added to every latency */
    setpriority(PRIO_PROCESS, 0, -20); /* refused to ordinary users: then latencies vary more */

    struct lan lan;
    if (!open_lan(&lan, (unsigned)ports, argv)) {
        return 1;
    }
    if (puts("ready") == EOF || fflush(stdout) == EOF) {
        return 1;
    }
    do {
        int64_t now = now_ns();
        write_statistics(&lan, now);
        int64_t next = deliver(&lan, now);
        if (!wait_for_work(&lan, next)) {
            return 1;
        }
        receive(&lan);
    } while (true);
}
