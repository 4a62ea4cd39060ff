# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

# PWR_TESTS: what automake's parallel test harness runs tests with, by their extension, and what all of
# them find in their environment, in every folder: what one test has learnt is not to matter in another. A .py is a pytest file or folder.
AC_DEFUN([PWR_TESTS], [
    AC_SUBST([LOG_COMPILER], ['$(top_srcdir)/harness/within $${PWR_TEST_TIMEOUT_S:-3600} -'])
    AC_SUBST([SH_LOG_COMPILER], ['$(LOG_COMPILER) $(SHELL)'])
    # scripts that say `env python3` meet the same interpreter, which is not to be one that is first on PATH by chance
    AC_SUBST([PWR_PYTHON], ["$(command -v "$PYTHON")"])
    AC_CONFIG_FILES([harness/programs/python3], [chmod +x harness/programs/python3])
    AC_SUBST([PY_LOG_COMPILER], ['$(LOG_COMPILER) $(SHELL) $(top_srcdir)/harness/pytest-tests'])
    # Python keeps compiled modules in the build: hundreds of commands start.
    # hwloc asks X servers (plug-ins) and PCI buses in each rank, which is two fifths of what a job of MPI takes to start
    AC_SUBST([PWR_TESTS_ENVIRONMENT], ["PYTHON='\$(PYTHON)' MPIRUN='\$(MPIRUN)' OMPI_INFO='\$(OMPI_INFO)' \
PWR_SRCDIR='\$(abs_top_srcdir)' PWR_BUILDDIR='\$(abs_top_builddir)' PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX='\$(abs_top_builddir)/pycache' \
OMPI_MCA_coll_poweraware_knowledge=off PATH='\$(abs_top_builddir)/harness/programs':\$\$PATH \
HWLOC_PLUGINS_PATH='\$(abs_top_builddir)/harness' HWLOC_COMPONENTS=-linuxio; \
export PATH HWLOC_PLUGINS_PATH HWLOC_COMPONENTS PYTHON MPIRUN OMPI_INFO PWR_SRCDIR PWR_BUILDDIR PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX OMPI_MCA_coll_poweraware_knowledge;"])
    # never true: automake makes rules for tests on both sides, and make check TESTS=... finds them
    AM_CONDITIONAL([ALL_TESTS], [false])
    AC_SUBST([AM_TESTS_ENVIRONMENT], ['$(PWR_TESTS_ENVIRONMENT)'])
])
