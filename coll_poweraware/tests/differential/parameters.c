/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * MCA parameters of this run.
 */
#include "parameters.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

void diff_print_parameters(void)
{
    static const char *const prefixes[] = {
        "OMPI_MCA_coll", "OMPI_MCA_osc",  "OMPI_MCA_scoll",
        "OMPI_MCA_pml=", "OMPI_MCA_btl=", "OMPI_MCA_opal_common_ucx"};
    for (char **variable = environ; NULL != *variable; ++variable) {
        bool ours = false;
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; ++i) {
            ours = ours || 0 == strncmp(*variable, prefixes[i], strlen(prefixes[i]));
        }
        const char *name = *variable + strlen("OMPI_MCA_");
        const char *value = strchr(*variable, '=');
        if (ours && NULL != value) {
            fprintf(stderr, " --mca %.*s '%s'", (int)(value - name), name, value + 1);
        }
    }
}
