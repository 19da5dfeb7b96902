"""Files that would cost too much are cut off by what they hold, and not by the clock."""

from __future__ import annotations

import pytest

from cudalint.syntax import effort, grammar
from cudalint.syntax.brackets import deepest
from cudalint.syntax.effort import MAX_DEPTH, Budget, TooComplexError, spend
from cudalint.syntax.read import read_model, read_models


def spent(data: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    """The units that reading `data` takes."""
    units = []
    monkeypatch.setattr(effort, "MAX_EFFORT", 1 << 60)
    for module in ("brackets", "grammar", "macros", "records", "join"):
        monkeypatch.setattr(f"cudalint.syntax.{module}.spend", units.append, raising=False)
    read_model("a.cu", data)
    return sum(units)


@pytest.mark.parametrize(
    ("opening", "closing"), [(b"{", b"}"), (b"(", b")"), (b"f(", b")"), (b"a[", b"]"), (b"(", b"")]
)
def test_brackets_too_deep(opening: bytes, closing: bytes) -> None:
    deep = b"void g() { %s %s }" % (opening * MAX_DEPTH, closing * MAX_DEPTH)
    with pytest.raises(TooComplexError, match="brackets nested more than 1000 deep"):
        read_model("a.cu", deep)
    read_model("a.cu", b"void g() { %s1%s; }" % (opening * 200, closing * 200))


def test_brackets_in_text_that_is_no_code_do_not_count() -> None:
    read_model("a.cu", b'// %s\nconst char* a = "%s";\n' % (b"(" * 2000, b"(" * 2000))


def test_branches_of_conditionals_are_no_nesting() -> None:
    head = b"#if A\nvoid f(int a) {\n#else\nvoid f(float a) {\n#endif\n  g(a);\n}\n"
    model = read_model("a.cu", head * 1500)
    assert sum(f.kind == "definition" for f in model.functions) == 3000


def test_deepest() -> None:
    assert [deepest(text) for text in (b"", b"a", b"((", b"([{}])()", b"))((")] == [0, 0, 2, 3, 0]


def test_spending_counts_only_where_it_is_limited() -> None:
    spend(effort.MAX_EFFORT + 1)
    with Budget():
        spend(effort.MAX_EFFORT)
        with pytest.raises(TooComplexError):
            spend(1)


def test_macros_that_multiply_are_cut_off() -> None:
    text = b"#define M(a) " + b"f(a);" * 100 + b"\nvoid f() {\n"
    text += b"  M(1);\n" * 300 + b"}\n"
    with pytest.raises(TooComplexError, match="bring more than 20000 calls"):
        read_model("a.cu", text)


def test_too_much_code_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"void f() { g(1); }\n" * 3000
    read_model("a.cu", text)
    monkeypatch.setattr(grammar, "_MAX_STEPS", 100)
    with pytest.raises(TooComplexError, match="the grammar takes too long over it"):
        read_model("a.cu", text)
    monkeypatch.undo()
    assert len(read_model("a.cu", text).calls) == 3000


@pytest.mark.parametrize(
    "piece",
    [
        b"void f() { g(1, h(2)); }\n",
        b"#define M%d(a) f(a)\nvoid f%d() { M%d(1); }\n",
        b"#if A%d\nvoid f%d(int a) {\n#else\nvoid g%d(float a) {\n#endif\n  h(a);\n}\n",
        b"// a comment\n__global__ void k(float* x) { __shared__ float s[32]; k<<<1, 2>>>(x); }\n",
    ],
)
def test_twice_the_text_takes_twice_the_work(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def text(count: int) -> bytes:
        fields = piece.count(b"%d")
        return b"".join(piece % ((i,) * fields) for i in range(count))

    once, twice = spent(text(1000), monkeypatch), spent(text(2000), monkeypatch)
    assert twice <= 2.1 * once


def test_long_blanks_in_a_macro_take_no_longer_than_other_text() -> None:
    blank = b" " * 200_000
    model = read_model("a.cu", b"#define M(a) using A = int" + blank + b"; f##a();" + blank + b"\n")
    assert [alias.target for alias in model.aliases] == []
    model = read_model("a.cu", b"using A = int" + blank + b"x" + blank + b";\n")
    assert [alias.target for alias in model.aliases] == ["int x"]


def test_a_file_that_costs_too_much_leaves_those_read_beside_it_alone() -> None:
    deep = b"void g() { " + b"(" * 2000 + b" }"
    files = [("a.cu", b"void f() { g(); }"), ("deep.cu", deep), ("b.cu", b"__global__ void k();")]
    first, second, third = read_models(files)
    assert first == read_model(*files[0])
    assert isinstance(second, TooComplexError)
    assert third == read_model(*files[2])


def test_what_one_file_costs_does_not_count_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"void f() { g(1); }\n" * 50
    monkeypatch.setattr(effort, "MAX_EFFORT", 100_000)
    assert not any(isinstance(read, Exception) for read in read_models([("a.cu", text)] * 20))
    with pytest.raises(TooComplexError):
        read_model("a.cu", text * 20)
