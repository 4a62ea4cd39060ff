# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

# PWR_ROW(what, found, what is lost without it)
AC_DEFUN([PWR_ROW], [
    AS_IF([test "x$2" = xno],
        [printf '  %-14s %-12s %s\n' "$1" "not found" "without it: $3"],
        [printf '  %-14s %s\n' "$1" "$2"])
])

AC_DEFUN([PWR_SUMMARY], [
    printf '\n%s\n' "poweraware $PACKAGE_VERSION is configured:"
    PWR_ROW([Open MPI], [$pwr_mpi_version (series $pwr_mpi_series, $MPICC)], [])
    PWR_ROW([plug-in dir], [$plugindir], [])
    AS_IF([test "x$pwr_plugin_note" != x], [printf '                 %s\n' "$pwr_plugin_note"])
    PWR_ROW([hwloc], [$pwr_hwloc], [])
    PWR_ROW([jansson], [$pwr_jansson], [])
    PWR_ROW([fuse3], [$pwr_fuse3], [no emulated power hardware, so no demo and fewer tests])
    PWR_ROW([fftw3], [$pwr_fftw], [no FT-like kernel for bench/run/run npb])
    PWR_ROW([callgrind], [$pwr_callgrind], [no bench/footprint])
    PWR_ROW([cmocka], [$pwr_cmocka], [no unit tests of opal/])
    PWR_ROW([pytest], [$pwr_pytest], [no tests of the benchmarks and the report])
    PWR_ROW([jsonschema], [$pwr_jsonschema], [the command poweraware and bench/run do not start])
    PWR_ROW([matplotlib], [$pwr_matplotlib], [no plots, so no report page])
    PWR_ROW([likwid], [$pwr_likwid], [P-states and energy through liblikwid; its access daemon is used either way])
    PWR_ROW([libcpupower], [$pwr_libcpupower], [poweraware-info says less about cpufreq])
    PWR_ROW([OpenSHMEM], [$pwr_oshmem], [nothing of oshmem/: no component for OpenSHMEM, no libshnode])
    PWR_ROW([UCX], [$pwr_ucx], [coll_poweraware_ucx_min_bytes has no effect])
    PWR_ROW([Slurm], [$pwr_slurm], [no option --poweraware of srun and sbatch (libslurm-dev)])
    printf '\n'
])
