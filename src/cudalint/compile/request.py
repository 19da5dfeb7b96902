"""What is asked of the compile stage: one file, one arch, one way to compile it."""

from __future__ import annotations

import msgspec


class CompileRequest(msgspec.Struct, frozen=True):
    """One file to compile for one arch.

    `path` and the `include_paths` (searched in this order) are relative to
    `root`, the absolute path of the project root. `arch` None is nvcc's own
    default. `flags` are those of the target's manifests. `targets` are the names
    of the targets that ask; requests that differ in these alone are one compile.
    """

    path: str
    root: str
    arch: str | None = None
    include_paths: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
