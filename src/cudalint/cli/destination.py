"""Where a report may go: not where something lies that the run itself reads.

What is refused of any file that is written is `cudalint.writing`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click


def check_destination(file: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError when a report in `file` would replace what is read.

    That is a source, a manifest or settings, by its name, and what the options
    name: settings, a baseline, a list.
    """
    from cudalint.writing import what_is_read

    meant = what_is_read(Path(file))
    if meant is not None:
        raise click.UsageError(f"no report can go to '{file}': that is the name of {meant}")
    place = os.path.realpath(file)
    lists = [word[1:] for word in options["paths"] if word.startswith("@")]
    for named in (options["config"], options["baseline"], *options["files_from"], *lists):
        if named is not None and os.path.realpath(named) == place:
            raise click.UsageError(f"no report can go to '{file}', which is read")
