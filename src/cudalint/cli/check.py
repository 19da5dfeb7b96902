"""`cudalint check`: lint paths and report. The default command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudalint.cli.fixing import check_fix_options, fix_options, run_and_fix, show_diff
from cudalint.cli.inputs import input_options, read_inputs
from cudalint.cli.main import complain, internal_error
from cudalint.cli.options import (
    cache_folder,
    compiler_launcher_option,
    reading_options,
    words,
)
from cudalint.cli.output import (
    chosen_outputs,
    output_options,
    tell,
    write_failure,
    write_reports,
)
from cudalint.cli.showfiles import show_files, show_files_option
from cudalint.cli.streams import OutputError

if TYPE_CHECKING:
    from cudalint.run import Run
    from cudalint.runner import Request


def _selectors(name: str, text: str) -> Callable[..., Any]:
    return click.option(name, multiple=True, metavar="RULES", callback=words, help=text, default=())


def _shard(_: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    from cudalint.shard import parse_shard

    try:
        return None if value is None else parse_shard(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from None


@click.command("check", options_metavar="[OPTIONS]")
@click.argument("paths", nargs=-1, type=click.Path(readable=False))
@_selectors("--select", "Run these rules only: codes, prefixes (CU3), names or ALL, with commas.")
@_selectors("--ignore", "Do not run these rules.")
@_selectors("--extend-select", "Run these rules too.")
@click.option("--preview/--no-preview", default=None, help="Run rules that are still in preview.")
@fix_options
@output_options
@click.option(
    "--compile",
    "compile_",
    type=click.Choice(["auto", "always", "never"]),
    help="Compile with nvcc for the CU5 rules: if it is there, in any case, not.",
)
@compiler_launcher_option
@reading_options
@input_options
@show_files_option
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
    from cudalint.registry import PluginError
    from cudalint.runner import run
    from cudalint.settings.origin import SettingsError

    lint = run if options["quiet"] else _lint
    outputs = chosen_outputs(options)
    check_fix_options(options)
    if options["shard"] is not None and options["sarif_embed"]:
        raise click.UsageError("--sarif-embed can't go with --shard, whose logs are to be joined")
    try:
        request = _request(options)
        if options["show_files"]:
            return tell(show_files(request), options)
        if options["diff"]:
            finished, code = show_diff(request, lint, options)
            tell(finished.notifications, options)
            return code
        finished = run_and_fix(request, lint, options) if options["fix"] else lint(request)
    except (SettingsError, PluginError) as error:
        complain(str(error))
        id_ = "unknown-plugin" if isinstance(error, PluginError) else "invalid-settings"
        write_failure(id_, str(error), outputs, options)
        return 2
    except (click.ClickException, OutputError, BrokenPipeError):
        raise
    except Exception as error:
        write_failure("internal-error", internal_error(error), outputs, options)
        raise
    tell(finished.notifications, options)
    return finished.exit_code if write_reports(finished, outputs, options) else 2


def _lint(request: Request) -> Run:
    """A run with a progress bar, where somebody looks."""
    import msgspec

    from cudalint.cli.progressbar import progress_bar
    from cudalint.runner import run

    with progress_bar() as progress:
        return run(msgspec.structs.replace(request, progress=progress))


def _request(options: dict[str, Any]) -> Any:
    from cudalint.runner import Request
    from cudalint.settings.select import Overrides

    inputs = read_inputs(options, Path.cwd())
    if inputs.empty and not options["quiet"]:
        complain("nothing to lint: no CUDA source is listed", "note")
    return Request(
        paths=inputs.paths,
        contents=inputs.contents,
        cwd=Path.cwd(),
        config=options["config"],
        isolated=options["isolated"],
        compile_commands=options["compile_commands"],
        overrides=Overrides(options["select"] or None, options["ignore"], options["extend_select"]),
        preview=options["preview"],
        compile=options["compile_"],
        exclude=options["exclude"],
        force_exclude=options["force_exclude"],
        jobs=options["jobs"],
        cache=cache_folder(options),
        strict=options["strict"],
        exit_zero=options["exit_zero"],
        shard=options["shard"],
        compiler_launcher=options["compiler_launcher"],
    )
