# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The poweraware authors
"""Root file systems of distributions, kept between runs.

    <cache>/<suite>/lock          shared while the root file system is used, exclusive while it is made
    <cache>/<suite>/root          what is used; root/made.json says of what it was made, and when
    <cache>/<suite>/root.new      half made; never used, removed by the next run
    <cache>/<suite>/trees/<hash>  of one source tree: its copy (src) and its build, for the next run
    <cache>/<suite>-bare          the same of a root file system without anything that we need
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Optional

from series import archive, spaces
from series.errors import Unavailable

_DAY_S = 86400
_MAKING_S = 1200  # half a minute where the archive is near
_KEPT_TREES_DAYS = 14  # of source trees that no longer come

Say = Callable[[str], None]
Maker = Callable[[str, Sequence[str], Path, IO[str]], None]


@dataclass(frozen=True)
class Made:
    """Of what and when a root file system was made."""

    key: str
    at_s: float

    def is_fresh(self, key: str, days: float) -> bool:
        return self.key == key and 0 <= time.time() - self.at_s < days * _DAY_S


@contextlib.contextmanager
def locked(path: Path, kind: int, waiting: Callable[[], None]) -> Iterator[None]:
    """Holds an flock; calls waiting if another process has it."""
    with path.open("a", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, kind)
        yield


def key_of(suite: str, packages: Sequence[str]) -> str:
    """Changes when what a root file system is made of changes."""
    return hashlib.sha256("\n".join([suite, *packages]).encode()).hexdigest()[:16]


def bootstrap(suite: str, packages: Sequence[str], target: Path, log: IO[str]) -> None:
    """Makes a root file system with what this machine's apt knows: what is essential, apt, and packages."""
    if shutil.which("mmdebstrap") is None:
        raise Unavailable("mmdebstrap is not installed")
    mirror = archive.this_mirror()
    options = target.with_name("apt.conf")
    options.write_text("\n".join(archive.these_fetching_options()) + "\n", encoding="utf-8")
    command = spaces.isolated(
        "mmdebstrap",
        "--mode=root",
        "--variant=minbase",
        f"--include={','.join(packages)}",
        f"--aptopt={options}",
        suite,
        str(target),
        archive.source_line(mirror, suite),
    )
    subprocess.run(command, stdout=log, stderr=log, check=True, timeout=_MAKING_S)


class Distribution:
    """One suite's part of the cache, with what our sources need to be built; bare: without."""

    def __init__(
        self, cache: Path, suite: str, say: Say, maker: Maker = bootstrap, bare: bool = False
    ) -> None:
        self._folder = cache / (f"{suite}-bare" if bare else suite)
        self._suite = suite
        self._packages = archive.BARE if bare else archive.PACKAGES
        self._say = say
        self._make = maker
        self._key = key_of(suite, self._packages)
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder.mkdir(exist_ok=True)

    @contextlib.contextmanager
    def used(self, refresh_days: float) -> Iterator[Path]:
        """The root file system, made first if it is missing or old; nobody changes it meanwhile."""
        accepted = refresh_days
        while True:
            with self._locked(fcntl.LOCK_SH):
                made = self._made()
                if made and made.is_fresh(self._key, accepted):
                    yield self._root
                    return
            accepted = self._refresh(refresh_days)

    @contextlib.contextmanager
    def tree(self, top: Path) -> Iterator[Path]:
        """The folder of a source tree, for one run at a time.

        It is emptied when the root file system it was built in is another, and when the last run did not
        come to its end: a compiler that is killed leaves half an object file, which make takes for good.
        """
        folder = self._folder / "trees" / hashlib.sha256(str(top).encode()).hexdigest()[:12]
        folder.mkdir(parents=True, exist_ok=True)
        made = (self._root / "made.json").read_text(encoding="utf-8")
        with locked(folder.with_suffix(".lock"), fcntl.LOCK_EX, self._tell_waiting):
            built_in = folder / "built-in.json"
            if not built_in.exists() or built_in.read_text(encoding="utf-8") != made:
                spaces.remove(folder)
                folder.mkdir()
            built_in.unlink(missing_ok=True)
            self._forget_old_trees()
            yield folder
            built_in.write_text(made, encoding="utf-8")

    @property
    def _root(self) -> Path:
        return self._folder / "root"

    def _locked(self, kind: int) -> contextlib.AbstractContextManager[None]:
        return locked(self._folder / "lock", kind, self._tell_waiting)

    def _tell_waiting(self) -> None:
        self._say(f"waiting for another run that uses {self._folder}")

    def _made(self) -> Optional[Made]:
        try:
            fields = json.loads((self._root / "made.json").read_text(encoding="utf-8"))
            return Made(fields["key"], fields["at_s"])
        except (OSError, ValueError, KeyError):
            return None

    def _refresh(self, refresh_days: float) -> float:
        """Makes the root file system; returns the age in days that will do after it."""
        with self._locked(fcntl.LOCK_EX):
            made = self._made()
            if made and made.is_fresh(self._key, refresh_days):  # another run was faster
                return refresh_days
            try:
                self._make_root()
            except Unavailable as error:
                if made and made.key == self._key:
                    self._say(f"the root file system is old, and stays: {error}")
                    return float("inf")
                raise
        return refresh_days

    def _make_root(self) -> None:
        new, old = self._folder / "root.new", self._folder / "root.old"
        log_path = self._folder / "mmdebstrap.log"
        spaces.remove(new)
        self._say(f"making a root file system of {self._suite} in {self._folder}, about a minute")
        try:
            with log_path.open("w", encoding="utf-8") as log:
                self._make(self._suite, self._packages, new, log)
        except subprocess.TimeoutExpired as error:
            raise Unavailable(f"mmdebstrap took more than {_MAKING_S} s, see {log_path}") from error
        except subprocess.CalledProcessError as error:
            raise Unavailable(f"mmdebstrap: {_last_error(log_path)} (see {log_path})") from error
        finally:
            log_path.with_name("apt.conf").unlink(missing_ok=True)
        fields = {"key": self._key, "at_s": time.time()}
        (new / "made.json").write_text(json.dumps(fields), encoding="utf-8")
        spaces.remove(old)
        if self._root.exists():
            self._root.rename(old)
        new.rename(self._root)
        spaces.remove(old)

    def _forget_old_trees(self) -> None:
        for folder in (self._folder / "trees").iterdir():
            if folder.is_dir() and time.time() - folder.stat().st_mtime > _KEPT_TREES_DAYS * _DAY_S:
                spaces.remove(folder)


def _last_error(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line]
    errors = [line for line in lines if line.startswith("E: ")]
    return errors[0] if errors else (lines or ["no message"])[-1]
