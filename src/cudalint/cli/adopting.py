"""The options of `check` for a tree that has findings already: what is old is not shown.

What they mean is `cudalint.adoption`; the command that writes baselines is
`cudalint.cli.baseline`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.fixes.passes import Lint
    from cudalint.run import Run
    from cudalint.runner import Request

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--baseline",
        metavar="FILE",
        help="Leave out the findings in FILE, which 'cudalint baseline write' makes.",
    ),
    click.option(
        "--diff-base",
        metavar="REV",
        help="Leave out findings in code that did not change since the merge base with REV.",
    ),
    click.option(
        "--add-suppressions",
        is_flag=True,
        help="Write a NOLINT comment for every finding into the files; needs --reason.",
    ),
    click.option(
        "--reason",
        metavar="TEXT",
        help="With --add-suppressions: why the findings may stay, for all of them.",
    ),
)


def adoption_options(command: F) -> F:
    """Give a command the options that set old findings aside."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_adoption_options(options: Mapping[str, Any]) -> None:
    """Raise UsageError for options that can't go together."""
    for name in ("baseline", "diff_base"):
        if options[name] is not None and options["shard"] is not None:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} can't go with --shard, whose logs are to be joined")
    if options["reason"] is not None and not options["add_suppressions"]:
        raise click.UsageError("--reason goes with --add-suppressions only")
    if options["add_suppressions"]:
        _check_suppressing(options)


def _check_suppressing(options: Mapping[str, Any]) -> None:
    from cudalint.adoption.suppressing import bad_reason

    for name in ("fix", "diff", "shard", "show_files"):
        if options[name]:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"--add-suppressions can't go with {option}")
    if "-" in options["paths"]:
        raise click.UsageError("--add-suppressions writes files, and '-' is none")
    if options["reason"] is None:
        raise click.UsageError("--add-suppressions needs a reason: --reason TEXT")
    problem = bad_reason(options["reason"])
    if problem is not None:
        raise click.UsageError(f"--reason can't be {options['reason']!r}: {problem}")


def run_and_silence(request: Request, lint: Lint, options: Mapping[str, Any]) -> Run:
    """Lint, write the comments, and lint again; what was done is said on stderr."""
    from cudalint.adoption.suppressing import silence
    from cudalint.cli.writing import with_notes, write_files
    from cudalint.reporters.summary import counted

    silenced = silence(request, lint, options["reason"])
    written, notes = write_files(silenced.first.root, silenced.changed)
    finished = lint(request) if written else silenced.first
    if written and not options["quiet"]:
        complain(f"wrote comments into {counted(len(written), 'file')}", "note")
    return with_notes(finished, (*silenced.notifications, *notes))
