/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The journal of one client: what each control was before, and what we may have made of it.
 *
 * Text, for administrators too; only appended to.  Words are separated by one space:
 *
 *   poweraware-journal 1 host=H boot=B uid=U pid=P start=S job=J root=R CRC
 *   original CONTROL ACCESS CPU VALUE CRC     found before the first write; a later one replaces it
 *   ours CONTROL ACCESS CPU VALUE CRC         a value about to be written for the first time
 *
 *   1           version of this format
 *   B           /proc/sys/kernel/random/boot_id: after a reboot there is nothing to restore
 *   P, S        the client and when it started (field 22 of /proc/P/stat)
 *   R           pwr_env_t's root; "/" is the real machine
 *   H, B, J, R  bytes outside 0x21..0x7e, and '%', are written as %XX
 *   CONTROL     as in control.h: ceiling, floor, speed, perf_ctl, hwp_request, clock_modulation ..
 *   ACCESS      as in pwr_accesses: cpufreq, msr_safe, msr ...
 *   VALUE       decimal kHz for ceiling, floor and speed, else 0x and lower-case hexadecimal
 *   CRC         8 hexadecimal digits: CRC-32 (as in zlib) of everything in the file before it, so
 *               that a line that is missing, doubled or moved is noticed as well
 *
 * Every number has one spelling only.  A last line without newline is one whose writing was
 * interrupted; nothing was written to hardware on its account, and it does not count.  Whatever
 * else is not exactly this is damage: a damaged journal is reported and kept, never guessed at.
 */
#ifndef PWR_GUARD_JOURNAL_H
#define PWR_GUARD_JOURNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/control.h"
#include "control/held.h"

enum {
    PWR_JOURNAL_VERSION = 1,
    PWR_JOURNAL_OURS = 2 * PWR_HELD_VALUES, /* each value, and what the hardware makes of it */
    PWR_JOURNAL_LINE_BYTES = 4 * PATH_MAX,  /* newline included; the root may need % throughout */
    PWR_JOURNAL_MAX_BYTES = 16 << 20,
    PWR_JOURNAL_MAX_LINES = 1 << 18,
    PWR_JOURNAL_MAX_CPU = 65535,
    PWR_JOURNAL_WORD_BYTES = 256,
    PWR_JOURNAL_CHAINS = 4096 /* a chain has at most 700 records, whatever a journal says */
};

typedef struct pwr_journal_header {
    char host[PWR_JOURNAL_WORD_BYTES];
    char boot[PWR_JOURNAL_WORD_BYTES];
    char job[PWR_JOURNAL_WORD_BYTES];
    char root[PATH_MAX]; /* as pwr_env_t's: "" is the real machine */
    uid_t uid;
    pid_t pid;
    uint64_t start;
} pwr_journal_header_t;

/* One line but the first. */
typedef struct pwr_journal_entry {
    const pwr_access_t *access;
    pwr_control_kind_t kind;
    unsigned cpu;
    bool ours; /* else the original */
    uint64_t value;
} pwr_journal_entry_t;

/* A line as it is in the file: newline included, not terminated. */
typedef struct pwr_journal_line {
    size_t length;
    bool full; /* it does not fit; text and length are worth nothing then */
    char text[PWR_JOURNAL_LINE_BYTES];
} pwr_journal_line_t;

/* What all lines about one control amount to. */
typedef struct pwr_journal_record {
    const pwr_access_t *access;
    pwr_control_kind_t kind;
    unsigned cpu;
    uint64_t original;
    uint64_t ours[PWR_JOURNAL_OURS];
    unsigned num_ours;
    bool put_back; /* not of a line: by the guardian, while its client was stopped */
    uint32_t next; /* as first_of_chain */
} pwr_journal_record_t;

typedef struct pwr_journal {
    pwr_journal_header_t header;
    bool has_header; /* false: empty, or interrupted in the first line; nothing was ever written */
    bool torn;       /* a last line without newline was left out */
    pwr_journal_record_t *records;
    size_t count;
    size_t capacity;
    /* Records by CPU and kind: the number of the chain's first one, plus one; 0: none. */
    uint32_t first_of_chain[PWR_JOURNAL_CHAINS];
    size_t size;  /* bytes of all whole lines */
    uint32_t crc; /* of those bytes */
    size_t lines;
} pwr_journal_t;

/* Where and why a journal is unreadable. */
typedef struct pwr_journal_flaw {
    size_t line; /* counted from 1 */
    char reason[128];
} pwr_journal_flaw_t;

/* An empty journal is all zeros, and so is one that was freed. */
void pwr_journal_free(pwr_journal_t *journal);

/* Reads size bytes of text (any bytes).  Pure: touches no file.  PARSE: damaged, and flaw says
   where; NOMEM.  On failure journal is not written. */
pwr_status_t pwr_journal_parse(const char *text, size_t size, pwr_journal_t *journal,
                               pwr_journal_flaw_t *flaw);

/* Writes the next line of journal, which does not have it before pwr_journal_commit.  RANGE: does
   not fit in PWR_JOURNAL_LINE_BYTES, or the journal has grown to its limits. */
pwr_status_t pwr_journal_format_header(const pwr_journal_header_t *header,
                                       pwr_journal_line_t *line);
pwr_status_t pwr_journal_format(const pwr_journal_t *journal, const pwr_journal_entry_t *entry,
                                pwr_journal_line_t *line);

/* Whether entry may be added: makes room for it.  *known (same value, already there): nothing needs
   to be written.  ARG: ours of a control whose original is not there, or a CPU out of range; RANGE:
   more than PWR_JOURNAL_OURS values; NOMEM. */
pwr_status_t pwr_journal_admit(pwr_journal_t *journal, const pwr_journal_entry_t *entry,
                               bool *known);

/* What is known of the control of entry, or NULL. */
pwr_journal_record_t *pwr_journal_find(const pwr_journal_t *journal,
                                       const pwr_journal_entry_t *entry);

/* The line that was formatted is now in the file: adds it.  Cannot fail after admit. */
void pwr_journal_commit_header(pwr_journal_t *journal, const pwr_journal_header_t *header,
                               const pwr_journal_line_t *line);
void pwr_journal_commit(pwr_journal_t *journal, const pwr_journal_entry_t *entry,
                        const pwr_journal_line_t *line);

/* Whether values of this kind are decimal kHz. */
bool pwr_journal_is_khz(pwr_control_kind_t kind);

/* CRC-32 of size more bytes; start with 0. */
uint32_t pwr_journal_crc(uint32_t crc, const void *bytes, size_t size);

/* ---- identity.c: who a journal belongs to ---- */

enum { PWR_JOB_BYTES = 65 };

/* The job of this process: name if it is not NULL, else what the batch system (Slurm, PBS, LSF,
   Flux) or the launcher calls it in the environment, else "none".  Letters, digits, '.', '_' and
   '-' stay, all else becomes '_', and what does not fit is cut. */
void pwr_identity_job(const char *name, char job[PWR_JOB_BYTES]);

/* This host, this boot and this user, and process pid; job and root are left empty.  What the
   system does not tell is "" or 0.  The kernel is asked directly, whatever env->root is: neither
   processes nor boots are emulated. */
void pwr_identity_describe(pid_t pid, pwr_journal_header_t *header);

/* Whether process pid is stopped, as by SIGSTOP; false when it is not known. */
bool pwr_identity_is_stopped(pid_t pid);

#endif
