"""Parsing with libclang, shut off from the machine.

libclang sees a file system of our own and nothing else (`sandbox.yaml`): the
file, what it includes of the run's files, and the stub headers of `include/`. No
`#include`, however it is spelt, reaches a file of the machine, and the answers
do not depend on a CUDA toolkit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clang.cindex import TranslationUnit

_HOME = Path(__file__).parent
_STUBS = "/cudalint/include"
_ARGUMENTS = (
    *("-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-host-only", "-std=c++17"),
    *(f"--cuda-path={_HOME / 'no_toolkit'}", "-Wno-unknown-cuda-version"),
    *("--target=x86_64-unknown-linux-gnu", "-nostdinc", "-nostdinc++"),
    *("-ivfsoverlay", str(_HOME / "sandbox.yaml"), f"-I{_STUBS}"),
    *("-include", f"{_STUBS}/prelude.h", "-ferror-limit=0", "-ftemplate-depth=64"),
)
_SKIP_BODIES = 0x40
_KEEP_GOING = 0x200


class ClangError(Exception):
    """libclang can't be loaded, or gave up on a file."""


@cache
def stub_names() -> frozenset[str]:
    """The headers that `#include <…>` finds."""
    return frozenset(entry.name for entry in (_HOME / "include").iterdir())


def parse(
    main: str, files: Mapping[str, bytes], arguments: Sequence[str] = (), *, bodies: bool = False
) -> TranslationUnit:
    """The translation unit of the file `main`, with or without the bodies of functions.

    `files` maps virtual absolute paths to texts, `main`'s among them. `arguments`
    are macros and forced includes of virtual paths. Raises ClangError.
    """
    from clang.cindex import Index, LibclangError, TranslationUnitLoadError

    unsaved = [*files.items(), *_stubs()]
    options = _KEEP_GOING if bodies else _SKIP_BODIES | _KEEP_GOING
    try:
        return Index.create().parse(main, (*_ARGUMENTS, *arguments), unsaved, options)
    except (LibclangError, TranslationUnitLoadError) as error:
        raise ClangError(str(error)) from error


@cache
def _stubs() -> tuple[tuple[str, bytes], ...]:
    return tuple(
        (f"{_STUBS}/{name}", (_HOME / "include" / name).read_bytes())
        for name in sorted(stub_names())
    )
