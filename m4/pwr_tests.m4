# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

# PWR_TESTS: what automake's parallel test harness runs tests with, by their extension, and what all of
# them find in their environment, in every folder: what one test has learnt is not to matter in another. A .py is a pytest file or folder.
AC_DEFUN([PWR_TESTS], [
    AC_SUBST([SH_LOG_COMPILER], ['$(SHELL)'])
    AC_SUBST([PY_LOG_COMPILER], ['$(SHELL) $(top_srcdir)/harness/pytest-tests'])
    AC_SUBST([PWR_TESTS_ENVIRONMENT], ["PYTHON='\$(PYTHON)' MPIRUN='\$(MPIRUN)' OMPI_INFO='\$(OMPI_INFO)' \
PWR_SRCDIR='\$(abs_top_srcdir)' PWR_BUILDDIR='\$(abs_top_builddir)' PYTHONDONTWRITEBYTECODE=1 \
OMPI_MCA_coll_poweraware_knowledge=off; \
export PYTHON MPIRUN OMPI_INFO PWR_SRCDIR PWR_BUILDDIR PYTHONDONTWRITEBYTECODE OMPI_MCA_coll_poweraware_knowledge;"])
    # never true: automake makes rules for tests on both sides, and make check TESTS=... finds them
    AM_CONDITIONAL([ALL_TESTS], [false])
    AC_SUBST([AM_TESTS_ENVIRONMENT], ['$(PWR_TESTS_ENVIRONMENT)'])
])
