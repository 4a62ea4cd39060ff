/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Finding the words through which an object calls others, and writing them.
 *
 * They are those that relocations with the symbol's name fill: of the table for calls (DT_JMPREL),
 * and of the other one (DT_RELA, DT_REL) in objects that are built without it.  With full RELRO the
 * page is read-only once the loader is through.  With lazy binding the word leads to the loader
 * until the first call, and would be written by that: the function is looked up then.
 */
#define _GNU_SOURCE
#include "redirect.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if UINTPTR_MAX > UINT32_MAX
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

/* ---- the object ---- */

typedef struct object {
    const char *name; /* that is looked for */
    const char *path; /* NULL: not found */
    uintptr_t base;
    uintptr_t end;
    const ElfW(Dyn) * dynamic;
} object_t;

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *file = NULL == slash ? path : slash + 1;
    size_t length = strlen(name);
    return 0 == strncmp(file, name, length) && 0 == strncmp(file + length, ".so", 3);
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    object_t *object = arg;
    (void)size;
    if (!is_named(info->dlpi_name, object->name)) {
        return 0;
    }
    object->path = info->dlpi_name;
    object->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (PT_DYNAMIC == part->p_type) {
            object->dynamic = (const void *)begin;
        } else if (PT_LOAD == part->p_type && begin + part->p_memsz > object->end) {
            object->end = begin + part->p_memsz;
        }
    }
    return 1;
}

/* ---- the word ---- */

typedef struct relocations {
    uintptr_t first;
    size_t bytes;
    size_t each;
} relocations_t;

typedef struct tables {
    const ElfW(Sym) * symbols;
    const char *names;
    relocations_t calls;
    relocations_t others;
} tables_t;

/* Some loaders leave addresses as the file has them. */
static uintptr_t address_of(const object_t *object, const ElfW(Dyn) * entry)
{
    uintptr_t address = entry->d_un.d_ptr;
    return address < object->base ? object->base + address : address;
}

static tables_t tables_of(const object_t *object)
{
    tables_t tables = {.calls.each = sizeof(ElfW(Rela)), .others.each = sizeof(ElfW(Rela))};
    for (const ElfW(Dyn) *entry = object->dynamic; DT_NULL != entry->d_tag; ++entry) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables.symbols = (const void *)address_of(object, entry);
            break;
        case DT_STRTAB:
            tables.names = (const void *)address_of(object, entry);
            break;
        case DT_JMPREL:
            tables.calls.first = address_of(object, entry);
            break;
        case DT_PLTRELSZ:
            tables.calls.bytes = entry->d_un.d_val;
            break;
        case DT_PLTREL:
            tables.calls.each =
                DT_REL == entry->d_un.d_val ? sizeof(ElfW(Rel)) : sizeof(ElfW(Rela));
            break;
        case DT_RELA:
        case DT_REL:
            tables.others.first = address_of(object, entry);
            break;
        case DT_RELASZ:
        case DT_RELSZ:
            tables.others.bytes = entry->d_un.d_val;
            break;
        case DT_RELENT:
            tables.others.each = sizeof(ElfW(Rel));
            break;
        }
    }
    return tables;
}

/* Both kinds of relocations begin alike. */
static void **word_in(const object_t *object, const tables_t *tables, const relocations_t *those,
                      const char *symbol)
{
    for (size_t at = 0; 0 != those->first && at + those->each <= those->bytes; at += those->each) {
        const ElfW(Rel) *relocation = (const void *)(those->first + at);
        const ElfW(Sym) *of = &tables->symbols[SYMBOL_OF(relocation->r_info)];
        if (0 == strcmp(tables->names + of->st_name, symbol)) {
            return (void **)(object->base + relocation->r_offset);
        }
    }
    return NULL;
}

static void **find_word(const object_t *object, const char *symbol)
{
    if (NULL == object->dynamic) {
        return NULL;
    }
    tables_t tables = tables_of(object);
    if (NULL == tables.symbols || NULL == tables.names) {
        return NULL;
    }
    void **word = word_in(object, &tables, &tables.calls, symbol);
    return NULL != word ? word : word_in(object, &tables, &tables.others, symbol);
}

/* ---- writing ---- */

/* What a page may be used for now: PROT_ values, -1 where that is not known. */
static int protection_of(uintptr_t address)
{
    int protection = -1;
    char line[512], may[5];
    uintptr_t begin, end;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (NULL != maps && -1 == protection && NULL != fgets(line, sizeof line, maps)) {
        if (3 == sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, may) &&
            begin <= address && address < end) {
            protection = ('r' == may[0] ? PROT_READ : 0) | ('w' == may[1] ? PROT_WRITE : 0) |
                         ('x' == may[2] ? PROT_EXEC : 0);
        }
    }
    if (NULL != maps) {
        fclose(maps);
    }
    return protection;
}

/* Writes value where expected is; false: something else is there, or it cannot be written. */
static bool exchange(void **word, void *expected, void *value)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)word & ~(uintptr_t)(bytes - 1));
    int protection = protection_of((uintptr_t)word);
    bool shut = 0 == (protection & PROT_WRITE);
    if (-1 == protection || (shut && 0 != mprotect(page, bytes, protection | PROT_WRITE))) {
        return false;
    }
    bool done = atomic_compare_exchange_strong((_Atomic(void *) *)word, &expected, value);
    if (shut) {
        (void)mprotect(page, bytes, protection);
    }
    return done;
}

/* ---- one function ---- */

/* Not bound yet: it leads into the object itself, from there to the loader. */
static void *function_of(const object_t *object, const pwr_redirect_t *redirect)
{
    uintptr_t found = (uintptr_t)redirect->found;
    bool bound = found < object->base || found >= object->end;
    return bound ? redirect->found : dlsym(redirect->handle, redirect->symbol);
}

static bool begin(pwr_redirect_t *redirect)
{
    object_t object = {.name = redirect->object};
    dl_iterate_phdr(look_at, &object);
    void **word = find_word(&object, redirect->symbol);
    redirect->handle = NULL == word ? NULL : dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD);
    if (NULL == redirect->handle) {
        return false;
    }
    redirect->found = atomic_load((_Atomic(void *) *)word);
    void *function = function_of(&object, redirect);
    if (NULL != function && redirect->ours != function) {
        *redirect->saved = function;
        redirect->word = exchange(word, redirect->found, redirect->ours) ? word : NULL;
    }
    if (NULL == redirect->word) {
        dlclose(redirect->handle);
    }
    return NULL != redirect->word;
}

size_t pwr_redirect_all(pwr_redirect_t *all, size_t count)
{
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
        done += NULL != all[i].word || begin(&all[i]);
    }
    return done;
}

void pwr_redirect_undo(pwr_redirect_t *all, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (NULL != all[i].word) {
            (void)exchange(all[i].word, all[i].ours, all[i].found);
            all[i].word = NULL;
            dlclose(all[i].handle);
        }
    }
}
