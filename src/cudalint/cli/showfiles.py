"""`--show-files`: the files that would be analysed, and nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from cudalint.run import Notification
    from cudalint.runner import Request

F = TypeVar("F", bound=Callable[..., Any])


def show_files_option(command: F) -> F:
    """Give a command the option that only lists what it would analyse."""
    option = click.option(
        "--show-files",
        is_flag=True,
        help="List the files that would be analysed, one a line, and stop.",
    )
    return option(command)


def show_files(request: Request) -> tuple[Notification, ...]:
    """Write the files to stdout, as one types them; gives what there is to say about them.

    Raises SettingsError and OutputError.
    """
    from cudalint.reading import requested_files
    from cudalint.reporters.visible import visible

    root, paths, notifications = requested_files(request)
    shown = [os.path.relpath(root / path, request.cwd) for path in paths]
    if sys.stdout.isatty():
        shown = [visible(path) for path in shown]
    sys.stdout.buffer.write(b"".join(os.fsencode(path) + b"\n" for path in shown))
    sys.stdout.buffer.flush()
    return notifications
