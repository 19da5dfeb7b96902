"""Which branches a target compiles: its arch, its suffix, flags, macros of includes."""

from __future__ import annotations

import pytest

from cudalint.finding import Span
from cudalint.project.targetbuild import TargetBuild, builds
from cudalint.settings.model import Settings
from projects import context_of

HEADER = """\
#pragma once
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define OLD_ARCH
#endif
#define WANTED_ARCH 1210
"""


def _compiles(condition: str, arch: str, flags: tuple[str, ...] = ()) -> bool:
    source = f'#include "h.h"\n#if {condition}\nint here;\n#endif\n'
    context = context_of({"a.cu": source, "h.h": HEADER})
    at = source.index("int here")
    return TargetBuild("a.cu", context, arch, flags).compiles(Span("a.cu", at, at + 3))


@pytest.mark.parametrize(
    ("condition", "archs"),
    [
        ("__CUDA_ARCH__ >= 900", "sm_90 sm_100 sm_121 sm_121a sm_121f"),
        ("__CUDA_ARCH__ < 1000 && defined(__CUDA_ARCH__)", "sm_80 sm_90"),
        ("!defined(__CUDA_ARCH__)", ""),
        ("defined(__CUDA_ARCH_FEAT_SM121_ALL)", "sm_121a"),
        ("defined(__CUDA_ARCH_SPECIFIC__)", "sm_121a"),
        ("defined __CUDA_ARCH_FAMILY_SPECIFIC__", "sm_121a sm_121f"),
        ("defined(__CUDA_ARCH_HAS_FEATURE__) || 1", "sm_80 sm_90 sm_100 sm_121 sm_121a sm_121f"),
        ("__CUDA_ARCH_HAS_FEATURE__(SM121_ALL)", "sm_121a"),
        ("defined(OLD_ARCH)", "sm_80"),
        ("__CUDA_ARCH__ == WANTED_ARCH", "sm_121 sm_121a sm_121f"),
        ("CUDA_VERSION >= 12080", "sm_80 sm_90 sm_100 sm_121 sm_121a sm_121f"),
        ("defined(UNKNOWN)", ""),
        ("!defined(UNKNOWN)", "sm_80 sm_90 sm_100 sm_121 sm_121a sm_121f"),
    ],
)
def test_conditions(condition: str, archs: str) -> None:
    known = ["sm_80", "sm_90", "sm_100", "sm_121", "sm_121a", "sm_121f"]
    assert [arch for arch in known if _compiles(condition, arch)] == archs.split()


@pytest.mark.parametrize(
    ("flags", "compiled"),
    [
        ((), True),
        (("-DSOFT",), False),
        (("-D", "SOFT=1"), False),
        (("-DSOFT", "-USOFT"), True),
        (("--fmad=false", "-DOTHER"), True),
    ],
)
def test_flags(flags: tuple[str, ...], compiled: bool) -> None:
    assert _compiles("!defined(SOFT)", "sm_121", flags) is compiled


def test_the_value_of_a_flag_counts() -> None:
    assert _compiles("LEVEL > 2", "sm_121", ("-DLEVEL=3",))
    assert not _compiles("LEVEL > 2", "sm_121", ("-DLEVEL=2",))


def test_the_settings_say_the_targets() -> None:
    settings = Settings(targets=("sm_90", "sm_121"))
    context = context_of({"a.cu": "int a;\n"}, settings)
    assert [build.arch for build in builds("a.cu", context)] == ["sm_90", "sm_121"]
    assert list(builds("a.cu", context_of({"a.cu": "int a;\n"}))) == []
