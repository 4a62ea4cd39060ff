/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * How the user asked for us in `--mca coll ...`, and making `--mca coll poweraware` work alone; the
 * same of other frameworks.
 */
#ifndef PWR_OMPI_SELECT_H
#define PWR_OMPI_SELECT_H

#include <stdbool.h>

#include "opal/mca/base/mca_base_framework.h"

/* True when the selection of the framework is an inclusive list that names component. */
bool pwr_ompi_named_in_selection(const mca_base_framework_t *framework, const char *component);

/* The same of a selection as its parameter has it; NULL: none. */
bool pwr_ompi_named_in_list(const char *list, const char *component);

/* Called from the register hook of component.  A communicator needs every collective, and a window
   somebody who does it, but `--mca coll <component>` opens that component only.  When the selection
   is exactly our name, this finds the other components of the framework, registers them after us
   and widens the selection to all of them, so that the framework's open step keeps them.
   is_left_out: of those; NULL: none is. Returns an OMPI_* code. */
int pwr_ompi_select_companions(mca_base_framework_t *framework, const char *component,
                               bool (*is_left_out)(const mca_base_component_t *component));

#endif
