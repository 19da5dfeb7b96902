"""CU101 spdx-header."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Edit, Finding, Fix, Level, Related, Span
from cudalint.rule import Example, FileRule, FixSafety, NoOptions
from cudalint.syntax.model import FileModel
from cudalint.wording.spdx import Header, find_header, same_license

_BOM = b"\xef\xbb\xbf"
_LINE = "// SPDX-License-Identifier: MIT OR Apache-2.0"
_BLOCK = "/* SPDX-License-Identifier: MIT OR Apache-2.0 */"
_GPL = "// SPDX-License-Identifier: GPL-3.0-only"
_KERNEL = """\
extern "C" __global__ void __launch_bounds__(128) fill(float* o) { o[threadIdx.x] = 1.f; }
"""
_MARK = "~\n"


class SpdxHeader(FileRule):
    """Line 1 is not the licence line of the project.

    What it does
        Reports each source file whose first line is not exactly
        `// SPDX-License-Identifier: <license>`, where `license` is the setting
        (default `MIT OR Apache-2.0`), and says which way it differs: no such
        line, on a later line, another licence, a block comment, another
        spelling, a byte order mark or blank lines before it. A CR before the
        line end, and a missing last line end, are fine. With
        `license-match = "equivalent"`, expressions are compared as SPDX
        defines them: the order of operands and the spacing are free.

    Why it matters
        Licence scanners and people read the licence of a file off its first
        line; a kernel is copied between trees one file at a time.

    Example
            // Adds two vectors.
            // SPDX-License-Identifier: MIT OR Apache-2.0

    How to fix
        Make the licence line the first one. The safe fix writes it, moves it
        up, or takes away what stands before it. Where the file names another
        licence, only the unsafe fix rewrites it: whether the file may change
        its licence is not for a tool to say.

    Sources
        The SPDX specification 2.3, annex E, "Using SPDX short identifiers in
        source files"; Metrale Engine, "CUDA Kernel Engineering": SPDX header
        line 1.
    """

    code = "CU101"
    name = "spdx-header"
    level = Level.ERROR
    fix = FixSafety.SAFE
    messages = {
        "missing": "There is no licence line; make line 1 '{0}'.",
        "later": "The licence line stands on line '{0}'; make it line 1.",
        "license": "The file's licence is '{0}', the project's is '{1}'; make line 1 say so.",
        "block": "The licence line is a block comment; make line 1 '{0}'.",
        "spelling": "The licence line is spelt '{0}'; make line 1 '{1}'.",
        "bom": "A byte order mark stands before the licence line; begin with '{0}'.",
        "blank": "Blank lines stand before the licence line; begin with '{0}'.",
    }

    INVALID = (
        Example(
            code=_MARK + _KERNEL,
            message=f"There is no licence line; make line 1 '{_LINE}'.",
            fixed=f"{_LINE}\n{_KERNEL}",
        ),
        Example(
            code=f"{_MARK}// Adds two vectors.\n{_LINE}\n{_KERNEL}",
            message="The licence line stands on line '2'; make it line 1.",
            fixed=f"{_LINE}\n// Adds two vectors.\n{_KERNEL}",
        ),
        Example(
            path="tile.cuh",
            code=f"{_GPL}\n{'~' * len(_GPL)}\n#pragma once\n",
            message="The file's licence is 'GPL-3.0-only', the project's is 'MIT OR Apache-2.0';",
            fixed=f"{_LINE}\n#pragma once\n",
        ),
        Example(
            code=f"{_BLOCK}\n{'~' * len(_BLOCK)}\n{_KERNEL}",
            message="The licence line is a block comment;",
            fixed=f"{_LINE}\n{_KERNEL}",
        ),
        Example(
            code=f"{_MARK}\n\n{_LINE}\n{_KERNEL}",
            message="Blank lines stand before the licence line;",
            fixed=f"{_LINE}\n{_KERNEL}",
        ),
        Example(
            code=f"{_MARK}\ufeff{_LINE}\n{_KERNEL}",
            message="A byte order mark stands before the licence line;",
            fixed=f"{_LINE}\n{_KERNEL}",
        ),
        Example(
            code=f"//SPDX-License-Identifier: MIT OR Apache-2.0\n{'~' * 44}\n{_KERNEL}",
            message="The licence line is spelt '//SPDX-License-Identifier: MIT OR Apache-2.0';",
            fixed=f"{_LINE}\n{_KERNEL}",
        ),
        Example(
            code=f"// SPDX-License-Identifier: Apache-2.0 OR MIT\n{'~' * 45}\n{_KERNEL}",
            message="The file's licence is 'Apache-2.0 OR MIT',",
        ),
        Example(
            code=f"{_MARK}/*\n * Adds two vectors.\n * {_LINE[3:]}\n */\n{_KERNEL}",
            message="The licence line stands on line '3';",
            fixed=f"{_LINE}\n/*\n * Adds two vectors.\n * {_LINE[3:]}\n */\n{_KERNEL}",
        ),
        Example(
            code=f'{_MARK}\ufeffconst char* kTag = "{_LINE}";\r\n',
            message="There is no licence line;",
            fixed=f'{_LINE}\r\nconst char* kTag = "{_LINE}";\r\n',
        ),
    )
    VALID = (
        Example(code=f"{_LINE}\n{_KERNEL}"),
        Example(code=f"{_LINE}\r\n#pragma once\r\n", path="tile.cuh"),
        Example(code=_LINE, path="empty.h"),
        Example(
            code=f"// SPDX-License-Identifier: BSD-3-Clause\n{_KERNEL}",
            settings='license = "BSD-3-Clause"\n',
        ),
        Example(
            code=f"// SPDX-License-Identifier: Apache-2.0 OR MIT\n{_KERNEL}",
            settings='license-match = "equivalent"\n',
        ),
        Example(
            code=f"//  SPDX-License-Identifier:  MIT  OR  Apache-2.0\n{_KERNEL}",
            settings='license-match = "equivalent"\n',
        ),
        Example(code=f"{_LINE}\n/* SPDX-License-Identifier: MIT */\n{_KERNEL}"),
        Example(code=f"{_LINE}\n// Adds two vectors.\n#pragma once\n", path="src/add.hpp"),
    )

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Judge the first line; say one thing about it."""
        data = context.sources[file.path].data
        top = _Top(file.path, data, f"// SPDX-License-Identifier: {context.settings.license}")
        if top.first == top.wanted:
            if top.text_at:
                yield self.report("bom", top.span, top.wanted, fix=top.cut(0, top.text_at))
            return
        header = find_header(file, data)
        if header is None:
            yield self.report("missing", top.span, top.wanted, fix=top.written())
            return
        equivalent = context.settings.license_match == "equivalent"
        yield from self._judge(top, header, context.settings.license, equivalent)

    def _judge(self, top: _Top, header: Header, ours: str, equivalent: bool) -> Iterator[Finding]:
        on_top = not top.before(header).strip()
        span = header.span if on_top else top.span
        related = () if on_top else (Related(header.span, "licence line"),)
        same = header.license == ours or (equivalent and same_license(header.license, ours))
        fix = top.moved(header)
        if not same:
            unsafe = Fix(fix.title, fix.edits, safe=False)
            yield self.report("license", span, header.license, ours, related=related, fix=unsafe)
        elif not on_top:
            line = top.before(header).count(b"\n") + 1
            yield self.report("later", span, line, related=related, fix=fix)
        elif header.block:
            yield self.report("block", span, top.wanted, fix=fix)
        elif header.text != top.wanted and not equivalent:
            yield self.report("spelling", span, header.text, top.wanted, fix=fix)
        elif top.before(header):
            yield self.report("blank", top.span, top.wanted, fix=top.cut(0, header.span.start))
        elif top.text_at:
            yield self.report("bom", top.span, top.wanted, fix=top.cut(0, top.text_at))


class _Top:
    """The top of one file: its first line, and the edits that put the wanted one there."""

    def __init__(self, path: str, data: bytes, wanted: str) -> None:
        self.data = data
        self.wanted = wanted
        self.span = Span(path, 0, 0)
        self.text_at = len(_BOM) if data.startswith(_BOM) else 0
        end = data.find(b"\n", self.text_at)
        self._end = b"\r\n" if data[:end].endswith(b"\r") else b"\n"
        line = data[self.text_at : len(data) if end < 0 else end].removesuffix(b"\r")
        self.first = line.decode("utf-8", "replace")

    def before(self, header: Header) -> bytes:
        """What stands before the licence line, a byte order mark aside."""
        return self.data[self.text_at : header.span.start]

    def cut(self, start: int, end: int) -> Fix:
        """Takes text away."""
        return Fix("Start the file with the licence line", (self._edit(start, end, ""),))

    def written(self) -> Fix:
        """Writes the line above everything."""
        return Fix("Write the licence line", (self._edit(0, self.text_at, self._line()),))

    def moved(self, header: Header) -> Fix:
        """Writes the line on top, and takes the old one away where it stands by itself."""
        start, end = header.span.start, header.span.end
        title = "Make line 1 the licence line"
        if header.whole and not self.before(header).strip():
            rest = self.data[end:].partition(b"\n")[0].removesuffix(b"\r")
            return Fix(title, (self._edit(0, end + len(rest), self.wanted),))
        edits = [self._edit(0, self.text_at, self._line())]
        if header.whole:
            line_start = self.data.rfind(b"\n", 0, start) + 1
            line_end = self.data.find(b"\n", end) + 1 or len(self.data)
            edits.append(self._edit(line_start, line_end, ""))
        return Fix(title, tuple(edits))

    def _line(self) -> str:
        return self.wanted + self._end.decode()

    def _edit(self, start: int, end: int, text: str) -> Edit:
        return Edit(Span(self.span.path, start, end), text)
