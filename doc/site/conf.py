# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Sphinx reads this; gather puts the pages in place."""

import os

project = "poweraware"
author = "The poweraware authors"
copyright = author  # pylint: disable=redefined-builtin
release = os.environ["PWR_VERSION"]
html_title = f"poweraware {release}"

extensions = ["myst_parser"]
root_doc = "doc/site/index"
exclude_patterns = ["doc/site/extra"]
myst_heading_anchors = 4  # as repositories show them: waits.md#openshmem

html_theme = "furo"
html_extra_path = ["extra"]  # the first page is index.html, too
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
highlight_language = "none"  # commands and text; nothing to be coloured by guess
pygments_style = "default"
pygments_dark_style = "native"
smartquotes = False  # -- belongs to options
