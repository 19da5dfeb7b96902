"""What `check` is asked to lint: paths, lists of paths, and a file that comes on stdin.

Which files the paths stand for is `cudalint.discovery`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

STDIN_NAME = "stdin.cu"
"""What `-` goes by when nothing names it."""

_OPTIONS = (
    click.option(
        "--stdin-filename",
        metavar="NAME",
        help="With '-': the name that what comes on stdin goes by. It need not exist; settings, "
        f"ignores and the project around it are those of this name ({STDIN_NAME} without).",
    ),
    click.option(
        "--files-from",
        metavar="FILE",
        multiple=True,
        help="Lint the files that FILE lists ('-' is stdin), one a line or ended by NUL bytes; "
        "what is no CUDA source is passed over. An argument @FILE is the same.",
    ),
)


class Inputs(NamedTuple):
    """The paths to lint, relative to the working folder, and what some files hold.

    `contents` is by absolute path. `empty` says that there were lists, and that
    nothing for us stood in them.
    """

    paths: tuple[str, ...]
    contents: dict[str, bytes]
    empty: bool = False


def input_options(command: F) -> F:
    """Give a command the options that say what else than its arguments it reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_inputs(options: Mapping[str, Any], cwd: Path) -> Inputs:
    """Take the arguments and lists apart, and read stdin where it is meant.

    Raises UsageError for what can't go together, ClickException for a list that
    can't be read, SettingsError for settings that stdin's bound can't be had of.
    """
    arguments: tuple[str, ...] = options["paths"]
    lists = [word[1:] for word in arguments if word.startswith("@")] + [*options["files_from"]]
    _check(options, arguments, lists)
    paths = [word for word in arguments if word != "-" and not word.startswith("@")]
    name = options["stdin_filename"] or STDIN_NAME
    if "-" in arguments:
        paths.append(name)
    paths += [path for name in lists for path in _listed(name, cwd)]
    if not arguments and not lists:
        return Inputs((".",), {})
    contents = {}
    if "-" in arguments:
        contents[os.path.normpath(cwd / name)] = _stdin(_most_bytes(paths, options, cwd))
    return Inputs(tuple(paths), contents, empty=not paths)


def _check(options: Mapping[str, Any], arguments: tuple[str, ...], lists: list[str]) -> None:
    if options["stdin_filename"] is not None and "-" not in arguments:
        raise click.UsageError("--stdin-filename names what '-' reads: give '-' too")
    if lists.count("-") + arguments.count("-") > 1:
        raise click.UsageError("stdin can be read once only")
    if "-" in arguments and options["compile_"] == "always":
        raise click.UsageError(
            "--compile always can't go with '-': nvcc reads files, and '-' is none"
        )


def _most_bytes(paths: Sequence[str], options: Mapping[str, Any], cwd: Path) -> int:
    """How large a source may be by the settings that the run will have. Raises SettingsError."""
    from cudalint.settings.load import load_settings

    config, isolated = options["config"], options["isolated"]
    return load_settings(paths, cwd, config=config, isolated=isolated).settings.max_file_size


def _stdin(limit: int) -> bytes:
    """What comes on stdin; of more than `limit` bytes, enough to see that it is too much."""
    try:
        return sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise click.ClickException(f"cannot read stdin: {error.strerror}") from None


def _listed(name: str, cwd: Path) -> Iterator[str]:
    """The paths of a list that are for us, or folders."""
    from cudalint.discovery.kinds import is_ours
    from cudalint.namedfile import read_named, read_stdin

    try:
        data = read_stdin() if name == "-" else read_named(cwd / name, pipes=True)
    except OSError as error:
        raise click.ClickException(f"cannot read the list '{name}': {error.strerror}") from None
    if b"\0" in data:
        entries = data.split(b"\0")
    else:
        entries = [line.removesuffix(b"\r") for line in data.split(b"\n")]
    for entry in entries:
        path = os.fsdecode(entry)
        if path and (is_ours(path) or (cwd / path).is_dir()):
            yield path
