"""Preprocessor branches that a build leaves out."""

from __future__ import annotations

import pytest

from cudalint.project.conditions import Conditions
from projects import project_of


def left_out(source: str, *, default_build: bool) -> bool:
    """Whether the call `here()` is left out."""
    model = project_of({"a.cu": f"void f() {{\n{source}\n}}\n"}).models["a.cu"]
    call = next(c for c in model.calls if c.name == "here")
    return Conditions(model, default_build=default_build).leave_out(call.span)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("here();", False),
        ("#ifdef X\nhere();\n#endif", True),
        ("#ifndef X\nhere();\n#endif", False),
        ("#if X > 2\nhere();\n#endif", True),
        ("#if defined X || !defined(Y)\nhere();\n#endif", False),
        ("#ifdef X\n#else\nhere();\n#endif", False),
        ("#ifndef X\n#else\nhere();\n#endif", True),
        ("#ifdef X\n#elif defined(Y)\nhere();\n#endif", True),
        ("#ifdef X\n#elif defined(Y)\n#else\nhere();\n#endif", False),
        ("#ifdef X\n#ifdef __CUDACC__\nhere();\n#endif\n#endif", True),
        ("#define X 3\n#if X > 2\nhere();\n#endif", False),
        ("#define X\n#ifdef X\nhere();\n#endif", False),
        ("#ifdef __CUDA_ARCH__\nhere();\n#endif", False),
        ("#ifndef __CUDA_ARCH__\nhere();\n#endif", True),
        ("#if __CUDA_ARCH__ >= 900\nhere();\n#endif", False),
        ("#ifdef X\n#endif\n#ifndef Y\nhere();\n#endif", False),
        ("#if CUDART_VERSION >= 2020\n#else\nhere();\n#endif", True),
        ("#if CUDA_VERSION < 11000\nhere();\n#endif", True),
        ("#if CUDA_VERSION >= 13000\nhere();\n#else\n#endif", False),
        ("#if CUDA_VERSION >= 13000\n#else\nhere();\n#endif", False),
    ],
)
def test_a_default_build_defines_nothing_of_its_own(source: str, expected: bool) -> None:
    assert left_out(source, default_build=True) is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("#ifdef X\nhere();\n#endif", False),
        ("#ifdef X\n#else\nhere();\n#endif", False),
        ("#ifndef __CUDA_ARCH__\nhere();\n#endif", True),
        ("#ifdef __CUDA_ARCH__\n#else\nhere();\n#endif", True),
        ("#if defined(X) && !defined(__CUDA_ARCH__)\nhere();\n#endif", True),
        ("#if !defined(X) && defined(__CUDA_ARCH__)\nhere();\n#endif", False),
    ],
)
def test_any_build_for_the_device(source: str, expected: bool) -> None:
    assert left_out(source, default_build=False) is expected
