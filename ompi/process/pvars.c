/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Performance variables of MPI_T, for tools that look while the program runs: sums over this
 * process's accounts (pwr/account.h), all together and by collective.  The parameters are control
 * variables of MPI_T by themselves.
 *
 * A variable is read by adding up the table, so calls do not pay for it.  Accounts are kept where a
 * report is wanted; elsewhere all are 0.
 */
#include "pwr_ompi/process.h"

#include "pwr_ompi/pvars.h"

#include <stddef.h>
#include <stdio.h>

enum { ANY = -1 };

/* A field of pwr_account_sums_t. */
typedef struct field {
    const char *name;
    const char *help;
    size_t offset;
    int class;
    bool each; /* of each collective, too */
} field_t;

static const field_t fields[] = {
    {"calls", "Blocking calls, number", offsetof(pwr_account_sums_t, calls),
     MCA_BASE_PVAR_CLASS_COUNTER, true},
    {"bytes", "What decides on the size class of calls, bytes", offsetof(pwr_account_sums_t, bytes),
     MCA_BASE_PVAR_CLASS_AGGREGATE, false},
    {"time", "Time in blocking calls, nanoseconds", offsetof(pwr_account_sums_t, ns),
     MCA_BASE_PVAR_CLASS_TIMER, true},
    {"spin_time", "Of the time: waiting by polling, nanoseconds",
     offsetof(pwr_account_sums_t, spin_ns), MCA_BASE_PVAR_CLASS_TIMER, false},
    {"monitor_time", "Of the time: waiting on a cache line, nanoseconds",
     offsetof(pwr_account_sums_t, monitor_ns), MCA_BASE_PVAR_CLASS_TIMER, false},
    {"sleep_time", "Of the time: waiting with the CPU given back, nanoseconds",
     offsetof(pwr_account_sums_t, sleep_ns), MCA_BASE_PVAR_CLASS_TIMER, true},
    {"low_frequency_time", "Of the time: at the lowest frequency, nanoseconds",
     offsetof(pwr_account_sums_t, held_ns[PWR_LEVER_PSTATE]), MCA_BASE_PVAR_CLASS_TIMER, false},
    {"throttled_time", "Of the time: in T-states, nanoseconds",
     offsetof(pwr_account_sums_t, held_ns[PWR_LEVER_TSTATE]), MCA_BASE_PVAR_CLASS_TIMER, false},
    {"transitions", "Writes to frequency and clock-modulation controls, number",
     offsetof(pwr_account_sums_t, transitions), MCA_BASE_PVAR_CLASS_COUNTER, false},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

typedef struct variable {
    size_t offset;
    int operation; /* or ANY */
} variable_t;

/* [0]: all together */
static variable_t variables[1 + PWR_PROCESS_NAMES][FIELDS];

static uint64_t field_of(const pwr_account_sums_t *sums, size_t offset)
{
    return *(const uint64_t *)(const void *)((const char *)sums + offset);
}

static int read_variable(const mca_base_pvar_t *pvar, void *value, void *object)
{
    (void)object;
    const variable_t *variable = pvar->ctx;
    uint64_t sum = 0;
    unsigned index = 0;
    const pwr_account_cell_t *cell;
    if (NULL != pwr_process.account && ANY == variable->operation) {
        sum = field_of(&pwr_process.account->rest.sums, variable->offset);
    }
    while (NULL != pwr_process.account &&
           NULL != (cell = pwr_account_next(pwr_process.account, &index))) {
        if (ANY == variable->operation ||
            (unsigned)variable->operation == pwr_account_kind(cell).operation) {
            sum += field_of(&cell->sums, variable->offset);
        }
    }
    *(unsigned long long *)value = sum;
    return OMPI_SUCCESS;
}

/* Where the MCA system has no room for it, nobody can read it, and nothing else is lost. */
void pwr_pvar_register(const mca_base_component_t *component, const char *name, const char *help,
                       int class, mca_base_get_value_fn_t get, void *context)
{
    (void)mca_base_component_pvar_register(
        component, name, help, OPAL_INFO_LVL_4, class, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
        MCA_BASE_VAR_BIND_NO_OBJECT, MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS,
        get, NULL, NULL, context);
}

static void register_field(const mca_base_component_t *component, int operation, int number,
                           const char *note)
{
    const field_t *field = &fields[number];
    variable_t *variable = &variables[operation + 1][number];
    char name[64];
    char help[256];
    *variable = (variable_t){.offset = field->offset, .operation = operation};
    if (ANY == operation) {
        snprintf(name, sizeof name, "%s", field->name);
        snprintf(help, sizeof help, "%s%s", field->help, note);
    } else {
        const char *operation_name = pwr_process_name(PWR_OPERATION, operation);
        snprintf(name, sizeof name, "%s_%s", operation_name, field->name);
        snprintf(help, sizeof help, "%s (MPI_%c%s)%s", field->help, operation_name[0] - 'a' + 'A',
                 operation_name + 1, note);
    }
    pwr_pvar_register(component, name, help, field->class, read_variable, variable);
}

static int read_node_energy(const mca_base_pvar_t *pvar, void *value, void *object)
{
    (void)pvar;
    (void)object;
    *(unsigned long long *)value =
        NULL == pwr_process.record ? 0 : pwr_record_node_uj(pwr_process.record);
    return OMPI_SUCCESS;
}

void pwr_pvars_register_operations(const mca_base_component_t *component, unsigned first,
                                   unsigned num, const char *note)
{
    unsigned known =
        pwr_process_num_names(PWR_OPERATION); /* those beyond have no number of their own */
    for (unsigned operation = first; operation < first + num && operation < known; ++operation) {
        for (int i = 0; i < FIELDS; ++i) {
            if (fields[i].each) {
                register_field(component, (int)operation, i, note);
            }
        }
    }
}

void pwr_pvars_register(const mca_base_component_t *component, unsigned first, unsigned num,
                        const char *note)
{
    char help[256];
    snprintf(help, sizeof help, "Energy of this node since the job began, microjoules%s", note);
    pwr_pvar_register(component, "node_energy", help, MCA_BASE_PVAR_CLASS_COUNTER, read_node_energy,
                      NULL);
    for (int i = 0; i < FIELDS; ++i) {
        register_field(component, ANY, i, note);
    }
    pwr_pvars_register_operations(component, first, num, note);
}
