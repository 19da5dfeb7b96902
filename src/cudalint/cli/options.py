"""The options that say what is read, and how, for every command that reads sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from cudalint.runner import Request

F = TypeVar("F", bound=Callable[..., Any])


def words(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """An option that may be repeated, and hold several words with commas between."""
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _jobs(_: click.Context, parameter: click.Parameter, value: str) -> int:
    from cudalint.extraction import default_jobs

    if value == "auto":
        return default_jobs()
    if value.isdecimal() and int(value) > 0:
        return int(value)
    raise click.BadParameter(f"'{value}' is neither a positive number nor 'auto'", param=parameter)


_CACHE = (
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
    click.option(
        "--cache-dir",
        type=click.Path(readable=False, path_type=Path),
        envvar="CUDALINT_CACHE_DIR",
        help="Keep the cache there.",
    ),
)


def _launcher(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A compiler launcher: one of the known names, an absolute path, or "none"."""
    if value is None:
        return None
    from cudalint.compile.launcher import KNOWN

    if value in (*KNOWN, "none") or Path(value).is_absolute():
        return value
    known = ", ".join((*KNOWN, "none"))
    raise click.BadParameter(
        f"'{value}' is neither one of {known} nor an absolute path", param=parameter
    )


compiler_launcher_option = click.option(
    "--compiler-launcher",
    metavar="PROGRAM",
    callback=_launcher,
    help="Call nvcc by ccache, sccache, distcc or the program at an absolute path; or by none.",
)

_READING = (
    click.option("--config", metavar="FILE", help="Take the settings of this file."),
    click.option("--isolated", is_flag=True, help="Take no settings file."),
    click.option(
        "--compile-commands",
        metavar="FILE",
        help="Take include paths and macros from this compile_commands.json, or the one in this "
        "folder; 'auto' looks for it, 'never' takes none.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        callback=words,
        help="Leave out more files: gitignore patterns, relative to the root.",
    ),
    click.option(
        "--force-exclude", is_flag=True, help="Also leave out excluded files that are named."
    ),
    click.option(
        "--jobs",
        "-j",
        default="auto",
        show_default=True,
        metavar="N",
        callback=_jobs,
        help="How many processes may run at once.",
    ),
)


def reading_options(command: F) -> F:
    """Give a command the options of settings, exclusion, processes and cache."""
    return _with(command, (*_READING, *_CACHE))


def cache_options(command: F) -> F:
    """Give a command the options of the cache."""
    return _with(command, _CACHE)


def _with(command: F, options: Sequence[Callable[[F], F]]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def cache_folder(options: dict[str, Any]) -> Path | None:
    """The cache's folder by these options, None for no cache."""
    if options["no_cache"]:
        return None
    folder: Path | None = options["cache_dir"]
    if folder is None:
        from cudalint.cache import default_folder

        return default_folder()
    return folder


def reading_request(options: dict[str, Any]) -> Request:
    """What a command with `reading_options` and `paths` is asked to read."""
    from cudalint.runner import Request

    return Request(
        paths=options["paths"] or (".",),
        cwd=Path.cwd(),
        config=options["config"],
        isolated=options["isolated"],
        compile_commands=options["compile_commands"],
        exclude=options["exclude"],
        force_exclude=options["force_exclude"],
        jobs=options["jobs"],
        cache=cache_folder(options),
    )
