"""What the formats for machines say alike of findings: paths, places, names, fingerprints."""

from __future__ import annotations

import os
from pathlib import Path

from cudalint.finding import Finding, Level, Span
from cudalint.lines import LineIndex, LineRange, Unit
from cudalint.reporters.visible import encodable
from cudalint.rulepage import address
from cudalint.run import Notification, Run
from cudalint.sarif.fingerprint import FileFingerprints
from cudalint.sarif.paths import RepositoryPaths
from cudalint.sarif.repository import find_repository


class Reported:
    """The findings of one run, with what has to be looked up for them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rules = {entry.rule.code: entry.rule for entry in run.rules}
        repository = find_repository(Path(os.path.realpath(run.root)))
        self._paths = RepositoryPaths(run.root, repository)
        self._shown: dict[str, str] = {}
        self._indexes: dict[str, LineIndex] = {}
        self._fingerprints: dict[str, FileFingerprints] = {}

    @property
    def problems(self) -> tuple[Notification, ...]:
        """What made the run itself fail."""
        return tuple(n for n in self._run.notifications if n.level is Level.ERROR)

    def path(self, path: str) -> str:
        """A run's path as the repository knows it (without one, the project root)."""
        if path not in self._shown:
            self._shown[path] = encodable(self._paths.relative(path) or self._paths.absolute(path))
        return self._shown[path]

    def data(self, path: str) -> bytes:
        """The bytes of the file at a run's path; none for a file that was not read."""
        source = self._run.sources.get(path)
        return b"" if source is None else source.data

    def index(self, path: str) -> LineIndex:
        """The lines of that file."""
        if path not in self._indexes:
            self._indexes[path] = LineIndex(self.data(path))
        return self._indexes[path]

    def range(self, span: Span, unit: Unit = "characters") -> LineRange:
        """The lines and columns of a span."""
        return self.index(span.path).range(span.start, span.end, unit)

    def rule_name(self, code: str) -> str:
        """The kebab-case name of a rule of the run."""
        return self._rules[code].name if code in self._rules else "unknown"

    def address(self, code: str) -> str:
        """Where the page of a rule of the run is to be read, "" for no rule of it."""
        return address(self._rules[code]) if code in self._rules else ""

    def fingerprint(self, finding: Finding) -> str:
        """What tells the finding from others and stays when lines move.

        A file's findings must be asked for once each, in file order: equal ones
        are counted.
        """
        path = finding.span.path
        if path not in self._fingerprints:
            self._fingerprints[path] = FileFingerprints(
                self.path(path), self.data(path), self.index(path), self._run.models.get(path)
            )
        return self._fingerprints[path].of(finding)
