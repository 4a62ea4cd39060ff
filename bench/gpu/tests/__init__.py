# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
