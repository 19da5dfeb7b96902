"""`cudalint resources`: what each kernel takes of an SM, as a table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudalint.cli.main import complain
from cudalint.cli.options import compiler_launcher_option, reading_options, reading_request
from cudalint.resources.formats import FORMATS
from cudalint.resources.order import SORT_KEYS

if TYPE_CHECKING:
    from cudalint.resources.measure import Measured
    from cudalint.runner import Request

_EPILOG = """\
Examples:

\b
  cudalint resources kernels/                        a table of a tree's kernels
  cudalint resources a.cu --sort spills              what spills most comes first
  cudalint resources . --format html --output-file resources.html
  cudalint resources . --format json | jq '.rows[] | select(.occupancy < 0.25)'
  cudalint resources kernels/ --write-baseline resources.toml
  cudalint resources kernels/ --diff HEAD~1          what changed, the worst first

Exit codes: 0 measured, 1 a file did not compile or, with --diff, a kernel is worse,
2 the run itself failed.
"""


@click.command("resources", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How the table is written; html is one page with staircases and spill maps.",
)
@click.option(
    "--output-file",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the table there, not to stdout.",
)
@click.option(
    "--sort",
    type=click.Choice(SORT_KEYS),
    default="path",
    show_default=True,
    help="What the kernels are sorted by, the worst first; a kernel's archs stay together.",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Record the figures in this TOML file, for rule CU506, instead of showing them.",
)
@click.option(
    "--keep-other-nvcc",
    is_flag=True,
    help="With --write-baseline: keep the lines that are of another version of nvcc.",
)
@click.option(
    "--diff",
    "revision",
    metavar="REV",
    help="Compile this commit's files too, and show what changed since.",
)
@compiler_launcher_option
@reading_options
@click.option("--verbose", is_flag=True, help="Say more about what went wrong.")
def command(**options: Any) -> int:
    """Compile PATHS and tell what each kernel takes: registers, spills, memory, occupancy.

    PATHS are files and folders, the current folder if there are none. Each kernel is
    compiled for its targets, or the archs of the settings, with nvcc; no GPU is
    needed. Occupancy needs a block size: launches with a constant configuration
    tell it, launch bounds do, and the settings' [launches]; docs/resources.md says
    more.
    """
    import msgspec

    from cudalint.cli.progressbar import progress_bar
    from cudalint.reporters.shownplaces import ShownPlaces
    from cudalint.resources.formats import written
    from cudalint.resources.measure import measure
    from cudalint.resources.order import sorted_groups
    from cudalint.settings.origin import SettingsError

    _check(options)
    request = _request(options)
    if options["revision"] is not None and not _is_commit(options["revision"], request):
        return 2
    try:
        with progress_bar() as progress:
            measured = measure(msgspec.structs.replace(request, progress=progress))
    except SettingsError as error:
        complain(str(error))
        return 2
    if not _told(measured, verbose=options["verbose"]):
        return 2
    if options["write_baseline"] is not None:
        from cudalint.cli.resourcebaseline import record

        keep = options["keep_other_nvcc"]
        return record(measured, options["write_baseline"], keep_other_nvcc=keep)
    if options["revision"] is not None:
        return _diff(request, measured, options)
    groups = sorted_groups(measured.table.rows, options["sort"])
    places = ShownPlaces(measured.sources, str(measured.root), str(request.cwd))
    report = written(options["format_"], groups, measured, places)
    if not _write(report.encode("utf-8", "surrogateescape"), options["output_file"]):
        return 2
    return 1 if measured.table.failures else 0


def _check(options: dict[str, Any]) -> None:
    """Raise UsageError for options that can't go together."""
    from cudalint.resources.formats.difference import FORMATS as OF_DIFF

    if options["write_baseline"] is not None and options["revision"] is not None:
        raise click.UsageError("--write-baseline and --diff are two things to do: give one")
    if options["keep_other_nvcc"] and options["write_baseline"] is None:
        raise click.UsageError("--keep-other-nvcc goes with --write-baseline only")
    if options["revision"] is not None and options["format_"] not in OF_DIFF:
        raise click.UsageError(f"--diff is written as one of {', '.join(OF_DIFF)}")


def _is_commit(revision: str, request: Request) -> bool:
    """Whether there is such a commit; if not, that is said."""
    from cudalint.cli.resourcediff import DiffError, check_revision

    try:
        check_revision(revision, request)
    except DiffError as error:
        complain(str(error))
        return False
    return True


def _diff(request: Request, measured: Measured, options: dict[str, Any]) -> int:
    """Write what changed since the commit; the exit code."""
    from cudalint.cli.resourcediff import DiffError, since, tell_failures
    from cudalint.resources.formats.difference import written

    try:
        found = since(options["revision"], request, measured)
    except DiffError as error:
        complain(str(error))
        return 2
    tell_failures(found, options["revision"])
    report = written(options["format_"], found, options["revision"])
    if not _write(report.encode("utf-8", "surrogateescape"), options["output_file"]):
        return 2
    return 1 if found.worse else 0


def _request(options: dict[str, Any]) -> Request:
    import msgspec

    launcher = options["compiler_launcher"]
    return msgspec.structs.replace(reading_request(options), compiler_launcher=launcher)


def _told(measured: Measured, *, verbose: bool) -> bool:
    """Say on stderr what went wrong; whether there is anything to show nevertheless."""
    for notification in measured.notifications:
        complain(notification.message, notification.level.value)
        if verbose and notification.detail:
            click.echo(notification.detail.rstrip(), err=True)
    for failure in measured.table.failures:
        complain(f"{failure.path} does not compile for {failure.on}: {failure.why}")
    return all(notification.level.value != "error" for notification in measured.notifications)


def _write(data: bytes, file: str | None) -> bool:
    """Write the report; whether that went well. Raises OutputError."""
    if file is None or file == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return True
    from cudalint.writing import write_named

    try:
        write_named(Path(file), data)
    except OSError as error:
        complain(f"cannot write {file}: {error.strerror}")
        return False
    return True
