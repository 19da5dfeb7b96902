"""Makes a Project out of sources given as text."""

from __future__ import annotations

from cudalint.context import Context
from cudalint.project.project import Project
from cudalint.settings.model import Settings
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model


def project_of(files: dict[str, str], settings: Settings | None = None) -> Project:
    """The project of these files (path to text), with no kernel tree."""
    models = {path: read_model(path, text.encode()) for path, text in files.items()}
    return Project(models, (), settings, _sources(files))


def context_of(files: dict[str, str], settings: Settings | None = None) -> Context:
    """A context of these files."""
    return Context(settings or Settings(), _sources(files), project_of(files, settings), ())


def _sources(files: dict[str, str]) -> dict[str, SourceFile]:
    return {path: SourceFile(path, text.encode()) for path, text in files.items()}
