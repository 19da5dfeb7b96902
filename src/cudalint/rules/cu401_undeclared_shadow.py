"""CU401 undeclared-shadow."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Edit, Finding, Fix, Level, Related, Span
from cudalint.rule import Example, FixSafety, NoOptions, TreeRule
from cudalint.tree.model import KernelTree
from cudalint.tree.shadows import Shadow, shadows

_COMMON = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
"""
_LEAF = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(64) rms_norm(float* o) { *o = 2; }
"""
_TILE = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
constexpr int kTile = 64;
"""
_WIDE_TILE = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
constexpr int kTile = 128;
"""
_MARK = "~\n"
_DECLARED = '[shadow]\nrms_norm = "two warps per row: hidden size 4096"\n'


class UndeclaredShadow(TreeRule):
    """A file of a kernel tree replaces one of a lower layer, and no manifest says so.

    What it does
        Reports each file that takes the place of a file below it in the tree
        and has no row in the `[shadow]` table of its own folder's KERNEL.toml:
        a leaf's source over one of `common/` with the same stem, a header over
        one with the same name, a `common/` over the `common/` of the hardware
        that it inherits from. A folder with no KERNEL.toml declares nothing. A
        file that `[sources] use` brings is reported at its row there.

    Why it matters
        The target compiles the leaf's copy and nobody sees that it left the
        baseline: a fix in `common/` does not reach it, and the profile of a
        kernel that everyone knows is the profile of another one. A header
        that is replaced changes every file that includes it by its name.

    Example
            gb10/common/rms_norm.cu
            gb10/qwen/nvfp4/rms_norm.cu      replaces it, undeclared

    How to fix
        Say in the leaf's KERNEL.toml why the copy is needed:

            [shadow]
            rms_norm = "two warps per row: hidden size 4096"

        or delete the copy. The unsafe fix adds the row to a KERNEL.toml that is
        there, with `TODO` for a reason, which CU403 then asks for.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": a model whose kernel differs
        keeps its own copy, declared in its leaf's `[shadow]` table.
    """

    code = "CU401"
    name = "undeclared-shadow"
    level = Level.ERROR
    fix = FixSafety.UNSAFE
    messages = {
        "undeclared": "'{0}' replaces '{1}' undeclared; say why in the [shadow] table of '{2}'.",
        "used": "'{0}', brought by [sources] use, replaces '{1}' undeclared; "
        "say why in the [shadow] table of '{2}'.",
    }
    INVALID = (
        Example(
            path="gb10/qwen/nvfp4/rms_norm.cu",
            code=_MARK + _LEAF,
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/KERNEL.toml": "# nothing declared\n",
            },
            message="'gb10/qwen/nvfp4/rms_norm.cu' replaces 'gb10/common/rms_norm.cu' undeclared;",
        ),
        Example(
            path="gb10/qwen/nvfp4/rms_norm.cu",
            code=_MARK + _LEAF,
            files={"gb10/common/rms_norm.cu": _COMMON},
        ),
        Example(
            path="gb10/qwen/nvfp4/tile.cuh",
            code=_MARK + _WIDE_TILE,
            files={
                "gb10/common/tile.cuh": _TILE,
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/KERNEL.toml": '[shadow]\ntile = "a stem is no header\'s key"\n',
            },
        ),
        Example(
            path="hopper/common/rms_norm.cu",
            code=_MARK + _LEAF,
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n',
            },
            message="'hopper/common/rms_norm.cu' replaces 'gb10/common/rms_norm.cu'",
        ),
        Example(
            path="hopper/qwen/nvfp4/rms_norm.cu",
            code=_MARK + _LEAF,
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/rms_norm.cu": _LEAF,
                "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED,
                "hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n',
            },
            message="replaces 'gb10/qwen/nvfp4/rms_norm.cu'",
        ),
        Example(
            path="gb10/qwen/nvfp4/KERNEL.toml",
            code="""\
[shadow]
rms_norm = "two warps per row: hidden size 4096"
# headers
[modules]
rms_norm = "norm"
""",
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/common/tile.cuh": _TILE,
                "gb10/qwen/nvfp4/rms_norm.cu": _LEAF,
                "gb10/qwen/nvfp4/tile.cuh": _MARK + _WIDE_TILE,
            },
            fixed="""\
[shadow]
rms_norm = "two warps per row: hidden size 4096"
"tile.cuh" = "TODO"
# headers
[modules]
rms_norm = "norm"
""",
        ),
        Example(
            path="gb10/qwen/nvfp4/KERNEL.toml",
            code='[modules]\nrms_norm = "norm"',
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/rms_norm.cu": _MARK + _LEAF,
            },
            fixed='[modules]\nrms_norm = "norm"\n\n[shadow]\nrms_norm = "TODO"\n',
        ),
        Example(
            path="gb10/qwen/fp8/KERNEL.toml",
            code="""\
[sources]
use = ["qwen/nvfp4/rms_norm.cu"]
       ~~~~~~~~~~~~~~~~~~~~~~~~
""",
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/rms_norm.cu": _LEAF,
                "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED,
            },
            message="'gb10/qwen/nvfp4/rms_norm.cu', brought by [sources] use,",
        ),
    )
    VALID = (
        Example(
            path="gb10/qwen/nvfp4/rms_norm.cu",
            code=_LEAF,
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/KERNEL.toml": _DECLARED,
            },
        ),
        Example(
            path="gb10/qwen/nvfp4/tile.cuh",
            code=_WIDE_TILE,
            files={
                "gb10/common/tile.cuh": _TILE,
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/KERNEL.toml": '[shadow]\n"tile.cuh" = "128 wide for 4096"\n',
            },
        ),
        Example(
            path="gb10/qwen/nvfp4/norm.cu",
            code=_LEAF.replace("rms_norm", "norm"),
            files={"gb10/common/rms_norm.cu": _COMMON},
        ),
        Example(
            path="gb10/qwen/nvfp4/rms_norm.cuh",
            code=_TILE,
            files={"gb10/common/rms_norm.cu": _COMMON},
        ),
        Example(
            path="src/net/http/util.h",
            code=_TILE,
            files={"src/common/util.h": _WIDE_TILE},
        ),
        Example(
            path="gb10/qwen/nvfp4/KERNEL.toml",
            code='shadow = { rms_norm = "two warps per row: hidden size 4096" }\n',
            files={
                "gb10/common/rms_norm.cu": _COMMON,
                "gb10/qwen/nvfp4/rms_norm.cu": _LEAF,
            },
        ),
        Example(
            path="gb10/qwen/fp8/KERNEL.toml",
            code='[sources]\nuse = ["common/rms_norm.cu"]\n',
            files={"gb10/common/rms_norm.cu": _COMMON},
        ),
        Example(
            path="metal/qwen/nvfp4/rms_norm.cu",
            code=_LEAF,
            files={"metal/common/rms_norm.cu": _COMMON},
        ),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report each undeclared shadow once, whichever targets have it."""
        for shadow in shadows(tree):
            if shadow.declared:
                continue
            manifest = f"{shadow.layer.path}/KERNEL.toml"
            row = shadow.layer.used.get(shadow.upper)
            related = (Related(Span(shadow.lower, 0, 0), "replaced file"),)
            yield self.report(
                "undeclared" if row is None else "used",
                Span(shadow.upper, 0, 0) if row is None else row.span,
                shadow.upper,
                shadow.lower,
                manifest,
                related=related,
                fix=_declaration(shadow, context),
            )


def _declaration(shadow: Shadow, context: Context) -> Fix | None:
    """Adds the row to the `[shadow]` table of a manifest that is there."""
    manifest = shadow.layer.manifest
    source = context.sources.get(manifest.path) if manifest is not None else None
    if manifest is None or source is None:
        return None
    plain = re.fullmatch(r"[A-Za-z0-9_-]+", shadow.key)
    row = f'{shadow.key if plain else _quoted(shadow.key)} = "TODO"\n'
    if manifest.shadow_table is not None:
        line_end = source.data.find(b"\n", manifest.shadow_table.end)
        at = len(source.data) if line_end < 0 else line_end + 1
    elif manifest.shadow or manifest.unjudged:
        return None  # the table is an inline one, or spelt some other way
    else:
        at = len(source.data)
        row = f"[shadow]\n{row}"
        if source.data.strip():
            row = f"\n{row}"
    if not source.data[:at].endswith(b"\n") and at:
        row = f"\n{row}"
    if b"\r\n" in source.data:
        row = row.replace("\n", "\r\n")
    title = f"Declare the shadow '{shadow.key}' with a reason to fill in"
    return Fix(title, (Edit(Span(manifest.path, at, at), row),), safe=False)


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
