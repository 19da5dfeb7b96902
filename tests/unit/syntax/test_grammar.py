"""The walk and the query over a syntax tree find the same nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tree_sitter import Node

from cudalint.syntax import grammar
from cudalint.syntax.effort import TooComplexError
from cudalint.syntax.read import read_model

ROOT = Path(__file__).parents[3]
FILES = sorted(
    path
    for folder in (ROOT / "kernels", ROOT / "tests" / "fixtures" / "cases")
    for path in folder.rglob("*.c*")
)
BROKEN = [b"void f( { int x = ;", b")}]", b"\xff\xfe", b"", b'extern "C" { void g();', b"int x"]
FORMS = b"""\
template <class T> struct S { T* f(int); T& g(); virtual ~S(); static int h(), i; };
namespace n { extern "C" { int* p(int), q; } extern "C" void r(); }
template __global__ void k<3>(int*);
using A = int; typedef float* B; enum E { a = 1, b }; union U { int i; }; class C;
auto l = [=](int x) { if (x) return g(x); else throw 1; };
void m() { for (;;) while (1) do switch (0) { case 0: k<<<1, 2>>>(3); } while (0); f(x).y(z); }
"""


def nodes(found: dict[str, list[Node]]) -> dict[str, list[tuple[int, int, str]]]:
    return {
        name: sorted((node.start_byte, node.end_byte, node.type) for node in here)
        for name, here in found.items()
        if here
    }


@pytest.mark.parametrize("text", [FORMS, *BROKEN, *(path.read_bytes() for path in FILES)])
def test_walk_and_query_agree(text: bytes) -> None:
    tools = grammar._grammar()
    root = tools.parser.parse(text).root_node
    walked = grammar._walk(root, text, tools.kinds)
    queried = grammar._query(root, text, tools)
    assert nodes(walked) == nodes(queried)
    if text == FORMS:
        assert set(walked) == {*grammar._PLAIN, *grammar._WITH_BODY, "prototype"}


def test_a_process_that_reads_much_uses_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_grammar", lambda tools=grammar._Grammar(): tools)  # noqa: B008
    tools = grammar._grammar()
    text = b"void f() { g(1); }\n"
    first = nodes(grammar.wanted(grammar.parse(text), text))
    assert "query" not in vars(tools)
    tools.read = grammar._QUERY_PAYS
    assert nodes(grammar.wanted(grammar.parse(text), text)) == first
    assert "query" in vars(tools)


@pytest.mark.parametrize("read", [0, grammar._QUERY_PAYS + 1])
def test_what_is_refused_does_not_depend_on_what_was_read(
    read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar._grammar(), "read", read)
    with pytest.raises(TooComplexError, match="too long"):
        read_model("a.cu", b"void f(int x) { int y = " + b"!" * 70_000 + b"x; }")
