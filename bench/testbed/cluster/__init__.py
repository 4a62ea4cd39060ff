# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Several nodes on one machine, made of namespaces, with Open MPI running across them."""
