"""What a run reads: the files asked for, those around them, their models, joined.

Every command that looks at sources starts here; what it does with them is its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.discovery.arguments import discover, read_context
from cudalint.discovery.kinds import is_source
from cudalint.discovery.read import read_source
from cudalint.extraction import Extraction, extract, later
from cudalint.finding import Level
from cudalint.project.project import Project
from cudalint.run import Notification, Skip
from cudalint.settings.load import load_settings
from cudalint.settings.model import Settings
from cudalint.source import SourceFile
from cudalint.syntax.lastread import last_read
from cudalint.syntax.model import FileModel

if TYPE_CHECKING:
    from cudalint.compiledb.stage import CompileCommands
    from cudalint.judged import Judged
    from cudalint.judgements import Judgements
    from cudalint.runner import Request
    from cudalint.tree.model import KernelTree, OtherHardware


class Reading(msgspec.Struct, frozen=True):
    """What was read: files and their models by path, as they are, and joined in `project`.

    `judged` is what is known to be found in them; models are then read when they are
    asked for. `incomplete` is what commands ask for and do not get. `cut_off` says of
    files why they were not read to their end, `failed` that of one this was our fault.
    """

    sources: dict[str, SourceFile]
    models: Mapping[str, FileModel]
    project: Project
    notifications: tuple[Notification, ...]
    skips: tuple[Skip, ...]
    judged: Judged | None = None
    incomplete: tuple[Notification, ...] = ()
    cut_off: dict[str, str] = {}
    failed: bool = False


def read(
    request: Request,
    settings: Settings,
    root: Path,
    *,
    whole: bool,
    kept: Judgements | None = None,
) -> Reading:
    """Read what `request` asks for; `whole` brings every other file below the root too.

    Where `kept` has a judgement of just that, no syntax is read before it is asked for.
    Raises SettingsError for a compilation database that is named and can't be used.
    """
    return _Reader(request, settings, root, whole=whole).read(kept)


def read_project(request: Request) -> tuple[Reading, Path]:
    """Read with the settings that hold where the paths are; the root comes with it.

    Raises SettingsError.
    """
    loaded = load_settings(
        request.paths, request.cwd, config=request.config, isolated=request.isolated
    )
    settings = with_overrides(loaded.settings, request)
    whole = loaded.origin is not None and request.config is None
    return read(request, settings, loaded.root, whole=whole), loaded.root


def requested_files(request: Request) -> tuple[Path, list[str], tuple[Notification, ...]]:
    """The root, the files below it that a run would analyse for their own sake, and complaints.

    Raises SettingsError.
    """
    loaded = load_settings(
        request.paths, request.cwd, config=request.config, isolated=request.isolated
    )
    settings = with_overrides(loaded.settings, request)
    sources, _, notifications = _Reader(request, settings, loaded.root, whole=False).files()
    return loaded.root, [path for path, one in sources.items() if one.requested], notifications


def with_overrides(settings: Settings, request: Request) -> Settings:
    """The settings of a file, with what the command line says instead."""
    return msgspec.structs.replace(
        settings,
        preview=settings.preview if request.preview is None else request.preview,
        compile=request.compile or settings.compile,
        extend_exclude=(*settings.extend_exclude, *request.exclude),
        plugins=(*settings.plugins, *request.plugins),
    )


class _Files(msgspec.Struct, frozen=True):
    """What there is to read, with the trees among it and what is to be said of that."""

    sources: dict[str, SourceFile]
    trees: tuple[KernelTree, ...]
    notifications: tuple[Notification, ...]
    skips: tuple[Skip, ...]


class _Reader:
    """The stages of reading, each a method, in the order in which `read` calls them."""

    def __init__(self, request: Request, settings: Settings, root: Path, *, whole: bool) -> None:
        self._request = request
        self._settings = settings
        self._root = root
        self._whole = whole
        self._notifications: list[Notification] = []
        self._skips: list[Skip] = []

    def read(self, kept: Judgements | None) -> Reading:
        """All of it."""
        sources, trees = self._files()
        commands = self._commands(sources, trees)
        judged = kept.get(sources, trees, commands) if kept else None
        read = self._models(sources, judged)
        for path, problem in read.cut_off.items():
            sources[path] = msgspec.structs.replace(sources[path], data=b"", problem=problem)
        project = Project(read.models, trees, self._settings, sources, commands.commands)
        incomplete = judged.incomplete if judged else tuple(self._incomplete(commands, project))
        self._notifications += incomplete
        return Reading(
            sources,
            read.models,
            project,
            tuple(self._notifications),
            tuple(self._skips),
            judged,
            incomplete,
            read.cut_off,
            bool(read.notifications),
        )

    def files(
        self,
    ) -> tuple[dict[str, SourceFile], tuple[KernelTree, ...], tuple[Notification, ...]]:
        """The files of `read` alone, with their trees and what is to be said of them."""
        sources, trees = self._files()
        return sources, trees, tuple(self._notifications)

    def _files(self) -> tuple[dict[str, SourceFile], tuple[KernelTree, ...]]:
        """The files and trees there are; as one types, those that there were at the last rest."""
        last = last_read()
        found = (
            last.made("files", self._asked(), self._found, of_disk=True) if last else self._found()
        )
        self._notifications += found.notifications
        self._skips += found.skips
        return {path: self._as_given(file) for path, file in found.sources.items()}, found.trees

    def _asked(self) -> tuple[object, ...]:
        """All that the files and the trees depend on, the disk and the text of sources aside."""
        request = self._request
        paths = (request.paths, request.cwd, request.force_exclude, frozenset(request.contents))
        manifests = {file: data for file, data in request.contents.items() if not is_source(file)}
        return (*paths, manifests, self._settings, self._root, self._whole)

    def _as_given(self, file: SourceFile) -> SourceFile:
        """The file with the content that the request gives it, if it does."""
        limit, contents = self._settings.max_file_size, self._request.contents
        name = posixpath.normpath(posixpath.join(self._root, file.path)) if contents else ""
        if name not in contents:
            return file
        return read_source(
            name, file.path, limit=limit, requested=file.requested, contents=contents
        )

    def _found(self) -> _Files:
        """The files asked for, the trees they lie in, and the rest of those trees.

        Where settings say what the project is, the rest of the project too: rules
        across files judge the files asked for, and they may be called from any.
        """
        from cudalint.tree.read import find_trees, tree_files

        root, cwd = str(self._root), str(self._request.cwd)
        found = discover(
            self._request.paths,
            root,
            cwd,
            self._settings,
            force_exclude=self._request.force_exclude,
            whole=self._whole,
            contents=self._request.contents,
        )
        asked_for = (path for path, source in found.sources.items() if source.requested)
        folders = sorted({posixpath.dirname(path) for path in asked_for})
        trees = find_trees(self._root, folders, self._request.contents)
        asked, skips = _without_other_hardware(found.sources, trees.others)
        context = read_context(
            tree_files(trees.cuda), root, self._settings, asked, self._request.contents
        )
        sources = dict(sorted((asked | context).items()))
        return _Files(sources, trees.cuda, found.notifications, tuple(skips))

    def _commands(
        self, sources: Mapping[str, SourceFile], trees: Sequence[KernelTree]
    ) -> CompileCommands:
        """What compilation databases say of the sources. Raises SettingsError."""
        from cudalint.compiledb.stage import compile_commands

        sourced = [path for path in sources if is_source(path)]
        named = (self._settings.compile_commands, self._request.compile_commands)

        def read() -> CompileCommands:
            return compile_commands(sourced, self._root, trees, *named, self._request.cwd)

        last = last_read()
        asked = (sourced, self._root, trees, *named, self._request.cwd)
        found = last.made("commands", asked, read, of_disk=True) if last else read()
        self._notifications += found.notifications
        return found

    def _incomplete(self, commands: CompileCommands, project: Project) -> Iterator[Notification]:
        """What the commands ask for and do not get, where that matters."""
        if not commands.by_path:
            return
        from cudalint.compiledb.stage import incomplete

        lacking = [
            path
            for path, reads in commands.by_path.items()
            if any(read.outside for read in reads)
            and path in project.models
            and project.includes.lacks(path)
        ]
        compiling = self._settings.compile != "never"
        yield from incomplete(commands.by_path, lacking, compiling=compiling)

    def _models(self, sources: dict[str, SourceFile], judged: Judged | None) -> Extraction:
        """The models of all files, or, where it is known what is in them, how to get one."""
        cache = None
        if self._request.cache:
            from cudalint.cache import ModelCache

            cache = ModelCache(self._request.cache)
        files = [file for path, file in sources.items() if is_source(path)]
        if judged is None:
            extraction = extract(files, cache, self._request.jobs)
        else:
            extraction = later([f for f in files if f.path not in judged.cut_off], cache)
            extraction = msgspec.structs.replace(extraction, cut_off=judged.cut_off)
        self._notifications += extraction.notifications
        if cache:
            from cudalint.cachesize import keep_within_bound

            cache.prune()
            failure = cache.failure or keep_within_bound(cache.folder.parent)
            if failure:
                self._notifications.append(Notification("cache-unusable", Level.WARNING, failure))
        return extraction


def _without_other_hardware(
    sources: dict[str, SourceFile], others: Sequence[OtherHardware]
) -> tuple[dict[str, SourceFile], list[Skip]]:
    """The files that are CUDA's: what a HARDWARE.toml says is for others, nvcc never sees."""
    skips = []
    for folder in others:
        below = f"{folder.path}/" if folder.path else ""
        left = {path: file for path, file in sources.items() if not path.startswith(below)}
        if folder.declared and len(left) < len(sources):
            skips.append(Skip(folder.path or ".", folder.why))
            sources = left
    return sources, skips
