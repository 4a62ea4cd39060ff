# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

AC_DEFUN([PWR_CHECK_HWLOC], [
    PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [pwr_hwloc=`$PKG_CONFIG --modversion hwloc`],
        [AC_MSG_ERROR([hwloc 2.0 or later is required to know which CPU is whose
(Debian, Ubuntu: libhwloc-dev)])])
])

# json_error_code (out of memory or bad text) is in 2.11 and later.
AC_DEFUN([PWR_CHECK_JANSSON], [
    PKG_CHECK_MODULES([JANSSON], [jansson >= 2.11],
        [pwr_jansson=`$PKG_CONFIG --modversion jansson`],
        [AC_MSG_ERROR([jansson 2.11 or later is required to read calibration tables
(Debian, Ubuntu: libjansson-dev)])])
])

# likwid has no .pc file.  Only poweraware-likwid is linked with it, so LIBS must stay without.
AC_DEFUN([PWR_CHECK_LIKWID], [
    pwr_likwid=no
    LIKWID_LIBS=
    AC_CHECK_HEADER([likwid.h], [
        pwr_saved_libs=$LIBS
        AC_SEARCH_LIBS([freq_setCpuClockMax], [likwid],
            [pwr_likwid=yes; test "x$ac_res" = "xnone required" || LIKWID_LIBS=$ac_res])
        LIBS=$pwr_saved_libs
        AC_CHECK_MEMBER([PowerInfo.statusRegWidth],
            [AC_DEFINE([HAVE_POWERINFO_STATUSREGWIDTH], [1],
                [likwid 5.5 or later: energy counters of more than 32 bits])], [],
            [[#include <likwid.h>]])
    ])
    AC_SUBST([LIKWID_LIBS])
    AM_CONDITIONAL([HAVE_LIKWID], [test "x$pwr_likwid" != xno])
])

# Loaded at run time, not linked: 1.10 has the functions that ompi/ucp_worker.c looks for.
AC_DEFUN([PWR_CHECK_UCX], [
    PKG_CHECK_MODULES([UCX], [ucx >= 1.10], [pwr_ucx=`$PKG_CONFIG --modversion ucx`],
        [pwr_ucx=no])
    AM_CONDITIONAL([HAVE_UCX], [test "x$pwr_ucx" != xno])
])

# Slurm loads plug-ins of its own version only: this is the one that was built for.
AC_DEFUN([PWR_CHECK_SLURM], [
    pwr_slurm=no
    AC_ARG_WITH([slurm-plugin-dir],
        [AS_HELP_STRING([--with-slurm-plugin-dir=DIR], [folder of spank_poweraware.so @<:@PKGLIBDIR/slurm@:>@])],
        [slurmplugindir=$withval], [slurmplugindir='${pkglibdir}/slurm'])
    AC_CHECK_HEADER([slurm/spank.h], [pwr_slurm=yes], [], [#include <stddef.h>])
    AC_SUBST([slurmplugindir])
    AM_CONDITIONAL([HAVE_SPANK], [test "x$pwr_slurm" != xno])
])

# Each of these is optional; PWR_SUMMARY tells what is lost without it.
AC_DEFUN([PWR_CHECK_OPTIONAL], [
    PKG_CHECK_MODULES([FUSE3], [fuse3], [pwr_fuse3=`$PKG_CONFIG --modversion fuse3`], [pwr_fuse3=no])
    AM_CONDITIONAL([HAVE_FUSE3], [test "x$pwr_fuse3" != xno])

    PKG_CHECK_MODULES([CMOCKA], [cmocka], [pwr_cmocka=`$PKG_CONFIG --modversion cmocka`],
        [pwr_cmocka=no])
    AM_CONDITIONAL([HAVE_CMOCKA], [test "x$pwr_cmocka" != xno])

    PKG_CHECK_MODULES([FFTW], [fftw3], [pwr_fftw=`$PKG_CONFIG --modversion fftw3`], [pwr_fftw=no])
    AM_CONDITIONAL([HAVE_FFTW], [test "x$pwr_fftw" != xno])

    pwr_callgrind=no
    AC_CHECK_HEADER([valgrind/callgrind.h], [pwr_callgrind=yes])
    AM_CONDITIONAL([HAVE_CALLGRIND], [test "x$pwr_callgrind" != xno])

    PWR_CHECK_LIKWID
    pwr_libcpupower=no
    AC_CHECK_HEADER([cpufreq.h], [AC_CHECK_LIB([cpupower], [cpufreq_get_boost_frequencies],
        [pwr_libcpupower=yes
         AC_SUBST([CPUPOWER_LIBS], [-lcpupower])
         AC_DEFINE([HAVE_LIBCPUPOWER], [1], [poweraware-inspect describes cpufreq by libcpupower])])])
    PWR_CHECK_UCX
    PWR_CHECK_SLURM

    pwr_matplotlib=no
    AS_IF([$PYTHON -c 'import matplotlib' 2>/dev/null],
        [pwr_matplotlib=`$PYTHON -c 'import matplotlib; print(matplotlib.__version__)'`])
    pwr_jsonschema=no
    AS_IF([$PYTHON -c 'import jsonschema' 2>/dev/null], [pwr_jsonschema=yes])
    pwr_pytest=no
    AS_IF([$PYTHON -c 'import pytest' 2>/dev/null], [pwr_pytest=yes])
    AM_CONDITIONAL([HAVE_PYTEST], [test "x$pwr_pytest" != xno])
])
