"""The key of a compile result: all that shapes it, bar the content of the files it reads."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import cudalint
from cudalint.compile.command import Command
from cudalint.compile.environment import COUNTED, host_compiler
from cudalint.compile.place import relative_path
from cudalint.compile.request import CompileRequest
from cudalint.compile.toolchain import Toolchain


def result_key(
    request: CompileRequest,
    toolchain: Toolchain,
    command: Command,
    environment: Mapping[str, str],
) -> str:
    """The key of `request` compiled by `toolchain`.

    Paths inside the project root count relative to it, so that a checkout in
    another place finds the results of this one.
    """
    root = Path(request.root)
    parts = (
        cudalint.__version__,
        _reader_stamp(),
        toolchain.version,
        toolchain.nvdisasm or "",
        _host_stamp(environment),
        [environment.get(name, "") for name in COUNTED],
        command.settings,
        [relative_path(path, root) or path for path in command.includes],
        request.path,
    )
    return blake2b(repr(parts).encode("ascii", "backslashreplace"), digest_size=20).hexdigest()


@functools.cache
def _reader_stamp() -> str:
    """Changes when the code that reads nvcc's output does; the version alone would not do."""
    digest = blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _host_stamp(environment: Mapping[str, str]) -> str:
    """The host compiler's place, size and age."""
    compiler = host_compiler(environment)
    if compiler is None:
        return ""
    real = Path(compiler).resolve()
    state = real.stat()
    return f"{real}:{state.st_size}:{state.st_mtime_ns}"
