/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The emulated files.
 */
#include "config.h"

#include "tree.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "records.h"

/* --- attributes --- */

void emu_attribute_show(const struct emu_attribute *attribute, struct emu_access access, FILE *out)
{
    access.kind = attribute->kind;
    if (attribute->khz != NULL) {
        fprintf(out, "%" PRIu32 "\n", attribute->khz(access.machine, access.index));
    } else {
        attribute->show(&access, out);
    }
}

static bool parse_khz(const char *text, uint32_t *khz)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *khz = (uint32_t)value;
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && value <= UINT32_MAX;
}

int emu_attribute_store(const struct emu_attribute *attribute, struct emu_access access,
                        const char *text)
{
    uint32_t khz;
    access.kind = attribute->kind;
    if (attribute->set_khz != NULL) {
        return parse_khz(text, &khz)
                   ? attribute->set_khz(access.machine, access.index, khz, access.now_ns)
                   : EINVAL;
    }
    return attribute->store != NULL ? attribute->store(&access, text) : EACCES;
}

/* --- nodes --- */

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
    emu_tree_folder(tree, 0, "/");
}

int emu_tree_folder(struct emu_tree *tree, int parent, const char *format, ...)
{
    char name[sizeof tree->nodes->name];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    node_add(tree, parent, name, EMU_NODE_FOLDER, S_IFDIR | 0755);
    return tree->count - 1;
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
    char name[sizeof tree->nodes->name];
    int at = 0;
    while (*path != '\0') {
        size_t length = strcspn(path, "/");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        int child = emu_tree_find(tree, at, name);
        at = child != 0 ? child : emu_tree_folder(tree, at, "%s", name);
        path += length + (path[length] == '/');
    }
    return at;
}

static void text_set(struct emu_node *node, const char *format, va_list arguments)
{
    if (vasprintf(&node->text, format, arguments) < 0) {
        checked(NULL);
    }
}

void emu_tree_link(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_set(node_add(tree, parent, name, EMU_NODE_LINK, S_IFLNK | 0777), format, arguments);
    va_end(arguments);
}

void emu_tree_text(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_set(node_add(tree, parent, name, EMU_NODE_TEXT, S_IFREG | 0444), format, arguments);
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

void emu_tree_free(struct emu_tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        free(tree->nodes[i].text);
    }
    free(tree->nodes);
}
