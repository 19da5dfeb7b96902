"""`cudalint doctor`: what was found to work with on this machine."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from cudalint.cli.options import cache_folder, cache_options

_EPILOG = """\
Examples:

\b
  cudalint doctor                         what was found, and what its lack costs
  cudalint doctor --format json           the same for a program
"""


@click.command("doctor", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="How it is written.",
)
@cache_options
def command(**options: Any) -> int:
    """Try what cudalint works with: grammar, libclang, nvcc, nvdisasm, plugins, cache.

    Exits 1 when something is lacking, and says what that costs and how to mend it.
    """
    from cudalint.equipment import equipment
    from cudalint.reporters.visible import visible

    parts = list(equipment(cache_folder(options)))
    if options["format_"] == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(parts), indent=2).decode())
    else:
        width = max(len(part.name) for part in parts)
        for part in parts:
            mark = "!" if part.lack else " "
            click.echo(f"{mark} {part.name:<{width}}  {visible(part.found)}")
            if part.lack:
                click.echo(f"  {'':<{width}}  {visible(part.lack)}")
    return 1 if any(part.lack for part in parts) else 0
