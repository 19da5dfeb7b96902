"""`cudalint check`: lint paths and report. The default command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cudalint.cli.adopting import adoption_options, check_adoption_options, run_and_silence
from cudalint.cli.fixing import check_fix_options, fix_options, run_and_fix, show_diff
from cudalint.cli.linting import lint_with_progress, linting_options, linting_request
from cudalint.cli.main import complain, internal_error
from cudalint.cli.output import (
    chosen_outputs,
    output_options,
    tell,
    write_failure,
    write_reports,
)
from cudalint.cli.showfiles import show_files, show_files_option
from cudalint.cli.streams import OutputError
from cudalint.cli.watching import check_watch_option, lint_on_changes, watch_option

if TYPE_CHECKING:
    from cudalint.runner import Request


_EPILOG = """\
Examples:

\b
  cudalint check kernels/                 a tree; the word 'check' may be left out
  cudalint check --select CU3 --ignore CU304 src/
  cudalint check - --stdin-filename src/a.cu < buffer
  cudalint check --fix src/               mend what has a safe fix
  cudalint check --watch src/             again on every change, until Ctrl-C
  cudalint check . --output sarif:cudalint.sarif --output text
  cudalint check --baseline cudalint-baseline.json --diff-base origin/main
"""


def _shard(_: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    from cudalint.shard import parse_shard

    try:
        return None if value is None else parse_shard(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _request(options: dict[str, Any]) -> Request:
    return linting_request(
        options,
        strict=options["strict"],
        exit_zero=options["exit_zero"],
        shard=options["shard"],
        baseline=options["baseline"],
        diff_base=options["diff_base"],
    )


@click.command("check", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@linting_options
@adoption_options
@fix_options
@output_options
@show_files_option
@watch_option
@click.option("--strict", is_flag=True, help="Let notes fail the run too.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 though there are findings.")
@click.option(
    "--shard",
    metavar="K/N",
    callback=_shard,
    help="Do the K-th of N parts of the run, for as many machines; then see 'cudalint merge'.",
)
@click.option("--verbose", is_flag=True, help="Say more about what went wrong.")
def command(**options: Any) -> int:
    """Lint PATHS, the current folder if there are none.

    A path may be a file, a folder or a pattern; '-' is a file that comes on
    stdin, @FILE the files that FILE lists.
    """
    from cudalint.runner import run
    from cudalint.settings.origin import SettingsError

    lint = run if options["quiet"] else lint_with_progress
    outputs = chosen_outputs(options)
    check_fix_options(options)
    check_adoption_options(options)
    check_watch_option(options, outputs)
    if options["shard"] is not None and options["sarif_embed"]:
        raise click.UsageError("--sarif-embed can't go with --shard, whose logs are to be joined")
    if options["shard"] is not None and options["baseline"] is not None:
        raise click.UsageError(
            "--baseline can't go with --shard: only a whole run knows what of it is fixed"
        )
    try:
        if options["watch"]:
            return lint_on_changes(lambda: _request(options), lint, outputs, options)
        request = _request(options)
        if options["show_files"]:
            return tell(show_files(request), options)
        if options["diff"]:
            finished, code = show_diff(request, lint, options)
            tell(finished.notifications, options)
            return code
        if options["add_suppressions"]:
            finished = run_and_silence(request, lint, options)
        elif options["fix"]:
            finished = run_and_fix(request, lint, options)
        else:
            finished = lint(request)
    except SettingsError as error:
        complain(str(error))
        write_failure("invalid-settings", str(error), outputs, options)
        return 2
    except (click.ClickException, OutputError, BrokenPipeError):
        raise
    except Exception as error:
        write_failure("internal-error", internal_error(error), outputs, options)
        raise
    tell(finished.notifications, options)
    return finished.exit_code if write_reports(finished, outputs, options) else 2
