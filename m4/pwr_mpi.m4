# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

# PWR_CHECK_MPI: finds an installed Open MPI with its developer headers.
# Sets MPICC, MPIRUN, OMPI_INFO, MPI_CFLAGS, MPI_LIBS, OMPI_CFLAGS (internal headers), OMPI_LIBS,
# pwr_mpi_version and pwr_mpi_series.
AC_DEFUN([PWR_CHECK_MPI], [
    AC_ARG_WITH([mpi],
        [AS_HELP_STRING([--with-mpi=PREFIX],
            [Open MPI's installation prefix (default: the mpicc on PATH)])],
        [AS_CASE([$with_mpi],
            [yes|no], [AC_MSG_ERROR([--with-mpi needs Open MPI's installation prefix])],
            [pwr_mpi_path="$with_mpi/bin"])],
        [pwr_mpi_path="$PATH"])

    AC_PATH_PROGS([MPICC], [mpicc.openmpi mpicc], [], [$pwr_mpi_path])
    AS_IF([test "x$MPICC" = x], [AC_MSG_ERROR([no mpicc found in $pwr_mpi_path.
Install Open MPI (Debian, Ubuntu: libopenmpi-dev) or name it with --with-mpi=PREFIX.])])
    AC_PATH_PROGS([MPIRUN], [mpirun.openmpi mpirun], [mpirun], [$pwr_mpi_path])
    AC_PATH_PROGS([OMPI_INFO], [ompi_info], [ompi_info], [$pwr_mpi_path])

    AC_MSG_CHECKING([that $MPICC is Open MPI's])
    pwr_mpi_version=`$MPICC --showme:version 2>/dev/null | \
        sed -n 's/.*Open MPI \(@<:@0-9@:>@@<:@0-9.@:>@*@<:@a-z0-9@:>@*\).*/\1/p'`
    AS_IF([test "x$pwr_mpi_version" = x],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([$MPICC does not answer --showme:version as Open MPI's does])])
    AC_MSG_RESULT([$pwr_mpi_version])
    AS_CASE([$pwr_mpi_version],
        [4.1*], [pwr_mpi_series=4.1],
        [5.0*], [pwr_mpi_series=5.0],
        [6.0*], [pwr_mpi_series=6.0],
        [AC_MSG_ERROR([Open MPI $pwr_mpi_version is not supported: 4.1, 5.0 or 6.0 is needed])])

    MPI_CFLAGS=`$MPICC --showme:compile`
    MPI_LIBS=`$MPICC --showme:link`
    pwr_pmix_cflags=`$PKG_CONFIG --cflags pmix 2>/dev/null`
    # Headers that Open MPI never installs: an installed copy wins (-idirafter).
    OMPI_CFLAGS="$MPI_CFLAGS $pwr_pmix_cflags -idirafter \$(top_srcdir)/ompi/missing_headers"
    OMPI_LIBS="$MPI_LIBS -lopen-pal"
    # From 5.0 on, what Open MPI calls its modex is macros over PMIx.
    AS_IF([test $pwr_mpi_series != 4.1],
        [pwr_pmix_libs=`$PKG_CONFIG --libs pmix 2>/dev/null` || pwr_pmix_libs=-lpmix
         OMPI_LIBS="$OMPI_LIBS $pwr_pmix_libs"])

    AC_MSG_CHECKING([for Open MPI's developer headers])
    pwr_save_CPPFLAGS="$CPPFLAGS"
    CPPFLAGS="$CPPFLAGS $MPI_CFLAGS $pwr_pmix_cflags -idirafter $srcdir/ompi/missing_headers"
    AC_PREPROC_IFELSE([AC_LANG_PROGRAM([[
#include "ompi_config.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/pml.h"
]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([Open MPI $pwr_mpi_version is there, its developer headers (ompi/mca/coll/coll.h) are not.
Debian, Ubuntu: install libopenmpi-dev (and libpmix-dev for Open MPI 5.0 and later).
Own build: configure Open MPI with --with-devel-headers.])])
    PWR_CHECK_EVENT_LIBS
    CPPFLAGS="$pwr_save_CPPFLAGS"

    AC_SUBST([MPI_CFLAGS])
    AC_SUBST([MPI_LIBS])
    AC_SUBST([OMPI_CFLAGS])
    AC_SUBST([OMPI_LIBS])
    AC_SUBST([pwr_mpi_version])
    AC_SUBST([pwr_mpi_series])
])

# PWR_CHECK_EVENT_LIBS: the library behind Open MPI's event loop, where that is not a part of Open MPI.
# Adds to OMPI_LIBS.
AC_DEFUN([PWR_CHECK_EVENT_LIBS], [
    AC_MSG_CHECKING([for the library of Open MPI's event loop])
    pwr_save_LIBS="$LIBS"
    pwr_event_libs=missing
    for pwr_libs in "" "-levent_core"; do
        LIBS="$OMPI_LIBS $pwr_libs $pwr_save_LIBS"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include "ompi_config.h"
#include "mpi.h"
#if OMPI_MAJOR_VERSION >= 5
#include "opal/util/event.h"
#else
#include "opal/mca/event/event.h"
#endif
]], [[opal_event_loop(opal_sync_event_base, OPAL_EVLOOP_ONCE);]])],
            [pwr_event_libs="$pwr_libs"
             break])
    done
    LIBS="$pwr_save_LIBS"
    AS_IF([test "x$pwr_event_libs" = xmissing],
        [AC_MSG_RESULT([none])
         AC_MSG_ERROR([the library that Open MPI's event loop uses does not link.
Debian, Ubuntu: install libevent-dev.])])
    AC_MSG_RESULT([${pwr_event_libs:-Open MPI's own}])
    OMPI_LIBS="$OMPI_LIBS $pwr_event_libs"
])

# PWR_CHECK_OSHMEM: finds the OpenSHMEM of the same Open MPI, and its developer headers.
# Sets OSHRUN, SHMEM_CFLAGS, SHMEM_LIBS, OSHMEM_CFLAGS (internal headers), pwr_oshmem; HAVE_OSHMEM.
AC_DEFUN([PWR_CHECK_OSHMEM], [
    AC_PATH_PROGS([OSHCC], [oshcc], [], [$pwr_mpi_path])
    AC_PATH_PROGS([OSHRUN], [oshrun], [], [$pwr_mpi_path])
    pwr_oshmem=no
    AS_IF([test "x$OSHCC" != x && test "x$OSHRUN" != x], [
        SHMEM_CFLAGS=`$OSHCC --showme:compile`
        SHMEM_LIBS=`$OSHCC --showme:link`
        OSHMEM_CFLAGS="$OMPI_CFLAGS"
        for pwr_dir in `$OSHCC --showme:incdirs`; do
            AS_IF([test -f "$pwr_dir/openshmem/oshmem_config.h"], [OSHMEM_CFLAGS="$OSHMEM_CFLAGS -I$pwr_dir/openshmem"])
        done
        AC_MSG_CHECKING([for the developer headers of OpenSHMEM])
        pwr_save_CPPFLAGS="$CPPFLAGS"
        CPPFLAGS="$CPPFLAGS $OSHMEM_CFLAGS -idirafter $srcdir/ompi/missing_headers -idirafter $srcdir/oshmem/missing_headers"
        AC_PREPROC_IFELSE([AC_LANG_PROGRAM([[
#include "oshmem_config.h"
#include "oshmem/mca/scoll/scoll.h"
#include "oshmem/mca/spml/spml.h"
]])],
            [pwr_oshmem="yes ($OSHCC)"])
        CPPFLAGS="$pwr_save_CPPFLAGS"
        AC_MSG_RESULT([$pwr_oshmem])
        OSHMEM_CFLAGS="$OSHMEM_CFLAGS -idirafter \$(top_srcdir)/oshmem/missing_headers"
    ])
    AM_CONDITIONAL([HAVE_OSHMEM], [test "x$pwr_oshmem" != xno])
    AC_SUBST([SHMEM_CFLAGS])
    AC_SUBST([SHMEM_LIBS])
    AC_SUBST([OSHMEM_CFLAGS])
])

# PWR_DEFAULT_PRIORITY: whether jobs that do not name the component use it.
AC_DEFUN([PWR_DEFAULT_PRIORITY], [
    AC_ARG_WITH([default-priority],
        [AS_HELP_STRING([--with-default-priority=N],
            [default of coll_poweraware_priority. -1 (the default): jobs use the component that name it; 77: all jobs
             on machines that have it, for packages])],
        [AS_CASE([$with_default_priority],
            [-1|@<:@0-9@:>@|@<:@1-9@:>@@<:@0-9@:>@|100], [pwr_default_priority=$with_default_priority],
            [AC_MSG_ERROR([--with-default-priority needs -1, or a number from 0 to 100])])],
        [pwr_default_priority=-1])
    AC_SUBST([pwr_default_priority])
])

# PWR_PLUGIN_DIR: where mca_coll_poweraware.so and the other plug-ins go; pwr_plugin_note says what users need where Open MPI does not look.
AC_DEFUN([PWR_PLUGIN_DIR], [
    AC_ARG_WITH([plugin-dir],
        [AS_HELP_STRING([--with-plugin-dir=DIR],
            [folder for the plug-ins (default: Open MPI's own; without root rights for
             example $HOME/.openmpi/components)])],
        [AS_CASE([$with_plugin_dir],
            [yes|no], [AC_MSG_ERROR([--with-plugin-dir needs a folder])],
            [plugindir="$with_plugin_dir"])],
        [plugindir=])
    pwr_ompi_plugindir=`$OMPI_INFO --parsable --path pkglibdir 2>/dev/null | sed -n 's/^path:pkglibdir://p'`
    AS_IF([test "x$plugindir" = x], [plugindir="$pwr_ompi_plugindir"])
    AS_IF([test "x$plugindir" = x], [plugindir='${libdir}/openmpi'])
    pwr_plugin_note=
    AS_CASE([$plugindir],
        ["$pwr_ompi_plugindir"|"$HOME/.openmpi/components"], [],
        [pwr_plugin_note="Open MPI does not look there by itself: export OMPI_MCA_mca_base_component_path=SYS_DEFAULT:$plugindir:USER_DEFAULT PMIX_MCA_mca_base_component_path= (poweraware run and module load poweraware do)"])
    # Debian 13: PMIx's parameter file has PMIx's folder as mca_base_component_path, and mpirun makes it Open MPI's only one
    pwr_pmix_params=`$OMPI_INFO --parsable --path libdir 2>/dev/null | sed -n 's/^path:libdir://p'`/../../pmix2/share/pmix-mca-params.conf
    AS_IF([grep '^mca_base_component_path' "$pwr_pmix_params" >/dev/null 2>&1], [
        pwr_pmix_params=`realpath "$pwr_pmix_params"`
        AS_IF([test "x$pwr_plugin_note" = x],
            [pwr_plugin_note="mpirun does not look there, due to mca_base_component_path in $pwr_pmix_params: remove that line, or export OMPI_MCA_mca_base_component_path=SYS_DEFAULT:USER_DEFAULT PMIX_MCA_mca_base_component_path= (poweraware run and module load poweraware do)"])
    ], [pwr_pmix_params=])
    AM_CONDITIONAL([PLUGIN_ELSEWHERE], [test "x$pwr_plugin_note" != x])
    AC_SUBST([plugindir])
    AC_SUBST([pwr_plugin_note])
    AC_SUBST([pwr_pmix_params])
])
