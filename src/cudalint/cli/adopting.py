"""The options of `check` for a tree that has findings already: what is old is not shown.

What they mean is `cudalint.adoption`; the command that writes baselines is
`cudalint.cli.baseline`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

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
