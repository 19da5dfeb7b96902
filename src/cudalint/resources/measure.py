"""From paths on the command line to a resource table: read, compile, make rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from cudalint.compiling import compile_project
from cudalint.context import Context
from cudalint.finding import Level
from cudalint.reading import read_project
from cudalint.resources.model import ResourceTable
from cudalint.resources.rows import resource_table
from cudalint.run import Notification

if TYPE_CHECKING:
    from cudalint.runner import Request
    from cudalint.source import SourceFile


class Measured(msgspec.Struct, frozen=True):
    """What was measured, and all that is to be told of it.

    `sources` are the files that were read, by path relative to `root`. A
    notification of level ERROR means that the measuring itself failed.
    """

    root: Path
    table: ResourceTable
    sources: dict[str, SourceFile]
    notifications: tuple[Notification, ...]


def measure(request: Request) -> Measured:
    """Compile what `request` asks for, whatever the settings say of compiling.

    Raises SettingsError.
    """
    reading, root = read_project(request)
    project = reading.project
    paths = [path for path, file in reading.sources.items() if file.requested and not file.problem]
    compiled = compile_project(
        paths,
        root,
        project,
        project.settings,
        request.jobs,
        request.cache,
        request.compiler_launcher,
        request.progress,
    )
    notifications = [*reading.notifications, *compiled.notifications]
    if compiled.files is None:
        message = f"resources are what nvcc says, and there is no usable one: {compiled.why}"
        notifications.append(Notification("no-nvcc", Level.ERROR, message))
    notifications += (
        Notification("not-compiled", Level.WARNING, str(skip)) for skip in compiled.skips
    )
    context = Context(project.settings, reading.sources, project, project.trees)
    table = resource_table(compiled.files or (), context)
    return Measured(root, table, reading.sources, tuple(notifications))
