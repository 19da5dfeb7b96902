"""`cudalint merge`: join the logs of the shards of a run."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import click

from cudalint.cli.main import complain

_MOST_BYTES = 1_000_000_000


_EPILOG = """\
Examples, of three machines and the one that joins:

\b
  cudalint kernels/ --shard 1/3 --output sarif:shard-1.sarif
  cudalint kernels/ --shard 2/3 --output sarif:shard-2.sarif
  cudalint kernels/ --shard 3/3 --output sarif:shard-3.sarif
  cudalint merge shard-1.sarif shard-2.sarif shard-3.sarif --output-file cudalint.sarif
"""


@click.command("merge", options_metavar="[OPTIONS]", epilog=_EPILOG)
@click.argument("logs", nargs=-1, required=True, type=click.Path(readable=False))
@click.option(
    "--output-file",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the joined log there, not to stdout.",
)
def command(logs: tuple[str, ...], output_file: str | None) -> int:
    """Join the SARIF LOGS of all shards of a run into the log of the run.

    The log, and the exit code, are those of the run without --shard. A shard
    that is missing, damaged, there twice or of another run is an error.
    """
    from cudalint.namedfile import read_named
    from cudalint.sarif.merge import MergeError, merge

    if output_file is not None and os.path.realpath(output_file) in map(os.path.realpath, logs):
        raise click.UsageError(f"'{output_file}' is one of the logs to join")
    try:
        read = partial(read_named, limit=_MOST_BYTES, pipes=True)
        merged = merge({log: read(log) for log in logs})
    except OSError as error:
        complain(f"cannot read {error.filename}: {error.strerror}")
        return 2
    except MergeError as error:
        complain(str(error))
        return 2
    data = merged.text.encode()
    if output_file is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return merged.exit_code
    from cudalint.writing import write_named

    try:
        write_named(Path(output_file), data)
    except OSError as error:
        complain(f"cannot write {output_file}: {error.strerror}")
        return 2
    return merged.exit_code
