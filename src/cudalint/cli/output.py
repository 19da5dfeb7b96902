"""Where the reports of a run go: the options that say so, and the writing.

What a report looks like is `cudalint.reporters`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from cudalint.cli.destination import check_destination
from cudalint.cli.main import complain
from cudalint.reporters.formats import FOR_PEOPLE, FORMATS, report

if TYPE_CHECKING:
    from cudalint.run import Notification, Run

F = TypeVar("F", bound=Callable[..., Any])


class Output(NamedTuple):
    """One report: its format, and the file that it goes to, None for stdout."""

    format: str
    file: str | None = None


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


_OPTIONS = (
    click.option(
        "--output",
        "output",
        multiple=True,
        shell_complete=_complete,
        metavar="FORMAT[:FILE]",
        help="Write a report in this format, to FILE or to stdout; may be repeated: "
        "--output sarif:out.sarif --output text. The formats are those of --output-format.",
    ),
    click.option(
        "--output-format",
        type=click.Choice(list(FORMATS)),
        help="How findings are written; text if nothing says otherwise.",
    ),
    click.option(
        "--output-file",
        type=click.Path(readable=False),
        metavar="FILE",
        help="Write the report of --output-format there, not to stdout.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colour the text.",
    ),
    click.option(
        "--statistics",
        is_flag=True,
        help="In text and concise: how many findings there are of each rule, not each finding.",
    ),
    click.option(
        "--max-findings",
        type=click.IntRange(min=0),
        metavar="N",
        help="In text and concise: show N findings at most, and say how many more there are.",
    ),
    click.option(
        "--quiet",
        "-q",
        is_flag=True,
        help="Show findings and errors only: no counts, no notes, no warnings.",
    ),
    click.option(
        "--sarif-suppressed",
        type=click.Choice(["omit", "include"]),
        default="omit",
        show_default=True,
        help="What becomes of suppressed findings in SARIF.",
    ),
    click.option("--sarif-embed", is_flag=True, help="Put the text of the files into SARIF."),
    click.option(
        "--sarif-category",
        metavar="NAME",
        default=None,
        help="The category of this run among several of one commit.",
    ),
)


def output_options(command: F) -> F:
    """Give a command the options that say which reports it writes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def chosen_outputs(options: Mapping[str, Any]) -> tuple[Output, ...]:
    """The reports that the options ask for. Raises UsageError where two have one place.

    `--output-format` and `--output-file` speak of one report together, which is
    there besides those of `--output` when either is given.
    """
    outputs = [_parsed(word) for word in options["output"]]
    name, file = options["output_format"], options["output_file"]
    if name or file or not outputs:
        outputs.append(Output(name or "text", None if file in (None, "-") else file))
    places = [os.path.realpath(output.file) for output in outputs if output.file is not None]
    if len(outputs) - len(places) > 1:
        raise click.UsageError("two reports can't both go to stdout; give a file: FORMAT:FILE")
    for place in places:
        if places.count(place) > 1:
            raise click.UsageError(f"two reports can't both go to '{os.path.relpath(place)}'")
    for output in outputs:
        if output.file is not None:
            check_destination(output.file, options)
    if not any(output.format in FOR_PEOPLE for output in outputs):
        for name in ("statistics", "max_findings"):
            if options[name] not in (None, False):
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} is for text and concise, and neither is written")
    return tuple(outputs)


def _parsed(word: str) -> Output:
    """The report that `FORMAT[:FILE]` asks for. Raises BadParameter."""
    name, colon, file = word.partition(":")
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise click.BadParameter(f"'{name}' is not one of {known}", param_hint="'--output'")
    if colon and not file:
        raise click.BadParameter(f"no file after '{word}'", param_hint="'--output'")
    return Output(name, None if file in ("", "-") else file)


def tell(notifications: Sequence[Notification], options: Mapping[str, Any]) -> int:
    """Say on stderr what a run has to say of itself; 2 when that makes it fail, else 0."""
    code = 0
    for notification in notifications:
        level = notification.level.value
        if level == "error":
            code = 2
        elif options["quiet"]:
            continue
        complain(notification.message, level)
        if options["verbose"] and notification.detail:
            click.echo(notification.detail.rstrip(), err=True)
    return code


def write_reports(run: Run, outputs: Sequence[Output], options: Mapping[str, Any]) -> bool:
    """Write the reports, files first; whether that went well. Raises OutputError."""
    ordered = sorted(outputs, key=lambda output: output.file is None)
    made = [(output.file, _made(run, output, options)) for output in ordered]
    well = True
    for file, data in made:
        if file is None:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            continue
        from cudalint.writing import write_named

        try:
            write_named(Path(file), data)
        except OSError as error:
            complain(f"cannot write {file}: {error.strerror}")
            well = False
    return well


def write_failure(
    id_: str, message: str, outputs: Sequence[Output], options: Mapping[str, Any]
) -> None:
    """Write the reports of a run that came to nothing; what stderr says is not said twice."""
    from cudalint.finding import Level
    from cudalint.run import Counts, Notification, Run
    from cudalint.settings.model import Settings

    run = Run(
        root=str(Path.cwd()),
        settings=Settings(),
        rules=(),
        findings=(),
        suppressed=(),
        sources={},
        counts=Counts(),
        notifications=(Notification(id_, Level.ERROR, message),),
        exit_code=2,
    )
    wanted = [o for o in outputs if o.file is not None or o.format not in FOR_PEOPLE]
    write_reports(run, wanted, options)


def _made(run: Run, output: Output, options: Mapping[str, Any]) -> bytes:
    from cudalint.reporters.colour import wants_colour

    colour = options["color"] == "always"
    if output.file is None:
        colour = wants_colour(options["color"], os.environ, sys.stdout.isatty())
    text = report(
        output.format,
        run,
        colour=colour,
        limit=options["max_findings"],
        statistics=options["statistics"],
        quiet=options["quiet"],
        suppressed=options["sarif_suppressed"] == "include",
        embed=options["sarif_embed"],
        category=options["sarif_category"],
    )
    return text.encode("utf-8", "surrogateescape")
