/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What Open MPI calls: one function per collective.
 *
 * All of them are alike: the operation begins, an algorithm is chosen if one of ours may pay,
 * levers go down; then the algorithm runs, or the saved function is called with the arguments as
 * they came.  Buffers in the memory of a GPU are staged (staging.h).
 */
#include "call.h"
#include "choose/choose.h"
#include "choose/learn.h"
#include "device.h"
#include "repeat.h"
#include "signatures.h"
#include "staging.h"

/* Which algorithm depends only on what all ranks know equally; how many bytes this one moves
   decides alone on its levers. */
static const coll_poweraware_algorithm_t *begin(mca_coll_poweraware_module_t *m,
                                                pwr_operation_t *operation,
                                                coll_poweraware_collective_t collective,
                                                const coll_poweraware_args_t *args, size_t bytes,
                                                size_t own_bytes)
{
    const coll_poweraware_algorithm_t *algorithm = NULL;
    coll_poweraware_end_repeats(m, collective);
    coll_poweraware_begin(m, operation, (int)collective, bytes, own_bytes);
    m->choice_stays = true;
    m->quiet = NULL;
    if (m->gpu.wanted) {
        m->choice_stays = false;
        if (coll_poweraware_agree_on_gpu(m, collective, bytes)) {
            coll_poweraware_find_thresholds(m);
        }
    }
    if (own_bytes >= m->from_bytes[collective]) {
        algorithm = coll_poweraware_choose(m, operation, collective, args, bytes);
    }
    coll_poweraware_learn_begin(m);
    coll_poweraware_start(m, operation, algorithm);
    return algorithm;
}

static void end(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                coll_poweraware_collective_t collective, const coll_poweraware_args_t *args,
                const coll_poweraware_algorithm_t *algorithm)
{
    coll_poweraware_learn_end(m);
    pwr_operation_end(operation);
    coll_poweraware_remember(m, operation, collective, args, algorithm);
}

/* Whether the call is made in the memory of a GPU.  Where that was tried in vain, the stock
   function makes it. */
static inline bool on_gpu(mca_coll_poweraware_module_t *m, pwr_operation_t *operation,
                          coll_poweraware_collective_t collective,
                          const coll_poweraware_algorithm_t **algorithm,
                          const coll_poweraware_args_t *args, size_t bytes, int *rc)
{
    if (NULL == *algorithm || !coll_poweraware_is_for_gpus(*algorithm)) {
        return false;
    }
    *rc = coll_poweraware_run(m, operation, *algorithm, args);
    bool done = coll_poweraware_gpu_has_done(m, collective, bytes);
    *algorithm = done ? *algorithm : NULL;
    return done;
}

/* The long way.  Of calls that repeat others: where buffers may be in the memory of a GPU. */
#define IN_FULL(constant, name, arguments, its_bytes, known)                                       \
    static __attribute__((noinline)) int name##_in_full(PARAMS_##arguments comm_t *comm,           \
                                                        mca_coll_poweraware_module_t *m,           \
                                                        size_t own_bytes, const bool repeats)      \
    {                                                                                              \
        const coll_poweraware_collective_t collective = COLL_POWERAWARE_##constant;                \
        const coll_poweraware_algorithm_t *algorithm;                                              \
        coll_poweraware_args_t args = {MEMBERS_##arguments};                                       \
        coll_poweraware_staging_t staging;                                                         \
        pwr_operation_t operation;                                                                 \
        const size_t bytes = (known) ? own_bytes : m->bytes[collective].agreed;                    \
        mca_coll_base_comm_coll_t *table = coll_poweraware_step_aside(m, &m->saved);               \
        algorithm = repeats ? coll_poweraware_repeat(m, &operation, collective)                    \
                            : begin(m, &operation, collective, &args, bytes, own_bytes);           \
        int rc = OMPI_SUCCESS;                                                                     \
        if (!on_gpu(m, &operation, collective, &algorithm, &args, bytes, &rc)) {                   \
            const bool staged = pwr_device_memory_may_be() &&                                      \
                                coll_poweraware_stage(&staging, m, collective, algorithm, &args);  \
            mca_coll_base_comm_coll_t *stock = coll_poweraware_functions(m, algorithm);            \
            TAKE_##arguments;                                                                      \
            (void)coll_poweraware_step_aside(m, stock);                                            \
            rc = staged && staging.cannot ? staging.rc                                             \
                 : coll_poweraware_is_ours(algorithm)                                              \
                     ? coll_poweraware_run(m, &operation, algorithm, &args)                        \
                     : stock->coll_##name(ARGS_##arguments comm, stock->coll_##name##_module);     \
            if (staged) {                                                                          \
                rc = coll_poweraware_unstage(&staging, rc);                                        \
            }                                                                                      \
        }                                                                                          \
        if (repeats) {                                                                             \
            pwr_operation_repeat_end(&operation);                                                  \
        } else {                                                                                   \
            end(m, &operation, collective, &args, algorithm);                                      \
        }                                                                                          \
        coll_poweraware_step_back(m, table);                                                       \
        return rc;                                                                                 \
    }
COLL_POWERAWARE_HANDLED(IN_FULL)

/* A call that repeats the latest one takes the short way.  Each cache line that it touches counts:
   where many ranks share a CPU, caches are cold in each call. */
#define HANDLED(constant, name, arguments, its_bytes, known)                                       \
    static int name(PARAMS_##arguments comm_t *comm, mca_coll_base_module_t *module)               \
    {                                                                                              \
        mca_coll_poweraware_module_t *m = coll_poweraware_of(module);                              \
        const coll_poweraware_collective_t collective = COLL_POWERAWARE_##constant;                \
        const coll_poweraware_args_t args = {MEMBERS_##arguments};                                 \
        const size_t own_bytes = BYTES_##its_bytes;                                                \
        const bool repeats = coll_poweraware_repeats(m, collective, &args, own_bytes);             \
        if (!repeats || pwr_device_memory_may_be()) {                                              \
            return name##_in_full(ARGS_##arguments comm, m, own_bytes, repeats);                   \
        }                                                                                          \
        pwr_operation_t operation;                                                                 \
        mca_coll_base_comm_coll_t *stock = m->repeats[collective].functions;                       \
        mca_coll_base_comm_coll_t *table = coll_poweraware_step_aside(m, stock);                   \
        const coll_poweraware_algorithm_t *algorithm =                                             \
            coll_poweraware_repeat(m, &operation, collective);                                     \
        int rc;                                                                                    \
        if (!operation.stock) {                                                                    \
            const coll_poweraware_args_t passed = {MEMBERS_##arguments};                           \
            rc = coll_poweraware_run(m, &operation, algorithm, &passed);                           \
        } else {                                                                                   \
            rc = stock->coll_##name(ARGS_##arguments comm, stock->coll_##name##_module);           \
        }                                                                                          \
        pwr_operation_repeat_end(&operation);                                                      \
        coll_poweraware_step_back(m, table);                                                       \
        return rc;                                                                                 \
    }
COLL_POWERAWARE_HANDLED(HANDLED)

/* A call, by whether its caller waits in it.  Those that do not wait leave the table of the
   communicator alone: their stock functions call no others, and Open MPI starts some of them in
   whichever thread makes progress (MPI_Comm_idup), while another one is in a call that waits. */
#define CALL_BLOCKING(name, call)                                                                  \
    pwr_operation_t operation;                                                                     \
    mca_coll_base_comm_coll_t *table = coll_poweraware_step_aside(m, &m->saved);                   \
    coll_poweraware_begin(m, &operation,                                                           \
                          COLL_POWERAWARE_NUM_COLLECTIVES + COLL_POWERAWARE_COUNTED_##name,        \
                          PWR_BYTES_UNKNOWN, 0);                                                   \
    coll_poweraware_start(m, &operation, NULL);                                                    \
    int rc = call;                                                                                 \
    pwr_operation_end(&operation);                                                                 \
    coll_poweraware_step_back(m, table);
#define CALL_NONBLOCKING(name, call)                                                               \
    coll_poweraware_count(m, COLL_POWERAWARE_NUM_COLLECTIVES + COLL_POWERAWARE_COUNTED_##name);    \
    int rc = call;
#define CALL_PERSISTENT CALL_NONBLOCKING

#define COUNTED(name, arguments, kind)                                                             \
    static int name(PARAMS_##arguments comm_t *comm, PARAMS_##kind mca_coll_base_module_t *module) \
    {                                                                                              \
        mca_coll_poweraware_module_t *m = coll_poweraware_of(module);                              \
        CALL_##kind(name, m->saved.coll_##name(ARGS_##arguments comm,                              \
                                               ARGS_##kind m->saved.coll_##name##_module));        \
        return rc;                                                                                 \
    }
COLL_POWERAWARE_COUNTED(COUNTED)

void coll_poweraware_offer(mca_coll_base_module_t *module, bool all)
{
    const bool BLOCKING = true, NONBLOCKING = all, PERSISTENT = all;
#define OFFER_HANDLED(constant, name, arguments, bytes, known) module->coll_##name = name;
    COLL_POWERAWARE_HANDLED(OFFER_HANDLED)
#define OFFER_COUNTED(name, arguments, kind)                                                       \
    if (kind) {                                                                                    \
        module->coll_##name = name;                                                                \
    }
    COLL_POWERAWARE_COUNTED(OFFER_COUNTED)
}
