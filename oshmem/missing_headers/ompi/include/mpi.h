/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stand-in: headers of OpenSHMEM name this file so, and Open MPI installs it elsewhere.
 */
#include <mpi.h>
