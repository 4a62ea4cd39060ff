# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
#
# Jobs of OpenSHMEM on one machine that begin alike on every machine; to be sourced.
#
# From Open MPI 5.0 on PEs agree on the address of their heap by messages, before anything else, and any trouble there ends the
# job ("Failed to negotiate base segment address").  So they are told one that no layout of an address space uses: below
# programs, which begin at 0x555555554000, and far above the first half of what is free there, in which PMIx 6 maps its segments
# anywhere (gds/shmem3; one job in some thousands met them at 0x200000000000).
# UCX connects by all interfaces that it sees, of containers, too, which come and go: the loopback stays.
# Environment: OSHRUN.
# shellcheck shell=bash
"$OSHRUN" --version | grep -q ' 4\.' || export OMPI_MCA_sshmem_base_start_address=0x500000000000
export UCX_NET_DEVICES=lo
