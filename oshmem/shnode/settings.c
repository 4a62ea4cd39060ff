/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Environment variables.  PE 0's count where all PEs must agree (members.c).
 */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct settings shnode_settings = {true, true, true, 0};

static void wrong(bool speaks, const char *name, const char *value, const char *wanted,
                  const char *used)
{
    if (speaks) {
        fprintf(stderr, "shnode: %s=%s: it must be %s; %s is used\n", name, value, wanted, used);
    }
}

static bool read_switch(bool speaks, const char *name)
{
    const char *value = getenv(name);
    if (value == NULL || strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0) {
        return true;
    }
    if (strcasecmp(value, "off") == 0 || strcmp(value, "0") == 0) {
        return false;
    }
    wrong(speaks, name, value, "on or off", "on");
    return true;
}

static int read_leaders(bool speaks)
{
    const char *name = "SHNODE_LEADERS", *value = getenv(name);
    if (value == NULL || strcasecmp(value, "auto") == 0) {
        return 0;
    }
    char *end;
    long leaders = strtol(value, &end, 10);
    if (end != value && *end == '\0' && leaders >= 1 && leaders <= 1024) {
        return (int)leaders;
    }
    wrong(speaks, name, value, "auto or a number from 1 to 1024", "auto");
    return 0;
}

void shnode_read_settings(bool speaks)
{
    shnode_settings.collectives = read_switch(speaks, "SHNODE_COLLECTIVES");
    shnode_settings.rma = read_switch(speaks, "SHNODE_RMA");
    shnode_settings.queries = read_switch(speaks, "SHNODE_QUERIES");
    shnode_settings.leaders = read_leaders(speaks);
}

/* SHNODE_TEST_NODES: the node of each PE, as "0,1,0,1", repeated where there are more PEs: fewer
   PEs can be reached, never more.  NULL: not set, or not a list of numbers. */
int *shnode_test_nodes(int pes)
{
    const char *list = getenv("SHNODE_TEST_NODES"), *at = list;
    int *nodes = list != NULL && *list != '\0' ? calloc((size_t)pes, sizeof *nodes) : NULL;
    for (int pe = 0; nodes != NULL && pe < pes; pe++) {
        char *end;
        nodes[pe] = (int)strtol(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0')) {
            free(nodes);
            return NULL;
        }
        at = *end == ',' ? end + 1 : list;
    }
    return nodes;
}
