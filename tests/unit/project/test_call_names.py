"""What calls mean whose name is an object-like macro."""

from __future__ import annotations

import pytest

from projects import project_of

LAYER = """\
#pragma once
#ifdef USE_HIP
#define gpuFree hipFree
#define gpuCopy hipMemcpy
#else
#define gpuFree cudaFree
#define gpuCopy cudaMemcpy
#endif
#ifdef DEBUG_FREES
#define gpuFree2 tracedFree
#endif
#ifdef ASYNC
#define gpuCopy cudaMemcpyAsync
#endif
#define free_it gpuFree
#define first second
#define second first
#define own ::ours::release
#define cudaFreeHost releaseOurs
#define borne cudaFree
#define gpuFlags 3
#define gpuCall(x) cudaCall(x)
"""


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("gpuFree(p)", "cudaFree"),
        ("::gpuFree(p)", "::cudaFree"),
        ("free_it(p)", "cudaFree"),
        ("own(p)", "::ours::release"),
        ("cudaFreeHost(p)", "releaseOurs"),
        ("gpuCopy(p, q)", "gpuCopy"),
        ("gpuFree2(p)", "gpuFree2"),
        ("p.gpuFree()", "p.gpuFree"),
        ("api::gpuFree(p)", "api::cudaFree"),
        ("gpuFlags(p)", "gpuFlags"),
        ("gpuCall(p)", "gpuCall"),
        ("borne(p)", "cudaFree"),
        ("unknown(p)", "unknown"),
    ],
)
def test_meanings(call: str, meant: str) -> None:
    files = {"a.cu": f'#include "gpu.h"\nvoid f(T p, T q) {{ {call}; }}\n', "gpu.h": LAYER}
    found = project_of(files).models["a.cu"].calls[0]
    assert (found.callee, found.name) == (meant, meant.rpartition("::")[2].rpartition(".")[2])


def test_macros_that_stand_for_each_other_end() -> None:
    files = {"a.cu": f"{LAYER}void f() {{ first(); }}\n"}
    assert project_of(files).models["a.cu"].calls[-1].name in ("first", "second")


def test_a_function_of_the_name_keeps_its_calls() -> None:
    code = '#include "gpu.h"\nstruct A { void borne() {} void f() { borne(); } };\n'
    assert project_of({"a.cu": code, "gpu.h": LAYER}).models["a.cu"].calls[0].name == "borne"


def test_files_that_do_not_include_the_macro_are_left_alone() -> None:
    files = {"a.cu": "void f() { gpuFree(p); }\n", "gpu.h": LAYER}
    project = project_of(files)
    assert project.models["a.cu"].calls[0].name == "gpuFree"


def test_the_place_is_that_of_the_name_as_written() -> None:
    code = "#define gpuFree cudaFree\nvoid f(T p) { gpuFree(p); }\n"
    call = project_of({"a.cu": code}).models["a.cu"].calls[0]
    assert code[call.name_span.start : call.name_span.end] == "gpuFree"
