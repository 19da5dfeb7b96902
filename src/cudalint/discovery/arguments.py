"""The paths of the command line, made into files that are read, and their context.

What can't be had is told as a notification, and the rest goes on. A path that
names a file is analysed though `exclude` matches it, unless `force_exclude`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import msgspec

from cudalint.discovery.kinds import SOURCE_SUFFIXES, is_ours
from cudalint.discovery.read import read_source
from cudalint.discovery.walk import Walk, relative
from cudalint.finding import Level
from cudalint.patterns import Patterns
from cudalint.run import Notification
from cudalint.settings.model import Settings
from cudalint.source import SourceFile


class Discovery(msgspec.Struct, frozen=True):
    """The files to analyse by their path relative to the root, in order, and what was not found."""

    sources: dict[str, SourceFile]
    notifications: tuple[Notification, ...] = ()


def discover(
    arguments: Sequence[str],
    root: str,
    cwd: str,
    settings: Settings,
    *,
    force_exclude: bool = False,
    whole: bool = False,
    contents: Mapping[str, bytes] | None = None,
) -> Discovery:
    """Find and read the files that `arguments` (relative to `cwd`) stand for.

    `root` and `cwd` are absolute. `whole` reads all other files below the root
    as well, as context that nobody requested. `contents` are what files, by
    absolute path, are to be taken to hold, though they may not be there.
    """
    search = _Search(root, cwd, settings, force_exclude, contents or {})
    for argument in arguments:
        search.take(argument)
    search.tell_unreadable()
    read = partial(read_source, limit=settings.max_file_size, contents=contents)
    sources = [read(file, relative(file, root)) for file in search.files]
    if whole and sources:
        sources += [
            read(file, relative(file, root), requested=False) for file in search.others(root)
        ]
    if search.excluded and not sources:
        search.tell("all-excluded", Level.NOTE, "nothing to lint: every path given is excluded")
    return Discovery(
        {source.path: source for source in sorted(sources, key=lambda source: source.path)},
        tuple(search.notifications),
    )


def read_context(
    paths: Iterable[str],
    root: str,
    settings: Settings,
    asked: Mapping[str, SourceFile],
    contents: Mapping[str, bytes] | None = None,
) -> dict[str, SourceFile]:
    """Those of `paths` (relative to the root) that exist and nobody `asked` for, as context."""
    read = partial(read_source, limit=settings.max_file_size, contents=contents)
    return {
        path: read(os.path.join(root, path), path, requested=False)
        for path in paths
        if path not in asked and is_ours(path) and os.path.exists(os.path.join(root, path))
    }


class _Search:
    """The state of one discovery: files asked for so far, and complaints."""

    def __init__(
        self,
        root: str,
        cwd: str,
        settings: Settings,
        force_exclude: bool,
        contents: Mapping[str, bytes],
    ) -> None:
        exclude = Patterns((*settings.exclude, *settings.extend_exclude))
        self._walk = Walk(root, exclude, gitignore=settings.respect_gitignore)
        self._root = root
        self._cwd = cwd
        self._force_exclude = force_exclude
        self._contents = contents
        self.files: list[str] = []
        self.notifications: list[Notification] = []
        self.excluded = 0

    def take(self, argument: str) -> None:
        """Find the files of one argument: a file, a folder, or a pattern no shell expanded."""
        path = os.path.normpath(os.path.join(self._cwd, argument))
        if path in self._contents or os.path.lexists(path):
            self._take_path(path, argument)
            return
        import glob

        if not glob.has_magic(argument):
            self._take_path(path, argument)
            return
        matches = sorted(glob.glob(argument, root_dir=self._cwd, recursive=True))
        ours = [m for m in matches if is_ours(m) or os.path.isdir(os.path.join(self._cwd, m))]
        if not ours:
            self.tell("missing-path", Level.ERROR, f"no CUDA files match '{argument}'")
        files = [m for m in ours if is_ours(m)]
        # A recursive pattern also matches every folder above the files it matches.
        for match in files or ours:
            self._take_path(os.path.normpath(os.path.join(self._cwd, match)), match)

    def _take_path(self, path: str, argument: str) -> None:
        denied = _is_denied(path)
        if not denied and path not in self._contents and not os.path.exists(path):
            problem = "broken symbolic link" if os.path.islink(path) else "no such file or folder"
            self.tell("missing-path", Level.ERROR, f"{problem}: '{argument}'")
        elif self._force_exclude and self._walk.excluded(path):
            self.excluded += 1
        elif denied and not is_ours(path):
            problem = os.strerror(errno.EACCES)
            self.tell("unreadable-folder", Level.ERROR, f"cannot read '{argument}': {problem}")
        elif os.path.isdir(path):
            self._take_folder(path, argument)
        elif not is_ours(path):
            known = " ".join(SOURCE_SUFFIXES)
            self.tell("not-cuda", Level.ERROR, f"no CUDA source: '{argument}' (known: {known})")
        elif self._walk.claim(path):
            self.files.append(path)

    def _take_folder(self, path: str, argument: str) -> None:
        found = list(self._walk.files(path))
        self.files += [file for file in found if self._walk.claim(file)]
        if found or path in self._walk.unreadable:
            return
        if self._force_exclude and self._is_emptied(path):
            self.excluded += 1
        else:
            self.tell("nothing-to-lint", Level.ERROR, f"no CUDA files in '{argument}'")

    def _is_emptied(self, folder: str) -> bool:
        """Whether there are CUDA files in a folder, all of them left out."""
        everything = Walk(self._root, Patterns(()), gitignore=False)
        return any(True for _ in everything.files(folder))

    def others(self, folder: str) -> list[str]:
        """The files below `folder` that no argument stands for."""
        return [file for file in self._walk.files(folder) if self._walk.claim(file)]

    def tell_unreadable(self) -> None:
        """Complain of the folders that could not be listed."""
        for folder, why in sorted(self._walk.unreadable.items()):
            shown = relative(folder, self._cwd)
            self.tell("unreadable-folder", Level.ERROR, f"cannot read folder '{shown}': {why}")

    def tell(self, id_: str, level: Level, message: str) -> None:
        self.notifications.append(Notification(id_, level, message))


def _is_denied(path: str) -> bool:
    """Whether nobody lets us see if there is anything at `path`."""
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return False
