"""libclang: it sees our stub headers and the run's files, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cudalint.semantics.clang import ClangKernel, kernels
from cudalint.semantics.sandbox import stub_names

MAIN = "/cudalint/run/k.cu"


def seen(text: str, **files: str) -> tuple[ClangKernel, ...]:
    texts = {f"/cudalint/run/{name}": body.encode() for name, body in files.items()}
    return kernels(MAIN, {MAIN: text.encode(), **texts}, 100)


def canonical(text: str) -> list[str]:
    return [parameter.canonical for kernel in seen(text) for parameter in kernel.parameters]


@pytest.mark.parametrize(
    "include",
    [
        '#include "{}"',
        "#include <{}>",
        '%:include "{}"',
        '#inc\\\nlude "{}"',
        '# /* */ include "{}"',
        '#define F "{}"\n#include F',
        '#import "{}"',
        '#include_next "{}"',
        '#include "../../..{}"',
        '#pragma GCC dependency "{}"\n#include "{}"',
    ],
)
def test_no_include_reaches_the_machine(tmp_path: Path, include: str) -> None:
    secret = tmp_path / "secret.h"
    secret.write_text("#define SECRET void*\n")
    text = include.replace("{}", str(secret))
    text += "\n#ifndef SECRET\n#define SECRET float*\n#endif\n__global__ void k(SECRET a) {}\n"
    assert canonical(text) == ["float*"]


def test_not_even_whether_a_file_is_there() -> None:
    text = f"""\
#if __has_include("{Path(__file__)}")
typedef void* leaked;
#else
typedef float* leaked;
#endif
__global__ void k(leaked a) {{}}
"""
    assert canonical(text) == ["float*"]


def test_a_toolkit_on_the_machine_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "#include <cuda_runtime.h>\n__global__ void k(int4* a, cudaStream_t s) {}\n"
    without = canonical(text)
    (tmp_path / "include").mkdir()
    (tmp_path / "include/cuda_runtime.h").write_text("#error read\n#define int4 void\n")
    for name in ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"):
        monkeypatch.setenv(name, str(tmp_path / "include"))
    for name in ("CUDA_PATH", "CUDA_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert canonical(text) == without == ["int4*", "CUstream_st*"]


@pytest.mark.parametrize("header", sorted(stub_names()))
def test_each_stub_header_stands_alone(header: str) -> None:
    text = f"#include <{header}>\n#include <{header}>\n__global__ void k(size_t a) {{}}\n"
    assert canonical(text) == ["unsigned long"]


def test_the_stub_headers_have_no_error() -> None:
    program = """\
from clang.cindex import Index
from cudalint.semantics import sandbox
text = "".join(f"#include <{name}>\\n" for name in sorted(sandbox.stub_names()))
text += "__global__ void k(dim3 d) {}\\nvoid f() { k<<<dim3(1), 2, 0, nullptr>>>(threadIdx); }\\n"
unsaved = [("/cudalint/run/k.cu", text.encode()), *sandbox._stubs()]
unit = Index.create().parse("/cudalint/run/k.cu", sandbox._ARGUMENTS, unsaved)
print([str(diagnostic) for diagnostic in unit.diagnostics])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_kernels_are_found_wherever_they_stand() -> None:
    text = """\
namespace a { namespace { __global__ void one(int x) {} } }
extern "C" { __global__ void two(int x) {} }
extern "C" __global__ void __launch_bounds__(32) three(int x);
template <typename T, int N> __global__ void four(T* x) {}
__device__ void no(void* x) {}
void host(void* x);
"""
    found = seen(text)
    assert [kernel.name for kernel in found] == ["one", "two", "three", "four"]
    for kernel in found:
        assert text.encode()[kernel.offset :].startswith(kernel.name.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "}}}}((((",
        '#include "k.cu"\n' * 300,
        "template <int N> struct A { typename A<N + 1>::t x; };\n__global__ void k(A<0> a) {}\n",
        "__global__ void k(" + "(" * 5000 + "int) {}\n",
        "#error no\n__global__ void k(int a) {}\n",
    ],
)
def test_odd_text_gets_an_answer(text: str) -> None:
    assert len(seen(text)) <= 1
