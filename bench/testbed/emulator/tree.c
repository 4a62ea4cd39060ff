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

/* --- files --- */

void emu_file_show(const struct emu_access *access, FILE *out)
{
    if (access->file->khz != NULL) {
        fprintf(out, "%" PRIu32 "\n", access->file->khz(access->machine, access->index));
    } else {
        access->file->show(access, out);
    }
}

void emu_access_trace(const struct emu_access *access, const char *lever, const char *value)
{
    if (access->trace != NULL) {
        emu_csv_line(access->trace, "%" PRIu64 ",%d,%s,%s,%d", access->now_ns, access->index, lever,
                     value, (int)access->pid);
    }
}

int emu_access_refuse(const struct emu_access *access, const char *value, int error)
{
    int length = (int)strcspn(value, "\n");
    access->machine->rejected_writes++;
    emu_log("pid %d: write of %.*s to %s of %d rejected: %s", (int)access->pid,
            length < 40 ? length : 40, value, access->file->name, access->index, strerror(error));
    return error;
}

static int store_khz(const struct emu_access *access, const char *text)
{
    char *end;
    errno = 0;
    unsigned long khz = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0 || khz > UINT32_MAX) {
        return EINVAL;
    }
    return access->file->set_khz(access->machine, access->index, (uint32_t)khz, access->now_ns);
}

/* 0 and text without the newline and blanks behind it, or EINVAL.  The kernel's parsers take bytes
   for a string: what is behind a NUL does not count (COUNTDOWN 2.0 writes a buffer of it). */
static int text_copy(char text[EMU_TEXT_LIMIT], const char *bytes, size_t size)
{
    size = strnlen(bytes, size);
    while (size > 0 && memchr("\n ", bytes[size - 1], 2) != NULL) {
        size--;
    }
    if (size == 0 || size >= EMU_TEXT_LIMIT) {
        return EINVAL;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    return 0;
}

int emu_file_store(const struct emu_access *access, const char *bytes, size_t size)
{
    const struct emu_file *file = access->file;
    char text[EMU_TEXT_LIMIT] = "";
    int error = text_copy(text, bytes, size);
    if (error == 0) {
        error = file->set_khz != NULL ? store_khz(access, text)
                : file->store != NULL ? file->store(access, text)
                                      : EACCES;
    }
    if (error != 0) {
        return emu_access_refuse(access, text, error);
    }
    if (file->lever != NULL) {
        emu_access_trace(access, file->lever, text);
    }
    return 0;
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

static struct emu_node *node_add(struct emu_tree *tree, int parent, const char *name, mode_t mode)
{
    if (tree->count == tree->room) {
        tree->room = tree->room > 0 ? 2 * tree->room : 1024;
        tree->nodes = checked(realloc(tree->nodes, (size_t)tree->room * sizeof *tree->nodes));
    }
    int number = tree->count++;
    struct emu_node *node = &tree->nodes[number];
    *node = (struct emu_node){.mode = mode};
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
    node_add(tree, 0, "/", S_IFDIR | 0755);
}

int emu_tree_find(const struct emu_tree *tree, int parent, const char *name)
{
    int child = tree->nodes[parent].first_child;
    while (child != 0 && strcmp(tree->nodes[child].name, name) != 0) {
        child = tree->nodes[child].next;
    }
    return child;
}

static char *format_text(const char *format, va_list arguments)
{
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    return length < 0 ? checked(NULL) : text;
}

int emu_tree_folder(struct emu_tree *tree, int parent, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *path = format_text(format, arguments), *rest = path, *name;
    va_end(arguments);
    int at = parent;
    while ((name = strtok_r(rest, "/", &rest)) != NULL) {
        int child = emu_tree_find(tree, at, name);
        if (child == 0) {
            node_add(tree, at, name, S_IFDIR | 0755);
            child = tree->count - 1;
        }
        at = child;
    }
    free(path);
    return at;
}

void emu_tree_link(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *target = format_text(format, arguments);
    va_end(arguments);
    struct emu_node *node =
        node_add(tree, parent, name != NULL ? name : basename(target), S_IFLNK | 0777);
    node->text = target;
}

void emu_tree_text(struct emu_tree *tree, int parent, const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    node_add(tree, parent, name, S_IFREG | 0444)->text = format_text(format, arguments);
    va_end(arguments);
}

void emu_tree_files(struct emu_tree *tree, int parent, const struct emu_file *files, int index,
                    int mode)
{
    for (const struct emu_file *file = files; file->name != NULL; file++) {
        bool given = mode >= 0 && (file->mode & 0222) != 0;
        struct emu_node *node =
            node_add(tree, parent, file->name, S_IFREG | (given ? (mode_t)mode : file->mode));
        node->file = file;
        node->index = index;
    }
}

void emu_tree_free(struct emu_tree *tree)
{
    for (int i = 0; i < tree->count; i++) {
        free(tree->nodes[i].text);
    }
    free(tree->nodes);
}
