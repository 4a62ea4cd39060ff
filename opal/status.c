/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Words for results, and results for errno.
 */
#include "pwr/status.h"

#include <errno.h>

const char *pwr_status_text(pwr_status_t status)
{
    static const char *const text[] = {
        [PWR_OK] = "ok",
        [PWR_ERR_ARG] = "impossible argument",
        [PWR_ERR_NOMEM] = "out of memory",
        [PWR_ERR_IO] = "input/output error",
        [PWR_ERR_PERM] = "no permission",
        [PWR_ERR_UNSUPPORTED] = "not supported by this machine",
        [PWR_ERR_PARSE] = "not in the expected form",
        [PWR_ERR_RANGE] = "out of range",
        [PWR_ERR_SHARED] = "shared with another process",
        [PWR_ERR_TIMEOUT] = "timed out",
        [PWR_ERR_FOREIGN] = "changed by somebody else",
        [PWR_ERR_GONE] = "gone offline",
        [PWR_ERR_DESCRIPTORS] = "too few free file descriptors: raise ulimit -n",
    };
    unsigned index = (unsigned)status;
    return index < sizeof text / sizeof text[0] ? text[index] : "unknown status";
}

pwr_status_t pwr_status_from_errno(int err)
{
    switch (err) {
    case 0:
        return PWR_OK;
    case ENOMEM:
        return PWR_ERR_NOMEM;
    case EMFILE:
    case ENFILE:
        return PWR_ERR_DESCRIPTORS;
    case EACCES:
    case EPERM:
    case EROFS:
        return PWR_ERR_PERM;
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case ENOTDIR:
    case ENOSYS:
    case EOPNOTSUPP:
        return PWR_ERR_UNSUPPORTED;
    case EINVAL:
    case ERANGE:
        return PWR_ERR_RANGE;
    case ETIMEDOUT:
        return PWR_ERR_TIMEOUT;
    default:
        return PWR_ERR_IO;
    }
}
