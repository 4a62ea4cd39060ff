# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors

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
    AS_IF([test "x$enable_werror" = xyes], [PWR_CFLAGS="$PWR_CFLAGS -Werror"])
    PWR_SAN_FLAGS=
    AS_IF([test "x$enable_sanitizers" = xyes],
        [PWR_SAN_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined"])
    AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" = xyes])
    AC_SUBST([PWR_CFLAGS])
    AC_SUBST([PWR_SAN_FLAGS])
])
