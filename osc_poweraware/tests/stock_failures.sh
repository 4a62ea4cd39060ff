# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# What Open MPI's own one-sided components do not offer or do not survive, found by random_windows and
# check_windows without ours, with Open MPI 4.1.4.  Sourced.  run_windows leaves it out and says so.
# shellcheck shell=bash disable=SC2034 # for those who source this

# component|names for random_windows --without; or: threads|what happens
stock_failures=(
    'sm|create,dynamic|not offered: MPI_ERR_WIN'
    'sm|nocheck|MPI_Win_wait hangs after MPI_Win_post with MPI_MODE_NOCHECK'
    'rdma|shared,alone|not offered: MPI_ERR_WIN'
    'rdma|contended|accumulates of two ranks at one place: updates are lost, SIGSEGV'
    'rdma|compare_and_swap|SIGSEGV'
    'rdma|get_accumulate,rget_accumulate|wrong results and bytes written into gaps of the result'
    'rdma|logical|MPI_LAND, MPI_LOR, MPI_LXOR of 4 and 8 bytes are done bit by bit'
    'rdma|extremes|MPI_MIN and MPI_MAX of unsigned numbers compare them as signed ones'
    'rdma|complex|MPI_SUM of MPI_C_FLOAT_COMPLEX is wrong'
    'pt2pt|shared|not offered: MPI_ERR_WIN'
    'pt2pt|nocheck|the next MPI_Win_lock hangs'
    'pt2pt|local|MPI_Win_flush_local hangs'
    'pt2pt|derived|accumulates with derived datatypes write into gaps'
    'pt2pt|ordered|accumulates of one rank at one place are done in another order'
    'pt2pt|get_accumulate,rget_accumulate|wrong results from 4 KiB on'
    'pt2pt|threads|refused: "does not support MPI_THREAD_MULTIPLE"'
    'ucx|shared|not offered: MPI_ERR_WIN'
    'ucx|dynamic|SIGSEGV'
    'ucx|derived|puts and gets of derived datatypes: bytes are missing'
    'ucx|fetch_and_op,compare_and_swap|wrong results with numbers of 1 and 2 bytes'
)
# component|tests of check_windows|what happens
stock_failures_of_tests=(
    'rdma|swaps|SIGSEGV in MPI_Compare_and_swap'
    'ucx|announced|hangs: MPI_Fetch_and_op with MPI_NO_OP does not see the flag, sometimes'
)
