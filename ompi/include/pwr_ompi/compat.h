/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * What differs between Open MPI 4.1, 5.0 and 6.0, and nothing else.
 *
 * Every file that includes Open MPI's internals includes this header first.
 */
#ifndef PWR_OMPI_COMPAT_H
#define PWR_OMPI_COMPAT_H

#include "ompi_config.h"

#include <stdio.h>

#include "mpi.h"
#include "ompi/attribute/attribute.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/mca.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/runtime/opal_progress.h"
#include "opal/util/info.h"
#include "opal/util/info_subscriber.h"

#if OMPI_MAJOR_VERSION >= 5
#include "opal/util/event.h"
#else
#include "opal/mca/event/event.h"
#endif

#if OMPI_MAJOR_VERSION >= 6 /* coll framework 3.0.0 */
#define PWR_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
#elif OMPI_MAJOR_VERSION == 5 /* coll framework 2.4.0 */
#define PWR_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#elif OMPI_MAJOR_VERSION == 4 && OMPI_MINOR_VERSION >= 1 /* coll framework 2.0.0 */
#define PWR_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#else
#error "Open MPI 4.1, 5.0 or 6.0 is needed"
#endif

#if OMPI_MAJOR_VERSION >= 6
#include "ompi/util/count_disp_array.h"
#define PWR_OSC_VERSION OMPI_OSC_BASE_VERSION_4_0_0
typedef size_t pwr_count_t;
typedef ptrdiff_t pwr_disp_unit_t;
typedef ompi_count_array_t pwr_counts_t;
typedef ompi_disp_array_t pwr_displs_t;
/* module_enable writes comm->c_coll itself and module_disable puts it back */
#define PWR_MODULE_INSTALLS_ITSELF 1
#else
#define PWR_OSC_VERSION OMPI_OSC_BASE_VERSION_3_0_0
typedef int pwr_count_t;
typedef int pwr_disp_unit_t;
typedef const int *pwr_counts_t;
typedef const int *pwr_displs_t;
#define PWR_MODULE_INSTALLS_ITSELF 0
#endif

#if OMPI_MAJOR_VERSION >= 5 && OPAL_ENABLE_FT_MPI
#define PWR_HAS_FT 1
#include "ompi/runtime/params.h"
#else
#define PWR_HAS_FT 0
#endif

/* Element of an array of counts or displacements, which are 64 bits wide where MPI's are. */
static inline size_t pwr_ompi_count(pwr_counts_t counts, int index)
{
#if OMPI_MAJOR_VERSION >= 6
    return ompi_count_array_get(counts, (size_t)index);
#else
    return (size_t)counts[index];
#endif
}

/* A number in 6.0. */
static inline bool pwr_ompi_has_counts(pwr_counts_t counts)
{
    return 0 != (intptr_t)counts;
}

static inline ptrdiff_t pwr_ompi_displ(pwr_displs_t displs, int index)
{
#if OMPI_MAJOR_VERSION >= 6
    return ompi_disp_array_get(displs, (size_t)index);
#else
    return displs[index];
#endif
}

/* Whether communicators may end while they are used: revoked, or with a process that failed (5.0
   on, mpirun --with-ft ulfm). */
static inline bool pwr_ompi_comms_may_end(void)
{
#if PWR_HAS_FT
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

/* OMPI_SUCCESS while collectives work on the communicator, else why they do not. */
static inline int pwr_ompi_comm_error(struct ompi_communicator_t *comm)
{
    int err = OMPI_SUCCESS;
#if PWR_HAS_FT
    ompi_comm_iface_coll_check(comm, &err);
#else
    (void)comm;
#endif
    return err;
}

/* REQUEST_COMPLETE, of a request that another thread's progress may complete: pairs with
   ompi_request_complete. */
static inline bool pwr_ompi_request_is_complete(const ompi_request_t *request)
{
    return REQUEST_COMPLETED == __atomic_load_n(&request->req_complete, __ATOMIC_ACQUIRE);
}

/* Whether waiting for a request has an end: it is complete, or will never be, as a process failed
   that it needs.  Open MPI's own functions know what to say then. */
static inline bool pwr_ompi_request_is_over(ompi_request_t *request)
{
#if PWR_HAS_FT
    return pwr_ompi_request_is_complete(request) || ompi_request_is_failed(request);
#else
    return pwr_ompi_request_is_complete(request);
#endif
}

/* What a blocking receive returns where waiting for its request returns error: a request may go on
   when one of many possible senders has failed, a call may not. */
static inline int pwr_ompi_blocking_error(int error)
{
#if PWR_HAS_FT
    return MPI_ERR_PROC_FAILED_PENDING == error ? MPI_ERR_PROC_FAILED : error;
#else
    return error;
#endif
}

/* opal_progress() that tells how much moved where Open MPI tells (5.0 on). */
static inline int pwr_ompi_progress(void)
{
#if OMPI_MAJOR_VERSION >= 5
    return opal_progress();
#else
    opal_progress();
    return 0;
#endif
}

/* A number of the communicator, of use to people only: on 5.0 and later other processes may have
   another one for it. */
static inline unsigned pwr_ompi_comm_id(struct ompi_communicator_t *comm)
{
#if OMPI_MAJOR_VERSION >= 5
    return ompi_comm_get_local_cid(comm);
#else
    return ompi_comm_get_cid(comm);
#endif
}

/* Its name, at most room - 1 characters of it; the application may change it meanwhile. */
static inline void pwr_ompi_comm_name(struct ompi_communicator_t *comm, char *name, size_t room)
{
    OPAL_THREAD_LOCK(&comm->c_lock);
    snprintf(name, room, "%s", comm->c_name);
    OPAL_THREAD_UNLOCK(&comm->c_lock);
}

/* For attributes that stay with their communicator when it is duplicated. */
#if OMPI_MAJOR_VERSION >= 5
#define PWR_OMPI_NOT_COPIED MPI_COMM_NULL_COPY_FN
#else /* gives functions of this kind one argument more, MPI's own ones, too */
#define PWR_OMPI_NOT_COPIED                                                                        \
    ((MPI_Comm_internal_copy_attr_function *)(void (*)(void))MPI_COMM_NULL_COPY_FN)
#endif

/* Value of a key of the communicator's info, at most room - 1 characters of it.  False: it has no
   such key. */
static inline bool pwr_ompi_comm_info(const struct ompi_communicator_t *comm, const char *key,
                                      char *value, size_t room)
{
    int flag = 0;
    if (NULL == comm->super.s_info) {
        return false;
    }
#if OMPI_MAJOR_VERSION >= 5
    opal_cstring_t *text = NULL;
    if (OPAL_SUCCESS == opal_info_get(comm->super.s_info, key, &text, &flag) && flag) {
        snprintf(value, room, "%s", text->string);
        OBJ_RELEASE(text);
    }
#else
    if (OPAL_SUCCESS != opal_info_get(comm->super.s_info, key, (int)room - 1, value, &flag)) {
        flag = 0;
    }
#endif
    return 0 != flag;
}

#endif
