/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The emulated files.
 */
#include "config.h"

#include "tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"

static void *checked(void *memory)
{
    if (memory == NULL) {
        emu_log("out of memory");
        exit(1);
    }
    return memory;
}

static struct emu_node *node_add(struct emu_tree *tree, int parent, const char *name,
                                 enum emu_node_kind kind, mode_t mode)
{
    if (tree->count == tree->room) {
        tree->room = tree->room > 0 ? 2 * tree->room : 1024;
        tree->nodes = checked(realloc(tree->nodes, (size_t)tree->room * sizeof *tree->nodes));
    }
    int number = tree->count++;
    struct emu_node *node = &tree->nodes[number];
    *node = (struct emu_node){.kind = kind, .mode = mode, .parent = parent};
    snprintf(node->name, sizeof node->name, "%s", name);
    if (number > 0) {
        node->next = tree->nodes[parent].first_child;
        tree->nodes[parent].first_child = number;
    }
    return node;
}

void emu_tree_init(struct emu_tree *tree)
{
    *tree = (struct emu_tree){0};
    node_add(tree, 0, "", EMU_NODE_FOLDER, S_IFDIR | 0755);
}

int emu_tree_folder(struct emu_tree *tree, int parent, const char *name)
{
    node_add(tree, parent, name, EMU_NODE_FOLDER, S_IFDIR | 0755);
    return tree->count - 1;
}

int emu_tree_gated(struct emu_tree *tree, int parent, const char *name, enum emu_gate gate, int cpu)
{
    int folder = emu_tree_folder(tree, parent, name);
    tree->nodes[folder].gate = gate;
    tree->nodes[folder].index = cpu;
    return folder;
}

void emu_tree_path_of(const struct emu_tree *tree, int node, char *path, size_t size)
{
    int parts[16], depth = 0;
    size_t used = 0;
    for (; node != 0 && depth < 16; node = tree->nodes[node].parent) {
        parts[depth++] = node;
    }
    path[0] = '\0';
    while (depth-- > 0 && used < size) {
        used += (size_t)snprintf(path + used, size - used, "%s%s", used > 0 ? "/" : "",
                                 tree->nodes[parts[depth]].name);
    }
}

int emu_tree_barred(const struct emu_tree *tree, const struct emu_machine *machine, int number)
{
    const struct emu_node *node = &tree->nodes[number];
    if (node->kind == EMU_NODE_MSR || node->kind == EMU_NODE_MSR_SAFE) {
        return machine->cpus[node->index].online ? 0 : ENXIO;
    }
    for (; number != 0; number = node->parent) {
        node = &tree->nodes[number];
        if (node->gate == EMU_GATE_VANISH && !machine->cpus[node->index].online) {
            return ENODEV;
        }
        if (node->gate == EMU_GATE_POLICY && !emu_machine_policy_active(machine, node->index)) {
            return EBUSY;
        }
    }
    return 0;
}

int emu_tree_find(const struct emu_tree *tree, int parent, const char *name)
{
    int child = tree->nodes[parent].first_child;
    while (child != 0 && strcmp(tree->nodes[child].name, name) != 0) {
        child = tree->nodes[child].next;
    }
    return child;
}

int emu_tree_path(struct emu_tree *tree, const char *path)
{
    char name[48];
    int at = 0;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        int child = emu_tree_find(tree, at, name);
        at = child != 0 ? child : emu_tree_folder(tree, at, name);
        path += length + (path[length] == '/');
    }
    return at;
}

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
    }
    return checked(text);
}

void emu_tree_link(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    node_add(tree, parent, name, EMU_NODE_LINK, S_IFLNK | 0777)->text =
        format_text(format, arguments);
    va_end(arguments);
}

void emu_tree_text(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    node_add(tree, parent, name, EMU_NODE_TEXT, S_IFREG | 0444)->text =
        format_text(format, arguments);
    va_end(arguments);
}

struct emu_node *emu_tree_attribute(struct emu_tree *tree, int parent,
                                    const struct emu_attribute *attribute, int index)
{
    struct emu_node *node =
        node_add(tree, parent, attribute->name, EMU_NODE_ATTRIBUTE, S_IFREG | attribute->mode);
    node->attribute = attribute;
    node->index = index;
    return node;
}

void emu_tree_device(struct emu_tree *tree, int parent, const char *name, enum emu_node_kind kind,
                     mode_t mode, int index)
{
    node_add(tree, parent, name, kind, S_IFREG | mode)->index = index;
}

bool emu_parse_u32(const char *text, uint32_t *number)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && value <= UINT32_MAX;
}

void emu_tree_free(struct emu_tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        free(tree->nodes[i].text);
    }
    free(tree->nodes);
    *tree = (struct emu_tree){0};
}
