"""CU406 invalid-manifest."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level, Related, Span
from cudalint.rule import Example, NoOptions, TreeRule
from cudalint.tree.model import KernelTree, ManifestFault
from cudalint.tree.shadows import layers

_COMMON = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
extern "C" __global__ void __launch_bounds__(32) rms_norm(float* o) { *o = 1; }
"""
_SIZED = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#define HDIM 256
extern "C" __global__ void __launch_bounds__(HDIM) rms_norm(float* o) { *o = 1; }
"""
_GUARDED = """\
// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef HDIM
#define HDIM 256
#endif
extern "C" __global__ void __launch_bounds__(HDIM) rms_norm(float* o) { *o = 1; }
"""
_PLACE = "gb10/qwen/nvfp4/KERNEL.toml"
_FILES = {"gb10/common/rms_norm.cu": _COMMON}


class InvalidManifest(TreeRule):
    """A manifest of the kernel tree is no TOML, or holds what means nothing there.

    What it does
        Reports, at the exact place in a KERNEL.toml: TOML syntax; values of the
        wrong type; tables and keys that do not exist, with the one that was
        probably meant; keys in the wrong table; an nvcc flag that is not on the
        allow-list, or that a file of the target overrides with an unguarded
        `#define`; a `[sources] use` that leaves the tree, is absent, is no source
        or comes twice; symbolic links. Of HARDWARE.toml and MODEL.toml it
        checks the syntax, and the keys that shape the tree. A row reported
        here is judged by no other rule.

    Why it matters
        A key that is misspelt or misplaced does nothing, and nobody says so:
        the flags that a kernel was measured with are not those that the next
        build gets. nvcc flags can also run programs and read files; the list
        keeps a manifest from doing that on the machine of whoever lints it.

    Example
            extra_nvcc_flags = ["--fmad=false"]    # belongs in [build]

    How to fix
        The message names the key, the type or the table that is meant.
        `cudalint`'s page on kernel trees lists every key and every flag.

    Sources
        TOML 1.0.0. CUDA Compiler Driver NVCC, "NVCC Command Options".
    """

    code = "CU406"
    name = "invalid-manifest"
    level = Level.ERROR
    messages = {
        "syntax": "This is no TOML: '{0}'.",
        "wrong-type": "'{0}' must be '{1}', but this is '{2}'.",
        "misplaced-key": "'{0}' does nothing here; it belongs in '{1}'.",
        "misplaced-key-near": "'{0}' does nothing here (did you mean '{1}' in '{2}'?).",
        "unknown-table": "'{0}' is no table of a KERNEL.toml and does nothing.",
        "unknown-table-near": "'{0}' does nothing (did you mean '{1}'?).",
        "unknown-key": "'{0}' is no key of a KERNEL.toml and does nothing.",
        "unknown-key-in": "'{0}' is no key of '{1}' and does nothing.",
        "unknown-key-near": "'{0}' is no key of '{1}' and does nothing (did you mean '{2}'?).",
        "unquoted-file-name": "TOML reads this key with a dot as a table; quote it: '{0}'.",
        "flag-not-allowed": "The nvcc flag '{0}' is not on the allow-list and is not passed on.",
        "flag-value-not-allowed": "The nvcc flag '{0}' has a value that is not allowed there.",
        "include-not-in-tree": "The folder of '{0}' is no plain folder inside the kernel tree.",
        "flag-overridden": "'{0}' has no effect: '{1}' has an unguarded '{2}'.",
        "blank-module": "'{0}' has no module name, so the host can't look it up; write one.",
        "arch-unknown": "'{0}' is no arch of nvcc's, so none is known; write one like 'sm_90'.",
        "inherits-absent": "'{0}' is no folder beside this one, so nothing is inherited.",
        "inherits-circle": "'{0}' inherits from itself: '{1}'; one of these is to inherit nothing.",
        "use-outside": "'{0}' leaves the kernel tree; 'use' takes files below its root.",
        "use-link": "'{0}' leads through a symbolic link; 'use' takes regular files.",
        "use-absent": "'{0}' is not there; 'use' is relative to the hardware folder.",
        "use-no-source": "'{0}' is no source file; 'use' takes '.cu' files and headers.",
        "use-twice": "'{0}' comes twice: this folder has '{1}' already.",
        "symbolic-link": "'{0}' is a symbolic link; it is not followed, and belongs to no layer.",
    }
    INVALID = (
        Example(
            path=_PLACE,
            code="[shadow]\nrms_norm = \n           ^\n",
            files=_FILES,
            message="This is no TOML: 'Invalid value'.",
        ),
        Example(
            path=_PLACE,
            code='[modules]\nrms_norm = "norm"\nrms_norm = "rms"\n~~~~~~~~\n',
            files=_FILES,
            message="This is no TOML: 'Cannot overwrite a value'.",
        ),
        Example(
            path=_PLACE,
            code='extra_nvcc_flags = ["--fmad=false"]\n~~~~~~~~~~~~~~~~\n',
            files=_FILES,
            message="'extra_nvcc_flags' does nothing here; it belongs in '[build]'.",
        ),
        Example(
            path=_PLACE,
            code="""\
[shadows]
 ~~~~~~~
rms_norm = "two warps per row"
[module]
 ~~~~~~
rms_norm = "norm"
[build]
extra_nvcc_flag = []
~~~~~~~~~~~~~~~
use = []
~~~
[deploy]
 ~~~~~~
""",
            files={**_FILES, "gb10/qwen/nvfp4/rms_norm.cu": _SIZED},
            message="'[shadows]' does nothing (did you mean '[shadow]'?).",
        ),
        Example(
            path=_PLACE,
            code="""\
[build]
extra_nvcc_flags = "--fmad=false"
                   ~~~~~~~~~~~~~~
[modules]
rms_norm = ["norm"]
           ~~~~~~~~
[shadow_exempt]
rms_norm = [1, "rms_norm"]
            ~
""",
            files=_FILES,
            message="'extra_nvcc_flags' must be 'an array of strings', but this is 'a string'.",
        ),
        Example(
            path=_PLACE,
            code='[shadow]\ntile.cuh = "128 wide"\n~~~~\n',
            files={
                **_FILES,
                "gb10/common/tile.cuh": "#pragma once\n",
                "gb10/qwen/nvfp4/tile.cuh": "#pragma once\nconstexpr int kTile = 128;\n",
            },
            message="quote it: 'tile.cuh'.",
        ),
        Example(
            path=_PLACE,
            code="""\
[build]
extra_nvcc_flags = ["--fmad=false", "-ccbin", "./cc", "-O4", "--use_fast_math", "-I../../../.."]
                                    ~~~~~~~~  ~~~~~~  ~~~~~                     ~~~~~~~~~~~~~~~
""",
            files=_FILES,
            message="The nvcc flag '-ccbin' is not on the allow-list and is not passed on.",
        ),
        Example(
            path=_PLACE,
            code='[build]\nextra_nvcc_flags = ["-DHDIM=128"]\n                    ~~~~~~~~~~~~\n',
            files={"gb10/common/rms_norm.cu": _SIZED},
            message="'-DHDIM=128' has no effect: 'gb10/common/rms_norm.cu' has an unguarded "
            "'#define HDIM'.",
        ),
        Example(
            path=_PLACE,
            code="""\
[sources]
use = ["../../etc/x.cu", "common/absent.cu", "common/rms_norm.cu", "common/rms_norm.cu"]
       ~~~~~~~~~~~~~~~~  ~~~~~~~~~~~~~~~~~~                        ~~~~~~~~~~~~~~~~~~~~
""",
            files=_FILES,
            message="'../../etc/x.cu' leaves the kernel tree;",
        ),
        Example(
            path="gb10/HARDWARE.toml",
            code="""\
[hardware]
arch = 121
       ~~~
[build]
extra_nvcc_flags = [true]
                    ~~~~
""",
            files=_FILES,
            message="'arch' must be 'a string', but this is 'an integer'.",
        ),
        Example(
            path="gb10/HARDWARE.toml",
            code='[hardware]\narch = "sm90"\n       ~~~~~~\n'
            'inherits = "hopper"\n           ~~~~~~~~\n',
            files=_FILES,
            message="'sm90' is no arch of nvcc's, so none is known; write one like 'sm_90'.",
        ),
        Example(
            path="gb10/HARDWARE.toml",
            code='[hardware]\narch = "sm_121"\ninherits = "hopper"\n           ~~~~~~~~\n',
            files={
                **_FILES,
                "hopper/HARDWARE.toml": '[hardware]\narch = "sm_90a"\ninherits = "gb10"\n',
            },
            message="'gb10' inherits from itself: 'gb10, hopper, gb10';",
        ),
        Example(
            path="gb10/qwen/MODEL.toml",
            code='[model]\nkernel_source = "llama\n                      ^\n',
            files=_FILES,
        ),
    )
    VALID = (
        Example(path=_PLACE, code="", files=_FILES),
        Example(
            path=_PLACE,
            code="""\
[build]
extra_nvcc_flags = [
  "--fmad=false", "-DHDIM=128", "-Xptxas", "-v,-O3", "--maxrregcount", "128",
  "-lineinfo", "-std=c++17", "-I.", "--diag-suppress=177", "-Xptxas=-dlcm=ca",
]
[modules]
rms_norm = "norm"  # what the host looks up
""",
            files=_FILES,
        ),
        Example(
            path=_PLACE,
            code='[build]\nextra_nvcc_flags = ["-DHDIM=128"]\n',
            files={"gb10/common/rms_norm.cu": _GUARDED},
        ),
        Example(
            path=_PLACE,
            code='[build]\nextra_nvcc_flags = ["-D", "HDIM=256"]\n',
            files={"gb10/common/rms_norm.cu": _SIZED},
        ),
        Example(
            path=_PLACE,
            code="\ufeffmodules.'rms_norm' = 'norm'\r\n"
            'sources = { use = ["common/rms_norm.cu"] }\r\n',
            files=_FILES,
        ),
        Example(
            path="gb10/HARDWARE.toml",
            code="""\
[hardware]
arch = "sm_121"
sm_count = 48
peak = { bandwidth = 273.0 }
[toolchain]
anything = [1, "two"]
""",
            files=_FILES,
        ),
        Example(path="docs/KERNEL.toml", code="[anything]\ngoes = 1\n"),
    )

    def check(self, tree: KernelTree, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report the faults that were met in reading, and flags without effect."""
        faults: set[ManifestFault] = set(tree.faults)
        for hardware in tree.hardware:
            faults.update(hardware.faults)
        for layer in layers(tree):
            if layer.manifest is not None:
                faults.update(layer.manifest.faults)
        for fault in sorted(faults):
            yield self.report(fault.kind, fault.span, *fault.arguments)
        from cudalint.tree.macroclash import macro_clashes

        overridden: set[Span] = set()
        for target in tree.targets:
            for clash in macro_clashes(target, context.models, context.sources):
                if clash.flag.span not in overridden:
                    overridden.add(clash.flag.span)
                    path, name = clash.macro.span.path, f"#define {clash.macro.name}"
                    flag = " ".join(clash.flag.value)
                    related = (Related(clash.macro.name_span, "defined here"),)
                    place = clash.flag.span
                    yield self.report("flag-overridden", place, flag, path, name, related=related)
