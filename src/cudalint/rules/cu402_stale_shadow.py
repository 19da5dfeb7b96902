"""CU402 stale-shadow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.context import Context
from cudalint.finding import Edit, Finding, Fix, Level, Span
from cudalint.rule import Example, FixSafety, NoOptions, TreeRule
from cudalint.tree.model import KernelTree, Layer, Manifest, Value
from cudalint.tree.shadows import Shadow, lacks_parent, layers, shadows

if TYPE_CHECKING:
    from cudalint.tree.drift import Drift

_COMMON = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
"""
_LEAF = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(64) rms_norm(float* o) { *o = 2; }
"""
_PAIR = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
extern "C" __global__ void __launch_bounds__(32) rms_norm_add(float* o) { *o = 3; }
"""
_PLACE = "gb10/qwen/nvfp4/KERNEL.toml"
_BOTH = {"gb10/common/rms_norm.cu": _COMMON, "gb10/qwen/nvfp4/rms_norm.cu": _LEAF}
_DROPS = {"gb10/common/rms_norm.cu": _PAIR, "gb10/qwen/nvfp4/rms_norm.cu": _LEAF}


class StaleShadow(TreeRule):
    """A row of a manifest declares a shadow, or an exemption, that is not there.

    What it does
        Reports a `[shadow]` row whose own folder has no such file, or whose file
        replaces nothing below it; and, in `[shadow_exempt]`, a module that no
        shadow of the folder has, and an entry point that the shadow does not
        drop. A source's key is its stem, a header's its file name.

    Why it matters
        A stale row says that a target differs where it does not. Who later puts
        a file of that name into the leaf gets its reason for nothing, and the
        check that would have asked is silent.

    Example
            [shadow]
            rope = "head dim 64"        # gb10/llama/bf16/rope.cu was deleted

    How to fix
        Delete the row; the safe fix does. If the file was renamed, give the row
        its new name.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": the `[shadow]` table names the
        leaf files that replace the baseline.
    """

    code = "CU402"
    name = "stale-shadow"
    level = Level.ERROR
    fix = FixSafety.SAFE
    messages = {
        "no-file": "'{0}' is declared a shadow, but '{1}' has no such file; remove the row.",
        "nothing-below": "'{0}' is declared a shadow, but '{1}' replaces nothing; remove the row.",
        "no-module": "The exemption for '{0}' is stale: no shadow of '{1}' has that module name.",
        "not-dropped": "The exemption of '{0}' is stale: the shadow has that entry point.",
        "no-entry": "The exemption of '{0}' is stale: the replaced file has no such entry point.",
    }
    INVALID = (
        Example(
            path=_PLACE,
            code="""\
[shadow]
rms_norm = "two warps per row"
~~~~~~~~
""",
            files={"gb10/common/rms_norm.cu": _COMMON},
            message="'rms_norm' is declared a shadow, but 'gb10/qwen/nvfp4' has no such file;",
            fixed="[shadow]\n",
        ),
        Example(
            path=_PLACE,
            code="""\
[shadow]
# the first of two rows
rms_norm = "two warps per row"
norm = "goes with it"  # since March
~~~~
""",
            files={**_BOTH, "gb10/qwen/nvfp4/norm.cu": _LEAF.replace("rms_norm", "norm")},
            message="'norm' is declared a shadow, but 'gb10/qwen/nvfp4/norm.cu' replaces nothing;",
            fixed='[shadow]\n# the first of two rows\nrms_norm = "two warps per row"\n',
        ),
        Example(
            path=_PLACE,
            code="""\
[shadow]
rms_norm = "two warps per row"
"rms_norm.cu" = "a source goes by its stem"
~~~~~~~~~~~~~
""",
            files=_BOTH,
            fixed='[shadow]\nrms_norm = "two warps per row"\n',
        ),
        Example(
            path="gb10/common/KERNEL.toml",
            code='shadow.rms_norm = "the baseline replaces nothing"\n       ~~~~~~~~\n',
            files={"gb10/common/rms_norm.cu": _COMMON},
            fixed="",
        ),
        Example(
            path=_PLACE,
            code="""\
[shadow_exempt]
rms_norm = ["rms_norm"]
~~~~~~~~
""",
            files={"gb10/common/rms_norm.cu": _COMMON},
            message="The exemption for 'rms_norm' is stale: no shadow of 'gb10/qwen/nvfp4'",
            fixed="[shadow_exempt]\n",
        ),
        Example(
            path=_PLACE,
            code="""\
[shadow]
rms_norm = "never adds a residual"

[shadow_exempt]
rms_norm = [
  "rms_norm_add",
  "rms_norm",
  ~~~~~~~~~~
  "rms_norm_mul",
  ~~~~~~~~~~~~~~
]
""",
            files=_DROPS,
            message="The exemption of 'rms_norm' is stale: the shadow has that entry point.",
        ),
        Example(
            path=_PLACE,
            code="""\
shadow = { rms_norm = "two warps per row", rope = "head dim 64" }
                                           ~~~~
""",
            files=_BOTH,
        ),
    )
    VALID = (
        Example(path=_PLACE, code='[shadow]\nrms_norm = "two warps per row: 4096"\n', files=_BOTH),
        Example(
            path=_PLACE,
            code="""\
[shadow]
rms_norm = "this model never adds a residual"

[shadow_exempt]
rms_norm = ["rms_norm_add"]
""",
            files=_DROPS,
        ),
        Example(
            path=_PLACE,
            code="""\
[modules]
rms_norm = "norm"

[shadow]
rms_norm = "this model never adds a residual"

[shadow_exempt]
norm = ["rms_norm_add"]
""",
            files=_DROPS,
        ),
        Example(
            path="hopper/common/KERNEL.toml",
            code='[shadow]\nrms_norm = "wgmma needs another tile"\n',
            files={
                "hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n',
                "hopper/common/rms_norm.cu": _LEAF,
                "gb10/common/rms_norm.cu": _COMMON,
            },
        ),
        Example(
            path="hopper/common/KERNEL.toml",
            code='[shadow]\nrms_norm = "the parent is in another checkout"\n',
            files={
                "hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n',
                "hopper/common/rms_norm.cu": _LEAF,
            },
            also=("CU406",),
        ),
        Example(
            path="gb10/qwen/fp8/KERNEL.toml",
            code="""\
[sources]
use = ["qwen/nvfp4/rms_norm.cu"]

[shadow]
rms_norm = "the same hidden size as in nvfp4"
""",
            files={
                **_BOTH,
                _PLACE: '[shadow]\nrms_norm = "two warps per row: 4096"\n',
            },
        ),
        Example(path=_PLACE, code="[shadow]\n", files={"gb10/common/rms_norm.cu": _COMMON}),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report the stale rows of each manifest of `tree`."""
        found = shadows(tree)
        for layer in layers(tree):
            if layer.manifest is None:
                continue
            own = [shadow for shadow in found if shadow.layer.path == layer.path]
            absent = lacks_parent(tree, layer)
            yield from self._shadow_rows(layer, layer.manifest, own, absent, context)
            yield from self._exempt_rows(layer, layer.manifest, own, absent, context)

    def _shadow_rows(
        self, layer: Layer, manifest: Manifest, own: list[Shadow], absent: bool, context: Context
    ) -> Iterator[Finding]:
        real = {shadow.key for shadow in own}
        for key, row in manifest.shadow.items():
            file = layer.sources.get(key) or layer.headers.get(key)
            if key in real or (absent and file is not None):
                continue
            kind, place = ("no-file", layer.path) if file is None else ("nothing-below", file)
            fix = _removal(row, key, context)
            yield self.report(kind, row.key_span, key, place, extents=(row.span,), fix=fix)

    def _exempt_rows(
        self, layer: Layer, manifest: Manifest, own: list[Shadow], absent: bool, context: Context
    ) -> Iterator[Finding]:
        from cudalint.tree.drift import drift

        for module, row in manifest.shadow_exempt.items():
            exempted = [s for s in own if s.is_source and s.target.modules[s.key] == module]
            if not exempted and not absent:
                fix = _removal(row, module, context)
                yield self.report("no-module", row.key_span, module, layer.path, fix=fix)
                continue
            drifts = [drift(shadow, context.models, context.sources) for shadow in exempted]
            known = [d for d in drifts if d is not None]
            if len(known) < len(drifts):
                continue
            for name in row.value:
                kind = _stale(name.value, known)
                if kind:
                    yield self.report(kind, name.span, name.value, extents=(row.key_span,))


def _stale(entry: str, drifts: list[Drift]) -> str:
    """Why the exemption of `entry` is stale in all `drifts`; "" if it is not."""
    if not drifts or any(entry in d.dropped for d in drifts):
        return ""
    if any(entry in d.lower for d in drifts):
        return "not-dropped"
    return "no-entry"


def _removal(row: Value, key: str, context: Context) -> Fix | None:
    """Deletes the lines of a row that has them to itself."""
    path = row.key_span.path
    source = context.sources.get(path)
    if source is None:
        return None
    start = source.data.rfind(b"\n", 0, row.key_span.start) + 1
    line_end = source.data.find(b"\n", row.span.end)
    end = len(source.data) if line_end < 0 else line_end + 1
    before = source.data[start : row.key_span.start]
    after = source.data[row.span.end : end]
    if not re.fullmatch(rb"\s*(\w+\s*\.\s*)?", before) or not re.fullmatch(rb"\s*(#.*\s*)?", after):
        return None
    return Fix(f"Remove the row '{key}'", (Edit(Span(path, start, end), ""),))
