# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Spack's Open MPI, with the developer headers that plug-ins of others are built with."""

from spack.package import *

try:
    from spack_repo.builtin.packages.openmpi.package import Openmpi as SpacksOpenmpi
except ImportError:  # before Spack 1.0
    from spack.pkg.builtin.openmpi import Openmpi as SpacksOpenmpi


class Openmpi(SpacksOpenmpi):
    variant("devel-headers", default=True, description="Install the headers that plug-ins need")

    def configure_args(self):
        return super().configure_args() + self.with_or_without("devel-headers")
