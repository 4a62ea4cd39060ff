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

# Each of these is optional; PWR_SUMMARY tells what is lost without it.
AC_DEFUN([PWR_CHECK_OPTIONAL], [
    PKG_CHECK_MODULES([FUSE3], [fuse3], [pwr_fuse3=`$PKG_CONFIG --modversion fuse3`], [pwr_fuse3=no])
    AM_CONDITIONAL([HAVE_FUSE3], [test "x$pwr_fuse3" != xno])

    PKG_CHECK_MODULES([CMOCKA], [cmocka], [pwr_cmocka=`$PKG_CONFIG --modversion cmocka`],
        [pwr_cmocka=no])
    AM_CONDITIONAL([HAVE_CMOCKA], [test "x$pwr_cmocka" != xno])

    AC_CHECK_HEADER([likwid.h], [pwr_likwid=yes], [pwr_likwid=no])
    AC_CHECK_HEADER([cpufreq.h], [pwr_libcpupower=yes], [pwr_libcpupower=no])
    PKG_CHECK_MODULES([UCX], [ucx], [pwr_ucx=`$PKG_CONFIG --modversion ucx`], [pwr_ucx=no])

    pwr_matplotlib=no
    AS_IF([$PYTHON -c 'import matplotlib' 2>/dev/null],
        [pwr_matplotlib=`$PYTHON -c 'import matplotlib; print(matplotlib.__version__)'`])
    pwr_pytest=no
    AS_IF([$PYTHON -c 'import pytest' 2>/dev/null], [pwr_pytest=yes])
    AM_CONDITIONAL([HAVE_PYTEST], [test "x$pwr_pytest" != xno])
])
