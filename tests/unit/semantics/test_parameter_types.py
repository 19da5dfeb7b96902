"""Types of kernels' parameters, by their spelling and by libclang."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cudalint.project.project import Project
from cudalint.semantics.model import ParameterType, spelt
from cudalint.semantics.types import TypeOracle
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model


def types_of(
    text: str | bytes, files: dict[str, str] | None = None, path: str = "k.cu"
) -> dict[str, tuple[ParameterType, ...]]:
    """The parameter types of each kernel of the file at `path`, by the kernel's name."""
    texts: dict[str, str | bytes] = {**(files or {}), path: text}
    data = {p: t if isinstance(t, bytes) else t.encode() for p, t in texts.items()}
    models = {p: read_model(p, d) for p, d in data.items()}
    oracle = TypeOracle(Project(models), {p: SourceFile(p, d) for p, d in data.items()})
    return {kernel.name: oracle.parameters(kernel) for kernel in models[path].kernels}


def only(parameter: str, before: str = "", files: dict[str, str] | None = None) -> ParameterType:
    (found,) = types_of(f"{before}\n__global__ void k({parameter}) {{}}\n", files)["k"]
    return found


@pytest.mark.parametrize(
    ("parameter", "canonical", "untyped"),
    [
        ("void* a", "void*", True),
        ("const void* __restrict__ a", "const void*", True),
        ("void const* const a", "void const* const", True),
        ("void** a", "void**", True),
        ("void* a[4]", "void**", True),
        ("void *", "void*", True),
        ("volatile void* &a", "volatile void*&", True),
        ("void (*f)(int)", "void (* f)(int)", False),
        ("void* (*f)(void*)", "void* (* f)(void*)", False),
        ("float* a", "float*", False),
        ("unsigned long long* a", "unsigned long long*", False),
        ("const __grid_constant__ CUtensorMap map", "const CUtensorMap", False),
        ("std::uint8_t* a", "std::uint8_t*", False),
        ("at::Half* a", "at::Half*", False),
        ("cuda::std::array<void*, 2> a", "cuda::std::array<void*, 2>", False),
    ],
)
def test_without_any_name_of_the_file(parameter: str, canonical: str, untyped: bool) -> None:
    assert only(parameter) == ParameterType(canonical, untyped)


NAMES = """\
typedef const void* opaque_t;
using raw_t = void;
using bytes = unsigned char;
using twice = raw_t*;
#define BUF const void*
#define RESTRICT __restrict__
#define ELEM bytes
namespace detail { using hidden = void*; }
struct Traits { using pointer = void*; using element = float; };
using element = void;
typedef void (*callback_t)(void*);
typedef struct { void* p; int n; } Anonymous;
template <class T> using pointer_to = const T*;
template <class T> struct Box { T* p; };
struct Inner { float* f; const void* v; };
struct Outer { Inner inner; Inner* far; void* array[3]; void (*done)(void*); };
union Either { float f; void* p; };
struct Plain { float* f; Plain* next; bytes b; };
"""


@pytest.mark.parametrize(
    ("parameter", "canonical", "untyped", "through"),
    [
        ("opaque_t a", "const void*", True, ["opaque_t"]),
        ("raw_t* a", "void*", True, ["raw_t"]),
        ("const bytes* a", "const unsigned char*", False, ["bytes"]),
        ("twice a", "void*", True, ["twice", "raw_t"]),
        ("BUF a", "const void*", True, ["BUF"]),
        ("float* RESTRICT a", "float*", False, []),
        ("const ELEM* a", "const unsigned char*", False, ["ELEM", "bytes"]),
        ("detail::hidden a", "void*", True, ["hidden"]),
        ("Traits::pointer a", "void*", True, ["pointer"]),
        ("callback_t f", "void (* callback_t)(void*)", False, ["callback_t"]),
    ],
)
def test_names_are_followed(
    parameter: str, canonical: str, untyped: bool, through: list[str]
) -> None:
    found = only(parameter, NAMES)
    assert (found.canonical, found.untyped) == (canonical, untyped)
    assert [name.name for name in found.through] == through


@pytest.mark.parametrize(
    ("parameter", "untyped", "members"),
    [
        ("pointer_to<void> a", True, ()),
        ("pointer_to<float> a", False, ()),
        ("std::conditional_t<sizeof(int) == 4, void*, int*> a", True, ()),
        ("std::remove_pointer_t<float*>* a", False, ()),
        ("decltype((void*)0) a", True, ()),
        ("Box<void> a", False, ("p",)),
        ("Box<float> a", False, ()),
        ("Inner a", False, ("v",)),
        ("const Inner& a", False, ("v",)),
        ("Inner* a", False, ()),
        ("Outer a", False, ("inner.v", "array")),
        ("Either a", False, ("p",)),
        ("Anonymous a", False, ("p",)),
        ("Plain a", False, ()),
        ("Traits::element* a", False, ()),
        ("element* a", True, ()),
    ],
)
def test_templates_and_classes(parameter: str, untyped: bool, members: tuple[str, ...]) -> None:
    found = only(parameter, NAMES)
    assert (found.untyped, found.members) == (untyped, members)


def test_a_template_s_own_names_hide_others() -> None:
    found = types_of(
        NAMES + "template <class element, int N> __global__ void k(element* a, Box<element> b) {}\n"
    )
    assert [t.untyped or bool(t.members) for t in found["k"]] == [False, False]


def test_each_branch_of_a_conditional_counts() -> None:
    before = "#ifdef A\ntypedef float* p_t;\n#else\ntypedef void* p_t;\n#endif\n"
    assert only("p_t a", before).untyped
    assert not only(
        "p_t a", f"#if 0\ntypedef void* p_t;\n#endif\n{before.replace('void', 'int')}"
    ).untyped


def test_kernels_that_a_macro_makes() -> None:
    found = types_of(
        """\
template <class T> using pointer_to = T*;
#define MAKE(n, T) \\
  __global__ void n##_in(pointer_to<T> a) {} \\
  __global__ void n##_out(float* a, pointer_to<T> b) {}
MAKE(f, float)
MAKE(v, void)
"""
    )
    assert {
        name: [t.untyped for t in types] for name, types in found.items() if "#" not in name
    } == {
        "f_in": [False],
        "f_out": [False, False],
        "v_in": [True],
        "v_out": [False, True],
    }


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", "// é\r\n".encode()])
def test_places_hold_when_includes_move_the_text(start: bytes) -> None:
    text = b"""\
#include "deep/types.cuh"
#include "absent.cuh"
#include <cuda_bf16.h>
#include <iostream>
template <class T> using own = T*;
__global__ void k(own<elem> a, pointer_to<void> b) {}
"""
    files = {
        "src/deep/types.cuh": '#pragma once\n#include "../more.cuh"\nusing elem = void;\n',
        "src/more.cuh": '#pragma once\n#include "deep/types.cuh"\n'
        "template <class T> using pointer_to = T*;\n",
    }
    (types,) = types_of(start + text, files, "src/k.cu").values()
    assert [t.untyped for t in types] == [True, True]


def test_files_outside_of_the_root_have_a_place() -> None:
    text = '#include "t.cuh"\n__global__ void k(pointer_to<void> a) {}\n'
    files = {"../lib/t.cuh": "template <class T> using pointer_to = T*;\n"}
    (types,) = types_of(text, files, "../lib/k.cu").values()
    assert types[0].untyped


def test_what_no_one_can_tell_is_as_it_is_written() -> None:
    found = only("decltype(unknown(1)) a")
    assert not found.untyped
    assert types_of("template <class T> __global__ void k(typename T::ptr a) {}\n")["k"] == (
        ParameterType("T::ptr"),
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("const  void *", "const void*"),
        ("void * const *", "void* const*"),
        ("float (&)[3]", "float (&)[3]"),
        ("int && a", "int&& a"),
    ],
)
def test_types_are_spelt_in_one_way(written: str, expected: str) -> None:
    assert spelt(written) == expected
    assert spelt(spelt(written)) == spelt(written)


def test_plain_kernels_never_load_libclang() -> None:
    program = """\
import sys
from cudalint.project.project import Project
from cudalint.semantics.types import TypeOracle
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model
text = b"using bf16 = __nv_bfloat16; struct P { bf16* a; };"
text += b"__global__ void k(const bf16* a, P p, float (*f)(int), Unknown u, void* v) {}"
models = {"k.cu": read_model("k.cu", text)}
oracle = TypeOracle(Project(models), {"k.cu": SourceFile("k.cu", text)})
print([t.untyped for t in oracle.parameters(models["k.cu"].kernels[0])])
print("clang" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["[False, False, False, False, True]", "False"]
    assert done.stderr == ""
