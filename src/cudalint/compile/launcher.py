"""The program that compilers are called by, such as ccache: which may be, and where it is.

Settings come from the tree that is linted, which must not choose what is run:
they can say no more than one of three names, looked for on PATH outside the
tree. Only the command line may name a program by its path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

KNOWN = ("ccache", "sccache", "distcc")

ENVIRONMENT = {"CCACHE_BASEDIR": "", "CCACHE_NOHASHDIR": "1"}
"""What makes a launcher's answers usable: paths stay absolute, and the folder that
a compile runs in, a new one each time, is no part of the question."""


def find_launcher(name: str, root: Path, environment: Mapping[str, str]) -> str | None:
    """The absolute path of the launcher `name`, None where there is none to be run.

    `name` is one of KNOWN, or an absolute path. What lies below `root` is left
    out, and so are relative folders on PATH.
    """
    for path in _candidates(name, environment):
        if _is_program(path) and not path.resolve().is_relative_to(root.resolve()):
            return str(path)
    return None


def _candidates(name: str, environment: Mapping[str, str]) -> Iterator[Path]:
    if name not in KNOWN:
        yield Path(name)
        return
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        if Path(folder).is_absolute():
            yield Path(folder) / name


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
