"""`asm` statements: their text, operands, places, and those in the bodies of macros."""

from __future__ import annotations

import pytest

from cudalint.syntax.model import Assembly
from cudalint.syntax.read import read_model


def _asm(source: str) -> list[Assembly]:
    return list(read_model("a.cu", source.encode()).assembly)


def test_literals_are_joined_and_their_comments_gone() -> None:
    source = """\
__device__ void f(int x) {
  asm volatile("{ mov.u32 %0, 1; // one\\n\\t"  // asm("no")
               "/* two */ add.u32 %0, %0, %1; }" : "=r"(x) : "r"(a::b), "n"(3) : "memory");
}
"""
    (asm,) = _asm(source)
    assert asm.text == "{ mov.u32 %0, 1; add.u32 %0, %0, %1; }"
    assert asm.operands == '"=r"(x) : "r"(a::b), "n"(3) : "memory"'
    assert source[asm.name_span.start : asm.name_span.end] == "asm"
    assert source[asm.span.start : asm.span.end].endswith('"memory");')
    assert asm.function == 0


@pytest.mark.parametrize(
    ("head", "word"),
    [
        ("asm(", "asm"),
        ("asm volatile (", "asm"),
        ("__asm__ __volatile__(", "__asm__"),
        ("__asm volatile(", "__asm"),
    ],
)
def test_spellings(head: str, word: str) -> None:
    source = f'__device__ void f() {{ {head}R"x(bar.sync 0;)x"); }}'
    (asm,) = _asm(source)
    assert source[asm.name_span.start : asm.name_span.end] == word
    assert (asm.text, asm.operands) == ("bar.sync 0;", "")


@pytest.mark.parametrize(
    "text",
    ['// asm("x");', 'const char* s = "asm(\\"x\\");";', 'my_asm("x");', "int asm_count(1);"],
)
def test_no_assembly(text: str) -> None:
    assert _asm(f"__device__ void f() {{ {text}\n }}") == []


def test_macros_put_their_arguments_in() -> None:
    source = """\
#define COPY(dst, kind) asm("cp.async." #kind " [%0];\\n" :: "r"(dst))
#define GLOBAL(d) COPY(d, cg)
__device__ void f(int x) {
  GLOBAL(x);
  COPY(x + 1, ca);
}
"""
    template, outer, inner = _asm(source)
    assert (template.use, template.function, template.text) == (None, -1, "cp.async.kind [%0];")
    assert (outer.text, outer.operands) == ("cp.async.cg [%0];", ': "r"(x)')
    assert (inner.text, inner.operands) == ("cp.async.ca [%0];", ': "r"(x + 1)')
    assert outer.use is not None
    assert source[outer.use.start : outer.use.end] == "GLOBAL(x)"
    assert outer.name_span == inner.name_span == template.name_span
    assert {outer.via_macro, inner.via_macro} == {"COPY"}
    assert (outer.function, inner.function) == (0, 0)
