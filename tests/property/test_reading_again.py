"""What is read of a part of a text, with what was read of the rest before, is all there is."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import cudalint.syntax.again
from cudalint.syntax.grammar import _SHORT
from cudalint.syntax.lastread import LastRead, reading_again
from cudalint.syntax.part import Part, changed_part
from cudalint.syntax.read import read_model

KERNELS = Path(__file__).parents[2] / "kernels" / "gb10" / "common"
HOST = """\
#define STAGE(T) __shared__ T stage[32]
enum Kind { A, B = 3, C };
template <typename T> struct Queue { int size; void push(T x) { if (x) { grow(x); } } };
using Ints = Queue<int>;
#if defined(FAST)
__global__ void fill(int* p) { STAGE(int); stage[0] = p[0]; }
#else
__global__ void fill(int* p) { __shared__ int stage[8]; stage[0] = p[0]; }
#endif
extern "C" {
void run(int* p, cudaStream_t s) { fill<<<1, 32, 0, s>>>(p); auto f = [&](int i) { g(i); }; }
}
"""
PIECES = (
    *("{", "}", "(", ")", ";", "x", "\n", "//", "/*", "*/", '"', "<", "é", "#if 0\n", "#endif\n"),
    *("int y = 3;\n", "step();\n", "template <typename T>\n", "namespace a {\n", 'extern "C" {\n'),
    *("__shared__ float t[3];", "enum { U, V = 3 };\n", "typedef int Y;\n", "#define N(x) x\n"),
    *("if (a) return;\n", "[&](int i) { f(i); }", "__global__ void q(const void* p) { g(p); }\n"),
)


def _text() -> str:
    """Long enough to be parsed from its last tree, half of it in namespaces."""
    kernels = [file.read_text() for file in sorted(KERNELS.glob("*.cu"))]
    text = ""
    for number, kernel in enumerate(kernels):
        text += f"namespace n{number} {{\n{kernel}}}\n" if number % 2 else kernel
        if len(text) > _SHORT * 1.2:
            return f"namespace all {{\nnamespace {{\n{HOST}}}\n{text}}}\n{HOST}"
    raise AssertionError("there are too few kernels")


TEXT = _text()


@contextmanager
def parts_are(look: object) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cudalint.syntax.again, "changed_part", look)
        yield


class Reader:
    """The same text read again in parts, and as a whole from the same trees."""

    def __init__(self) -> None:
        self.parts: list[Part | None] = []
        self._in_parts, self._whole = LastRead(), LastRead()

    def check(self, text: str) -> None:
        data = text.encode()
        with reading_again(self._in_parts), parts_are(self._look):
            model = read_model("a.cu", data)
        with reading_again(self._whole), parts_are(lambda *_: None):
            assert model == read_model("a.cu", data)

    def _look(self, *asked: object) -> Part | None:
        self.parts.append(changed_part(*asked))  # type: ignore[arg-type]
        return self.parts[-1]


@given(st.integers(0, 2**32))
@settings(max_examples=3, derandomize=True)
def test_after_any_edits(seed: int) -> None:
    chance = random.Random(seed)
    text, at = TEXT, 0
    reader = Reader()
    reader.check(text)
    for _ in range(12):
        at = chance.randrange(len(text) + 1) if chance.random() < 0.4 else min(at, len(text))
        kind = chance.random()
        if kind < 0.6:
            typed = chance.choice(PIECES)
            text, at = text[:at] + typed + text[at:], at + len(typed)
        elif kind < 0.8:
            gone = chance.choice((1, 2, 9, 200))
            text = text[:at] + text[at + gone :]
        else:
            start = chance.randrange(len(text) + 1)
            text = text[:at] + text[start : start + 300] + text[at:]
        reader.check(text)
    assert any(reader.parts)


def test_of_a_change_in_a_function_little_is_read() -> None:
    for place in ("(T x) { ", "stage[8]; ", "auto f = "):
        at = TEXT.index(place) + len(place)
        reader = Reader()
        reader.check(TEXT)
        reader.check(f"{TEXT[:at]}go(1); {TEXT[at:]}")
        reader.check(TEXT)
        assert reader.parts
        for part in reader.parts:
            assert part is not None
            assert part.start < at < part.end < part.start + 12_000


def test_what_looks_back_over_a_brace_that_is_no_code_is_read_again() -> None:
    reader = Reader()
    before = TEXT + "namespace a {\nvoid f() {\n  g(1);\n  h"
    behind = "b(2);\n}\n}\n__global__ void k(float* o) { *o = 1; }\n"
    reader.check(f"{before}/*{behind}")
    reader.check(f"{before}/*b{behind}")
    (part,) = reader.parts
    assert part is not None
    assert part.end > len(before)


def test_after_a_change_to_a_macro_all_is_read() -> None:
    reader = Reader()
    reader.check(TEXT)
    reader.check(TEXT.replace("__shared__ T stage[32]", "T stage[32]"))
    assert reader.parts == []
