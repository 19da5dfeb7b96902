"""Makes a Project out of sources given as text."""

from __future__ import annotations

from cudalint.context import Context
from cudalint.project import Project
from cudalint.settings.model import Settings
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model


def project_of(files: dict[str, str], settings: Settings | None = None) -> Project:
    """The project of these files (path to text), with no kernel tree."""
    models = {path: read_model(path, text.encode()) for path, text in files.items()}
    return Project(models, (), settings)


def context_of(files: dict[str, str], settings: Settings | None = None) -> Context:
    """A context of these files."""
    sources = {path: SourceFile(path, text.encode()) for path, text in files.items()}
    return Context(settings or Settings(), sources, project_of(files, settings), ())
