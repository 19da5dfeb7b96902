"""Which findings of a run stand in a baseline, and which entries nothing answers to any more."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.adoption.baseline import Baseline, Entry, path_from
from cudalint.finding import Finding
from cudalint.lines import LineIndex
from cudalint.sarif.fingerprint import FileFingerprints, fingerprint
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel

Ran = Callable[[str, str], bool]
"""Whether the rule with that code ran on the file at that path."""


class Standing(msgspec.Struct, frozen=True):
    """The findings of a run, parted: `new` ones, and those `known` by the baseline.

    `gone` are the entries with no finding left, each with how many that are.
    """

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    gone: tuple[Entry, ...]


class Entries:
    """Makes the entries of findings, with paths as seen from a baseline's `folder`."""

    def __init__(
        self,
        folder: Path,
        root: Path,
        sources: Mapping[str, SourceFile],
        models: Mapping[str, FileModel],
    ) -> None:
        self._folder = folder
        self._root = root
        self._sources = sources
        self._models = models
        self._files: dict[str, FileFingerprints] = {}
        self._paths = {self._name(path): path for path in sources}

    def of(self, finding: Finding) -> Entry:
        """The entry of one finding, by itself; equal ones have the same."""
        path = finding.span.path
        if path not in self._files:
            source = self._sources.get(path)
            data = b"" if source is None else source.data
            name = self._name(path)
            model = self._models.get(path)
            self._files[path] = FileFingerprints(name, data, LineIndex(data), model)
        subject = self._files[path].subject(finding)
        code, name, function, _ = subject
        return Entry(name, code, function, fingerprint(subject, 0))

    def path(self, entry: Entry) -> str:
        """The run's path of an entry."""
        known = self._paths.get(entry.path)
        return known or Path(os.path.relpath(self._folder / entry.path, self._root)).as_posix()

    def _name(self, path: str) -> str:
        """A run's path in entries; bytes that are no UTF-8 are spelt out, as JSON has none."""
        name = path_from(self._folder, self._root, path)
        return name.encode("utf-8", "backslashreplace").decode()


def part(
    findings: Iterable[Finding],
    baseline: Baseline,
    entries: Entries,
    root: Path,
    sources: Mapping[str, SourceFile],
    ran: Ran,
) -> Standing:
    """Part `findings`, which are in file order, by `baseline`.

    An entry is gone only where its rule ran, or its file is no longer there.
    """
    left: Counter[str] = Counter()
    for entry in baseline.findings:
        left[entry.fingerprint] += entry.count
    new, known = [], []
    for finding in findings:
        key = entries.of(finding).fingerprint
        if left[key] > 0:
            left[key] -= 1
            known.append(finding)
        else:
            new.append(finding)

    def was_judged(entry: Entry) -> bool:
        path = entries.path(entry)
        source = sources.get(path)
        if source is None or not source.requested:
            return not os.path.lexists(root / path)
        return ran(entry.code, path)

    gone = []
    for entry in baseline.findings:
        count = min(left[entry.fingerprint], entry.count)
        if count > 0 and was_judged(entry):
            left[entry.fingerprint] -= count
            gone.append(msgspec.structs.replace(entry, count=count))
    return Standing(tuple(new), tuple(known), tuple(gone))
