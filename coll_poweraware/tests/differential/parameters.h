/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * The part of a command that repeats a run which is mpirun's.
 */
#ifndef DIFF_PARAMETERS_H
#define DIFF_PARAMETERS_H

/* Prints MCA parameters of collectives, windows and transports, which mpirun has put into the
 * environment. */
void diff_print_parameters(void);

#endif
