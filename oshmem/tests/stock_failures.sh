# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# What Open MPI's own OpenSHMEM does not survive, found by random_shmem without ours, with Open MPI 4.1.4 (UCX 1.13),
# 5.0.7 and 6.0.0rc2.  Sourced.  Tests leave it out and say so.
# shellcheck shell=bash disable=SC2034 # for those who source this

# series (all)|transport (all): messages, where nothing but messages goes between PEs|names for --without|what happens
stock_failures=(
    '4.1||swap_32|shmem_*_atomic_compare_swap of 4 bytes writes 8 into its stack: SIGABRT'
    '4.1||fetch_and,fetch_or,fetch_xor|the operand is ignored: the old value is taken for it'
    '4.1||apart|shmem_fence does not order a put to data outside the heap with one into it, or the other way round'
    '4.1||static_nbi|shmem_quiet does not wait for shmem_put_nbi to data outside the heap; those of a context end with it'
    '||bare|a loop of shmem_test does not hear the messages that it waits for, nor does one of shmem_test_lock in 4.1'
    '||context_statics|a PE that waits in a context does not hear what others ask of its data outside the heap: hangs'
    '|messages|contexts|a PE that waits in a context does not hear what others ask of it: hangs'
    '6.0||set|shmem_*_atomic_set aborts in UCX: "incorrect opcode: 4"'
)

# Options of oshrun without which stock does not end: 4.1.4 crashes in shmem_finalize (UCX has left memory hooks behind
# that are called after it was unloaded).
stock_options=()
[[ "${series:-4.1}" != 4.1 ]] || stock_options=(--mca opal_common_ucx_opal_mem_hooks 0)
