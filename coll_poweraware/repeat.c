/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls that repeat the latest one of their collective (repeat.h).
 */
#include "repeat.h"

#include "choose/learn.h"
#include "choose/bytes.h"
#include "comm/state.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

static bool is_predefined(const struct ompi_datatype_t *datatype)
{
    return NULL == datatype || ompi_datatype_is_predefined(datatype);
}

/* Where ranks know only their own bytes, neither lists nor datatypes decide. */
static bool may_be_repeated(coll_poweraware_collective_t collective,
                            const coll_poweraware_args_t *args)
{
    if (!coll_poweraware_bytes_known[collective]) {
        return true;
    }
    bool lists = pwr_ompi_has_counts(args->scounts) || pwr_ompi_has_counts(args->rcounts) ||
                 NULL != args->sdtypes;
    return !lists && is_predefined(args->sdtype) && is_predefined(args->rdtype) &&
           (NULL == args->op || ompi_op_is_intrinsic(args->op));
}

void coll_poweraware_remember(mca_coll_poweraware_module_t *m, const pwr_operation_t *operation,
                              coll_poweraware_collective_t collective,
                              const coll_poweraware_args_t *args,
                              const coll_poweraware_algorithm_t *algorithm)
{
    bool may = m->choice_stays && NULL == m->turns.of;
    uint32_t most = may ? pwr_operation_repeats(operation) : 0;
    if (NULL != m->quiet && m->quiet->quiet < most) {
        most = m->quiet->quiet;
    }
    most = coll_poweraware_most_of_these_bytes(m, collective, most);
    if (0 == most || m->ended || !may_be_repeated(collective, args)) {
        return;
    }
    m->repeats[collective] = (coll_poweraware_repeat_t){
        .most = most,
        .own_bytes = operation->own_bytes,
        .sdtype = args->sdtype,
        .rdtype = args->rdtype,
        .op = args->op,
        .in_place = MPI_IN_PLACE == args->sbuf,
        .algorithm = algorithm,
        .functions = coll_poweraware_functions(m, algorithm),
        .operation = pwr_operation_repeated(operation),
        .learning = m->quiet,
    };
}

void coll_poweraware_count_repeats(mca_coll_poweraware_module_t *m,
                                   coll_poweraware_collective_t collective)
{
    coll_poweraware_repeat_t *r = &m->repeats[collective];
    m->calls[collective] += r->made;
    m->handled[collective] += NULL == r->algorithm ? 0 : r->made;
    pwr_class_repeated(r->operation.class, r->made);
    if (NULL != r->learning) {
        r->learning->quiet -= r->made;
    }
    r->made = r->most = 0;
}

void coll_poweraware_end_all_repeats(mca_coll_poweraware_module_t *m)
{
    for (int c = 0; c < COLL_POWERAWARE_NUM_COLLECTIVES; ++c) {
        coll_poweraware_end_repeats(m, (coll_poweraware_collective_t)c);
    }
}
