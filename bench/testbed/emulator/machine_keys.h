/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The keys a machine file may have, as a table.
 */
#ifndef EMU_MACHINE_KEYS_H
#define EMU_MACHINE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "machine_file.h"

enum emu_key_kind {
    EMU_KEY_INT,
    EMU_KEY_REAL,
    EMU_KEY_WORD,
    EMU_KEY_MODE,
    EMU_KEY_TEXT,
    EMU_KEY_OWN
};

struct emu_key {
    const char *name;
    enum emu_key_kind kind;
    size_t offset;            /* of the field in struct emu_config */
    double min, max;          /* EMU_KEY_INT, EMU_KEY_REAL */
    const char *const *words; /* EMU_KEY_WORD: NULL-terminated, the field takes the index */
    /* EMU_KEY_OWN: parses what no other kind fits. why is written on failure. */
    bool (*parse)(struct emu_config *config, const char *value, char *why, size_t why_size);
    const char *fallback; /* as it would stand in the file; NULL: the key must be given */
    const char *unit;
    const char *help;
};

extern const struct emu_key emu_keys[];
extern const size_t emu_key_count;

/* Stores value in the key's field, or says why not. */
bool emu_key_parse(const struct emu_key *key, struct emu_config *config, const char *value,
                   char *why, size_t why_size);

#endif
