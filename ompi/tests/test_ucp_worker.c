/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * UCP workers: messages between two of them, and sleep that a message ends.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "wait/ucp_worker.h"

enum { TAG = 77, OTHER_TAG = 78, LONG = 3000001, PATIENCE_MS = 20000 };

typedef struct note {
    pwr_ucp_message_t message;
    int times;
    ucs_status_t status;
    size_t bytes;
} note_t;

static void take_note(pwr_ucp_message_t *message, ucs_status_t status, size_t bytes)
{
    note_t *note = (note_t *)message; /* its first member */
    ++note->times;
    note->status = status;
    note->bytes = bytes;
}

typedef struct pair {
    pwr_ucp_worker_t from, to;
    ucp_ep_h peer;
} pair_t;

static int set_up(void **state)
{
    pair_t *pair = calloc(1, sizeof *pair);
    *state = pair;
    if (NULL == pair || NULL != pwr_ucp_open(&pair->from) || NULL != pwr_ucp_open(&pair->to)) {
        return -1;
    }
    pair->peer = pwr_ucp_connect(&pair->from, pair->to.address);
    return NULL == pair->peer ? -1 : 0;
}

static int tear_down(void **state)
{
    pair_t *pair = *state;
    pwr_ucp_close(&pair->from);
    pwr_ucp_close(&pair->to);
    free(pair);
    return 0;
}

static void progress_until(const pair_t *pair, const note_t *note)
{
    for (int ms = 0; 0 == note->times && ms < PATIENCE_MS; ++ms) {
        for (int i = 0; 0 == note->times && i < 1000; ++i) {
            pwr_ucp_progress(&pair->from);
            pwr_ucp_progress(&pair->to);
        }
        usleep(0 == note->times ? 1000 : 0);
    }
    assert_int_equal(note->times, 1);
}

/* Progress of the receiver alone, until its worker may be slept on. */
static void fall_asleep(const pwr_ucp_worker_t *worker)
{
    for (int i = 0; i < PATIENCE_MS; ++i) {
        while (pwr_ucp_progress(worker) > 0) {
        }
        if (pwr_ucp_arm(worker)) {
            return;
        }
    }
    fail_msg("the worker is never armed");
}

static bool is_woken(const pwr_ucp_worker_t *worker, int ms)
{
    struct pollfd ear = {.fd = worker->fd, .events = POLLIN};
    return 1 == poll(&ear, 1, ms);
}

static note_t new_note(void)
{
    return (note_t){.message.over = take_note};
}

/* ---- messages ---- */

static void pass(const pair_t *pair, size_t bytes, bool expected)
{
    unsigned char *out = malloc(bytes + 1), *in = calloc(bytes + 1, 1);
    note_t sent = new_note(), received = new_note();
    assert_non_null(out);
    assert_non_null(in);
    memset(out, (int)bytes + 3, bytes + 1);
    if (expected) {
        assert_int_equal(pwr_ucp_receive(&pair->to, in, bytes, TAG, &received.message), UCS_OK);
    }
    assert_int_equal(pwr_ucp_send(pair->peer, out, bytes, TAG, &sent.message), UCS_OK);
    if (!expected) {
        for (int i = 0; i < 2000; ++i) {
            pwr_ucp_progress(&pair->from);
            pwr_ucp_progress(&pair->to);
        }
        assert_int_equal(pwr_ucp_receive(&pair->to, in, bytes, TAG, &received.message), UCS_OK);
    }
    progress_until(pair, &received);
    progress_until(pair, &sent);
    assert_int_equal(sent.status, UCS_OK);
    assert_int_equal(received.status, UCS_OK);
    assert_int_equal(received.bytes, bytes);
    assert_memory_equal(in, out, bytes);
    assert_int_equal(in[bytes], 0);
    free(out);
    free(in);
}

static void messages_arrive_whole(void **state)
{
    static const size_t sizes[] = {0, 1, 8, 1000, 8191, 65536, LONG};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        pass(*state, sizes[i], true);
        pass(*state, sizes[i], false);
    }
}

static void tags_are_told_apart_and_order_is_kept(void **state)
{
    const pair_t *pair = *state;
    int out[] = {1, 2, 3}, in[3] = {0};
    static const uint64_t tags[] = {TAG, OTHER_TAG, TAG};
    note_t notes[6];
    for (int i = 0; i < 3; ++i) {
        notes[i] = new_note();
        assert_int_equal(
            pwr_ucp_send(pair->peer, &out[i], sizeof out[i], tags[i], &notes[i].message), UCS_OK);
    }
    for (int i = 0; i < 3; ++i) {
        int last_first = 2 - i;
        note_t *note = &notes[3 + last_first];
        *note = new_note();
        assert_int_equal(pwr_ucp_receive(&pair->to, &in[last_first], sizeof in[0], tags[last_first],
                                         &note->message),
                         UCS_OK);
        progress_until(pair, note);
    }
    assert_int_equal(in[2], 1); /* the first one received of TAG */
    assert_int_equal(in[0], 3);
    assert_int_equal(in[1], 2);
    for (int i = 0; i < 3; ++i) {
        progress_until(pair, &notes[i]);
    }
}

static void what_is_too_long_is_an_error(void **state)
{
    const pair_t *pair = *state;
    char out[100] = "too long", in[8] = "";
    note_t sent = new_note(), received = new_note();
    assert_int_equal(pwr_ucp_send(pair->peer, out, sizeof out, TAG, &sent.message), UCS_OK);
    assert_int_equal(pwr_ucp_receive(&pair->to, in, 4, TAG, &received.message), UCS_OK);
    progress_until(pair, &received);
    assert_int_equal(received.status, UCS_ERR_MESSAGE_TRUNCATED);
    assert_int_equal(received.bytes, 0);
    assert_int_equal(in[4], 0);
    progress_until(pair, &sent);
}

/* ---- sleep ---- */

static void a_sleeper_is_woken(void **state)
{
    const pair_t *pair = *state;
    char out = 'x', in = ' ';
    pass(pair, 1, true); /* connected */
    for (int i = 0; i < 20; ++i) {
        note_t sent = new_note(), received = new_note();
        assert_int_equal(pwr_ucp_receive(&pair->to, &in, 1, TAG, &received.message), UCS_OK);
        fall_asleep(&pair->to);
        assert_false(is_woken(&pair->to, 5));
        assert_int_equal(pwr_ucp_send(pair->peer, &out, 1, TAG, &sent.message), UCS_OK);
        progress_until(&(pair_t){.from = pair->from, .to = pair->from}, &sent);
        assert_true(is_woken(&pair->to, PATIENCE_MS));
        progress_until(pair, &received);
    }
}

static void nobody_sleeps_over_what_is_there(void **state)
{
    const pair_t *pair = *state;
    char out = 'x', in = ' ';
    pass(pair, 1, true);
    for (int i = 0; i < 20; ++i) {
        note_t sent = new_note(), received = new_note();
        fall_asleep(&pair->to);
        assert_int_equal(pwr_ucp_send(pair->peer, &out, 1, TAG, &sent.message), UCS_OK);
        progress_until(&(pair_t){.from = pair->from, .to = pair->from}, &sent);
        /* armed after it came: refused, or woken at once */
        assert_true(!pwr_ucp_arm(&pair->to) || is_woken(&pair->to, PATIENCE_MS));
        assert_int_equal(pwr_ucp_receive(&pair->to, &in, 1, TAG, &received.message), UCS_OK);
        progress_until(pair, &received);
    }
}

/* Sleeps until a message has come, as long as all of them take. */
static void receive_asleep(const pwr_ucp_worker_t *worker, void *in, size_t bytes, note_t *note)
{
    *note = new_note();
    if (UCS_OK != pwr_ucp_receive(worker, in, bytes, TAG, &note->message)) {
        return;
    }
    for (int i = 0; 0 == note->times && i < 100000; ++i) {
        while (pwr_ucp_progress(worker) > 0) {
        }
        if (0 == note->times && pwr_ucp_arm(worker) && !is_woken(worker, PATIENCE_MS)) {
            return;
        }
    }
}

static int answer_in_child(int line)
{
    char address[4096];
    int in = 0;
    note_t note;
    pwr_ucp_worker_t worker;
    ssize_t got = read(line, address, sizeof address);
    if (NULL != pwr_ucp_open(&worker) || got <= 0 ||
        write(line, worker.address, worker.address_bytes) < 0) {
        return 2;
    }
    ucp_ep_h peer = pwr_ucp_connect(&worker, address);
    for (int i = 0; NULL != peer && i < 200; ++i) {
        note_t sent = new_note();
        receive_asleep(&worker, &in, sizeof in, &note);
        if (1 != note.times || i != in) {
            return 3;
        }
        usleep((unsigned)(i % 7) * 100);
        pwr_ucp_send(peer, &i, sizeof i, TAG, &sent.message);
        while (0 == sent.times) {
            pwr_ucp_progress(&worker);
        }
    }
    return read(line, address, 1) < 0; /* the parent has all */
}

/* Two processes that wake each other: a wake-up that is lost takes 20 s and fails. */
static void processes_wake_each_other(void **state)
{
    (void)state;
    int line[2], status, in = -1;
    char address[4096];
    pwr_ucp_worker_t worker;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, line), 0);
    pid_t child = fork();
    if (0 == child) {
        _exit(answer_in_child(line[1]));
    }
    assert_null(pwr_ucp_open(&worker));
    assert_int_equal(write(line[0], worker.address, worker.address_bytes), worker.address_bytes);
    assert_true(read(line[0], address, sizeof address) > 0);
    ucp_ep_h peer = pwr_ucp_connect(&worker, address);
    assert_non_null(peer);
    for (int i = 0; i < 200; ++i) {
        note_t sent = new_note(), received;
        assert_int_equal(pwr_ucp_send(peer, &i, sizeof i, TAG, &sent.message), UCS_OK);
        while (0 == sent.times) {
            pwr_ucp_progress(&worker);
        }
        receive_asleep(&worker, &in, sizeof in, &received);
        assert_int_equal(received.times, 1);
        assert_int_equal(in, i);
    }
    assert_int_equal(write(line[0], "", 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pwr_ucp_close(&worker);
    close(line[0]);
    close(line[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_wake_each_other), /* first: UCX does not like a fork later */
        cmocka_unit_test_setup_teardown(messages_arrive_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tags_are_told_apart_and_order_is_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_long_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sleeper_is_woken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_sleeps_over_what_is_there, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
