"""CU103 banned-include."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from cudalint.context import Context
from cudalint.finding import Edit, Finding, Fix, Level, Span
from cudalint.patterns import Patterns
from cudalint.regex import regex
from cudalint.rule import Example, FileRule, FixSafety
from cudalint.syntax.model import FileModel, Include, Macro

_SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
_KERNEL = """\
extern "C" __global__ void __launch_bounds__(64) fill(float* o) { o[threadIdx.x] = 1.f; }
"""
_DEFAULT = ("iostream", "cstdio", "stdio.h", "iomanip", "fstream", "sstream")
_STDIO = (
    r"\w*printf|\w*scanf|f?puts|f?putc|putchar|f?gets|f?getc|getchar|FILE|stdin|stdout|stderr"
    r"|EOF|perror|f(?:open|close|read|write|flush|seek|tell|eof|error)|remove|rename|tmpfile"
)
_DIRECTIVE = regex(rb"(?m)^[ \t]*(\#[ \t]*include\b([^\r\n]*))")
_COMMENT = regex(rb"/\*.*?\*/|//.*")
_BRINGS = {
    "iostream": r"cout|cerr|clog|cin|endl|\w*stream|std::hex|std::dec|flush",
    "cstdio": _STDIO,
    "stdio.h": _STDIO,
    "iomanip": r"set(?:w|precision|fill|base)|(?:re)?setiosflags|put_time|get_time|quoted",
    "fstream": r"\w*fstream|filebuf",
    "sstream": r"\w*stringstream|stringbuf",
}
"""What a header is included for; a file that has none of it can do without."""


class BannedIncludeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`headers` are the names between the brackets or quotes that are not allowed."""

    headers: tuple[str, ...] = _DEFAULT


class BannedInclude(FileRule):
    """A kernel source includes a header for printing or for streams of text.

    What it does
        Reports includes of `<iostream>`, `<cstdio>`, `<stdio.h>`, `<iomanip>`,
        `<fstream>` and `<sstream>`, in either spelling, in `.cu` and `.cuh`
        files and in every other file that has device code. Files that
        `launcher-globs` names are host launchers, and may print. Branches under
        `#if 0` are no code.

    Why it matters
        Printing in device code spills registers, adds a stack frame and a
        buffer on the device; the include is how it comes in. `<iostream>` also
        costs a second of each compile and a static constructor.

    Example
            #include <cstdio>
            extern "C" __global__ void scale(float* o) { … }

    How to fix
        Delete the include. The safe fix does, where nothing that the header
        brings is used in the file.

    Options
        `headers`: the names that are not allowed, in place of the default ones.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": no `<iostream>`, no `printf`
        in hot paths. The CUDA C++ Programming Guide, "Formatted Output".
    """

    code = "CU103"
    name = "banned-include"
    level = Level.ERROR
    fix = FixSafety.SAFE
    messages = {"banned": "A kernel source has no use for '{0}'; delete the include."}
    options = BannedIncludeOptions

    INVALID = (
        Example(
            code=f"{_SPDX}#include <cstdio>\n~~~~~~~~~~~~~~~~~\n{_KERNEL}",
            message="A kernel source has no use for '<cstdio>'; delete the include.",
            fixed=_SPDX + _KERNEL,
        ),
        Example(
            code=f"{_SPDX}#include <iostream>\n~~~~~~~~~~~~~~~~~~~\n"
            f"void report() {{ std::cout << 1; }}\n{_KERNEL}",
        ),
        Example(
            code="""\
  #  include   "stdio.h"   // for printf
  ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#include <cuda_bf16.h>
#include <sstream>
~~~~~~~~~~~~~~~~~~
""",
            fixed="#include <cuda_bf16.h>\n",
        ),
        Example(
            path="src/tile.hpp",
            code="""\
#pragma once
#include <iomanip>
~~~~~~~~~~~~~~~~~~
__device__ inline float twice(float x) { return 2.f * x; }
""",
            fixed="#pragma once\n__device__ inline float twice(float x) { return 2.f * x; }\n",
        ),
        Example(
            code="""\
#ifdef TRACE
#include <fstream>
~~~~~~~~~~~~~~~~~~
#endif
__global__ void k(float* o) { *o = 1.f; }
""",
        ),
        Example(
            path="host_only.cu",
            code='#include <cstdio>\n~~~~~~~~~~~~~~~~~\nint main() { printf("%d", 1); }\n',
            settings='launcher-globs = ["launchers/**"]\n',
        ),
        Example(
            code="#include <vector>\n~~~~~~~~~~~~~~~~~\n#include <cstdio>\n",
            settings='[rules.CU103]\nheaders = ["vector"]\n',
        ),
        Example(
            code="""\
#include "log.h"
#define STREAMS <sstream>
#include STREAMS
~~~~~~~~~~~~~~~~
#include LOG_HEADER  // for the log
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
#include /* printing */ <cstdio>
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
""",
            files={"log.h": "#pragma once\n#define LOG_HEADER <iostream>\n"},
        ),
    )
    VALID = (
        Example(code=_SPDX + "#include <cuda_bf16.h>\n#include <cstdint>\n" + _KERNEL),
        Example(
            code=_SPDX
            + """\
#define CONFIG <cuda_bf16.h>
#define UNUSED_HEADER <cstdio>
#include CONFIG
#include /* not <cstdio> */ <cstdint>
/*
#include /* old */
"""
            + _KERNEL,
        ),
        Example(
            code=_SPDX
            + """\
// #include <iostream>
#if 0
#include <cstdio>
#endif
const char* kText = "#include <cstdio>";
"""
            + _KERNEL,
        ),
        Example(
            path="src/main.cpp",
            code=_SPDX + "#include <iostream>\nint main() { std::cout << 1; }\n",
        ),
        Example(
            path="launchers/run.cu",
            code=_SPDX + '#include <cstdio>\nvoid run() { printf("%d", 1); }\n',
            settings='launcher-globs = ["launchers/**"]\n',
        ),
        Example(
            code=_SPDX + '#include "stdio.h"\n' + _KERNEL,
            files={"stdio.h": _SPDX + "#pragma once\n"},
        ),
        Example(code=_SPDX + "#include <cstdlib>\n#include <stdint.h>\n" + _KERNEL),
        Example(
            path="log.h",
            code=_SPDX + "#pragma once\n#include <sstream>\nstd::string text(int);\n",
        ),
    )

    def check(
        self, file: FileModel, context: Context, options: BannedIncludeOptions
    ) -> Iterator[Finding]:
        """Report each banned include."""
        banned = frozenset(options.headers)
        every = (*file.includes, *_indirect(file, context))
        found = [i for i in every if i.path in banned and _is_system(i, file, context)]
        if not found or not _is_kernel_source(file):
            return
        globs = context.settings.launcher_globs
        if globs and Patterns(globs).match(file.path):
            return
        data = context.sources[file.path].data
        code = _code(file, data)
        for include in found:
            brings = _BRINGS.get(include.path)
            unused = brings is not None and not re.search(rf"\b(?:{brings})\b".encode(), code)
            fix = _deletion(include, data) if unused else None
            yield self.report("banned", include.span, f"<{include.path}>", fix=fix)


def _indirect(file: FileModel, context: Context) -> Iterator[Include]:
    """The includes whose header stands behind a comment or in a macro."""
    data = context.sources[file.path].data
    if data.count(b"include") == len(file.includes):
        return
    known = {include.span.start for include in file.includes}
    no_code = (*(comment.span for comment in file.comments), *file.dead)
    for directive in _DIRECTIVE.finditer(data):
        start = directive.start(1)
        if start in known or any(span.start <= start < span.end for span in no_code):
            continue
        named = _COMMENT.sub(b" ", directive[2]).decode("utf-8", "replace").strip()
        span = Span(file.path, start, directive.end())
        for text in [named, *(m.body for m in _macros(file, named, context))]:
            if text[:1] + text[-1:] in ("<>", '""'):
                yield Include(span, text[1:-1].strip(), text[0] == "<")


def _macros(file: FileModel, name: str, context: Context) -> Iterator[Macro]:
    """The object-like macros of that name in the file and what it includes."""
    if name.isidentifier():
        for path in (file.path, *context.project.includes.closure(file.path)):
            yield from (
                macro
                for macro in context.models[path].macros
                if macro.name == name and macro.parameters is None
            )


def _is_system(include: Include, file: FileModel, context: Context) -> bool:
    """Whether it is the system's header, and no file of the project that has its name."""
    return include.system or context.project.includes.resolve(file.path, include) is None


def _is_kernel_source(file: FileModel) -> bool:
    if file.path.endswith((".cu", ".cuh")):
        return True
    return any(f.space != "host" for f in file.functions)


def _code(file: FileModel, data: bytes) -> bytes:
    """The file's text without comments, includes and `#if 0`."""
    taken = [comment.span for comment in file.comments]
    taken += [include.span for include in file.includes]
    taken += file.dead
    pieces, at = [], 0
    for span in sorted(taken):
        if span.start >= at:
            pieces.append(data[at : span.start])
        at = max(at, span.end)
    pieces.append(data[at:])
    return b" ".join(pieces)


def _deletion(include: Include, data: bytes) -> Fix:
    start = data.rfind(b"\n", 0, include.span.start) + 1
    end = data.find(b"\n", include.span.end) + 1 or len(data)
    edit = Edit(Span(include.span.path, start, end), "")
    return Fix(f"Delete the include of <{include.path}>", (edit,))
