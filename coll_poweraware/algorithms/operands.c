/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Operands of reductions: where they lie, what room they need.
 */
#include "algorithms/operands.h"

#include <limits.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

/* No gaps, within an element or between them, and data begins where the element does. */
static bool is_plain(const struct ompi_datatype_t *datatype)
{
    return 0 == datatype->super.true_lb &&
           0 != opal_datatype_is_contiguous_memory_layout(&datatype->super, 2);
}

/* The first `rest` parts have one more; count * index could wrap. */
static size_t part_begin(size_t count, size_t index, size_t num)
{
    size_t rest = count % num;
    return count / num * index + (index < rest ? index : rest);
}

coll_poweraware_range_t coll_poweraware_part(coll_poweraware_range_t all, size_t index, size_t num)
{
    size_t count = all.to - all.from;
    return (coll_poweraware_range_t){all.from + part_begin(count, index, num),
                                     all.from + part_begin(count, index + 1, num)};
}

coll_poweraware_operands_t coll_poweraware_operands(const coll_poweraware_args_t *args)
{
    struct ompi_datatype_t *datatype = args->rdtype;
    coll_poweraware_operands_t o = {
        .datatype = datatype,
        .op = args->op,
        .contribution = MPI_IN_PLACE == args->sbuf ? args->rbuf : args->sbuf,
        .in_place = MPI_IN_PLACE == args->sbuf,
        .rbuf = args->rbuf,
        .extent = datatype->super.ub - datatype->super.lb,
        .plain = is_plain(datatype),
    };
    o.one_bytes = (size_t)o.extent;
    if (!o.plain) {
        ptrdiff_t gap;
        ptrdiff_t span = opal_datatype_span(&datatype->super, 1, &gap);
        ptrdiff_t below = gap % COLL_POWERAWARE_ALIGNMENT;
        below += below < 0 ? COLL_POWERAWARE_ALIGNMENT : 0;
        o.base = below - gap;
        o.one_bytes = (size_t)(span + COLL_POWERAWARE_ALIGNMENT);
    }
    return o;
}

size_t coll_poweraware_operand_bytes(const coll_poweraware_operands_t *o, size_t count)
{
    if (0 == count) {
        return 0;
    }
    size_t step = o->extent > 0 ? (size_t)o->extent : 0;
    bool apart = step > 0 || 1 == count || 0 == o->one_bytes;
    if (!apart || count > INT_MAX || step > PWR_BOX_LARGEST || o->one_bytes > PWR_BOX_LARGEST) {
        return SIZE_MAX;
    }
    size_t bytes = o->one_bytes + (count - 1) * step;
    /* beside a flag, alignment is that of predefined types */
    return bytes > PWR_BOX_INLINE || ompi_datatype_is_predefined(o->datatype) ? bytes
                                                                              : PWR_BOX_INLINE + 1;
}

bool coll_poweraware_order_is_kept(const coll_poweraware_call_t *call,
                                   const coll_poweraware_args_t *args)
{
    return ompi_op_is_commute(args->op) || call->hierarchy->ordered;
}

bool coll_poweraware_operands_fit(const coll_poweraware_call_t *call,
                                  const coll_poweraware_args_t *args, size_t count)
{
    coll_poweraware_operands_t o = coll_poweraware_operands(args);
    return coll_poweraware_order_is_kept(call, args) &&
           coll_poweraware_operand_bytes(&o, count) <= call->segment->box_bytes;
}

int coll_poweraware_copy_operands(const coll_poweraware_operands_t *o, char *to, const char *from,
                                  size_t count)
{
    if (to == from) {
        return OMPI_SUCCESS;
    }
    if (o->plain) {
        memcpy(to, from, count * (size_t)o->extent);
        return OMPI_SUCCESS;
    }
    int rc = ompi_datatype_copy_content_same_ddt(o->datatype, count, to, (char *)from);
    return rc < 0 ? OMPI_ERROR : OMPI_SUCCESS;
}
