"""`cudalint check`: lint paths and report. The default command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudalint.cli.main import complain
from cudalint.cli.options import cache_folder, reading_options, words

if TYPE_CHECKING:
    from cudalint.run import Run

FORMATS = ("text", "concise", "sarif")


def _selectors(name: str, text: str) -> Callable[..., Any]:
    return click.option(name, multiple=True, metavar="RULES", callback=words, help=text, default=())


@click.command("check", options_metavar="[OPTIONS]")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@_selectors("--select", "Run these rules only: codes, prefixes (CU3), names or ALL, with commas.")
@_selectors("--ignore", "Do not run these rules.")
@_selectors("--extend-select", "Run these rules too.")
@click.option("--preview/--no-preview", default=None, help="Run rules that are still in preview.")
@click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How findings are written.",
)
@click.option(
    "--output-file",
    type=click.Path(readable=False, path_type=Path),
    help="Write there, not to stdout.",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colour the text.",
)
@click.option(
    "--compile",
    "compile_",
    type=click.Choice(["auto", "always", "never"]),
    help="Compile with nvcc for the CU5 rules: if it is there, in any case, not.",
)
@reading_options
@click.option("--strict", is_flag=True, help="Let notes fail the run too.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 though there are findings.")
@click.option(
    "--sarif-suppressed",
    type=click.Choice(["omit", "include"]),
    default="omit",
    show_default=True,
    help="What becomes of suppressed findings in SARIF.",
)
@click.option("--sarif-embed", is_flag=True, help="Put the text of the files into SARIF.")
@click.option(
    "--sarif-category",
    metavar="NAME",
    default=None,
    help="The category of this run among several of one commit.",
)
@click.option("--verbose", is_flag=True, help="Say more about what went wrong.")
def command(**options: Any) -> int:
    """Lint PATHS, the current folder if there are none."""
    from cudalint.registry import PluginError
    from cudalint.runner import run
    from cudalint.settings.origin import SettingsError

    try:
        finished = run(_request(options))
    except (SettingsError, PluginError) as error:
        complain(str(error))
        if options["output_format"] == "sarif":
            id_ = "unknown-plugin" if isinstance(error, PluginError) else "invalid-settings"
            _write(_not_run(id_, str(error)), options)
        return 2
    _tell(finished, verbose=options["verbose"])
    if not _write(finished, options):
        return 2
    return finished.exit_code


def _not_run(id_: str, message: str) -> Run:
    """A run that came to nothing because of its settings, for formats that can say so."""
    from cudalint.finding import Level
    from cudalint.run import Counts, Notification, Run
    from cudalint.settings.model import Settings

    return Run(
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


def _request(options: dict[str, Any]) -> Any:
    from cudalint.runner import Request
    from cudalint.settings.select import Overrides

    return Request(
        paths=options["paths"] or (".",),
        cwd=Path.cwd(),
        config=options["config"],
        isolated=options["isolated"],
        overrides=Overrides(options["select"] or None, options["ignore"], options["extend_select"]),
        preview=options["preview"],
        compile=options["compile_"],
        exclude=options["exclude"],
        force_exclude=options["force_exclude"],
        jobs=options["jobs"],
        cache=cache_folder(options),
        strict=options["strict"],
        exit_zero=options["exit_zero"],
    )


def _tell(run: Run, *, verbose: bool) -> None:
    """What the run has to say of itself, on stderr."""
    for notification in run.notifications:
        complain(notification.message, notification.level.value)
        if verbose and notification.detail:
            click.echo(notification.detail.rstrip(), err=True)


def _write(run: Run, options: dict[str, Any]) -> bool:
    """Write the report; whether that went well. Raises OutputError."""
    from cudalint.reporters.colour import wants_colour

    file: Path | None = options["output_file"]
    terminal = file is None and sys.stdout.isatty()
    report = _report(run, options, colour=wants_colour(options["color"], os.environ, terminal))
    data = report.encode("utf-8", "surrogateescape")
    if file is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return True
    try:
        file.write_bytes(data)
    except OSError as error:
        complain(f"cannot write {file}: {error.strerror}")
        return False
    return True


def _report(run: Run, options: dict[str, Any], *, colour: bool) -> str:
    name = options["output_format"]
    if name == "sarif":
        from cudalint.reporters.sarif import sarif

        include = options["sarif_suppressed"] == "include"
        return sarif(
            run,
            suppressed=include,
            embed=options["sarif_embed"],
            category=options["sarif_category"],
        )
    if name == "concise":
        from cudalint.reporters.concise import concise

        return concise(run, colour=colour)
    from cudalint.reporters.text import text

    return text(run, colour=colour)
