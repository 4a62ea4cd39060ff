# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
# shellcheck shell=sh
#
# For machines on which nobody has set Open MPI up: jobs of root, on one CPU, without ssh.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_plm_rsh_agent=/bin/false PRTE_MCA_plm_ssh_agent=/bin/false

# Whether those who waited in a job of late.c took at most 3 % of a CPU.
slept() { # output of the job
    awk '{ print } /% of a CPU/ { calls++; most = $3 > most ? $3 : most } END { exit !(calls == 3 && most <= 3) }' "$1"
}
