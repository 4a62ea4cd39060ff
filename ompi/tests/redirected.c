/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The object whose calls test_redirect.c redirects: built with each kind of binding there is.
 */
#include <unistd.h>

long redirected_call(void);

long redirected_call(void)
{
    return getppid();
}
