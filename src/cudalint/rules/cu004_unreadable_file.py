"""CU004 unreadable-file."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Span
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel

_KERNEL = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) fill(float* o) { o[threadIdx.x] = 1.f; }
"""
_HOST = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
int answer() { return 42; }
"""


class UnreadableFile(FileRule):
    """A file that could not be read, or is no text.

    What it does
        Reports, on line 1, each file to be linted that is not UTF-8 (UTF-16,
        binary data, a NUL byte), is larger than `max-file-size`, may not be
        opened, is no regular file, or vanished during the run. Also a file
        that would take too long: brackets nested more than 1,000 deep, macros
        that multiply themselves, more code than some 4 MB.

    Why it matters
        Such a file was not looked at. The run goes on with the others, and
        would otherwise look as if all were well.

    Example
            a kernel saved as UTF-16 by an editor

    How to fix
        Save the file as UTF-8, make it readable, or list it in `exclude` when
        it is no source. Raise `max-file-size` for a large generated file that
        is to be linted. Split a file that takes too long, or exclude it.

    Sources
        The CUDA C++ Programming Guide: sources are UTF-8; `max-file-size` is a
        setting of cudalint.
    """

    code = "CU004"
    name = "unreadable-file"
    level = Level.ERROR
    messages = {"unreadable": "'{0}' was not analysed: '{1}'."}
    unreadable = True

    INVALID = (
        Example(
            code=f"~\n{_KERNEL}",
            settings="max-file-size = 64\n",
            message="'example.cu' was not analysed: '136 bytes, more than max-file-size (64)'.",
        ),
        Example(path="host.cpp", code=f"~\n{_HOST}", settings="max-file-size = 10\n"),
        Example(
            code=f"~\n{_KERNEL}\0",
            message="'example.cu' was not analysed: 'binary data (a NUL byte at offset 136)'.",
        ),
        Example(path="tile.cuh", code="~\n\0\0\0\0"),
        Example(path="src/note.h", code=f"~\n{_HOST}// a \0 in a comment\n"),
        Example(path="include/deep/str.inl", code=f'~\n{_HOST}const char* k = "a\0b";\n'),
    )
    VALID = (
        Example(code=_KERNEL, settings="max-file-size = 136\n"),
        Example(code=_KERNEL),
        Example(path="host.cpp", code=_HOST),
        Example(path="host.cpp", code=f"{_HOST}// naïve, 数, 🙂\n"),
        Example(path="host.cpp", code=f'{_HOST}const char* kNul = "\\0";\n'),
        Example(path="empty.h", code="// SPDX-License-Identifier: MIT OR Apache-2.0"),
        Example(path="a.cuh", code=f"\ufeff{_HOST}", also=("CU101",)),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Say what is wrong with the file."""
        problem = context.sources[file.path].problem
        if problem is not None:
            yield self.report("unreadable", Span(file.path, 0, 0), file.path, problem)
