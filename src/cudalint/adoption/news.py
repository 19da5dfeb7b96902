"""Which findings a change brings: those whose code, or whose function's head, it touches."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cudalint.adoption.gitbase import GitBase, same_content
from cudalint.adoption.hunks import ChangedLines
from cudalint.finding import Finding, Span
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


class News:
    """Tells the findings that are new since `base`.

    `by_file` are the codes of the rules whose findings are about whole files, as
    those of kernel trees are; `by_function` those that judge what a function is
    compiled to, whichever of its lines that comes from.
    """

    def __init__(
        self,
        base: GitBase,
        root: Path,
        sources: Mapping[str, SourceFile],
        models: Mapping[str, FileModel],
        *,
        by_file: Collection[str],
        by_function: Collection[str],
    ) -> None:
        self._base = base
        self._root = root
        self._sources = sources
        self._models = models
        self._by_file = by_file
        self._by_function = by_function
        self._changes: dict[str, ChangedLines] = {}
        self._gone: set[str] | None = None

    def is_new(self, finding: Finding) -> bool:
        """Whether the change touches what `finding` is about."""
        spans = [finding.span, *finding.extents]
        spans += [place.span for place in (*finding.related, *finding.flow)]
        if self._sources[finding.span.path].problem is not None:
            return True
        if finding.code in self._by_file:
            return self._files_changed({span.path for span in spans})
        spans += self._function(finding.span, whole=finding.code in self._by_function)
        return any(self._touched(span) for span in spans)

    def _touched(self, span: Span) -> bool:
        return self._of(span.path).touched(span.start, span.end)

    def _of(self, path: str) -> ChangedLines:
        if path not in self._changes:
            self._changes[path] = self._compared(path)
        return self._changes[path]

    def _compared(self, path: str) -> ChangedLines:
        source = self._sources.get(path)
        if source is None:
            # What the run did not read can't be held to the base.
            return ChangedLines(b"", b"")
        data = source.data
        object_ = self._base.object_of(self._root / path)
        if object_ is None:
            return ChangedLines(None, data)
        old = data if same_content(object_, data) else self._base.content(object_)
        return ChangedLines(old, data)

    def _function(self, span: Span, *, whole: bool) -> list[Span]:
        """The head of the innermost function around `span`, or all of it."""
        model = self._models.get(span.path)
        around = [
            function
            for function in (model.functions if model else ())
            if function.span.path == span.path and function.span.covers(span.start)
        ]
        if not around:
            return []
        inner = min(around, key=lambda function: function.span.end - function.span.start)
        return [inner.span if whole else inner.head]

    def _files_changed(self, paths: set[str]) -> bool:
        """Whether one of the files is changed, or the manifest or a neighbour of one is."""
        folders = {posixpath.dirname(path) for path in paths}
        manifests = {posixpath.join(folder, "KERNEL.toml") for folder in folders}
        near = paths | (manifests & self._sources.keys())
        if any(self._of(path).any for path in near):
            return True
        lower = {posixpath.normpath(posixpath.join(folder, "../../common")) for folder in folders}
        return any(posixpath.dirname(path) in folders | lower for path in self._deleted())

    def _deleted(self) -> set[str]:
        """The files below the root that were there at the base and are not now."""
        if self._gone is None:
            from cudalint.discovery.kinds import is_ours

            inside = self._root.resolve()
            files = (self._base.top / path for path in self._base.files if is_ours(path))
            self._gone = {
                file.relative_to(inside).as_posix()
                for file in files
                if file.is_relative_to(inside) and not file.exists()
            }
        return self._gone
