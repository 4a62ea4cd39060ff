/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Ledgers of parts of a job, and how they add up (pwr/ledger.h).
 *
 * Packed: head, power of all, nodes, power of as many nodes as have it kept (all, or none),
 * account.
 */
#include "config.h"

#include "pwr/ledger.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x70776c05 /* last byte: version */, MOST_NODES = 1 << 24 };

typedef struct packed_head {
    uint32_t magic;
    uint32_t num_nodes;
    uint32_t num_series;
    uint32_t account_bytes;
    pwr_series_t power;
} packed_head_t;

pwr_ledger_t *pwr_ledger_new(void)
{
    return calloc(1, sizeof(pwr_ledger_t));
}

void pwr_ledger_free(pwr_ledger_t *ledger)
{
    if (ledger) {
        free(ledger->nodes);
        free(ledger->series);
        free(ledger);
    }
}

/* ---- nodes ---- */

/* Gives up the nodes' own series when there will be too many. */
static pwr_status_t make_room(pwr_ledger_t *ledger, size_t more, bool with_series)
{
    size_t needed = ledger->num_nodes + more;
    ledger->too_many = ledger->too_many || !with_series || needed > PWR_LEDGER_SERIES;
    if (ledger->too_many) {
        free(ledger->series);
        ledger->series = NULL;
    } else if (!ledger->series) {
        ledger->series = calloc(PWR_LEDGER_SERIES, sizeof ledger->series[0]);
        if (!ledger->series) {
            return PWR_ERR_NOMEM;
        }
    }
    if (needed > ledger->room) {
        size_t room = needed > 2 * ledger->room ? needed : 2 * ledger->room;
        pwr_ledger_node_t *nodes = realloc(ledger->nodes, room * sizeof nodes[0]);
        if (!nodes) {
            return PWR_ERR_NOMEM;
        }
        ledger->nodes = nodes;
        ledger->room = room;
    }
    return PWR_OK;
}

pwr_status_t pwr_ledger_add_node(pwr_ledger_t *ledger, const pwr_ledger_node_t *node,
                                 const pwr_series_t *power)
{
    pwr_status_t status = make_room(ledger, 1, true);
    if (status != PWR_OK) {
        return status;
    }
    if (ledger->series) {
        ledger->series[ledger->num_nodes] = *power;
    }
    pwr_series_merge(&ledger->power, power);
    ledger->nodes[ledger->num_nodes++] = *node;
    return PWR_OK;
}

/* ---- packed ---- */

static size_t num_series(const pwr_ledger_t *ledger)
{
    return ledger->series ? ledger->num_nodes : 0;
}

void *pwr_ledger_pack(const pwr_ledger_t *ledger, size_t *bytes)
{
    size_t nodes_bytes = ledger->num_nodes * sizeof ledger->nodes[0];
    size_t series_bytes = num_series(ledger) * sizeof(pwr_series_t);
    size_t most = sizeof(packed_head_t) + nodes_bytes + series_bytes + PWR_ACCOUNT_PACKED_MAX;
    packed_head_t *head = malloc(most);
    if (!head) {
        return NULL;
    }
    char *nodes = (char *)(head + 1);
    char *series = nodes + nodes_bytes;
    char *account = series + series_bytes;
    if (nodes_bytes > 0) {
        memcpy(nodes, ledger->nodes, nodes_bytes);
    }
    if (series_bytes > 0) {
        memcpy(series, ledger->series, series_bytes);
    }
    size_t account_bytes = pwr_account_pack(&ledger->account, account);
    *head = (packed_head_t){
        .magic = MAGIC,
        .num_nodes = (uint32_t)ledger->num_nodes,
        .num_series = (uint32_t)num_series(ledger),
        .account_bytes = (uint32_t)account_bytes,
        .power = ledger->power,
    };
    *bytes = (size_t)(account + account_bytes - (char *)head);
    return head;
}

static bool is_text(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool has_sound_levers(const pwr_ledger_node_t *node)
{
    bool sound = true;
    for (int i = 0; i < PWR_NUM_LEVERS; i++) {
        sound = sound && pwr_lever_use_is_sound(&node->levers[i]);
    }
    return sound;
}

static bool is_sound_node(const pwr_ledger_node_t *node)
{
    return is_text(node->host, sizeof node->host) && is_text(node->machine, sizeof node->machine) &&
           is_text(node->source, sizeof node->source) &&
           is_text(node->energy_remark, sizeof node->energy_remark) && has_sound_levers(node) &&
           node->provenance <= PWR_METER_MODELLED;
}

typedef struct parts {
    const packed_head_t *head;
    const pwr_ledger_node_t *nodes;
    const pwr_series_t *series;
    const void *account;
} parts_t;

static bool has_sound_head(const packed_head_t *head, size_t bytes)
{
    return bytes >= sizeof *head && head->magic == MAGIC && head->num_nodes <= MOST_NODES &&
           (head->num_series == 0 ||
            (head->num_series == head->num_nodes && head->num_series <= PWR_LEDGER_SERIES)) &&
           head->account_bytes <= PWR_ACCOUNT_PACKED_MAX &&
           bytes == sizeof *head + head->num_nodes * sizeof(pwr_ledger_node_t) +
                        head->num_series * sizeof(pwr_series_t) + head->account_bytes &&
           pwr_series_is_sound(&head->power);
}

static bool find_parts(const void *packed, size_t bytes, parts_t *parts)
{
    const packed_head_t *head = packed;
    if (!has_sound_head(head, bytes)) {
        return false;
    }
    parts->head = head;
    parts->nodes = (const pwr_ledger_node_t *)(head + 1);
    parts->series = (const pwr_series_t *)(parts->nodes + head->num_nodes);
    parts->account = parts->series + head->num_series;
    for (uint32_t i = 0; i < head->num_nodes; i++) {
        if (!is_sound_node(&parts->nodes[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < head->num_series; i++) {
        if (!pwr_series_is_sound(&parts->series[i])) {
            return false;
        }
    }
    return true;
}

pwr_status_t pwr_ledger_add_packed(pwr_ledger_t *ledger, const void *packed, size_t bytes)
{
    parts_t parts;
    if (!find_parts(packed, bytes, &parts)) {
        return PWR_ERR_PARSE;
    }
    uint32_t num = parts.head->num_nodes;
    pwr_status_t status = make_room(ledger, num, parts.head->num_series == num);
    if (status == PWR_OK) {
        status =
            pwr_account_merge_packed(&ledger->account, parts.account, parts.head->account_bytes);
    }
    if (status != PWR_OK) {
        return status;
    }
    if (num > 0) {
        memcpy(&ledger->nodes[ledger->num_nodes], parts.nodes, num * sizeof parts.nodes[0]);
    }
    if (ledger->series && num > 0) {
        memcpy(&ledger->series[ledger->num_nodes], parts.series, num * sizeof parts.series[0]);
    }
    pwr_series_merge(&ledger->power, &parts.head->power);
    ledger->num_nodes += num;
    return PWR_OK;
}
