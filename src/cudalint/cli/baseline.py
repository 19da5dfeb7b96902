"""`cudalint baseline`: writes the file of the findings that are known and put up with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudalint.adoption.baseline import DEFAULT
from cudalint.cli.linting import lint_with_progress, linting_options, linting_request
from cudalint.cli.main import complain

if TYPE_CHECKING:
    from cudalint.adoption.baseline import Entry
    from cudalint.run import Run

_EPILOG = f"""\
Examples:

\b
  cudalint baseline write                 what there is now, into {DEFAULT}
  cudalint --baseline {DEFAULT} .    what is not in it
  cudalint baseline write                 later: takes out what was fixed meanwhile
"""


@click.group("baseline", epilog=_EPILOG, no_args_is_help=False)
def command() -> None:
    """Put up with the findings that there are, and see those that come."""


@command.command("write", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@click.option(
    "--baseline",
    metavar="FILE",
    default=DEFAULT,
    show_default=True,
    help="The file to write, or to write anew.",
)
@click.option("--allow-new", is_flag=True, help="Add findings to a baseline that is there already.")
@linting_options
@click.option("--verbose", is_flag=True, help="Say more about what went wrong.")
def write(**options: Any) -> int:
    """Write a baseline of what is found in PATHS, the current folder if there are none.

    One that is there already only shrinks: what was fixed is taken out of it, and
    what is new stays out, unless --allow-new is given.

    Exit codes: 0 written, 1 there are new findings that it does not hold,
    2 the run itself failed, and nothing was written.
    """
    from cudalint.cli.output import tell
    from cudalint.settings.origin import SettingsError

    file = Path(options["baseline"])
    there = file.exists()
    try:
        baseline = options["baseline"] if there else None
        finished = lint_with_progress(linting_request(options, baseline=baseline))
        old = _entries(file) if there else ()
    except SettingsError as error:
        complain(str(error))
        return 2
    told = [note for note in finished.notifications if note.id != "baseline-fixed"]
    tell(told, {**options, "quiet": False})
    if finished.exit_code == 2:
        return 2
    added = () if there and not options["allow_new"] else _of_new(finished, file)
    return _write(file, finished, old, added)


def _entries(file: Path) -> tuple[Entry, ...]:
    from cudalint.adoption.baseline import read_baseline

    return read_baseline(file, str(file)).findings


def _of_new(run: Run, file: Path) -> tuple[Entry, ...]:
    from cudalint.adoption.standing import Entries

    folder = file.absolute().parent
    entries = Entries(folder, Path(run.root), run.sources, run.models)
    return tuple(entries.of(finding) for finding in run.findings)


def _write(file: Path, run: Run, old: tuple[Entry, ...], added: tuple[Entry, ...]) -> int:
    """Write what stays and what is added, and say what that is; the exit code."""
    import msgspec

    from cudalint.adoption.baseline import baseline_text
    from cudalint.reporters.summary import counted
    from cudalint.writing import write_named

    gone = [msgspec.structs.replace(entry, count=-entry.count) for entry in run.gone]
    try:
        write_named(file, baseline_text((*old, *gone, *added)))
    except OSError as error:
        complain(f"cannot write {file}: {error.strerror}")
        return 2
    taken, total = sum(entry.count for entry in run.gone), sum(e.count for e in (*old, *added))
    said = f"{counted(total - taken, 'finding')} in {file}"
    changes = [f"{taken} fixed and taken out"] if taken else []
    changes += [f"{len(added)} added"] if added and old else []
    click.echo(said + (f" ({', '.join(changes)})" if changes else ""))
    left = len(run.findings) - len(added)
    if left:
        new = counted(left, "new finding")
        complain(f"{new} not put in: --allow-new does that", "warning")
    return int(bool(left))
