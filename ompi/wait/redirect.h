/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Calls that another shared object makes of a function go to ours, while that object is as it was.
 *
 * An object calls functions of others through words of its own (the global offset table), which the
 * loader fills.  Ours is put into that word.  Others' calls of the same function go where they
 * went.  Rejected: a symbol of the same name.  Components are loaded after us, and look for it in
 * their own libraries first.
 */
#ifndef PWR_REDIRECT_H
#define PWR_REDIRECT_H

#include <stddef.h>

/* One function in one object. */
typedef struct pwr_redirect {
    const char *object; /* name of its file up to ".so"; the first one that is loaded */
    const char *symbol;
    void *ours;
    void **saved; /* the function that was called before: written before ours is called */
    /* While it is redirected: */
    void *handle; /* keeps the object loaded */
    void **word;  /* NULL: it is not */
    void *found;  /* what the word had */
} pwr_redirect_t;

/* Redirects those of count that can be, and are not: one whose object is not loaded, or does not
   call the function, stays as it is.  Returns how many there are.  Other threads may make such calls
   meanwhile. */
size_t pwr_redirect_all(pwr_redirect_t *all, size_t count);
/* Puts back what was there, but where somebody else has put something since. */
void pwr_redirect_undo(pwr_redirect_t *all, size_t count);

#endif
