"""`cudalint graph`: why a function is on a launch path, or not."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cudalint.cli.main import complain
from cudalint.cli.options import reading_options, reading_request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudalint.hostcode.explanation import Explanation, Explanations
    from cudalint.reporters.shownplaces import ShownPlaces

FORMATS = ("text", "dot", "mermaid", "json")

_EPILOG = """\
Examples:

\b
  cudalint graph finish                     every function of that name below this folder
  cudalint graph Engine::step host/         one method, in the files of a folder
  cudalint graph step --format dot | dot -Tsvg > step.svg

Exit codes: 0 answered, 2 no such function, or the run itself failed.
"""


@click.command("graph", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("function")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How the answer is written.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="The most chains of a function that are shown; the rest is counted.",
)
@reading_options
@click.option("--verbose", is_flag=True, help="Say more about what went wrong.")
def command(**options: Any) -> int:
    """Say why FUNCTION is on a launch path or not: the chains of calls to it, hop by hop.

    FUNCTION is a name such as step, Engine::step or ns::Engine::step; where
    several functions have it, each is answered for. PATHS are what is searched,
    the current folder if there are none. A function is on a launch path when a
    kernel launch is reached from it, or from what calls it; docs/graph.md says more.
    """
    from cudalint.hostcode.explanation import Explanations
    from cudalint.reading import read_project
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.settings.origin import SettingsError

    request = reading_request(options)
    try:
        reading, root = read_project(request)
    except SettingsError as error:
        complain(str(error))
        return 2
    for notification in reading.notifications:
        complain(notification.message, notification.level.value)
        if options["verbose"] and notification.detail:
            click.echo(notification.detail.rstrip(), err=True)
    if any(notification.level.value == "error" for notification in reading.notifications):
        return 2
    explanations = _asked(options["function"], Explanations(reading.project, options["limit"]))
    places = ShownPlaces(reading.sources, str(root), str(request.cwd))
    answer = _written(options["function"], explanations, places, options["format_"])
    sys.stdout.buffer.write(answer.encode("utf-8", "surrogateescape"))
    return 0


def _asked(name: str, explanations: Explanations) -> list[Explanation]:
    """The answers for a name. Raises UsageError where nothing has it."""
    try:
        found = explanations.of(name)
    except ValueError:
        raise click.UsageError(f"'{name}' can't be the name of a function") from None
    if not found:
        from cudalint.settings.origin import did_you_mean

        meant = did_you_mean(name, explanations.names())
        raise click.UsageError(f"there is no function '{name}' in the files that were read{meant}")
    return found


def _written(
    name: str, explanations: Sequence[Explanation], places: ShownPlaces, format_: str
) -> str:
    if format_ == "json":
        from cudalint.reporters.graph.json import json

        return json(name, explanations, places)
    if format_ == "dot":
        from cudalint.reporters.graph.dot import dot

        return dot(explanations, places)
    if format_ == "mermaid":
        from cudalint.reporters.graph.mermaid import mermaid

        return mermaid(explanations, places)
    from cudalint.reporters.graph.text import text

    return text(explanations, places)
