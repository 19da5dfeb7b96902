"""What a run depends on, and whether a change on the disk matters to it.

That is the files that it read, those that it would read were they there, its
settings, and what its command line names. A file that was written and holds the
same as before does not matter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.discovery.kinds import is_ours
from cudalint.discovery.read import read_source
from cudalint.discovery.walk import Walk
from cudalint.patterns import Patterns
from cudalint.settings.load import NAMES, common_folder
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.run import Run
    from cudalint.runner import Request
    from cudalint.settings.model import Settings

State = tuple[int, int, int] | None
"""What tells that a file was written: its time, size and number; None for one that is not there."""


class Scope(msgspec.Struct, frozen=True):
    """What one run depends on. All paths are absolute.

    `named` are the files that are no sources: settings, a baseline, lists, with
    their state before the run. `asked` are the paths to lint. `sources` are what
    the run read; `settings` None says that it came to nothing, and that any
    source may be of use to the next.
    """

    named: dict[str, State]
    asked: tuple[str, ...]
    root: str
    sources: dict[str, SourceFile] = {}
    settings: Settings | None = None

    def after(self, run: Run) -> Scope:
        """The scope with what the run has read."""
        sources = {
            os.path.realpath(Path(run.root, path)): file for path, file in run.sources.items()
        }
        return msgspec.structs.replace(self, root=run.root, sources=sources, settings=run.settings)

    def matters(self, path: str) -> bool:
        """Whether something has changed at `path`, a file or a folder, that a run would see."""
        place = Path(path)
        path = f"{os.path.realpath(place.parent).rstrip(os.sep)}{os.sep}{place.name}"
        if path in self.named:
            return state(path) != self.named[path]
        if path in self.sources:
            return self._differs(path)
        below = [source for source in self.sources if source.startswith(f"{path}{os.sep}")]
        if any(self._differs(source) for source in below):
            return True
        return (is_ours(path) or place.is_dir()) and self._brings_sources(path)

    def has_changed(self) -> bool:
        """Whether anything of it has changed since the run."""
        return any(state(path) != old for path, old in self.named.items()) or any(
            self._differs(path) for path in self.sources
        )

    def folders(self) -> tuple[str, ...]:
        """The folders that all of it lies in, none within another."""
        files = [*self.sources, *(path for path, old in self.named.items() if old is not None)]
        wanted = {Path(path).parent for path in files}
        wanted.update(p if p.is_dir() else p.parent for p in map(Path, self.asked))
        there = sorted(os.path.realpath(folder) for folder in wanted if folder.is_dir())
        kept: list[str] = []
        for folder in there:
            if not any(_is_within(folder, other) for other in kept):
                kept.append(folder)
        return tuple(kept)

    def _differs(self, path: str) -> bool:
        """Whether a file that was read now holds something else, or is gone."""
        old = self.sources[path]
        limit = _limit(self.settings)
        return read_source(path, old.path, limit=limit, requested=old.requested) != old

    def _brings_sources(self, path: str) -> bool:
        """Whether there is a source at `path`, or below it, that the next run would read."""
        if self.settings is None:
            return True
        return any(
            os.path.realpath(file) not in self.sources and _is_within(os.path.realpath(file), path)
            for file in self._listed(self.settings)
        )

    def _listed(self, settings: Settings) -> Iterator[str]:
        """The files that are asked for, as they are found now."""
        exclude = Patterns((*settings.exclude, *settings.extend_exclude))
        for asked in self.asked:
            if Path(asked).is_dir():
                walk = Walk(self.root, exclude, gitignore=settings.respect_gitignore)
                yield from walk.files(asked)
            elif Path(asked).exists():
                yield asked


def scope_of(request: Request, files: tuple[str, ...] = ()) -> Scope:
    """The scope of a run that is yet to come; `files` are lists that the request was made of."""
    names = [*files, request.config, request.baseline, request.compile_commands]
    named = [os.path.normpath(request.cwd / name) for name in names if name is not None]
    if request.config is None and not request.isolated:
        start = common_folder(request.paths, request.cwd)
        named += [str(folder / name) for folder in (start, *start.parents) for name in NAMES]
    asked = tuple(os.path.normpath(request.cwd / path) for path in request.paths)
    real = [os.path.realpath(path) for path in named]
    return Scope({path: state(path) for path in (*named, *real)}, asked, str(request.cwd))


def state(path: str) -> State:
    """The state of a file; of what can't be seen it is that of one that is not there."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _limit(settings: Settings | None) -> int:
    from cudalint.settings.model import Settings as Default

    return (settings or Default()).max_file_size


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}")
