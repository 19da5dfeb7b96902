"""`cudalint server`: the language server, for editors."""

from __future__ import annotations

from typing import Any

import click

from cudalint.cli.options import cache_folder, cache_options

_EPILOG = """\
Examples:

\b
  cudalint server                         as an editor starts it
  cudalint server --cache-dir .cache      with a cache of its own
"""


@click.command("server", options_metavar="[OPTIONS]", epilog=_EPILOG)
@cache_options
def command(**options: Any) -> int:
    """Serve an editor over stdin and stdout, by the Language Server Protocol.

    Editors start it themselves; docs/editors.md says how to tell them. It needs
    the `lsp` extra: pip install 'cudalint[lsp]'.
    """
    try:
        import pygls  # noqa: F401
    except ImportError:
        mend = "the language server needs pygls: pip install 'cudalint[lsp]'"
        raise click.ClickException(mend) from None
    from cudalint.lsp.server import make_server

    make_server(cache_folder(options)).start_io()
    return 0
