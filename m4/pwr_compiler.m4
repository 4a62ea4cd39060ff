# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

# A call of a collective zeroes several structures of some 100 bytes.  GCC's "rep stos" takes tens of
# cycles to start, each time.
AC_DEFUN([PWR_ZEROES_BY_STORES], [
    pwr_zeroes="-mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign"
    pwr_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $pwr_zeroes"
    AC_MSG_CHECKING([whether $CC can zero structures by stores])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [PWR_CFLAGS="$PWR_CFLAGS $pwr_zeroes"
         AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])])
    CFLAGS=$pwr_saved_cflags
])

# PWR_COMPILER_FLAGS: C11, warnings, --enable-werror (CI), --enable-sanitizers.
AC_DEFUN([PWR_COMPILER_FLAGS], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat warnings as errors (CI does)])],
        [], [enable_werror=no])
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers],
            [build only opal/, ompi/ and their tests, with AddressSanitizer and UBSan])],
        [], [enable_sanitizers=no])

    PWR_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes"
    PWR_CFLAGS="$PWR_CFLAGS -Wpointer-arith -Wvla -fvisibility=protected -fno-plt -pthread"
    PWR_ZEROES_BY_STORES
    AS_IF([test "x$enable_werror" = xyes], [PWR_CFLAGS="$PWR_CFLAGS -Werror"])
    PWR_SAN_FLAGS=
    AS_IF([test "x$enable_sanitizers" = xyes],
        [PWR_SAN_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined"])
    AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" = xyes])
    AC_SUBST([PWR_CFLAGS])
    AC_SUBST([PWR_SAN_FLAGS])
])
