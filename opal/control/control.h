/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Controls: values of one CPU, or of its die, that decide how fast it runs (private to the library
 * and its tools).
 *
 * A control is a number and an access to it.  Levers, guardian and poweraware-restore all read and
 * write through here, so there is one way to write anything.
 *
 *   control            unit   accesses
 *   ceiling, floor     kHz    cpufreq (scaling_max_freq, scaling_min_freq), likwid;
 *                             intel_uncore_frequency (max_freq_khz, min_freq_khz of CPU's die)
 *   speed              kHz    cpufreq (scaling_setspeed, governor "userspace")
 *   perf_ctl           raw    msr_safe, msr, likwid-accessD: MSR 0x199, ratio in bits 15:8
 *   hwp_request        raw    the same: MSR 0x774, minimum 7:0, maximum 15:8
 *   clock_modulation   raw    the same: MSR 0x19a, enable 4, duty in sixteenths 3:0
 *   uncore_ratio       raw    the same: MSR 0x620 of CPU's die, maximum 6:0, minimum 14:8
 */
#ifndef PWR_CONTROL_H
#define PWR_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "msr/msr.h"
#include "pwr/env.h"
#include "why.h"

/* In the order in which they are restored: a ceiling must rise before a floor may. */
typedef enum pwr_control_kind {
    PWR_CONTROL_CEILING,
    PWR_CONTROL_FLOOR,
    PWR_CONTROL_SPEED,
    PWR_CONTROL_PERF_CTL,
    PWR_CONTROL_HWP_REQUEST,
    PWR_CONTROL_CLOCK_MODULATION,
    PWR_CONTROL_UNCORE_RATIO,
    PWR_CONTROL_KINDS
} pwr_control_kind_t;

typedef struct pwr_access pwr_access_t;

/* One control of one CPU, open. */
typedef struct pwr_control {
    const pwr_access_t *access;
    pwr_control_kind_t kind;
    unsigned cpu;
    int fd;        /* of a file, else -1 */
    pwr_msr_t msr; /* of a register */
} pwr_control_t;

/* A control as one access knows it. */
typedef struct pwr_place {
    const char *name;   /* of the file or register, for messages: "scaling_max_freq", "MSR 0x19a" */
    uint32_t msr;       /* of a register: its number */
    const char *remedy; /* what grants the right to read and write it, unless the access says so */
} pwr_place_t;

struct pwr_access {
    const char *name; /* in messages and journals; never changes its meaning */
    /* pwr_control_open, for a control of which everything but fd and msr is there. */
    pwr_status_t (*open)(const pwr_env_t *env, const pwr_why_t *why, pwr_control_t *control);
    /* Errors: UNSUPPORTED (the CPU or its register is gone), PERM, PARSE, IO. */
    pwr_status_t (*read)(const pwr_control_t *control, uint64_t *value);
    pwr_status_t (*write)(const pwr_control_t *control, uint64_t value);
    void (*close)(pwr_control_t *control);
    const pwr_place_t *places;   /* by kind of control; one without a name is not there */
    const char *remedy;          /* of all its places; NULL: each has its own */
    const pwr_msr_access_t *msr; /* how its registers are reached; NULL: it is no register */
};

extern const pwr_access_t pwr_access_cpufreq;
extern const pwr_access_t pwr_access_msr_safe;
extern const pwr_access_t pwr_access_msr;
extern const pwr_access_t pwr_access_accessd;
extern const pwr_access_t pwr_access_likwid;
extern const pwr_access_t pwr_access_uncore;

/* All of them; the place in it is the number on the guardian's wire. */
extern const pwr_access_t *const pwr_accesses[];
extern const size_t pwr_num_accesses;

/* Opens for reading and writing.  Errors: UNSUPPORTED (this access has no such control), PERM; a
   reason with its remedy is added to why. */
pwr_status_t pwr_control_open(const pwr_access_t *access, const pwr_env_t *env,
                              pwr_control_kind_t kind, unsigned cpu, const pwr_why_t *why,
                              pwr_control_t *control);

/* For messages about one that is open: its place's name, and what grants the right to use it. */
static inline const char *pwr_control_place(const pwr_control_t *control)
{
    return control->access->places[control->kind].name;
}

static inline const char *pwr_control_remedy(const pwr_control_t *control)
{
    const pwr_access_t *access = control->access;
    return access->remedy ? access->remedy : access->places[control->kind].remedy;
}

/* By name, or NULL. */
const pwr_access_t *pwr_access_find(const char *name);
/* "ceiling", "clock_modulation" ...; NULL for no kind. */
const char *pwr_control_kind_name(pwr_control_kind_t kind);
/* PWR_CONTROL_KINDS when there is none of this name. */
pwr_control_kind_t pwr_control_kind_find(const char *name);

/* The bits that are the control; the rest of a register belongs to others and is kept. */
uint64_t pwr_control_mask(pwr_control_kind_t kind);

/* How fast a value lets the CPU run: kHz for ceiling, floor and speed; a ratio for perf_ctl and
   uncore_ratio; a performance level for hwp_request; sixteenths of full duty (1..16) for
   clock_modulation. */
uint64_t pwr_control_speed(pwr_control_kind_t kind, uint64_t value);

/* What to write to a control that was found at `found` so that the CPU runs at most at speed `want`
   (in the same unit), and never faster than found. */
uint64_t pwr_control_lowered(pwr_control_kind_t kind, uint64_t found, uint64_t want);

/* control_file.c: a file of the uncore of cpu's die; PERM, UNSUPPORTED, PARSE, with a reason in
   why, where nothing tells which die that is. */
pwr_status_t pwr_uncore_path(const pwr_env_t *env, unsigned cpu, const char *file,
                             const pwr_why_t *why, char *path, unsigned size);

/* control_file.c: what such a file says; PARSE: not a frequency.  A reason is added to why. */
pwr_status_t pwr_khz_read(const pwr_env_t *env, const char *path, const pwr_why_t *why,
                          uint32_t *khz);

#endif
