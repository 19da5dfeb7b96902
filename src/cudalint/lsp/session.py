"""What the server knows: the open documents as they were linted last, and what was found.

Nothing of the protocol's transport: `cudalint.lsp.server` calls this.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from lsprotocol import types

from cudalint.finding import Finding
from cudalint.lsp.diagnostics import diagnostics
from cudalint.lsp.places import Places
from cudalint.run import Run
from cudalint.runner import Request, run
from cudalint.settings.load import load_settings
from cudalint.syntax.lastread import LastRead, reading_again


class Document(msgspec.Struct, frozen=True):
    """An open document: its absolute path, the client's URI and version, and its text."""

    path: Path
    uri: str
    version: int
    text: str

    @property
    def data(self) -> bytes:
        """The bytes that stand for the file while it is open."""
        return self.text.encode("utf-8", "replace")


class Linted(msgspec.Struct, frozen=True):
    """One linting: the run, its places, and the documents that it saw, by path in the run."""

    run: Run
    places: Places
    documents: dict[str, Document]

    def findings(self, document: Document) -> list[Finding]:
        """What was found in a document, if it is still as it was; else nothing."""
        return [
            finding
            for finding in self.run.findings
            if self.documents.get(finding.span.path) == document
        ]

    def published(self) -> dict[str, list[types.Diagnostic]]:
        """The diagnostics of each document by its URI, a list for every one."""
        found = diagnostics(self.run, self.places)
        return {d.uri: found.get(path, []) for path, d in self.documents.items()}


def may_compile(documents: Mapping[str, Document], folder: Path) -> bool:
    """Whether the settings let nvcc run, and it would see what is in the documents.

    Raises SettingsError.
    """
    paths = [str(document.path) for document in documents.values()]
    if load_settings(paths, folder).settings.compile == "never":
        return False
    return all(_is_on_disk(document) for document in documents.values())


def _is_on_disk(document: Document) -> bool:
    try:
        return document.path.read_bytes() == document.data
    except OSError:
        return False


def lint(
    documents: Mapping[str, Document],
    folder: Path,
    cache: Path | None,
    encoding: str,
    last: LastRead,
    *,
    compiled: bool,
) -> Linted:
    """Lint the open `documents` (by URI) with their unsaved text.

    `folder` is the workspace's, `encoding` what the client counts columns in. Files
    are read from what `last` has of them: nothing in a new one, and no tree once settled.
    `compiled` lets the settings decide about nvcc, for documents that `may_compile`;
    without it nothing is compiled. Raises SettingsError.
    """
    unsaved = {str(document.path): document.data for document in documents.values()}
    request = Request(
        paths=tuple(str(document.path) for document in documents.values()),
        cwd=folder,
        compile=None if compiled else "never",
        force_exclude=True,
        # What is read from old trees is not for the cache, and its text is in none.
        cache=cache if last.afresh else None,
        contents={} if compiled else unsaved,
    )
    with reading_again(last):
        finished = run(request)
    seen = {
        os.path.relpath(document.path, finished.root).replace(os.sep, "/"): document
        for document in documents.values()
    }
    return Linted(finished, Places(finished, encoding), seen)
