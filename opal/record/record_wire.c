/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Messages between a leader and its recorder.
 */
#include "config.h"

#include "record/record_wire.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "helper/helper.h"

static const uint64_t most_bytes = UINT64_C(1) << 36;

static size_t piece_of(uint64_t bytes, uint64_t done)
{
    uint64_t left = bytes - done;
    return left < PWR_RECORD_PIECE ? (size_t)left : (size_t)PWR_RECORD_PIECE;
}

pwr_status_t pwr_record_send(int fd, const pwr_record_head_t *head, const void *data)
{
    pwr_status_t status = pwr_helper_send(fd, head, sizeof *head);
    uint64_t done = 0;
    while (status == PWR_OK && done < head->bytes) {
        size_t piece = piece_of(head->bytes, done);
        status = pwr_helper_send(fd, (const char *)data + done, piece);
        done += piece;
    }
    return status;
}

static pwr_status_t receive_bytes(const pwr_env_t *env, int fd, uint64_t timeout_ns, char *data,
                                  uint64_t bytes)
{
    uint64_t done = 0;
    pwr_status_t status = PWR_OK;
    while (status == PWR_OK && done < bytes) {
        size_t piece = piece_of(bytes, done);
        status = pwr_helper_receive(env, fd, timeout_ns, data + done, piece);
        done += piece;
    }
    data[bytes] = '\0';
    return status;
}

static bool is_sound(const pwr_record_head_t *head)
{
    return head->magic == PWR_RECORD_MAGIC && head->bytes <= most_bytes &&
           memchr(head->reason, '\0', sizeof head->reason) != NULL;
}

pwr_status_t pwr_record_receive(const pwr_env_t *env, int fd, uint64_t timeout_ns,
                                pwr_record_head_t *head, void **data)
{
    pwr_status_t status = pwr_helper_receive(env, fd, timeout_ns, head, sizeof *head);
    if (status != PWR_OK) {
        return status;
    }
    if (!is_sound(head)) {
        return PWR_ERR_IO;
    }
    char *received = malloc((size_t)head->bytes + 1);
    if (!received) {
        return PWR_ERR_NOMEM;
    }
    status = receive_bytes(env, fd, timeout_ns, received, head->bytes);
    if (status != PWR_OK) {
        free(received);
        return status;
    }
    *data = received;
    return PWR_OK;
}
