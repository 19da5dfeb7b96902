"""Goes through folders: sorted, without loops, without what is excluded."""

from __future__ import annotations

import os
from collections.abc import Iterator

from cudalint.discovery.gitignore import GitIgnore
from cudalint.discovery.kinds import is_ours
from cudalint.patterns import Patterns


class Walk:
    """A walk that may start at several folders, and meets each real file once.

    `root` is the absolute project root, which `exclude` is relative to.
    Symbolic links are followed last, so that a file goes by its own name, and
    only to places inside the root or the folder that was asked for.
    `unreadable` collects the folders that could not be listed, and why.
    """

    def __init__(self, root: str, exclude: Patterns, *, gitignore: bool = True) -> None:
        self._root = root
        self._exclude = exclude
        self._gitignore = gitignore
        self._seen: set[str] = set()
        self._folders: dict[str, str] = {}
        self.unreadable: dict[str, str] = {}

    def claim(self, file: str) -> bool:
        """Take the file for this run; False when it was met before, by this or another name."""
        real = self._real(file)
        if real in self._seen:
            return False
        self._seen.add(real)
        return True

    def _real(self, file: str) -> str:
        """The path of `file` without links; what the folders are is asked once each."""
        if os.path.islink(file):
            return os.path.realpath(file)
        folder, name = os.path.split(file)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)

    def excluded(self, path: str) -> bool:
        """Whether `exclude` names the absolute `path` or a folder above it."""
        return self._exclude.match(relative(path, self._root), folder=os.path.isdir(path))

    def files(self, folder: str) -> Iterator[str]:
        """The files of ours below `folder` (absolute), in no order; also those met before."""
        base = self._root
        if not inside(folder, base) or (folder != base and self.excluded(folder)):
            base = folder
        ignore = GitIgnore.above(folder, self._root) if self._gitignore else GitIgnore()
        allowed = (os.path.realpath(self._root), os.path.realpath(folder))
        visited: set[str] = set()
        todo = [(folder, ignore)]
        links: list[tuple[str, GitIgnore]] = []
        while todo or links:
            if not todo:
                yield from self._follow(links, todo, allowed, visited)
                continue
            here, ignore = todo.pop()
            real = os.path.realpath(here)
            if real in visited:
                continue
            visited.add(real)
            yield from self._list(here, base, ignore, todo, links)

    def _list(
        self,
        here: str,
        base: str,
        ignore: GitIgnore,
        todo: list[tuple[str, GitIgnore]],
        links: list[tuple[str, GitIgnore]],
    ) -> Iterator[str]:
        """The files of one folder; its folders and links go onto `todo` and `links`."""
        try:
            with os.scandir(here) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self.unreadable[here] = str(error.strerror)
            return
        if self._gitignore:
            ignore = ignore.entering(here)
        for entry in entries:
            folder = entry.is_dir(follow_symlinks=False)
            link = entry.is_symlink()
            if not (folder or link or is_ours(entry.name)):
                continue
            if link and not (is_ours(entry.name) or os.path.isdir(entry.path)):
                continue
            if self._exclude.match(relative(entry.path, base), folder=folder):
                continue
            if ignore.ignores(entry.path, folder=folder):
                continue
            if link:
                links.append((entry.path, ignore))
            elif folder:
                todo.append((entry.path, ignore))
            else:
                yield entry.path

    def _follow(
        self,
        links: list[tuple[str, GitIgnore]],
        todo: list[tuple[str, GitIgnore]],
        allowed: tuple[str, str],
        visited: set[str],
    ) -> Iterator[str]:
        """Take the links one by one: files are yielded, folders go onto `todo`."""
        pending = sorted(links, key=lambda link: link[0])
        links.clear()
        for path, ignore in pending:
            real = os.path.realpath(path)
            if not os.path.exists(real) or not any(inside(real, place) for place in allowed):
                continue
            if not os.path.isdir(path):
                yield path
            elif real not in visited:
                todo.append((path, ignore))


def inside(path: str, folder: str) -> bool:
    """Whether the absolute `path` is `folder` or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def relative(path: str, base: str) -> str:
    """`path` as seen from `base`, both absolute and normalised; "." for `base` itself."""
    prefix = base.rstrip("/") + "/"
    return path[len(prefix) :] if path.startswith(prefix) else os.path.relpath(path, base)
