"""Which archs have which PTX instructions and intrinsics: those that not every arch has.

Source: the PTX ISA manual, "Target ISA Notes" of each instruction; the tests
hold every entry to ptxas for every arch. Multicast to a cluster is the one
exception: ptxas takes it for sm_120 and sm_121, whose clusters hold one block
(CUTLASS, "Blackwell SM120": cluster shape 1x1x1, no multicast).

A suffix matters: `sm_121` lacks what `sm_121a` and `sm_121f` have. Where a piece
of code is compiled for a target at all is `cudalint.project.targetbuild`.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from cudalint.compile.archs import arch_number
from cudalint.regex import regex

_100 = ("sm_100a", "sm_100f", "sm_103a", "sm_103f")
_110 = ("sm_110a", "sm_110f")
_120 = ("sm_120a", "sm_120f", "sm_121a", "sm_121f")
_ONE_BLOCK_CLUSTERS = (120, 121)


class Feature(msgspec.Struct, frozen=True):
    """Instructions that `pattern` finds in PTX, for plain archs from `since` or `only` some."""

    name: str
    pattern: str
    since: int = 0
    only: tuple[str, ...] = ()

    def supported(self, arch: str) -> bool:
        """Whether ptxas takes it for `arch` (`sm_121`, `sm_90a`)."""
        return arch in self.only if self.only else arch_number(arch) >= self.since

    @property
    def needs(self) -> str:
        """Which archs have it, as a reader says it."""
        if self.since:
            return f"sm_{self.since} or newer"
        return ", ".join(self.only)


FEATURES = (
    Feature("tcgen05", r"tcgen05\.", only=_100 + _110),
    Feature("wgmma", r"wgmma\.", only=("sm_90a",)),
    Feature("setmaxnreg", r"setmaxnreg\.", only=("sm_90a", *_100, *_110, *_120)),
    Feature("tensormap.replace", r"tensormap\.replace\.", only=("sm_90a", *_100, *_110, *_120)),
    Feature("block-scaled mma", r"mma\.\S*\.kind::(?:mx\w+|f8f6f4)", only=_120),
    Feature("narrow mma", r"mma\.\S*\.(?:e2m1|e2m3|e3m2)\b", only=_120),
    Feature(
        "narrow cvt",
        r"cvt\.\S*(?:e2m1x[24]|e2m3x[24]|e3m2x[24]|ue8m0x2)\b",
        only=_100 + _110 + _120,
    ),
    Feature("stochastic cvt", r"cvt\.rs\.", only=("sm_100a", "sm_103a")),
    Feature("redux.sync.f32", r"redux\.sync\.\S*f32\b", only=_100),
    Feature("ldmatrix.b8", r"(?:ld|st)matrix\.\S*\.b8(?:x16)?\b", only=_100 + _110 + _120),
    Feature("bulk copy of a CTA pair", r"cp\.async\.bulk\.\S*\.cta_group::", only=_100 + _110),
    Feature("f32x2", r"(?:add|sub|mul|fma)\.\S*f32x2\b", since=100),
    Feature("256-bit access", r"(?:ld|st)\.\S*\.(?:v8\.\w?32|v4\.\w?64)\b", since=100),
    Feature("clusterlaunchcontrol", r"clusterlaunchcontrol\.", since=100),
    Feature("st.bulk", r"st\.bulk\b", since=100),
    Feature("gather4", r"cp\.async\.bulk\.\S*(?:gather4|scatter4)\b", since=100),
    Feature("cp.async.bulk", r"cp\.(?:reduce\.)?async\.bulk\b", since=90),
    Feature("prefetch.tensormap", r"prefetch\.(?:\w+\.)?tensormap\b", since=90),
    Feature("stmatrix", r"stmatrix\.", since=90),
    Feature("elect.sync", r"elect\.sync\b", since=90),
    Feature("griddepcontrol", r"griddepcontrol\.", since=90),
    Feature("barrier.cluster", r"barrier\.cluster\.", since=90),
    Feature("mapa", r"(?:mapa|getctarank)\.", since=90),
    Feature("st.async", r"(?:st|red)\.async\b", since=90),
    Feature("mbarrier.try_wait", r"mbarrier\.(?:try_wait|\S*expect_tx|complete_tx)\b", since=90),
    Feature("fence.proxy", r"fence\.proxy\.(?:async|tensormap)|fence\.mbarrier_init\b", since=90),
    Feature("multimem", r"multimem\.", since=90),
    Feature("cluster registers", r"%(?:cluster_?\w+|is_explicit_cluster)\b", since=90),
    Feature("bf16 arithmetic", r"(?:add|sub|mul|ex2|tanh)\.\S*\.bf16(?:x2)?\b", since=90),
    Feature("bf16 atomics", r"(?:atom|red)\.\S*\.bf16(?:x2)?\b", since=90),
    Feature("vector atomics", r"(?:atom|red)\.\S*\.v[248]\b", since=90),
    Feature("fp8 cvt", r"cvt\.\S*(?:e4m3x2|e5m2x2)\b", since=89),
    Feature("fp8 mma", r"mma\.\S*\.(?:e4m3|e5m2)\b", since=89),
    Feature("bf16 and tf32 mma", r"w?mma\.\S*\.(?:bf16|tf32)\b", since=80),
    Feature("bf16 and tf32 cvt", r"cvt\.\S*\.(?:bf16|bf16x2|tf32)\b", since=80),
    Feature("bf16 fma", r"(?:fma|neg|abs|min|max)\.\S*bf16(?:x2)?\b", since=80),
    Feature("cp.async", r"cp\.async\.", since=80),
    Feature("mbarrier", r"mbarrier\.", since=80),
    Feature("redux.sync", r"redux\.sync\.", since=80),
    Feature("createpolicy", r"createpolicy\.", since=80),
    Feature("discard", r"(?:discard|applypriority)\.", since=80),
)
"""The more special before the more general."""

_MULTICAST = regex(r"(?<![\w.%])(cp\.async\.bulk\.\S*\.multicast::cluster)\S*")
_FP4_INTRINSIC = regex(r"__nv_cvt_\w+_to_fp4\w*")
_REDUCE_INTRINSIC = regex(r"__reduce_(?:add|min|max|and|or|xor)_sync")
_NATIVE_FP4 = next(feature for feature in FEATURES if feature.name == "narrow cvt")


class Lack(msgspec.Struct, frozen=True):
    """What `arch` lacks: the instruction as written, and which archs have it."""

    instruction: str
    needs: str


def lacking_instruction(ptx: str, arch: str) -> Lack | None:
    """The first instruction in the PTX text that `arch` lacks; None for an unknown arch."""
    number = arch_number(arch)
    if not number:
        return None
    for match in _any_feature().finditer(ptx):
        feature = FEATURES[int((match.lastgroup or "f0")[1:])]
        if not feature.supported(arch):
            return Lack(_whole(ptx, match.start()), feature.needs)
    multicast = _MULTICAST.search(ptx)
    if multicast is not None and number in _ONE_BLOCK_CLUSTERS:
        return Lack(multicast[1], "clusters of more than one block")
    return None


def lacking_intrinsic(name: str, arch: str) -> Lack | None:
    """Why the intrinsic `name` is not to be used for `arch`, or None."""
    if not arch_number(arch):
        return None
    if (
        arch_number(arch) >= 100
        and _FP4_INTRINSIC.fullmatch(name)
        and not _NATIVE_FP4.supported(arch)
    ):
        return Lack(name, _NATIVE_FP4.needs)
    if _REDUCE_INTRINSIC.fullmatch(name) and arch_number(arch) < 80:
        return Lack(name, "sm_80 or newer")
    return None


def _whole(ptx: str, at: int) -> str:
    """The instruction with its modifiers, or the register, at an offset."""
    match = regex(r"%?[\w.:]+").match(ptx, at)
    return match.group() if match else ""


@lru_cache(maxsize=1)
def _any_feature() -> re.Pattern[str]:
    groups = (f"(?P<f{place}>{feature.pattern})" for place, feature in enumerate(FEATURES))
    return regex(r"(?<![\w.%])(?:" + "|".join(groups) + ")")
