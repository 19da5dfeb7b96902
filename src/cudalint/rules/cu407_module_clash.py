"""CU407 module-clash."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related, Span
from cudalint.rule import Example, NoOptions, TreeRule
from cudalint.tree.model import KernelTree
from cudalint.tree.modules import clashes, lost_names
from cudalint.tree.shadows import lacks_parent, layers

_NORM = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
"""
_ROPE = _NORM.replace("rms_norm", "rope")
_PLACE = "gb10/qwen/nvfp4/KERNEL.toml"
_FILES = {"gb10/common/rms_norm.cu": _NORM, "gb10/common/rope.cu": _ROPE}
_HOPPER = {"hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n'}


class ModuleClash(TreeRule):
    """Two files of a target go by one module name, or a module row names no file.

    What it does
        Reports the later of two entries that give one module name in a target,
        names that differ only by case or by `-` for `_` among them; a `[modules]`
        row whose file is in no layer; and a row that renames what a lower
        manifest had named, when nothing in the target keeps that name.

    Why it matters
        The host finds a module by its name. Of two files with one name it gets
        whichever the build wrote last; of a name that is gone it gets nothing,
        when the model is loaded.

    Example
            [modules]
            rms_norm = "ops"
            rope = "ops"

    How to fix
        Give each file a name of its own, correct the stem, or leave the lower
        manifest's name as it is.

    Sources
        Metrale Engine, "CUDA Kernel Engineering": the module name defaults to the
        file's stem, and KERNEL.toml overrides it.
    """

    code = "CU407"
    name = "module-clash"
    level = Level.ERROR
    messages = {
        "same": "'{0}' and '{1}' have one module name, '{2}', in the target '{3}'.",
        "alike": "'{0}' and '{1}' have module names that are too alike, '{2}' and '{3}', "
        "in the target '{4}'.",
        "no-file": "'{0}' names no file of '{1}' or of a layer below; give a file's stem.",
        "lost": "The name '{0}' that '{1}' gives this module is lost in the target '{2}'.",
    }
    INVALID = (
        Example(
            path=_PLACE,
            code='[modules]\nrms_norm = "ops"\nrope = "ops"\n       ~~~~~\n',
            files=_FILES,
            message="'rope' and 'rms_norm' have one module name, 'ops', in the target "
            "'gb10/qwen/nvfp4'.",
        ),
        Example(
            path=_PLACE,
            code='[modules]\nrms_norm = "rope"\n           ~~~~~~\n',
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code='[modules]\nrms_norm = "Ops-a"\nrope = "ops_A"\n       ~~~~~~~\n',
            files=_FILES,
            message="module names that are too alike, 'ops_A' and 'Ops-a',",
        ),
        Example(
            path="gb10/common/rms_norm.cu",
            code="~\n" + _NORM,
            files={"gb10/common/rms-norm.cu": _NORM.replace("rms_norm", "rms_norm_row")},
        ),
        Example(
            path=_PLACE,
            code="""\
[modules]
nothing = "x"
~~~~~~~
"rope.cu" = "rotary"
~~~~~~~~~
""",
            files=_FILES,
            message="'nothing' names no file of 'gb10/qwen/nvfp4' or of a layer below;",
        ),
        Example(
            path=_PLACE,
            code='[modules]\nrms_norm = "row_norm"\n           ~~~~~~~~~~\n',
            files={**_FILES, "gb10/common/KERNEL.toml": '[modules]\nrms_norm = "norm"\n'},
            message="The name 'norm' that 'gb10/common/KERNEL.toml' gives this module is lost",
        ),
        Example(
            path="hopper/common/KERNEL.toml",
            code='[modules]\nrope = "rms_norm"\n       ~~~~~~~~~~\n',
            files={**_FILES, **_HOPPER, "hopper/common/gemm.cu": _NORM.replace("rms_norm", "gemm")},
        ),
    )
    VALID = (
        Example(path=_PLACE, code='[modules]\nrms_norm = "norm"\nrope = "rotary"\n', files=_FILES),
        Example(
            path=_PLACE, code='[modules]\nrms_norm = "rope"\nrope = "rms_norm"\n', files=_FILES
        ),
        Example(
            path=_PLACE,
            code='[modules]\nrms_norm = "norm"\n',
            files={**_FILES, "gb10/common/KERNEL.toml": '[modules]\nrms_norm = "norm"\n'},
        ),
        Example(
            path="gb10/qwen/fp8/KERNEL.toml",
            code='[modules]\nrms_norm = "ops"\n',
            files={**_FILES, _PLACE: '[modules]\nrope = "ops"\n'},
        ),
        Example(
            path="hopper/common/KERNEL.toml",
            code='[modules]\nrms_norm = "norm"\n',
            files={**_FILES, **_HOPPER, "hopper/common/gemm.cu": _NORM.replace("rms_norm", "gemm")},
        ),
        Example(
            path="hopper/common/KERNEL.toml",
            code='[modules]\nrms_norm = "norm"\n',
            files={**_HOPPER, "hopper/common/gemm.cu": _NORM.replace("rms_norm", "gemm")},
            also=("CU406",),
        ),
        Example(
            path=_PLACE,
            code='[modules]\nnorm = "rms_norm"\n\n[sources]\nuse = ["shared/fp8/norm.cu"]\n',
            files={
                "gb10/common/rope.cu": _ROPE,
                "gb10/shared/fp8/norm.cu": _NORM,
            },
        ),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report the clashes of each target once, then the rows that name no file."""
        said: set[tuple[str, Span]] = set()
        for finding in (*self._clashes(tree), *self._lost(tree)):
            key = (finding.message_id, finding.span)
            if key not in said:
                said.add(key)
                yield finding
        for layer in layers(tree):
            if layer.manifest is None or lacks_parent(tree, layer):
                continue
            stems = {s for t in tree.targets if layer in t.layers for s in t.sources}
            for key_, row in layer.manifest.modules.items():
                if key_ not in stems:
                    yield self.report("no-file", row.key_span, key_, layer.path)

    def _clashes(self, tree: KernelTree) -> Iterator[Finding]:
        for target in tree.targets:
            for later, earlier in clashes(target):
                related = (Related(earlier.place, "has the name already"),)
                names = (later.name,) if later.name == earlier.name else (later.name, earlier.name)
                yield self.report(
                    "same" if len(names) == 1 else "alike",
                    later.place,
                    later.stem,
                    earlier.stem,
                    *names,
                    target.name,
                    related=related,
                )

    def _lost(self, tree: KernelTree) -> Iterator[Finding]:
        for target in tree.targets:
            for row, lower in lost_names(target):
                related = (Related(lower.span, "named here"),)
                path = lower.span.path
                yield self.report("lost", row.span, lower.value, path, target.name, related=related)
