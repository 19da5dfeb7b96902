"""CU404 identical-shadow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related, Span
from cudalint.rule import Example, NoOptions, TreeRule
from cudalint.tree.model import KernelTree
from cudalint.tree.shadows import Shadow, shadows

if TYPE_CHECKING:
    from cudalint.tree.tokens import Change

_COMMON = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
"""
_ROWS = "".join(f"  o[{n}] = {n};\n" for n in range(20))
_LONG = f"""\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) {{
{_ROWS}}}
"""
_PLACE = "gb10/qwen/nvfp4/rms_norm.cu"
_DECLARED = '[shadow]\nrms_norm = "two warps per row: hidden size 4096"\n'
_FILES = {"gb10/common/rms_norm.cu": _COMMON, "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED}
_LONG_FILES = {**_FILES, "gb10/common/rms_norm.cu": _LONG}
_MARK = "~\n"


class IdenticalShadow(TreeRule):
    """A shadow is a copy of the file that it replaces.

    What it does
        Reports a shadow whose tokens are those of the replaced file: all that
        differs is comments, white space and the SPDX line. A shadow that
        differs in at most three lines, where both files have at least twenty
        lines of code, is a note that names the lines; it is left out where
        CU401 or CU405 already speaks about the file. A short file that sets a
        macro and includes the replaced one is no copy.

    Why it matters
        A copy does nothing but drift: the next fix in `common/` is missing
        from it, on one model only.

    Example
            gb10/common/rms_norm.cu
            gb10/qwen/nvfp4/rms_norm.cu      the same code under another date

    How to fix
        Delete the copy and its `[shadow]` row. For a near copy, put what
        differs behind a macro, and shadow the file by one that sets the macro
        and includes the file below:

            #define HDIM 64
            #include "../../common/rms_norm.cu"

    Sources
        Metrale Engine, "CUDA Kernel Engineering": a model keeps its own copy when
        its kernel differs from the baseline.
    """

    code = "CU404"
    name = "identical-shadow"
    level = Level.WARNING
    messages = {
        "identical": "'{0}' has the same tokens as '{1}', which it replaces; delete it.",
        "near": "'{0}' differs from '{1}', which it replaces, in few lines: '{2}'.",
    }
    INVALID = (
        Example(
            path=_PLACE,
            code=_MARK + _COMMON,
            files=_FILES,
            message="'gb10/qwen/nvfp4/rms_norm.cu' has the same tokens as",
        ),
        Example(
            path=_PLACE,
            code=_MARK
            + """\
// SPDX-License-Identifier: MIT OR Apache-2.0
/* 2026-01-01: forked */
extern "C" __global__ void __launch_bounds__(32)
rms_norm(float *o)
{
  *o = 1;  // one
}
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_MARK + _COMMON.replace("MIT OR Apache-2.0", "BSD-3-Clause"),
            files=_FILES,
        ),
        Example(
            path="gb10/qwen/nvfp4/tile.cuh",
            code=_MARK
            + """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#define TILE \\
  64
""",
            files={
                **_FILES,
                "gb10/common/tile.cuh": "#pragma once  // once\n#define TILE 64\n",
                "gb10/qwen/nvfp4/KERNEL.toml": '[shadow]\n"tile.cuh" = "128 wide"\n',
            },
        ),
        Example(path=_PLACE, code=_MARK + _COMMON, files={"gb10/common/rms_norm.cu": _COMMON}),
        Example(
            path=_PLACE,
            code=_MARK + _LONG.replace("o[7] = 7;", "o[7] = 8;"),
            files=_LONG_FILES,
            message="in few lines: '10 (there 10)'.",
        ),
        Example(
            path=_PLACE,
            code=_MARK + _LONG.replace("  o[0] = 0;\n", "").replace("o[9] = 9;", "o[9] = 8;"),
            files=_LONG_FILES,
            message="in few lines: 'none (there 3), 11 (there 12)'.",
        ),
    )
    VALID = (
        Example(path=_PLACE, code=_COMMON.replace("*o = 1", "*o = 2"), files=_FILES),
        Example(
            path=_PLACE,
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
#define HDIM 64
#include "../../common/rms_norm.cu"
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code=_LONG.replace("] = 1", "] = 3"),
            files=_LONG_FILES,
        ),
        Example(
            path="gb10/qwen/nvfp4/tile.cuh",
            code="""\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#define WIDE
constexpr int kTile = 64;
""",
            files={
                **_FILES,
                "gb10/common/tile.cuh": """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#define WIDE constexpr int kTile = 64;
""",
                "gb10/qwen/nvfp4/KERNEL.toml": '[shadow]\n"tile.cuh" = "128 wide"\n',
            },
        ),
        Example(
            path="gb10/qwen/nvfp4/norm.cu",
            code=_COMMON.replace("rms_norm", "norm"),
            files={"gb10/common/rms_norm.cu": _COMMON},
        ),
        Example(
            path=_PLACE,
            code=_LONG.replace('"C"', '"C" ').replace("o[7] = 7;", "o[7] = 8;"),
            files={"gb10/common/rms_norm.cu": _LONG},
            also=("CU401",),
        ),
        Example(
            path=_PLACE,
            code=_COMMON.replace("1; }", '1; __nanosleep(sizeof("//")); }'),
            files={**_FILES, "gb10/common/rms_norm.cu": _COMMON.replace("1; }", '1; } // ")); }')},
        ),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Compare the two files of each shadow of `tree`."""
        from cudalint.tree.tokens import code_lines, few_changes, may_be_alike, same_tokens

        for shadow in shadows(tree):
            upper, lower = context.sources.get(shadow.upper), context.sources.get(shadow.lower)
            if upper is None or lower is None or upper.problem or lower.problem:
                continue
            if not may_be_alike(upper.data, lower.data):
                continue
            ours, theirs = code_lines(upper.data), code_lines(lower.data)
            place = Span(shadow.upper, 0, 0)
            related = (Related(Span(shadow.lower, 0, 0), "replaced file"),)
            if same_tokens(ours, theirs):
                yield self.report("identical", place, shadow.upper, shadow.lower, related=related)
                continue
            changes = few_changes(ours, theirs)
            if changes is not None and not _spoken_for(shadow, context):
                named = ", ".join(_lines(change) for change in changes)
                yield self.report(
                    "near",
                    place,
                    shadow.upper,
                    shadow.lower,
                    named,
                    level=Level.NOTE,
                    related=related,
                )


def _spoken_for(shadow: Shadow, context: Context) -> bool:
    """Whether CU401 or CU405 has something to say about the shadow."""
    from cudalint.tree.drift import drift

    if not shadow.declared:
        return True
    found = drift(shadow, context.models, context.sources)
    return found is not None and found.speaks


def _lines(change: Change) -> str:
    upper = "-".join(map(str, sorted({*change.upper[:1], *change.upper[-1:]}))) or "none"
    lower = "-".join(map(str, sorted({*change.lower[:1], *change.lower[-1:]}))) or "none"
    return f"{upper} (there {lower})"
