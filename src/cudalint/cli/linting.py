"""The options of commands that run the rules, and the request that they make.

What is told of the run, and where, is the commands' own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudalint.cli.inputs import input_options, read_inputs
from cudalint.cli.main import complain
from cudalint.cli.options import cache_folder, compiler_launcher_option, reading_options, words

if TYPE_CHECKING:
    from cudalint.run import Run
    from cudalint.runner import Request

F = TypeVar("F", bound=Callable[..., Any])


def _selectors(
    name: str, text: str, callback: Callable[..., tuple[str, ...]] = words
) -> Callable[..., Any]:
    return click.option(
        name, multiple=True, metavar="RULES", callback=callback, help=text, default=()
    )


def _some_words(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Words as of `words`; an option that is given and names nothing is no option left out."""
    found = words(context, parameter, values)
    if values and not found:
        raise click.BadParameter("it names no rule; ALL are all of them", param=parameter)
    return found


_OPTIONS = (
    _selectors(
        "--select",
        "Run these rules only: codes, prefixes (CU3), names or ALL, with commas.",
        _some_words,
    ),
    _selectors("--ignore", "Do not run these rules."),
    _selectors("--extend-select", "Run these rules too."),
    click.option(
        "--plugin",
        "plugins",
        multiple=True,
        metavar="NAME",
        callback=words,
        help="Load the rules of this installed plugin too.",
    ),
    click.option(
        "--preview/--no-preview", default=None, help="Run rules that are still in preview."
    ),
    click.option(
        "--compile",
        "compile_",
        type=click.Choice(["auto", "always", "never"]),
        help="Compile with nvcc for the CU5 rules: if it is there, in any case, not.",
    ),
    compiler_launcher_option,
    reading_options,
    input_options,
)


def linting_options(command: F) -> F:
    """Give a command the options that say which rules run, on what, and how."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def linting_request(options: dict[str, Any], **more: Any) -> Request:
    """The request that these options make, with `more` of its fields."""
    from cudalint.runner import Request
    from cudalint.settings.select import Overrides

    inputs = read_inputs(options, Path.cwd())
    if inputs.empty and not options.get("quiet"):
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
        plugins=options["plugins"],
        compile=options["compile_"],
        exclude=options["exclude"],
        force_exclude=options["force_exclude"],
        jobs=options["jobs"],
        cache=cache_folder(options),
        compiler_launcher=options["compiler_launcher"],
        **more,
    )


def lint_with_progress(request: Request) -> Run:
    """A run with a progress bar, where somebody looks."""
    import msgspec

    from cudalint.cli.progressbar import progress_bar
    from cudalint.runner import run

    with progress_bar() as progress:
        return run(msgspec.structs.replace(request, progress=progress))
