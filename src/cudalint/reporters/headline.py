"""The one line that names a finding: place, level, code, message and name."""

from __future__ import annotations

import os

from cudalint.finding import Finding, Level
from cudalint.lines import LineIndex
from cudalint.reporters.colour import Paint
from cudalint.reporters.visible import visible
from cudalint.run import Run

STYLES = {Level.ERROR: "red", Level.WARNING: "yellow", Level.NOTE: "cyan"}


class Headlines:
    """Writes headlines for one run, and keeps the lines of its files."""

    def __init__(self, run: Run, paint: Paint) -> None:
        self._sources = run.sources
        self._root = run.root
        self._cwd = run.cwd or run.root
        self._names = {entry.rule.code: entry.rule.name for entry in run.rules}
        self._paint = paint
        self._indexes: dict[str, LineIndex] = {}

    def index(self, path: str) -> LineIndex:
        """The lines of the file at `path`; one empty line for a file that was not read."""
        if path not in self._indexes:
            source = self._sources.get(path)
            self._indexes[path] = LineIndex(b"" if source is None else source.data)
        return self._indexes[path]

    def has_text(self, path: str) -> bool:
        """Whether there is anything to show of the file at `path`."""
        return path in self._sources and bool(self._sources[path].data)

    def place(self, path: str, offset: int) -> str:
        """`path:line:column`, the path as one types it where one is, the column in characters."""
        position = self.index(path).position(offset)
        if self._cwd != self._root:
            path = os.path.relpath(f"{self._root}/{path}", self._cwd)
        return f"{visible(path)}:{position.line}:{position.column}"

    def headline(self, finding: Finding) -> str:
        """`path:line:col: level CODE message [name]`, with `[*]` where a safe fix is at hand."""
        paint = self._paint
        place = paint(self.place(finding.span.path, finding.span.start), "bold")
        style = STYLES[finding.level]
        code = paint(finding.code, style)
        fixable = finding.fix is not None and finding.fix.safe
        star = f" {paint('[*]', 'cyan')}" if fixable else ""
        name = paint(f"[{self._names.get(finding.code, 'unknown')}]", "dim")
        message = visible(finding.message).replace("\t", " ")
        return f"{place}: {paint(finding.level.value, style)} {code}{star} {message} {name}"
