"""`check --watch`: lint again when something has changed, until Ctrl-C.

What counts as a change, and the waiting, is `cudalint.watching`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudalint.cli.main import complain
from cudalint.cli.output import Output, tell, write_reports
from cudalint.reporters.formats import FOR_PEOPLE

if TYPE_CHECKING:
    from cudalint.fixes.passes import Lint
    from cudalint.runner import Request
    from cudalint.watching.scope import Scope

F = TypeVar("F", bound=Callable[..., Any])

_NOT_WITH = ("fix", "diff", "add_suppressions", "show_files", "shard")


def watch_option(command: F) -> F:
    """Give a command the option that makes it start over when something changes."""
    option = click.option(
        "--watch",
        is_flag=True,
        help="Lint again when a linted file, a manifest or the settings change, until Ctrl-C.",
    )
    return option(command)


def check_watch_option(options: Mapping[str, Any], outputs: Sequence[Output]) -> None:
    """Raise ClickException where --watch can't be, or can't be had."""
    if not options["watch"]:
        return
    for name in _NOT_WITH:
        if options[name]:
            raise click.UsageError(f"--watch can't go with --{name.replace('_', '-')}")
    if "-" in (*options["paths"], *options["files_from"]) or "@-" in options["paths"]:
        raise click.UsageError("--watch reads again what has changed, and stdin can be read once")
    if any(output.file is not None or output.format not in FOR_PEOPLE for output in outputs):
        known = " or ".join(FOR_PEOPLE)
        raise click.UsageError(f"--watch shows {known}, and writes no other report")
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        mend = "--watch needs watchfiles: pip install 'cudalint[watch]'"
        raise click.ClickException(mend) from None


def lint_on_changes(
    make_request: Callable[[], Request],
    lint: Lint,
    outputs: Sequence[Output],
    options: Mapping[str, Any],
) -> int:
    """Lint and report, and do so again on every change; the exit code of the last run.

    Ctrl-C is how it is meant to end; KeyboardInterrupt goes on where no run has finished.
    """
    from cudalint.watching.wait import Watch, WatchError

    # A short run does without; here cycles would pile up.
    gc.enable()
    watch, code = Watch(), None
    try:
        while True:
            scope, code = _once(make_request, lint, outputs, options)
            if not options["quiet"]:
                complain("watching for changes; Ctrl-C ends", "note")
            watch.wait(scope)
    except WatchError as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        if code is None:
            raise
        return code


def _once(
    make_request: Callable[[], Request],
    lint: Lint,
    outputs: Sequence[Output],
    options: Mapping[str, Any],
) -> tuple[Scope, int]:
    """One run: what it depends on, and its exit code. Wrong settings are one line, and wait."""
    from cudalint.settings.origin import SettingsError
    from cudalint.watching.scope import scope_of

    lists = tuple(word[1:] for word in options["paths"] if word.startswith("@"))
    request = make_request()
    scope = scope_of(request, (*lists, *options["files_from"]))
    try:
        run = lint(request)
    except SettingsError as error:
        click.clear()
        complain(str(error))
        return scope, 2
    click.clear()
    tell(run.notifications, options)
    written = write_reports(run, outputs, options)
    return scope.after(run), run.exit_code if written else 2
