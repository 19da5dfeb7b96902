"""`cudalint clean`: delete the cache."""

from __future__ import annotations

from typing import Any

import click

from cudalint.cli.main import complain
from cudalint.cli.options import cache_folder, cache_options

_EPILOG = """\
Examples:

\b
  cudalint clean                          the user's cache
  cudalint clean --cache-dir .cache       one that lies elsewhere
"""


@click.command("clean", options_metavar="[OPTIONS]", epilog=_EPILOG)
@cache_options
def command(**options: Any) -> int:
    """Delete what is kept of earlier runs: models of files and compile results.

    Nothing else in the cache's folder is touched. The next run makes it anew.
    """
    from cudalint.cache import delete

    folder = cache_folder(options)
    if folder is None:
        raise click.UsageError("there is no cache folder to clean")
    try:
        size = delete(folder)
    except OSError as error:
        complain(f"cannot delete {error.filename or folder}: {error.strerror}")
        return 2
    click.echo(f"{size / 1e6:.1f} MB deleted in {folder}" if size else f"nothing in {folder}")
    return 0
