"""CU403 shadow-without-reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.rule import Example, NoOptions, TreeRule
from cudalint.tree.model import KernelTree
from cudalint.tree.shadows import layers

_PLACE = "gb10/qwen/nvfp4/KERNEL.toml"
_FILES = {
    "gb10/common/rms_norm.cu": """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
""",
    "gb10/qwen/nvfp4/rms_norm.cu": """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(64) rms_norm(float* o) { *o = 2; }
""",
}
_OPENING = frozenset(("todo", "fixme", "tbd", "tba", "tbc", "xxx", "wip"))
_WHOLE = frozenset(
    (
        *("reason", "reason here", "the reason", "a reason", "some reason", "your reason"),
        *("placeholder", "n a", "na", "none", "nil", "null", "unknown", "why", "fill in"),
    )
)


class ShadowWithoutReason(TreeRule):
    """A `[shadow]` row gives no reason.

    What it does
        Reports a row of `[shadow]` whose text is empty, white space or
        punctuation alone, begins with a word such as `TODO`, `FIXME` or `TBD`, or
        is a filler such as `reason`, `none` or `n/a`.

    Why it matters
        The reason is all that tells a later reader whether the copy may go, and
        whether a fix in the file below must be carried over.

    Example
            [shadow]
            rms_norm = "TODO"

    How to fix
        Write what differs and why it must: a size, a layout, an instruction.

            [shadow]
            rms_norm = "two warps per row: hidden size 4096"

    Sources
        Metrale Engine, "CUDA Kernel Engineering": a leaf's own copy is declared
        with a reason.
    """

    code = "CU403"
    name = "shadow-without-reason"
    level = Level.ERROR
    messages = {
        "blank": "The shadow '{0}' gives no reason; say what differs from the replaced file.",
        "placeholder": "The shadow '{0}' gives '{1}' for a reason; say what differs and why.",
    }
    INVALID = (
        Example(
            path=_PLACE,
            code='[shadow]\nrms_norm = ""\n           ~~\n',
            files=_FILES,
            message="The shadow 'rms_norm' gives no reason;",
        ),
        Example(
            path=_PLACE, code='[shadow]\nrms_norm = " \\t "\n           ~~~~~~\n', files=_FILES
        ),
        Example(
            path=_PLACE,
            code='[shadow]\nrms_norm = "TODO"\n           ~~~~~~\n',
            files=_FILES,
            message="The shadow 'rms_norm' gives 'TODO' for a reason;",
        ),
        Example(
            path=_PLACE,
            code="[shadow]\nrms_norm = 'fixme: ask who wrote it'\n"
            "           ~~~~~~~~~~~~~~~~~~~~~~~~~\n",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code='shadow = { rms_norm = "Reason." }\n                      ~~~~~~~~~\n',
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code='shadow.rms_norm = "..."\n                  ~~~~~\n',
            files=_FILES,
        ),
        Example(
            path=_PLACE, code='[shadow]\n"rms_norm" = "tbd"\n             ~~~~~\n', files=_FILES
        ),
        Example(
            path=_PLACE,
            code='[shadow]\nrms_norm = "<reason>"\n           ~~~~~~~~~~\n',
            files=_FILES,
        ),
    )
    VALID = (
        Example(
            path=_PLACE, code='[shadow]\nrms_norm = "hidden size 2048, not 4096"\n', files=_FILES
        ),
        Example(path=_PLACE, code='[shadow]\nrms_norm = "4096"\n', files=_FILES),
        Example(
            path=_PLACE,
            code='[shadow]\nrms_norm = """\n  two warps per row,\n  so that a row fits"""\n',
            files=_FILES,
        ),
        Example(path=_PLACE, code='[shadow]\nrms_norm = "breite Zeilen: 4096 × 2"\n', files=_FILES),
        Example(path=_PLACE, code='[shadow]\nrms_norm = "行が長い"\n', files=_FILES),
        Example(
            path=_PLACE,
            code='[shadow]\nrms_norm = "for a reason: rows of 4096 need two warps"\n',
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code='[shadow]\nrms_norm = "rows of 4096"  # TODO: measure one warp per row\n',
            files=_FILES,
        ),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report the rows of each manifest of `tree` that say nothing."""
        for layer in layers(tree):
            if layer.manifest is None:
                continue
            for key, row in layer.manifest.shadow.items():
                words = re.findall(r"\w+", row.value.lower())
                if not words:
                    yield self.report("blank", row.span, key, extents=(row.key_span,))
                elif words[0] in _OPENING or " ".join(words) in _WHOLE:
                    reason = " ".join(row.value.split())
                    yield self.report("placeholder", row.span, key, reason)
