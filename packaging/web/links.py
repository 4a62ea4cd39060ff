#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Names every link of a folder of HTML pages to a file or an anchor that is not in it."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def _broken(top: Path) -> list[str]:
    pages = {path.resolve(): _Page(path) for path in sorted(top.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else set()
            if not target.is_file() or not target.is_relative_to(top.resolve()):
                found.append(f"{path.relative_to(top.resolve())}: {link}: no such file")
            elif target in pages and parts.fragment and unquote(parts.fragment) not in anchors:
                found.append(f"{path.relative_to(top.resolve())}: {link}: no such anchor")
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return found


if __name__ == "__main__":
    broken = _broken(Path(sys.argv[1]))
    print("\n".join(broken))
    sys.exit(bool(broken))
