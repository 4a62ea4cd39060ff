# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# What Open MPI's own one-sided components do not offer or do not survive, found by random_windows and
# check_windows without ours, with Open MPI 4.1.4, 5.0.7 and 6.0.0rc2.  Sourced.  run_windows leaves it out and says so.
# shellcheck shell=bash disable=SC2034 # for those who source this

# component|series (all)|names for random_windows --without; or: threads, or: random (all of it)|what happens
stock_failures=(
    'sm||create,dynamic|not offered: MPI_ERR_WIN'
    'sm||nocheck|MPI_Win_wait after MPI_Win_post with MPI_MODE_NOCHECK hangs (4.1), or comes too early'
    'rdma||shared,alone|not offered: MPI_ERR_WIN'
    'rdma|4.1|contended|accumulates of two ranks at one place: updates are lost, SIGSEGV'
    'rdma|4.1|compare_and_swap|SIGSEGV'
    'rdma||get_accumulate,rget_accumulate|wrong results and bytes written into gaps of the result'
    'rdma||logical|MPI_LAND, MPI_LOR, MPI_LXOR of 4 and 8 bytes are done bit by bit'
    'rdma||extremes|MPI_MIN and MPI_MAX of unsigned numbers compare them as signed ones'
    'rdma|4.1|complex|MPI_SUM of MPI_C_FLOAT_COMPLEX is wrong'
    'rdma|5.0|bitwise|MPI_BAND, MPI_BOR, MPI_BXOR of 8 bytes: updates are lost'
    'rdma|5.0 6.0|lock|gets in epochs of MPI_Win_lock of three ranks: wrong results'
    'pt2pt||shared|not offered: MPI_ERR_WIN'
    'pt2pt||nocheck|the next MPI_Win_lock hangs'
    'pt2pt||local|MPI_Win_flush_local hangs'
    'pt2pt||derived|accumulates with derived datatypes write into gaps'
    'pt2pt||ordered|accumulates of one rank at one place are done in another order'
    'pt2pt||get_accumulate,rget_accumulate|wrong results from 4 KiB on'
    'pt2pt||threads|refused: "does not support MPI_THREAD_MULTIPLE"'
    'ucx||shared|not offered: MPI_ERR_WIN'
    'ucx||dynamic|SIGSEGV'
    'ucx||derived|puts and gets of derived datatypes: bytes are missing'
    'ucx||fetch_and_op,compare_and_swap|wrong results with numbers of 1 and 2 bytes'
    'ucx|5.0|random|SIGFPE in windows after the first ones'
)
# component|series (all)|tests of check_windows|what happens
stock_failures_of_tests=(
    'rdma|4.1|swaps|SIGSEGV in MPI_Compare_and_swap'
    'ucx||announced|hangs: MPI_Fetch_and_op with MPI_NO_OP does not see the flag, sometimes'
)
