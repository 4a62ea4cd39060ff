/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The poweraware authors
 *
 * Stand-in for a header that no Open MPI installs, though its ompi/op/op.h includes it for these
 * two conversions.  Found through -idirafter only: an installed copy wins.
 */
#ifndef PWR_MISSING_FINT_2_INT_H
#define PWR_MISSING_FINT_2_INT_H

#define OMPI_INT_2_FINT(value) ((MPI_Fint)(value))
#define OMPI_FINT_2_INT(value) ((int)(value))

#endif
