/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The component on one communicator.
 */
#ifndef COLL_POWERAWARE_MODULE_H
#define COLL_POWERAWARE_MODULE_H

#include "choose/turns.h"
#include "collectives.h"
#include "settings.h"

#include "pwr_ompi/operation.h"

struct coll_poweraware_state;    /* comm/state.h */
struct coll_poweraware_table;    /* choose/choose.h */
struct coll_poweraware_learning; /* choose/learn.h */

/* What the latest call of a collective did, for those that repeat it (repeat.h).  What each of them
   asks comes first. */
typedef struct coll_poweraware_repeat {
    uint32_t made; /* of them; module's calls and handled do not know these yet */
    uint32_t most; /* 0: none may be made */
    size_t own_bytes;
    const struct ompi_datatype_t *sdtype, *rdtype;
    const struct ompi_op_t *op;
    const struct coll_poweraware_algorithm *algorithm; /* NULL: the stock function */
    mca_coll_base_comm_coll_t *functions;              /* of the communicator meanwhile */
    bool in_place;
    pwr_repeated_t operation;
    struct coll_poweraware_learning *learning; /* that counts calls; NULL: none */
} coll_poweraware_repeat_t;

/* Calls of one collective and order of bytes, among those that a GPU could do (device.h). */
typedef struct coll_poweraware_gpu_class {
    uint32_t ask_at;  /* number of the call, once there were many strikes */
    uint32_t strikes; /* calls in a row in which somebody had no buffer there */
} coll_poweraware_gpu_class_t;
enum { COLL_POWERAWARE_GPU_COLLECTIVES = 7, COLL_POWERAWARE_GPU_SIZES = 32 };

/* Bytes of calls of which each rank knows its own alone (choose/bytes.h). */
typedef struct coll_poweraware_bytes {
    size_t agreed;   /* PWR_BYTES_UNKNOWN: not yet */
    uint64_t ask_at; /* the number of the call in which the ranks agree again */
} coll_poweraware_bytes_t;

typedef struct mca_coll_poweraware_module {
    mca_coll_base_module_t super;
    /* What each call asks comes first. */
    struct ompi_communicator_t *comm;
    _Atomic bool enabled;
    bool ended; /* revoked, or with a process that failed: stock functions from then on */
    unsigned first_algorithm; /* number of the first one in the process */
    pwr_operations_t operations;
    coll_poweraware_repeat_t repeats[COLL_POWERAWARE_NUM_COLLECTIVES];

    const coll_poweraware_settings_t *settings;
    /* What was selected before us, for all that we do not do; the communicator's table while a call
       of ours lasts. */
    mca_coll_base_comm_coll_t saved;
    struct coll_poweraware_state *state;
    int algorithm[COLL_POWERAWARE_NUM_COLLECTIVES];
    size_t from_bytes[COLL_POWERAWARE_NUM_COLLECTIVES]; /* smaller calls are stock */
    coll_poweraware_bytes_t bytes[COLL_POWERAWARE_NUM_COLLECTIVES];
    const struct coll_poweraware_table *table; /* with scheme auto; NULL until all ranks agreed */
    bool state_tried; /* state NULL then means: this communicator stays with stock functions */
    struct coll_poweraware_learning
        *learning;     /* of this call; NULL: nothing to be learnt from it */
    bool ready;        /* if so: the next ones need nothing to be set up */
    uint64_t began_ns; /* when this one began, if it is timed */
    coll_poweraware_turns_t turns;
    bool choice_stays; /* an equal call would do the same as this one, ...  Only set when a
                          call begins; each reason why it would not takes it back. */
    struct coll_poweraware_learning
        *quiet; /* ... for as many calls as are quiet in here; NULL: for ever */
    pwr_class_t *classes[COLL_POWERAWARE_NUM_COLLECTIVES];
    struct {
        bool wanted; /* by this rank */
        bool on;     /* all ranks ask */
        coll_poweraware_gpu_class_t classes[COLL_POWERAWARE_GPU_COLLECTIVES]
                                           [COLL_POWERAWARE_GPU_SIZES];
    } gpu;
    /* But for those that repeat others, until these end. */
    uint64_t calls[COLL_POWERAWARE_NUM_OPERATIONS];
    uint64_t handled[COLL_POWERAWARE_NUM_COLLECTIVES]; /* not by the selected function, or with
                                                          levers moved */
} mca_coll_poweraware_module_t;

OBJ_CLASS_DECLARATION(mca_coll_poweraware_module_t);

/* A module that offers nothing yet; NULL when out of memory. */
mca_coll_poweraware_module_t *coll_poweraware_module_new(struct ompi_communicator_t *comm,
                                                         const coll_poweraware_settings_t *settings,
                                                         const pwr_scheme_t *scheme,
                                                         unsigned first_operation,
                                                         unsigned first_algorithm);

/* Memory for one communicator more than there are, for a moment in which there is none; from
   init_query on, until the component closes. */
void coll_poweraware_module_reserve(void);
void coll_poweraware_module_reserve_no_more(void);

/* Of communicators that are gone. */
typedef struct coll_poweraware_totals {
    uint64_t calls[COLL_POWERAWARE_NUM_OPERATIONS];
    uint64_t handled[COLL_POWERAWARE_NUM_COLLECTIVES];
} coll_poweraware_totals_t;
extern coll_poweraware_totals_t coll_poweraware_totals;

/* entry.c: puts our functions into module: of all collectives that we have algorithms for, of
   others that block, because ranks wait in them, and of the rest if all are to be counted. */
void coll_poweraware_offer(mca_coll_base_module_t *module, bool all);

#endif
