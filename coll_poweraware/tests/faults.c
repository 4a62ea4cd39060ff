/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Failures of the layer below, made inside of this process.
 */
#include "faults.h"

#include "ompi_config.h"

#include "ompi/mca/pml/pml.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

long faults_populations;
size_t faults_populated;
bool faults_old_kernel;

static struct {
    const char *begin; /* of our plug-in's code */
    const char *end;
    unsigned kinds; /* 0: nothing fails */
    long left;      /* until the one that fails */
    bool fired;
} faults;

static int find_plugin(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    (void)arg;
    if (NULL == strstr(info->dlpi_name, "mca_coll_poweraware")) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (PT_LOAD == segment->p_type && 0 != (segment->p_flags & PF_X)) {
            faults.begin = (const char *)(info->dlpi_addr + segment->p_vaddr);
            faults.end = faults.begin + segment->p_memsz;
        }
    }
    return 1;
}

static bool is_the_one(unsigned kind)
{
    if (0 == (faults.kinds & kind) || 0 != --faults.left) {
        return false;
    }
    faults.fired = true;
    return true;
}

static bool fails(unsigned kind, const void *caller)
{
    const char *from = caller;
    return from >= faults.begin && from < faults.end && is_the_one(kind);
}

static mca_pml_base_module_isend_fn_t real_isend;
static mca_pml_base_module_irecv_fn_t real_irecv;

static int faulty_isend(const void *buf, size_t count, struct ompi_datatype_t *datatype, int dst,
                        int tag, mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                        struct ompi_request_t **request)
{
    return fails(FAULTS_ISEND, __builtin_return_address(0))
               ? OMPI_ERR_OUT_OF_RESOURCE
               : real_isend(buf, count, datatype, dst, tag, mode, comm, request);
}

static int faulty_irecv(void *buf, size_t count, struct ompi_datatype_t *datatype, int src, int tag,
                        struct ompi_communicator_t *comm, struct ompi_request_t **request)
{
    return fails(FAULTS_IRECV, __builtin_return_address(0))
               ? OMPI_ERR_OUT_OF_RESOURCE
               : real_irecv(buf, count, datatype, src, tag, comm, request);
}

/* The program's own, for all libraries. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);

__attribute__((visibility("default"))) void *malloc(size_t bytes)
{
    return fails(FAULTS_MEMORY, __builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
    return fails(FAULTS_MEMORY, __builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

/* Nobody else populates. */
__attribute__((visibility("default"))) int madvise(void *address, size_t bytes, int advice)
{
    if (FAULTS_POPULATE == advice) {
        faults_populations += bytes > 0;
        faults_populated += bytes;
        if (faults_old_kernel) {
            errno = EINVAL;
            return -1;
        }
        if (bytes > 0 && is_the_one(FAULTS_PAGES)) {
            errno = EFAULT; /* the kernel's word for no memory */
            return -1;
        }
    }
    return (int)syscall(SYS_madvise, address, bytes, advice);
}

void faults_begin(void)
{
    dl_iterate_phdr(find_plugin, NULL);
    real_isend = mca_pml.pml_isend;
    real_irecv = mca_pml.pml_irecv;
    mca_pml.pml_isend = faulty_isend;
    mca_pml.pml_irecv = faulty_irecv;
}

void faults_end(void)
{
    mca_pml.pml_isend = real_isend;
    mca_pml.pml_irecv = real_irecv;
}

void faults_arm(unsigned kinds, long n)
{
    faults.left = n;
    faults.fired = false;
    faults.kinds = kinds;
}

bool faults_disarm(void)
{
    faults.kinds = 0;
    return faults.fired;
}
