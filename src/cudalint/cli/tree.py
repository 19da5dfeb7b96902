"""`cudalint tree`: every shadow with its reason and what it changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from cudalint.cli.main import complain
from cudalint.cli.options import reading_options, reading_request

if TYPE_CHECKING:
    from cudalint.tree.survey import SurveyedTree

FORMATS = ("text", "json", "markdown")

_EPILOG = """\
Examples:

\b
  cudalint tree kernels/                    the shadows of a tree
  cudalint tree . --format markdown         the same as a table for a pull request

Exit codes: 0 told, 2 no kernel tree there, or the run itself failed.
"""


@click.command("tree", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How it is written.",
)
@reading_options
def command(**options: Any) -> int:
    """Tell which files of the kernel trees in PATHS replace which others, and why.

    For each shadow: the reason in its KERNEL.toml, the lines that it changes
    against what it replaces, and the entry points gained and lost. What is wrong
    with a shadow is for `cudalint check` to say (CU401 to CU405).
    """
    from cudalint.reading import read_project
    from cudalint.settings.origin import SettingsError
    from cudalint.tree.survey import survey

    request = reading_request(options)
    try:
        reading, _ = read_project(request)
    except SettingsError as error:
        complain(str(error))
        return 2
    for notification in reading.notifications:
        complain(notification.message, notification.level.value)
    if any(notification.level.value == "error" for notification in reading.notifications):
        return 2
    if not reading.project.trees:
        where = ", ".join(request.paths)
        raise click.UsageError(f"no kernel tree in {where}: no folder has a <hw>/common/ below it")
    found = survey(reading.project.trees, reading.models, reading.sources)
    sys.stdout.buffer.write(_writer(options["format_"])(found).encode("utf-8", "surrogateescape"))
    return 0


def _writer(name: str) -> Callable[[Sequence[SurveyedTree]], str]:
    if name == "json":
        from cudalint.reporters.tree.json import json

        return json
    if name == "markdown":
        from cudalint.reporters.tree.markdown import markdown

        return markdown
    from cudalint.reporters.tree.text import text

    return text
