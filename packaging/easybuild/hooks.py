# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""For eb --hooks: Open MPI installs its developer headers, too; plug-ins of others are built with them."""


def pre_configure_hook(self):
    if self.name == "OpenMPI":
        self.cfg.update("configopts", "--with-devel-headers")
