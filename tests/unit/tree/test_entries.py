"""Entry points of a file in a target: through includes, macros, names pasted together."""

from __future__ import annotations

import itertools
import posixpath
from pathlib import Path

import pytest

from conftest import write_files
from cudalint.source import SourceFile
from cudalint.syntax.read import read_model
from cudalint.tree.entries import Entries, entry_points
from cudalint.tree.read import read_trees

PLACE = "gb10/m/fp8/k.cu"
KERNEL = 'extern "C" __global__ void {}(float* o) {{ *o = 1; }}\n'


def entries_of(root: Path, files: dict[str, str | bytes], flags: str = "") -> Entries:
    manifest = f"[build]\nextra_nvcc_flags = [{flags}]\n"
    all_files = {"gb10/common/base.cu": "", "gb10/m/fp8/KERNEL.toml": manifest, **files}
    write_files(root, all_files)
    (tree,) = read_trees(root, {posixpath.dirname(path) for path in all_files})
    (target,) = (t for t in tree.targets if t.leaf)
    sources = {p: SourceFile(p, (root / p).read_bytes()) for p in all_files}
    models = {p: read_model(p, s.data) for p, s in sources.items() if not p.endswith(".toml")}
    return entry_points(PLACE, target, models, sources)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (KERNEL.format("a") + KERNEL.format("b"), ["a", "b"]),
        ('extern "C" {\n' + "__global__ void a(float* o) {}\n" + "}\n", ["a"]),
        ("__global__ void a(float* o) {}\n", []),
        ('extern "C" __global__ void a(float* o);\n', []),
        ('extern "C" __global__ void a(float* o);\n__global__ void a(float* o) {}\n', ["a"]),
        ('extern "C" __global__ void a(float*);\nnamespace n { __global__ void a(int) {} }', []),
        ('extern "C" int gemm(const void* a) { return 0; }\n', []),
        ("// " + KERNEL.format("a") + "#if 0\n" + KERNEL.format("b") + "#endif\n", []),
        (f"#ifdef A\n{KERNEL.format('a')}#else\n{KERNEL.format('b')}#endif\n", ["a", "b"]),
        (f"#define MAKE(n) {KERNEL.format('n##_k').strip()}\nMAKE(a)\nMAKE(b)\n", ["a_k", "b_k"]),
        (f"#define NAME a\n{KERNEL.format('NAME')}", ["a"]),
    ],
)
def test_of_one_file(tmp_path: Path, text: str, names: list[str]) -> None:
    found = entries_of(tmp_path, {PLACE: text})
    assert list(found.by_name) == names
    assert found.complete


def test_includes_are_looked_for_in_the_target_s_order(tmp_path: Path) -> None:
    found = entries_of(
        tmp_path,
        {
            PLACE: '#include "near.cuh"\n#include "far.cuh"\n#include "../../common/base.cu"\n',
            "gb10/m/fp8/near.cuh": KERNEL.format("near"),
            "gb10/common/near.cuh": KERNEL.format("wrong"),
            "gb10/common/far.cuh": '#include "tile.cuh"\n' + KERNEL.format("far"),
            "gb10/common/tile.cuh": KERNEL.format("common_tile"),
            "gb10/m/fp8/tile.cuh": KERNEL.format("leaf_tile"),
            "gb10/common/base.cu": KERNEL.format("base"),
        },
    )
    assert list(found.by_name) == ["base", "common_tile", "far", "near"]
    assert found.complete


def test_names_that_an_includer_gives(tmp_path: Path) -> None:
    body = """\
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
extern "C" __global__ void KERNEL_NAME(float* o) {}
extern "C" __global__ void CONCAT(KERNEL_NAME, _64)(float* o) {}
"""
    found = entries_of(
        tmp_path,
        {
            PLACE: """\
#define KERNEL_NAME one
#include "body.cuh"
#undef KERNEL_NAME
#define KERNEL_NAME two
#include "body.cuh"
""",
            "gb10/common/body.cuh": body,
        },
    )
    assert list(found.by_name) == ["one", "one_64", "two", "two_64"]


def test_a_name_may_come_from_a_flag(tmp_path: Path) -> None:
    found = entries_of(tmp_path, {PLACE: KERNEL.format("KERNEL_NAME")}, '"-DKERNEL_NAME=flagged"')
    assert list(found.by_name) == ["flagged"]


def test_macros_of_a_header_make_kernels_where_they_are_used(tmp_path: Path) -> None:
    text = '// x\n#include "make.cuh"\nMAKE(a)\n\nMAKE(b)\n'
    found = entries_of(
        tmp_path,
        {
            PLACE: text,
            "gb10/common/make.cuh": f"#pragma once\n#define MAKE(n) {KERNEL.format('n##_k')}",
        },
    )
    assert list(found.by_name) == ["a_k", "b_k"]
    span = found.by_name["b_k"][0].span
    assert (span.path, text[span.start : span.end]) == (PLACE, "MAKE(b)")


def test_a_macro_of_a_header_may_be_what_makes_it_an_entry_point(tmp_path: Path) -> None:
    text = '#include "entry.cuh"\nENTRY void a(float* o) {}\n__global__ void b(float* o) {}\n'
    head = '#pragma once\n#define ENTRY extern "C" __global__\nextern "C" ENTRY void b(float* o);\n'
    found = entries_of(tmp_path, {PLACE: text, "gb10/common/entry.cuh": head})
    assert list(found.by_name) == ["a", "b"]
    span = found.by_name["a"][0].span
    assert (span.path, text[span.start : span.end]) == (PLACE, "a")


@pytest.mark.parametrize(
    ("include", "complete"),
    [
        ('"absent.cuh"', False),
        ('"../../../../outside.cuh"', False),
        ('"cuda_bf16.h"', True),
        ("<absent.cuh>", True),
    ],
)
def test_an_include_that_is_not_found(tmp_path: Path, include: str, complete: bool) -> None:
    found = entries_of(tmp_path, {PLACE: f"#include {include}\n" + KERNEL.format("a")})
    assert list(found.by_name) == ["a"]
    assert found.complete is complete


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    found = entries_of(
        tmp_path,
        {
            PLACE: '#include "a.cuh"\n' + KERNEL.format("k"),
            "gb10/common/a.cuh": '#include "b.cuh"\n#define N one\n',
            "gb10/common/b.cuh": '#include "a.cuh"\n#define N two\n',
        },
    )
    assert list(found.by_name) == ["k"]


@pytest.mark.parametrize(
    ("declared", "types"),
    [
        ("const float* __restrict__ a, float b[]", ("float *", "float *")),
        ("unsigned n, unsigned int m, uint32_t k", ("unsigned int",) * 3),
        ("signed int n, int32_t m, const int k", ("int",) * 3),
        ("long int n, int64_t m, std::int64_t k", ("long",) * 3),
        ("bf16* a, __nv_bfloat16 *b, nv_bfloat16* c", ("__nv_bfloat16 *",) * 3),
        ("elem* a, PTR b", ("__nv_bfloat16 *", "float *")),
        ("unsigned char* a, uint8_t* b", ("unsigned char *",) * 2),
    ],
)
def test_types_are_spelt_in_one_way(tmp_path: Path, declared: str, types: tuple[str, ...]) -> None:
    head = "using bf16 = __nv_bfloat16;\ntypedef bf16 elem;\n#define PTR const float*\n"
    found = entries_of(tmp_path, {PLACE: f'{head}extern "C" __global__ void k({declared}) {{}}\n'})
    assert found.by_name["k"][0].types == types


@pytest.mark.parametrize(
    ("declared", "plain"),
    [
        ("int8_t* a", "signed char* a"),
        ("uint8_t* a", "unsigned char* a"),
        ("int16_t* a", "short* a"),
        ("uint16_t* a", "unsigned short* a"),
        ("int32_t* a", "int* a"),
        ("uint32_t* a", "unsigned int* a"),
        ("int64_t* a", "long* a"),
        ("uint64_t* a", "unsigned long* a"),
        ("size_t n", "unsigned long n"),
        ("half* a", "__half* a"),
        ("volatile float* a", "float* a"),
        ("struct Args a", "Args a"),
        ("class Args a", "Args a"),
        ("enum Kind a", "Kind a"),
        ("typename Args a", "Args a"),
        ("n8 a", "float a"),
    ],
)
def test_two_spellings_of_a_type(tmp_path: Path, declared: str, plain: str) -> None:
    names = ["float", *(f"n{number}" for number in range(1, 9))]
    aliases = "".join(f"using {new} = {old};\n" for old, new in itertools.pairwise(names))
    kernel = 'extern "C" __global__ void {}({}) {{}}\n'
    text = aliases + kernel.format("one", declared) + kernel.format("other", plain)
    found = entries_of(tmp_path, {PLACE: text})
    assert found.by_name["one"][0].types == found.by_name["other"][0].types


@pytest.mark.parametrize(
    "name",
    ["cuda_fp16.h", "mma.h", "cooperative_groups.h", "math_constants.h", "device_functions.h"],
)
def test_a_header_of_the_toolkit_has_no_entry_points(tmp_path: Path, name: str) -> None:
    assert entries_of(tmp_path, {PLACE: f'#include "{name}"\n'}).complete


def test_what_follows_what_is_left_out_counts(tmp_path: Path) -> None:
    text = f"#if 0\n#define A 1\n{KERNEL.format('dead')}#endif\n{KERNEL.format('k')}"
    assert list(entries_of(tmp_path, {PLACE: text}).by_name) == ["k"]


def test_an_alias_of_itself_ends(tmp_path: Path) -> None:
    text = "typedef struct Args Args;\n" + KERNEL.format("k").replace("float*", "Args")
    assert entries_of(tmp_path, {PLACE: text}).by_name["k"][0].types == ("Args",)


@pytest.mark.parametrize(("headers", "complete"), [(199, True), (200, False)])
def test_so_many_files_are_visited(tmp_path: Path, headers: int, complete: bool) -> None:
    names = [f"h{number}.cuh" for number in range(headers)]
    found = entries_of(
        tmp_path,
        {
            PLACE: "".join(f'#include "{name}"\n' for name in names) + KERNEL.format("k"),
            **{f"gb10/common/{name}": "" for name in names},
        },
    )
    assert (list(found.by_name), found.complete) == (["k"], complete)


def test_a_file_that_was_not_read_has_entries_that_may_be_missed(tmp_path: Path) -> None:
    write_files(tmp_path, {PLACE: "", "gb10/common/base.cu": ""})
    (tree,) = read_trees(tmp_path, ["gb10/common", "gb10/m/fp8"])
    assert entry_points(PLACE, tree.targets[0], {}, {}) == Entries({}, complete=False)
